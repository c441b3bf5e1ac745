"""The package as it is installed here, as a wheel; and the versions that go along."""

from __future__ import annotations

import base64
import csv
import hashlib
import io
import re
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version

import pytest

import viva
from tests.conftest import PROJECT
from viva.term.gradescope.distribution import requirements, versions, wheel, zipped


def test_the_wheel_holds_what_is_installed_and_says_so_of_each_file():
    name, data = wheel()
    assert name == f"nbviva-{viva.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    package = {str(path.relative_to(PROJECT)) for path in (PROJECT / "viva").rglob("*") if path.is_file()}
    assert {name for name in files if name.startswith("viva/")} == {name for name in package if ".pyc" not in name}
    about = f"nbviva-{viva.__version__}.dist-info"
    rows = list(csv.reader(io.StringIO(files[f"{about}/RECORD"].decode())))
    assert {row[0] for row in rows} == files.keys()
    for path, digest, size in rows:
        if path != f"{about}/RECORD":
            known = base64.urlsafe_b64encode(hashlib.sha256(files[path]).digest()).decode().rstrip("=")
            assert (digest, int(size)) == (f"sha256={known}", len(files[path]))
    assert b"viva = viva.__main__:main" in files[f"{about}/entry_points.txt"]
    assert b"Name: nbviva" in files[f"{about}/METADATA"] and f"{about}/licenses/LICENSE" in files


@pytest.mark.slow
def test_pip_installs_the_wheel_without_an_index(tmp_path):
    name, data = wheel()
    (tmp_path / name).write_bytes(data)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", tmp_path / "there"]
    subprocess.run([*pip, tmp_path / name], check=True)
    asked = [sys.executable, "-c", "import viva; print(viva.__file__)"]
    said = subprocess.run(asked, cwd=tmp_path / "there", capture_output=True, text=True, check=True).stdout
    assert said.strip() == str(tmp_path / "there" / "viva" / "__init__.py")
    assert (tmp_path / "there" / "viva" / "term" / "gradescope" / "setup.sh").read_text().startswith("#!")


def test_versions_are_exact_and_name_no_place():
    lines = versions().splitlines()
    assert f"numpy=={version('numpy')}" in lines and f"nbgrader=={version('nbgrader')}" in lines
    assert all(re.fullmatch(r"[a-z0-9][a-z0-9.-]*==[\w.!+-]+", line) for line in lines)
    assert not [line for line in lines if line.startswith(("nbviva", "pip=="))]


def test_of_two_versions_the_one_counts_that_is_imported(tmp_path, monkeypatch):
    about = tmp_path / "numpy-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: numpy\nVersion: 0.1\n")
    monkeypatch.setattr(sys, "path", [*sys.path, str(tmp_path)])
    assert f"numpy=={version('numpy')}" in versions().splitlines()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert "numpy==0.1" in versions().splitlines()


def test_a_module_is_named_by_its_distribution_and_one_that_is_none_is_left_out():
    without = requirements([]).splitlines()
    assert set(requirements(["bs4", "viva", "no_such_module"]).splitlines()) - set(without) == {"beautifulsoup4"}


def test_a_checkout_asks_for_what_it_needs_now_whatever_was_installed_from_it(tmp_path, monkeypatch):
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    assert requirements([]).splitlines() == sorted(project["dependencies"])
    monkeypatch.setattr(viva, "__file__", str(tmp_path / "viva" / "__init__.py"))
    assert requirements([]) == "", "of an installed package the wheel says it"


def test_a_zip_of_the_same_files_is_the_same_bytes_and_programs_can_be_run():
    files = {"b/text": b"text", "a.sh": b"#!/bin/sh"}
    assert zipped(files, ["a.sh"]) == zipped(dict(reversed(files.items())), ["a.sh"])
    with zipfile.ZipFile(io.BytesIO(zipped(files, ["a.sh"]))) as archive:
        assert {one.filename: one.external_attr >> 16 for one in archive.infolist()} == {
            "a.sh": 0o100755,
            "b/text": 0o100644,
        }
