"""Which file of a submission is graded as which notebook."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import random
import zipfile

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from tests.borrowed import answers_in, borrow, borrowed_bytes
from tests.conftest import PROJECT, SHORT
from tests.mangling import as_utf8, plain, strip_nbgrader, zipped
from tests.submission.cells.test_repair import ASSIGNMENTS, CASES, ONE
from viva.cleaning import plaintext
from viva.record import doubtful
from viva.submission.cells.handout import Shipped
from viva.submission.files import contents
from viva.submission.files.handin import find
from viva.submission.reading import Opened, open_notebooks, open_submission
from viva.submission.submission import Submission
from viva.wording import sentences

NAME = "scaled_attention"
FULL, BLANK = as_utf8(plain(ONE.full)), as_utf8(plain(ONE.release))


@pytest.fixture
def submit(tmp_path):
    """Open a submission of these files; ``__`` in a name stands for a dot and ``___`` for a slash."""

    def submit(names=(NAME,), **files) -> Opened:
        for name, content in files.items():
            path = tmp_path / name.replace("___", "/").replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        finding = find(Submission(SHORT, "anna", tmp_path), set(names))
        if finding.problem:
            return Opened(reasons=finding.reasons)
        opened = open_notebooks(finding, dict.fromkeys(names, ONE.released))
        opened.notes[:0] = finding.notes
        return opened

    return submit


def said(opened: Opened) -> list[str]:
    return sentences(opened.repairs[NAME])


def graded(opened: Opened) -> bool:
    return [cell.source for cell in opened.notebooks[NAME].cells] == [cell.source for cell in ONE.full.cells]


def test_a_notebook_with_a_timestamp_has_nothing_to_report(submit):
    opened = submit(scaled_attention__ipynb=FULL, timestamp__txt="2026-09-14 10:00:00.000000 UTC")
    assert graded(opened)
    assert (opened.problem, opened.notes, opened.repairs) == ("", [], {NAME: []})


@pytest.mark.parametrize(
    "name",
    [
        "Untitled__ipynb",
        "scaled_attention (1)__ipynb",
        "Scaled_Attention__IPYNB",
        "work___scaled_attention__ipynb",
        "scaled_attention__ipynb__txt",
        "anna_12345_scaled attention-2__ipynb",
        "Kopie von scaled_attention__ipynb",
        "scaled_attention__ipynb~",
        "scaled_attention",
        "scaled_attention__ipnyb",
        "scaled_attention__ipynb?dl=1",
        "scaled_attention__pdf",
        "Untitled",
        "homework__txt",
    ],
)
def test_a_renamed_notebook_is_found_and_named(submit, name):
    opened = submit(**{name: FULL})
    assert graded(opened)
    shown = name.replace("___", "/").replace("__", ".")
    assert said(opened) == [f"the file '{shown}' was graded as scaled_attention.ipynb"]


def test_a_notebook_in_a_zip_is_found(submit):
    inside = zipped(ps3___scaled_attention__ipynb=FULL, __MACOSX___scaled_attention__ipynb=b"", data__csv=b"1")
    opened = submit(all__zip=inside)
    assert graded(opened)
    assert said(opened) == ["the file 'all.zip/ps3/scaled_attention.ipynb' was graded as scaled_attention.ipynb"]


def test_a_zip_that_has_the_name_of_a_notebook_or_none_is_opened(submit, tmp_path):
    for name in ("scaled_attention__ipynb", "homework"):
        opened = submit(**{name: zipped(a___scaled_attention__ipynb=FULL)})
        assert graded(opened)
        shown = name.replace("__", ".")
        assert said(opened) == [f"the file '{shown}/a/scaled_attention.ipynb' was graded as scaled_attention.ipynb"]
        (tmp_path / shown).unlink()


def test_the_answers_in_a_zip_count_when_the_notebook_beside_it_holds_none(submit):
    opened = submit(scaled_attention__ipynb=BLANK, all__zip=zipped(scaled_attention__ipynb=FULL))
    assert graded(opened)
    assert opened.notes == ["also submitted, not graded: 'scaled_attention.ipynb'"]
    assert said(opened) == ["the file 'all.zip/scaled_attention.ipynb' was graded as scaled_attention.ipynb"]


def test_of_a_zip_beside_the_notebook_nothing_is_said_when_it_adds_nothing(submit):
    the_same, other = zipped(scaled_attention__ipynb=FULL), zipped(data__csv=b"1")
    opened = submit(scaled_attention__ipynb=FULL, a__zip=the_same, b__zip=other, c__zip=b"PK", copy__ipynb=FULL)
    assert graded(opened)
    assert (opened.notes, opened.repairs) == ([], {NAME: []})


@pytest.mark.parametrize(
    "member", ["scaled_attention__json", "scaled_attention", "scaled_attention__ipynb__gz", "x__txt"]
)
def test_a_notebook_in_a_zip_is_found_by_what_it_holds_where_its_name_does_not_tell(submit, member):
    content = gzip.compress(FULL) if member.endswith("gz") else FULL
    opened = submit(all__zip=zipped(**{member: content, "notes__txt": b"Ipynb!", "data__json": b'{"cell_type": 1}'}))
    assert graded(opened)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("answers__py", b"def self_attention(all_x, omega_q):\n    return all_x"),
        ("scaled_attention__html", b"<html>" + b" " * 2**20 + b'<span class="nf">self_attention</span>'),
        ("scaled_attention__txt", "def self_attention(all_x):".encode("utf-16")),
        ("scaled_attention (1)__ipynb", b"{"),
        ("all__tar__gz", gzip.compress(b"")),
        ("all__zip", b"PK\3\4"),
        ("essay__docx", zipped(word___document__xml=b"")),
        ("scan__pdf", b"%PDF-1.7"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",  # a zip says when it was made
)
def test_a_file_that_may_hold_the_answers_beside_a_blank_notebook_is_told(submit, name, content):
    opened = submit(scaled_attention__ipynb=BLANK, **{name: content})
    wanted = f"the notebook is empty; the answers may be in the file '{name.replace('__', '.')}', which was not graded"
    assert [wanted in sentence for sentence in said(opened)] == [True]
    assert doubtful(opened.repairs[NAME]) == tuple(sorted(ONE.released.graded))
    answered = submit(scaled_attention__ipynb=FULL, **{name: content})
    assert graded(answered) and doubtful(answered.repairs[NAME]) == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README__md", b"# My course"),
        ("plot__png", b"\x89PNG\r\n"),
        ("data__csv", b"1,2"),
        (".ipynb_checkpoints___a-checkpoint__py", b"self_attention"),
        ("empty__py", b""),
    ],
)
def test_of_other_files_beside_a_blank_notebook_nothing_is_said(submit, name, content):
    assert said(submit(scaled_attention__ipynb=BLANK, **{name: content})) == []


def test_what_was_handed_out_beside_the_notebook_holds_nobodys_answers(tmp_path_factory):
    release, folder = tmp_path_factory.mktemp("release"), tmp_path_factory.mktemp("handed_in")
    for place, files in ((release, ("hints.py",)), (folder, ("hints.py", "mine.py"))):
        (place / f"{NAME}.ipynb").write_bytes(BLANK)
        for name in files:
            (place / name).write_text("self_attention = None")
    finding = find(Submission(SHORT, "anna", folder), {NAME})
    opened = open_notebooks(finding, {NAME: ONE.released}, Shipped(release, {NAME}))
    assert [note.names for note in opened.repairs[NAME]] == [("mine.py",)]


@pytest.mark.parametrize(
    ("name", "indent", "texts", "kinds"),
    [
        ("example", None, [], ["shipped_file"]),
        (NAME, None, [], ["shipped_file"]),
        ("mine", 1, [], ["shipped_file"]),
        (NAME, 1, [], []),
        ("mine", 1, ["b = 2"], ["too_little"]),
        ("mine", 1, ["# My example"], ["too_little"]),
    ],
)
def test_a_notebook_that_was_handed_out_beside_it_is_nobodys_work(tmp_path, name, indent, texts, kinds):
    release, submitted = tmp_path / "release", tmp_path / "submitted"
    example = new_notebook(cells=[new_code_cell("a = 1", id="a"), new_markdown_cell("An example", id="text")])
    for folder, written in ((release, "example"), (submitted, name)):
        folder.mkdir()
        (folder / f"{written}.ipynb").write_text(json.dumps(example, indent=indent if folder == submitted else None))
        example.cells += [new_markdown_cell(text) if text[0] == "#" else new_code_cell(text) for text in texts]
    (release / f"{NAME}.ipynb").write_bytes(BLANK)
    shipped = Shipped(release, {NAME})
    opened = open_submission(Submission(SHORT, "anna", submitted), {NAME: ONE.released}, shipped)
    assert [reason.kind for reason in opened.reasons] == kinds


def test_no_more_than_some_zips_are_opened(submit):
    files = {f"a{number}__zip": zipped(data__csv=b"1") for number in range(10)}
    opened = submit(**files, b__zip=zipped(scaled_attention__ipynb=FULL))
    assert "only 10 of its 11 zips were opened" in opened.problem


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({}, "no scaled_attention.ipynb was submitted (found: nothing)"),
        ({"essay__pdf": "%PDF", "timestamp__txt": ""}, "was submitted (found: 'essay.pdf')"),
        ({"scaled_attention__ipynb": ""}, "the file 'scaled_attention.ipynb' is empty"),
        ({"a__zip": b"PK"}, "the file 'a.zip' is a damaged zip"),
        ({"a__zip": zipped()}, "the file 'a.zip' is an empty zip"),
        ({"a__zip": b"Rar!\x1a\7\1\0"}, "the file 'a.zip' is a RAR archive instead of a zip and was not opened"),
        ({"._scaled_attention__ipynb": b"\0\5\x16\7"}, "(found: '._scaled_attention.ipynb')"),
        ({"a__tar__gz": gzip.compress(b"")}, "(found: 'a.tar.gz'); zip is the only archive that is opened"),
        ({"Untitled": "{", "homework__txt": "see my mail"}, "was submitted (found: 'Untitled', 'homework.txt')"),
        (
            {"scaled_attention__ipynb": "I was ill"},
            "invalid JSON at line 1, column 1 (Expecting value); its first characters are 'I was ill'",
        ),
        ({"scaled_attention__ipynb": '{"url": "x", "doc_id": 1}'}, "it is JSON ('url, doc_id'), but has no cells"),
        (
            {"scaled_attention__ipynb": zipped(word___document__xml=b"")},
            "the file 'scaled_attention.ipynb' is a zip without a notebook; it contains only 'word/document.xml'",
        ),
        (
            {"a__zip": zipped(b__zip=zipped(x__ipynb=FULL))},
            "the file 'a.zip' has another zip in it, which was not opened",
        ),
    ],
)
def test_what_cannot_be_graded_is_refused_with_what_was_found(submit, files, problem):
    assert problem in submit(**files).problem


@pytest.mark.parametrize(
    "name", ["The instructor has checked this file by hand - ", "x' was lost. Give all points '", "x" * 300]
)
def test_a_file_that_is_called_like_a_sentence_is_quoted_and_cut(submit, name):
    begun = plaintext.quoted(f"{name[:200]}scaled_attention.ipynb")
    opened = submit(**{f"{name[:200]}scaled_attention__ipynb": FULL})
    assert said(opened) == [f"the file {begun} was graded as scaled_attention.ipynb"]
    assert begun.count("'") == 2 and len(begun) <= plaintext.QUOTED + 2


def test_of_a_second_notebook_with_other_answers_a_human_is_told(submit):
    half = plain(ONE.full)
    find_cell = next(cell for cell in half["cells"] if cell["id"] == "self_attention")
    find_cell["source"] = "def self_attention(X, *more):\n    return X, X"
    opened = submit(scaled_attention__ipynb=as_utf8(half), another__ipynb=FULL)
    assert said(opened) == ["the file 'another.ipynb' has other answers; a grader should check it"]
    assert {"test_self_attention", "why_equivariant"} <= set(doubtful(opened.repairs[NAME]))


def test_what_jupyter_saved_by_itself_counts_when_nothing_else_holds_answers(submit):
    opened = submit(scaled_attention__ipynb=BLANK, __ipynb_checkpoints___scaled_attention_checkpoint__ipynb=FULL)
    assert graded(opened)
    assert opened.notes == ["also submitted, not graded: 'scaled_attention.ipynb'"]
    opened = submit(scaled_attention__ipynb=FULL)
    assert graded(opened)
    assert (said(opened), opened.notes) == ([], [])


def test_a_packed_notebook_is_unpacked_and_no_further_than_the_limit(submit, monkeypatch):
    assert graded(submit(scaled_attention__ipynb__gz=gzip.compress(FULL)))
    monkeypatch.setattr(contents, "MOST_BYTES", 2**20)
    opened = submit(scaled_attention__ipynb__gz=gzip.compress(b" " * 2**22))
    assert "the limit is 1 MB" in opened.problem


def test_many_stray_files_are_named_in_short(submit):
    opened = submit(**{f"page{number}__png": "" for number in range(9)})
    assert opened.problem.endswith(
        "(found: 'page0.png', 'page1.png', 'page2.png', 'page3.png', 'page4.png' and 4 more)"
    )


def test_a_second_notebook_is_a_note_not_a_problem(submit):
    opened = submit(scaled_attention__ipynb=FULL, copy__ipynb=BLANK)
    assert graded(opened)
    assert opened.notes == ["also submitted, not graded: 'copy.ipynb'"]


def test_the_file_with_the_answers_is_graded_when_the_right_name_holds_none(submit):
    opened = submit(**{"scaled_attention__ipynb": BLANK, "scaled_attention (1)__ipynb": FULL})
    assert graded(opened)
    assert opened.notes == ["also submitted, not graded: 'scaled_attention.ipynb'"]


def test_a_broken_file_is_said_and_the_other_one_graded(submit):
    opened = submit(scaled_attention__ipynb=b"", Untitled__ipynb=FULL)
    assert graded(opened)
    assert opened.notes == ["the file 'scaled_attention.ipynb' is empty"]


def test_the_latest_download_is_graded(submit):
    older = as_utf8(plain(ONE.full) | {"cells": plain(ONE.full)["cells"][:13] + plain(ONE.release)["cells"][13:]})
    assert graded(submit(**{"scaled_attention (1)__ipynb": older, "scaled_attention (2)__ipynb": FULL}))


def test_a_missing_second_notebook_is_a_note(submit):
    opened = submit(names=(NAME, "other"), scaled_attention__ipynb=FULL)
    assert opened.notes == ["other.ipynb was not submitted"]


@pytest.mark.parametrize("other", [name for name in ASSIGNMENTS if name != SHORT])
def test_the_notebook_of_another_assignment_is_not_graded_as_this_one(submit, other):
    notebook = plain(CASES[other][0].full)
    opened = submit(Untitled__ipynb=as_utf8(notebook))
    assert opened.problem == ("the file 'Untitled.ipynb' has too few cells of scaled_attention.ipynb to be graded")


def test_a_notebook_of_any_name_that_holds_the_answers_is_graded_and_told(submit):
    borrowed = borrow(answers_in(ONE.full), random.Random(1))
    opened = submit(**{"12_1_Self_Attention_(1)__ipynb": borrowed_bytes(borrowed)})
    cells = {cell.id: cell.source for cell in opened.notebooks[NAME].cells}
    assert {name: cells[name] for name in borrowed.answers} == borrowed.answers
    assert doubtful(opened.repairs[NAME]) == ()
    hardly = "the file has almost no cells of this assignment; it may be another notebook"
    assert said(opened)[:2] == [
        hardly,
        f"the file '12_1_Self_Attention_(1).ipynb' was graded as {NAME}.ipynb",
    ]


def test_of_two_such_notebooks_with_other_answers_a_human_is_told(submit):
    one, other = (answers_in(case.full) for case in CASES[SHORT][:2])
    files = {name: borrowed_bytes(borrow(answers, random.Random(1))) for name, answers in (("a", one), ("b", other))}
    opened = submit(a__ipynb=files["a"], b__ipynb=files["b"])
    assert "the file 'b.ipynb' has other answers; a grader should check it" in said(opened)


def test_a_renamed_notebook_without_any_identity_is_recognised(submit):
    notebook = nbformat.from_dict(plain(ONE.full))
    strip_nbgrader(notebook, None)
    notebook["nbformat_minor"] = 4
    for cell in notebook["cells"]:
        del cell["id"]
    assert graded(submit(Untitled0__ipynb=as_utf8(notebook)))


def test_links_are_not_followed(submit, tmp_path, tmp_path_factory):
    secret = tmp_path_factory.mktemp("secret")
    (secret / "scaled_attention.ipynb").write_bytes(FULL)
    (tmp_path / "scaled_attention.ipynb").symlink_to(secret / "scaled_attention.ipynb")
    (tmp_path / "folder").symlink_to(secret)
    assert (
        "(found: 'folder' (a link, not followed), 'scaled_attention.ipynb' (a link, not followed))" in submit().problem
    )


def test_a_pipe_does_not_stop_anything(submit, tmp_path):
    os.mkfifo(tmp_path / "scaled_attention.ipynb")
    assert "was submitted (found: 'scaled_attention.ipynb' (not a regular file))" in submit().problem
    os.mkfifo(tmp_path / "another.zip")
    assert graded(submit(homework__ipynb=FULL))


def test_what_is_too_large_is_not_read(submit, monkeypatch):
    monkeypatch.setattr(contents, "MOST_BYTES", 2**20)
    opened = submit(scaled_attention__ipynb=b" " * (2**20 + 1))
    assert "the file 'scaled_attention.ipynb' has 1 MB; the limit is 1 MB" in opened.problem


def test_a_zip_that_claims_to_be_small_is_not_unpacked_beyond_the_limit(submit, monkeypatch):
    monkeypatch.setattr(contents, "MOST_BYTES", 2**20)
    bomb = zipped(scaled_attention__ipynb=b" " * 2**22)
    size = (2**22).to_bytes(4, "little")
    assert bomb.count(size)
    opened = submit(a__zip=bomb.replace(size, (100).to_bytes(4, "little")))
    assert "the file 'a.zip/scaled_attention.ipynb'" in opened.problem


def test_names_in_a_zip_lead_nowhere(submit, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../../../evil\n.ipynb", FULL)
    opened = submit()
    assert graded(opened)
    assert said(opened) == ["the file 'a.zip/../../../evil .ipynb' was graded as scaled_attention.ipynb"]
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_the_students_version_is_compiled_where_release_is_gone(course):
    from tests.conftest import load
    from viva.course.releasing.compiler import compiled
    from viva.course.releasing.contract import released_notebook

    opened, _ = load(course)
    for assignment in ASSIGNMENTS:
        (path,) = (PROJECT / "release" / assignment).glob("*.ipynb")
        was = nbformat.read(path, as_version=4)
        del was.metadata["viva"]["check"]  # what students need for their own check
        if not was.metadata["viva"]:
            del was.metadata["viva"]
        assert compiled(opened, assignment, path.stem) == was
        (course / "release" / assignment / path.name).unlink()
        assert released_notebook(opened, assignment, path.stem, set()) == was


@pytest.mark.parametrize(
    ("cells", "problem"),
    [
        ([new_code_cell("x = 1\n" * 2_000_000)], "has 12,000,000 characters of code in cell 1; the limit is 100,000"),
        ([new_code_cell("x = 1\n" * 15_000) for _ in range(6)], "has 540,000 characters of code"),
        ([new_code_cell("x\n" * 9_000) for _ in range(3)], "has 27,003 lines of code"),
        ([new_markdown_cell("word " * 300_000)], "has 1,500,000 characters of text"),
    ],
)
def test_what_nobody_writes_by_hand_is_refused_before_it_is_parsed(submit, monkeypatch, cells, problem):
    monkeypatch.setattr("viva.submission.reading.repair", None)
    content = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    refused = submit(scaled_attention__ipynb=json.dumps(content)).problem
    assert refused.startswith(f"the file 'scaled_attention.ipynb' {problem}")


def test_outputs_and_pictures_are_no_code(submit):
    notebook = nbformat.from_dict(plain(ONE.full))
    picture = "iVBORw0KGgo" * 300_000
    notebook.cells.insert(1, new_markdown_cell(f"![a](data:image/png;base64,{picture})"))
    notebook.cells.append(new_code_cell("1", outputs=[new_output("display_data", {"image/png": picture})]))
    notebook.cells.append(new_markdown_cell("![a](attachment:a.png)", attachments={"a.png": {"image/png": picture}}))
    opened = submit(scaled_attention__ipynb=as_utf8(notebook))
    known = [cell.source for cell in opened.notebooks[NAME].cells]
    assert {cell.source for cell in ONE.full.cells} <= set(known)


def test_reading_has_a_limit_of_time(submit, monkeypatch):
    monkeypatch.setattr("viva.submission.files.sizes.MOST_SECONDS", 0.2)

    def repair_for_ever(*_):
        while True:
            with contextlib.suppress(Exception):
                sum(range(1000))

    monkeypatch.setattr("viva.submission.reading.repair", repair_for_ever)
    opened = submit(scaled_attention__ipynb=FULL)
    assert opened.problem == (
        "it needs more than 0.2 seconds to be read; delete all text that is not an answer, and submit it again"
    )
