"""Of the files beside a notebook people see pictures, and none stands in for a module that is installed."""

from __future__ import annotations

import pytest

from viva.submission.files.beside import remove_shadows, returned


@pytest.fixture
def laid(tmp_path):
    """Lay files into a folder, and a link ``linked.png`` to one that is not the student's; the folder."""

    def laid(*names: str):
        for name in names:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text("1")
        return folder

    folder = tmp_path / "ada"
    folder.mkdir()
    (tmp_path / "solution").write_text("secret")
    (folder / "linked.png").symlink_to(tmp_path / "solution")
    return laid


def test_pictures_and_what_nbgrader_looks_for_lie_beside_a_page_but_no_link(laid):
    folder = laid("a.png", "deep/b.GIF", "timestamp.txt", "page.HTML/c.png", "deep/timestamp.txt", "d.svg", "e.csv")
    assert {str(path) for path in returned(folder, [])} == {"a.png", "deep/b.GIF", "timestamp.txt"}


def test_a_module_or_a_package_with_the_name_of_an_installed_one_goes(laid):
    folder = laid("json.py", "numpy/__init__.py", "mine.py", "own/__init__.py", "random/notes.txt", "json.txt")
    remove_shadows(folder)
    assert {path.name for path in folder.iterdir()} == {"mine.py", "own", "random", "json.txt", "linked.png"}
