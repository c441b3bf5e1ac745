"""A submission as bytes is the same submission again, whatever its folder holds."""

from __future__ import annotations

import os

import msgspec
import pytest

from viva.folder import walk as walked
from viva.submission.files import contents, handin
from viva.submission.packing import Entry, Package, copy, pack, unpack
from viva.submission.submission import Submission


@pytest.fixture
def there(tmp_path):
    folder = tmp_path / "there"
    folder.mkdir()
    return Submission("ps1", "änna", folder)


def again(submission: Submission, tmp_path) -> Submission:
    return unpack(pack(submission), tmp_path / "again")


def test_files_keep_their_names_places_and_bytes(there, tmp_path):
    files = {"a.ipynb": b"{}", "in/deep/data.bin": bytes(range(256)), "ü (1).ipynb": b"", "a\nb.txt": b"x"}
    for name, data in files.items():
        (there.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (there.folder / name).write_bytes(data)
    (there.folder / os.fsdecode(b"\xff.ipynb")).write_bytes(b"{}")
    other = again(there, tmp_path)
    assert (other.assignment, other.student) == ("ps1", "änna")
    assert {name: (other.folder / name).read_bytes() for name in files} == files
    assert (other.folder / os.fsdecode(b"\xff.ipynb")).is_file()


def test_links_and_pipes_are_such_again_and_are_not_followed(there, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("not theirs")
    (there.folder / "link.ipynb").symlink_to(secret)
    os.mkfifo(there.folder / "pipe.ipynb")
    assert b"not theirs" not in pack(there)
    other = again(there, tmp_path)
    assert os.readlink(other.folder / "link.ipynb") == str(secret)
    assert (other.folder / "pipe.ipynb").is_fifo()
    names = ("(a link, not followed)", "(not a regular file)")
    for one in (there, other):
        assert all(name in handin.find(one, {"a"}).problem for name in names)


@pytest.mark.parametrize("swapped", ["änna", "änna/ps1", "änna/ps1/in", "änna/ps1/in/a.ipynb"])
def test_a_link_that_takes_the_place_of_a_folder_meanwhile_is_not_followed(tmp_path, monkeypatch, swapped):
    mine, theirs = tmp_path / "submitted", tmp_path / "theirs"
    for root, text in ((mine, "mine"), (theirs, "not theirs")):
        (root / "änna/ps1/in").mkdir(parents=True)
        (root / "änna/ps1/in/a.ipynb").write_text(text)
    submission = Submission("ps1", "änna", mine / "änna/ps1")
    assert (copy(submission, tmp_path / "before").folder / "in/a.ipynb").read_text() == "mine"

    def walk(folder, ignored):
        yield from list(walked(folder))
        (mine / swapped).rename(tmp_path / "away")
        (mine / swapped).symlink_to(theirs / swapped)

    monkeypatch.setattr("viva.submission.packing.walk", walk)
    entry = copy(submission, tmp_path / "after").folder / "in/a.ipynb"
    assert entry.is_symlink() == swapped.endswith("a.ipynb")
    assert entry.is_symlink() or not entry.exists() or entry.stat().st_size == 0


def test_what_is_too_large_to_be_read_costs_no_more_than_its_size(there, tmp_path):
    with (there.folder / "a.ipynb").open("wb") as file:
        file.truncate(contents.MOST_BYTES + 1)
    data = pack(there)
    assert len(data) < 1000
    assert (unpack(data, tmp_path / "again").folder / "a.ipynb").stat().st_size == contents.MOST_BYTES + 1


def test_nothing_is_written_outside_of_the_folder(tmp_path):
    entries = [Entry(b"../out", "file", b"x"), Entry(b"/tmp/viva-out", "file", b"x")]
    entries += [Entry(b"up", "link", b".."), Entry(b"up/out", "file", b"x"), Entry(b"in", "file", b"x")]
    package = msgspec.msgpack.encode(Package("ps1", "a", entries))
    folder = unpack(package, tmp_path / "again").folder
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again"]
    assert not os.path.lexists("/tmp/viva-out")
    assert sorted(path.name for path in folder.iterdir()) == ["in", "up"]


@pytest.mark.parametrize("data", [b"", b"no", msgspec.msgpack.encode({"assignment": 3})])
def test_what_is_no_package_is_refused(data, tmp_path):
    with pytest.raises(msgspec.DecodeError):
        unpack(data, tmp_path / "again")
