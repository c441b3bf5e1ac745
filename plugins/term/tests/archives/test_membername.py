"""Names out of archives: whatever the code page, on whatever file system."""

from __future__ import annotations

import struct
import unicodedata
import zipfile
import zlib

import pytest

from plugins.term.tests.archives.given import packed
from viva_term.archives import membername
from viva_term.archives.archive import unpack


def unmarked(tmp_path, name: str, page: str, extra: bytes = b"") -> list[str]:
    """What is read of a zip whose name is in a code page, and which does not say which."""
    raw = name.encode(page)
    info = zipfile.ZipInfo("N" * len(raw))
    info.extra = extra
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(info, "x")
    data = (tmp_path / "a.zip").read_bytes().replace(b"N" * len(raw), raw)
    (tmp_path / "a.zip").write_bytes(data)
    return [member.name for member in unpack(tmp_path / "a.zip", tmp_path / "out").members]


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("Jörg Müller_1_assignsubmission_file/hw1.ipynb", "cp437"),
        ("Zoë Lee_1_assignsubmission_file/hw1.ipynb", "cp437"),
        ("Иван Петров_1_assignsubmission_file/hw1.ipynb", "cp866"),
        ("Анна_1_assignsubmission_file/задание.ipynb", "cp866"),
        ("Иван Петров_1_assignsubmission_file/hw1.ipynb", "utf-8"),
        ("Zoë 🙂 Lee_1_assignsubmission_file/hw1.ipynb", "utf-8"),
        ("سارة حداد_1_assignsubmission_file/hw1.ipynb", "utf-8"),
        ("Ann O\u2019Neil - hw1.ipynb", "utf-8"),
    ],
)
def test_a_name_that_does_not_say_its_code_page_is_read(tmp_path, name, page):
    assert unmarked(tmp_path, name, page) == [name]


@pytest.mark.parametrize("page", ["cp437", "cp866"])
@pytest.mark.parametrize("name", ["Zoë Lee", "Иван Петров", "Ann O\u2019Neil", "José Núñez", "Łukasz Żak", "李小龍"])
def test_a_name_that_was_unpacked_in_the_wrong_code_page_is_put_right(name, page):
    assert membername.repaired(name.encode().decode(page)) == name
    assert membername.repaired(name) == name
    assert membername.repaired(unicodedata.normalize("NFD", name)) == name


def test_the_name_that_info_zip_keeps_beside_is_taken_where_it_is_of_the_same_name(tmp_path):
    told = "Łukasz.ipynb".encode()
    for check, name in ((zlib.crc32(b"Lukasz.ipynb"), "Łukasz.ipynb"), (1, "Lukasz.ipynb")):
        extra = struct.pack("<HHBI", 0x7075, 5 + len(told), 1, check) + told
        assert unmarked(tmp_path, "Lukasz.ipynb", "ascii", extra) == [name]
        for place in (tmp_path / "out").iterdir():
            place.unlink()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("CON", "_CON"), ("nul.ipynb", "_nul.ipynb"), ("com1.txt", "_com1.txt"), ("LPT9", "_LPT9"), ("aux", "_aux"),
        ("console.py", "console.py"), ("a:b?.ipynb", "a_b_.ipynb"), ("dots...", "dots"), ("space ", "space"),
        ("...", "_"), ("a\x1b[2Jb", "a_[2Jb"), ("\u202egnp.ipynb", "_gnp.ipynb"), (".viva-x", "_.viva-x"),
        ("سارة.ipynb", "سارة.ipynb"), ("🙂.ipynb", "🙂.ipynb"),
    ],
)  # fmt: skip
def test_a_name_is_made_fit_for_every_file_system(name, safe):
    assert membername.safe(name) == safe


def test_long_names_are_cut_and_stay_apart_and_keep_their_ending():
    one, other = membername.safe("ö" * 300 + "a.ipynb"), membername.safe("ö" * 300 + "b.ipynb")
    assert one != other and one.endswith(".ipynb") and max(len(one.encode()), len(other.encode())) <= 255


def test_names_that_a_file_system_takes_for_one_are_told_apart():
    taken = set()
    assert [membername.unlike(name, taken) for name in ("a/HW.ipynb", "a/hw.ipynb", "a/hw.ipynb", ".x")] == [
        "a/HW.ipynb", "a/hw (1).ipynb", "a/hw (2).ipynb", ".x"
    ]  # fmt: skip


def test_a_name_in_utf_8_that_is_none_is_damage_and_not_a_traceback(tmp_path):
    from viva.verdict import CourseError

    data = packed({"Zoë.ipynb": "x"}).replace("ë".encode(), b"\xff\xfe")
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CourseError, match="is damaged"):
        unpack(tmp_path / "a.zip", tmp_path / "out")
