"""What is not changed in a sheet stays as it is, byte for byte."""

from __future__ import annotations

import csv
from io import StringIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from viva.verdict import CourseError
from viva_term.sheets.sheet import Sheet


def read(tmp_path, data: bytes, **options) -> Sheet:
    path = tmp_path / "sheet.csv"
    path.write_bytes(data)
    return Sheet.read(path, **options)


@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_mark_ends_quotes_blank_lines_and_order_stay(tmp_path, bom, mark, end):
    lines = ["Name,Grade,Note", '"O""Neil, ""Z""",,"two\nlines"', "", '-,"","x"', "Ann,7,", '" ",,']
    text = end.join(line.replace(",", mark) for line in lines) + end
    sheet = read(tmp_path, bom + text.encode())
    assert sheet.changed(1, {}) == bom + text.encode()
    lines = {row[0]: line for line, row in sheet.rows.items()}
    changed = sheet.changed(1, {lines["-"]: "8", lines["Ann"]: "9,5"})
    after = text.replace(f'-{mark}""', f'-{mark}"8"').replace(f"Ann{mark}7", f"Ann{mark}9,5")
    after = after.replace("Ann,9,5", 'Ann,"9,5"')
    assert changed == bom + after.encode()


def test_a_file_without_a_last_line_end_and_with_blank_cells_at_the_end(tmp_path):
    sheet = read(tmp_path, b"a,b\n1,")
    assert sheet.rows == {2: ["1", ""]} and sheet.changed(1, {2: "5"}) == b"a,b\n1,5"


@given(
    st.lists(st.lists(st.text(), min_size=2, max_size=4), min_size=1, max_size=5), st.sampled_from("\n \r\n".split(" "))
)
def test_cells_are_those_that_pythons_reader_finds(tmp_path_factory, rows, end):
    width = len(rows[0])
    rows = [[cell.replace("\0", "") for cell in (*row, *[""] * width)][:width] for row in [["a"] * width, *rows]]
    text = StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_ALL).writerows(rows)
    data = text.getvalue().encode("utf-8", "replace")
    sheet = read(tmp_path_factory.mktemp("cells"), data)
    wanted = [row for row in csv.reader(StringIO(data.decode(), newline="")) if any(cell.strip() for cell in row)]
    assert [sheet.header, *sheet.rows.values()] == wanted
    assert sheet.changed(0, {}) == data


def test_as_php_reads_a_quote_behind_a_backslash_does_not_end_a_cell(tmp_path):
    data = b'a,b,c\n1,"x \\" y",2\n3,"p \\"" q",4\n5,"""r""",6\n'
    sheet = read(tmp_path, data, escapes=True)
    assert [row[::2] for row in sheet.rows.values()] == [["1", "2"], ["3", "4"], ["5", "6"]]
    sheet.require_width()
    assert sheet.changed(2, {3: "9"}) == data.replace(b",4", b",9")


@pytest.mark.parametrize("data", [b'a,b\n1,2\n"C:\\",1\n"D:",2\n', b'a,b\n1,2\n"C:\\",1\n', b'a,b\n1,2\n"C:\\","x"\n'])
def test_a_cell_that_ends_with_a_backslash_would_swallow_the_next_for_php(tmp_path, data):
    read(tmp_path, data).require_width()
    with pytest.raises(CourseError, match=r"Line 3 of .* has a backslash before a quote|in the row .* line 3 a quote"):
        read(tmp_path, data, escapes=True)


def test_a_row_of_another_width_is_refused(tmp_path):
    with pytest.raises(CourseError, match=r"Line 3 of .* has 3 cells, but the first line has 2"):
        read(tmp_path, b"a,b\n1,2\n1,2,3\n").require_width()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is empty"),
        (b"\n\n", "is empty"),
        (b'a,b\n"x,1\ny,2\n', "in the row that starts in line 2 a quote is missing"),
        (b'a,b\n"x"y,1\n', "in the row that starts in line 2 a quote is missing"),
        ("a,Zoë\n".encode("cp1252"), "is not in UTF-8"),
        ("a,b\n".encode("utf-16"), "is not in UTF-8"),
        (b"PK\x03\x04", "is an Excel or LibreOffice workbook"),
    ],
)
def test_what_is_no_exported_sheet_is_a_sentence(tmp_path, data, said):
    with pytest.raises(CourseError, match=said):
        read(tmp_path, data)


@given(
    st.lists(st.lists(st.text(alphabet='a"",;\n\r\\ =é', max_size=6), min_size=3, max_size=3), min_size=1, max_size=5),
    st.text(alphabet='5.,";\n', max_size=4),
    st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_whatever_stands_in_a_sheet_only_the_cell_that_is_changed_is_another(tmp_path_factory, rows, new, quoting):
    text = StringIO(newline="")
    csv.writer(text, quoting=quoting).writerows([["h", "i", "j"], *rows])
    sheet = read(tmp_path_factory.mktemp("cells"), text.getvalue().encode())
    if sheet.delimiter != ",":  # a short sheet may be taken for another's
        return
    for line in sheet.rows:
        changed = sheet.changed(1, {line: new})
        wanted = {one: [row[0], new, row[2]] if one == line else row for one, row in sheet.rows.items()}
        found = [row for row in csv.reader(StringIO(changed.decode(), newline="")) if any(cell.strip() for cell in row)]
        assert found == [sheet.header, *(row for row in wanted.values() if any(cell.strip() for cell in row))]
