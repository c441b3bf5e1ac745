"""Hostile archives, made of harmless files: nothing lands outside, and what is left out is said."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import stat
import tarfile
import zipfile
from dataclasses import replace

import pytest

from plugins.term.tests.archives.given import folder, packed, tarred, tree, zipped
from viva.verdict import CourseError
from viva_term.archives.archive import unpack
from viva_term.archives.listing import CLASS


@pytest.fixture
def opened(tmp_path):
    """Unpack an archive; the names of what came out, and what was said."""

    def run(path, **limits):
        shutil.rmtree(tmp_path / "out", ignore_errors=True)
        found = unpack(path, tmp_path / "out", replace(CLASS, **limits))
        assert all(
            place.parent == tmp_path / "out" and place.name.isdecimal() for place in (tmp_path / "out").iterdir()
        )
        return {member.name: member.path.read_bytes() for member in found.members}, found.left_out

    return run


def linked(file_type: int, name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system, info.external_attr = 3, (file_type | 0o777) << 16
    return info


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "a/../../evil",
        "..\\evil",
        "a/..\\..\\evil",
        "/tmp/evil",
        "\\evil",
        "C:\\evil",
        "c:evil",
        "//host/evil",
    ],
)
def test_a_name_that_leads_out_is_left_out_and_the_rest_stays(opened, tmp_path, name):
    names, said = opened(zipped(tmp_path / "a.zip", {name: "evil", "good.ipynb": "good"}))
    assert names == {"good.ipynb": b"good"}
    assert len(said) == 1 and ("points outside the folder" in said[0] or "is absolute" in said[0])


def test_links_devices_and_pipes_are_left_out(opened, tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(linked(stat.S_IFLNK, "link"), "/etc/passwd")
        archive.writestr(linked(stat.S_IFCHR, "device"), "")
        archive.writestr(linked(stat.S_IFIFO, "pipe"), "")
        archive.writestr(linked(stat.S_IFREG, "file"), "x")
    names, said = opened(path)
    assert names == {"file": b"x"}
    assert [("link" in one, "device" in one) for one in said] == [(True, False), (False, True), (False, True)]


def test_a_tar_is_read_as_warily(opened, tmp_path):
    members = []
    for name, member in (
        ("sym", tarfile.SYMTYPE),
        ("hard", tarfile.LNKTYPE),
        ("dev", tarfile.CHRTYPE),
        ("fifo", tarfile.FIFOTYPE),
    ):
        info = tarfile.TarInfo(name)
        info.type, info.linkname = member, "/etc/passwd"
        members.append((info, b""))
    members += [(tarfile.TarInfo(name), b"x") for name in ("../evil", "/evil", "jdoe/hw1.ipynb")]
    for mode in ("w", "w:gz", "w:bz2", "w:xz"):
        names, said = opened(tarred(tmp_path / "a.tar", members, mode))
        assert names == {"jdoe/hw1.ipynb": b"x"} and len(said) == 6


def test_a_folder_is_no_way_out_either(opened, tmp_path):
    place = folder(tmp_path / "given", {"jdoe/hw1.ipynb": "x"})
    (place / "jdoe" / "passwd").symlink_to("/etc/passwd")
    (place / "zoe").symlink_to("/etc")
    os.mkfifo(place / "pipe")
    names, said = opened(place)
    assert names == {"jdoe/hw1.ipynb": b"x"} and len(said) == 3


def test_one_that_is_too_large_or_shrinks_too_much_is_left_out_and_the_rest_stays(opened, tmp_path):
    path = zipped(tmp_path / "a.zip", {"zeros": bytes(5 * 2**20), "good": "good"})
    names, said = opened(path, small=2**20)
    assert names == {"good": b"good"} and "times as large" in said[0]
    names, said = opened(zipped(tmp_path / "b.zip", {"large": os.urandom(3000), "good": "good"}), member=2000)
    assert "good" in names and "large" not in names and "the limit is" in said[0]


def test_a_bomb_of_many_members_or_bytes_is_refused_whole(opened, tmp_path):
    path = zipped(tmp_path / "a.zip", {f"{number}": "xxxxxxxxxx" for number in range(30)})
    for limits in ({"members": 20}, {"total": 200}):
        with pytest.raises(CourseError, match="times its packed size"):
            opened(path, **limits)
    assert len(opened(path)[0]) == 30


def test_a_packed_tar_of_zeros_is_refused_before_it_is_read_through(opened, tmp_path):
    path = tarred(tmp_path / "a.tar.gz", [(tarfile.TarInfo("zeros"), bytes(8 * 2**20))])
    with pytest.raises(CourseError, match="times its packed size"):
        opened(path, small=2**20)


def test_a_packed_tar_of_folders_is_refused_before_it_is_read_through(opened, tmp_path):
    folders = [tarfile.TarInfo(str(number)) for number in range(300)]
    for info in folders:
        info.type = tarfile.DIRTYPE
    members = [*((info, b"") for info in folders), (tarfile.TarInfo("jdoe/hw1.ipynb"), b"x")]
    path = tarred(tmp_path / "a.tar.gz", members)
    assert set(opened(path, members=301)[0]) == {"jdoe/hw1.ipynb"}
    with pytest.raises(CourseError, match="times its packed size"):
        opened(path, members=299)


def test_members_that_share_their_bytes_are_refused(opened, tmp_path):
    """As in Fifield's bomb, where thousands of members are one."""
    data = packed({"a": os.urandom(5000), "b": "x"})
    end = data.index(b"PK\1\2")
    one = data[end : end + 46 + 1]
    many, count = one * 50, 50
    tail = b"PK\5\6" + bytes(4) + count.to_bytes(2, "little") * 2 + len(many).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(data[:end] + many + tail + end.to_bytes(4, "little") + bytes(2))
    with pytest.raises(CourseError, match="is not a normal zip: its files overlap"):
        opened(tmp_path / "a.zip")


def test_a_member_that_lies_about_its_size_is_damage(opened, tmp_path):
    data = bytearray(packed({"hw1.ipynb": "x" * 5000}))
    for mark, place in ((b"PK\3\4", 22), (b"PK\1\2", 24)):
        at = data.index(mark) + place
        data[at : at + 4] = (10).to_bytes(4, "little")
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CourseError, match="is damaged or cut off"):
        opened(tmp_path / "a.zip")


@pytest.mark.parametrize("keep", [0.3, 0.6, 0.9, 0.99])
def test_one_that_was_cut_off_is_refused_whole(opened, tmp_path, keep):
    files = {f"{number}.ipynb": os.urandom(2000) for number in range(20)}
    data = packed(files)
    (tmp_path / "a.zip").write_bytes(data[: int(keep * len(data))])
    with pytest.raises(CourseError, match="download it again"):
        opened(tmp_path / "a.zip")
    members = [(tarfile.TarInfo(name), text) for name, text in files.items()]
    for mode in ("w:gz", "w"):
        data = tarred(tmp_path / "b.tar", members, mode).read_bytes()
        if mode == "w":
            data = data[: len(data) - 10240]  # the end, and what a tar is filled up with
        (tmp_path / "b.tar").write_bytes(data[: int(keep * len(data))])
        with pytest.raises(CourseError, match="download it again"):
            opened(tmp_path / "b.tar")


def test_damage_in_the_middle_is_found(opened, tmp_path):
    data = bytearray(packed({"a.ipynb": os.urandom(5000), "b.ipynb": "x"}))
    data[2000] ^= 0xFF
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(CourseError, match=r"'a\.ipynb'"):
        opened(tmp_path / "a.zip")


def locked(data: bytes, names: list[bytes]) -> bytes:
    """The zip with the flag by which members are encrypted."""
    data = bytearray(data)
    for mark, flags, name in ((b"PK\3\4", 6, 30), (b"PK\1\2", 8, 46)):
        at = -1
        while (at := data.find(mark, at + 1)) >= 0:
            if any(data[at + name : at + name + len(one)] == one for one in names):
                data[at + flags] |= 1
    return bytes(data)


def test_a_locked_archive_is_refused_and_a_locked_member_left_out(opened, tmp_path):
    data = packed({"a.ipynb": "a", "b.ipynb": "b"})
    (tmp_path / "a.zip").write_bytes(locked(data, [b"a.ipynb", b"b.ipynb"]))
    with pytest.raises(CourseError, match="is locked with a password"):
        opened(tmp_path / "a.zip")
    (tmp_path / "a.zip").write_bytes(locked(data, [b"a.ipynb"]))
    names, said = opened(tmp_path / "a.zip")
    assert names == {"b.ipynb": b"b"} and "locked with a password" in said[0]


def test_what_systems_leave_behind_is_nobodys(opened, tmp_path):
    files = {"__MACOSX/._a": "", "a/.DS_Store": "", "a/.git/config": "", "a/hw1.ipynb": "x", "a/._hw1.ipynb": ""}
    assert opened(zipped(tmp_path / "a.zip", files)) == ({"a/hw1.ipynb": b"x"}, [])


def test_what_is_no_archive_is_told_from_what_was_cut_off(opened, tmp_path):
    for data, told in (
        (b"Rar!\x1a\7", "is a RAR archive"),
        (b"7z\xbc\xaf\x27\x1c", "is a 7z archive"),
        (b"hello", "is not an archive"),
        (b"", "is not an archive"),
        (b"PK\3\4", "is damaged or cut off"),
    ):
        (tmp_path / "a").write_bytes(data)
        with pytest.raises(CourseError, match=told):
            opened(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CourseError, match="is not a regular file"):
        opened(tmp_path / "pipe")
    assert opened(zipped(tmp_path / "e.zip", {})) == ({}, [])


def test_a_long_header_of_a_tar_is_not_read_into_memory(opened, tmp_path):
    info = tarfile.TarInfo("x")
    info.type = tarfile.XHDTYPE
    tarred(tmp_path / "a.tar", [(info, bytes(3 * 2**20)), (tarfile.TarInfo("y"), b"")], "w")
    with pytest.raises(CourseError, match="a header in it is too long"):
        opened(tmp_path / "a.tar")


@pytest.mark.slow
def test_ten_thousand_members_are_read(opened, tmp_path):
    path = zipped(tmp_path / "a.zip", {f"s{number}/hw1.ipynb": str(number) for number in range(10_000)}, 0)
    names, said = opened(path)
    assert len(names) == 10_000 and not said and tree(tmp_path / "out")["17"] == b"17"


def test_what_lies_behind_the_end_of_a_packed_tar_is_not_unpacked_for_ever(opened, tmp_path):
    data = gzip.decompress(tarred(tmp_path / "a.tgz", [(tarfile.TarInfo("x"), b"x")]).read_bytes())
    (tmp_path / "a.tgz").write_bytes(gzip.compress(data + bytes(4 * 2**20)))
    with pytest.raises(CourseError, match="there is more data after its end"):
        opened(tmp_path / "a.tgz")


def test_bytes_that_were_changed_anywhere_end_in_a_sentence_or_in_nothing(opened, tmp_path):
    chance = random.Random(7)
    members = [(tarfile.TarInfo(name), b"x" * 100) for name in ("a/b", "c/d")]
    whole = [packed({"doejane_1_2_hw.ipynb": "x" * 300, "Zoë_1_3_hw.zip": packed({"a": "b"})})]
    whole += [tarred(tmp_path / "a.tar", members, mode).read_bytes() for mode in ("w", "w:gz", "w:bz2", "w:xz")]
    refused = 0
    for _ in range(300):
        data = bytearray(chance.choice(whole))
        for _ in range(chance.choice((1, 2, 5))):
            data[chance.randrange(min(len(data), 3000))] = chance.randrange(256)
        (tmp_path / "a").write_bytes(data)
        try:
            opened(tmp_path / "a")
        except CourseError:
            refused += 1
    assert refused > 150
