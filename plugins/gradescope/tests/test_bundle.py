"""The zip: what is in it and what is not, and which assignments are refused."""

from __future__ import annotations

import base64
import contextlib
import csv
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from importlib.metadata import version

import nbformat
import pytest

import viva
from tests.conftest import PROJECT, load
from tests.course.regrade.test_regrading import TINY
from viva.course.grading.material import Material
from viva.verdict import CourseError
from viva_gradescope.bundle import FILES, PROGRAMS, SOURCE, Bundle, read_settings, requirements, versions, wheel, zipped

pytestmark = pytest.mark.xdist_group("gradescope")

HIDDEN = (b"4711.25", b"return 2 * x", b"double(-1)")


@pytest.fixture
def root(founded, tmp_path):
    return shutil.copytree(founded, tmp_path / "course")


def bundle_of(root, **more) -> Bundle:
    course, config = load(root)
    with contextlib.chdir(root):
        return Bundle.of(course, TINY, config, **more)


def test_the_zip_has_at_its_root_what_gradescope_calls_and_can_be_run(tiny, tmp_path):
    path = tmp_path / "bundle.zip"
    path.write_bytes(tiny.bundle.to_bytes())
    with zipfile.ZipFile(path) as archive:
        names = {one.filename: one.external_attr >> 16 & 0o777 for one in archive.infolist()}
    assert {name for name, mode in names.items() if mode == 0o755} == set(PROGRAMS) == {"setup.sh", "run_autograder"}
    ours = {name for name in names if name.startswith((f"{SOURCE}/", f"{FILES}/"))}
    assert ours == {f"{SOURCE}/{TINY}.ipynb", f"{FILES}/table.csv"}


def test_solutions_and_hidden_tests_are_in_two_files_alone(tiny):
    holding = {name for name, data in tiny.bundle.files.items() if any(text in data for text in HIDDEN)}
    assert holding == {"material", f"{SOURCE}/{TINY}.ipynb"}


def test_no_student_no_path_of_this_machine_and_no_address_goes_along(root):
    (root / "submitted" / "student-4812").mkdir(parents=True)
    (root / "gradebook.db").rename(root / "gradebook-with-password-5719.db")
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f'c.CourseDirectory.db_url = "sqlite:///{root}/gradebook-with-password-5719.db"\n')
        file.write('c.Exchange.token = "token-6613"\nc.LimitOutput.max_lines = 777\n')
    files = bundle_of(root).files
    for secret in (str(root), "student-4812", "password-5719", "token-6613", "nbgrader_exchange"):
        assert [name for name, data in files.items() if secret.encode() in data] == []
    assert read_config(files).LimitOutput.max_lines == 777


def read_config(files: dict[str, bytes]):
    return Material.from_bytes(files["material"]).config


def test_the_settings_are_those_of_the_course(root):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(
            "c.Execute.timeout = 7\nc.Examine.memory = 300\nc.Examine.budget = 11.0\nc.Examine.no_sandbox = True\n"
        )
    bundle = bundle_of(root, hidden_checks="after_published")
    known = json.loads(bundle.files["bundle.json"])
    assert (known["seconds"], known["memory"], known["budget"], known["no_sandbox"]) == (7.0, 300, 11.0, True)
    assert (known["automatic_points"], known["manual_points"], known["hidden_checks"]) == (6, 2, "after_published")


def test_libraries_of_the_assignment_are_installed_too(tiny, root):
    path = _as_released_before_there_were_contracts(root)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[1].source = "import bs4\n" + notebook.cells[1].source
    nbformat.write(notebook, path)
    (path.parent / "more.py").write_text("import yaml\nimport table_of_ours\n")
    before, after = (one.files["requirements.txt"].decode().split() for one in (tiny.bundle, bundle_of(root)))
    assert {name.lower() for name in set(after) - set(before)} == {"beautifulsoup4", "pyyaml"}


def _as_released_before_there_were_contracts(root):
    """The source notebook, which counts until there is a contract."""
    shutil.rmtree(root / ".contracts")
    return root / "source" / TINY / "tiny.ipynb"


def refusal(root, **more) -> str:
    with pytest.raises(CourseError) as refused:
        bundle_of(root, **more)
    return str(refused.value)


def test_what_was_not_released_is_refused(root):
    (root / "gradebook.db").unlink()
    assert "Run 'viva release tiny' first" in refusal(root)


def test_an_assignment_of_which_each_student_has_a_variant_is_refused(root):
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(f'c.Variants.assignments = ["{TINY}"]\n')
    with pytest.raises(CourseError, match="has variants, but Gradescope does not give the autograder the"):
        bundle_of(root)


def test_another_language_is_refused(root):
    path = _as_released_before_there_were_contracts(root)
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.kernelspec = {"name": "ir", "language": "R", "display_name": "R"}
    nbformat.write(notebook, path)
    assert "The bundle supports only Python" in refusal(root)


def test_a_visibility_that_gradescope_does_not_know_is_refused(root):
    assert "not one of Gradescope's visibilities: visible, after_due_date" in refusal(root, hidden_checks="later")


def test_a_configuration_that_only_this_course_has_is_refused(root, monkeypatch):
    config = root / "nbgrader_config.py"
    whole = config.read_text()
    config.write_text(whole + "c.Autograde.hook = lambda notebook: notebook\n")
    assert "defines a function" in refusal(root)
    (root / "steps_of_ours.py").write_text("class Step:\n    pass\n")
    monkeypatch.syspath_prepend(str(root))
    config.write_text(whole + "from steps_of_ours import Step\nc.Autograde.step = Step\n")
    assert "uses the module steps_of_ours of the course folder" in refusal(root)
    steps = "c.Autograde.autograde_preprocessors = [*c.Autograde.autograde_preprocessors, '{}']\n"
    config.write_text(whole + steps.format("steps_of_ours.Step"))
    assert "uses the module steps_of_ours of the course folder" in refusal(root)
    config.write_text(whole + steps.format("no_such.Step"))
    assert "needs 'no_such.Step', which cannot be imported" in refusal(root)


def test_a_folder_without_a_bundle_is_said_to_be_none(tmp_path):
    with pytest.raises(CourseError, match="does not contain a bundle"):
        read_settings(tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_programs_are_sound_shell(tiny, name):
    data = tiny.bundle.files[name]
    shell = data.decode().partition("\n")[0].removeprefix("#!").split()
    assert shell[-1] in ("bash", "/bin/sh")
    subprocess.run([*shell, "-n"], input=data, check=True)
    assert b"http" not in data and b"index" not in data


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
    other, more = wheel("nbviva-gradescope")
    (tmp_path / other).write_bytes(more)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", tmp_path / "there"]
    subprocess.run([*pip, tmp_path / name, tmp_path / other], check=True)
    asked = [sys.executable, "-c", "import viva; print(viva.__file__)"]
    said = subprocess.run(asked, cwd=tmp_path / "there", capture_output=True, text=True, check=True).stdout
    assert said.strip() == str(tmp_path / "there" / "viva" / "__init__.py")
    assert (tmp_path / "there" / "viva_gradescope" / "setup.sh").read_text().startswith("#!")


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
    assert set(requirements(["bs4", "viva", "viva_gradescope", "no_such_module"]).splitlines()) - set(without) == {
        "beautifulsoup4"
    }


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
