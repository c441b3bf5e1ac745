from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_notebook

from tests.conftest import load
from tests.kernels import BASH, install_bash
from viva.commands import doctor
from viva.commands.doctor import examine
from viva.sandbox.protection import PROMISES, protection


@pytest.mark.parametrize("options", [[], ["--run-config"]])
def test_a_healthy_course_has_nothing_missing(course, viva, options):
    result = viva("doctor", *options)
    assert result.status == 0
    assert "MISSING" not in result.out
    computed = f"{course / 'nbgrader_config.py'} sets Exchange.root with code"
    assert (computed in result.out, "exchange /" in result.out) == (not options, bool(options))


def test_a_strangers_configuration_is_read_and_runs_only_when_told(course, viva, tmp_path):
    canary, config = tmp_path / "ran", course / "nbgrader_config.py"
    runs = f"import pathlib; pathlib.Path({str(canary)!r}).write_text('x')\n"
    (course / "local_plugin.py").write_text(runs + "from nbgrader.exchange.default import Exchange as Mine\n")
    (course / "jupyter_config.py").write_text(runs)
    plugins = "c.ExchangeFactory.exchange = c.Authenticator.plugin_class = 'local_plugin.Mine'\n"
    plugins += "c.ExchangeFactory.exchange = 'local_plugin.Mine'\nc.Authenticator.plugin_class = 'local_plugin.Mine'\n"
    config.write_text(f"{runs}{config.read_text()}{plugins}c.CourseDirectory.db_url = 'sqlite:///' + __file__\n")
    assert (course / "gradebook.db").exists(), "as a stranger's archive can hold one too"
    result = viva("doctor")
    assert not canary.exists() and "Traceback" not in result.out + result.err
    assert "line 1" in result.out and "ExchangeFactory.exchange" in result.out
    assert "CourseDirectory.db_url" in result.out and "gradebook sqlite" not in result.out
    assert "viva doctor --run-config" in result.out
    config.write_text(f"{runs}{config.read_text().replace(plugins, '')}")
    viva("doctor", "--run-config")
    assert canary.exists()


def test_a_configuration_that_is_no_python_is_told_with_its_line(course, viva):
    (course / "nbgrader_config.py").write_text("c = get_config()\ndef (")
    for command in ("doctor", "init"):
        result = viva(command)
        assert result.status == 2 and f"{course / 'nbgrader_config.py'}, line 2: SyntaxError: " in result.err
        assert "Nothing was done" in result.err and "Traceback" not in result.err


def test_a_strangers_configuration_in_json_imports_nothing_from_the_course(course, viva, tmp_path):
    canary = tmp_path / "ran"
    (course / "plugin_here.py").write_text(f"import pathlib; pathlib.Path({str(canary)!r}).write_text('x')\n")
    (course / "nbgrader_config.json").write_text('{"ExchangeFactory": {"exchange": "plugin_here.Mine"}}')
    for command in ("doctor", "init"):
        result = viva(command)
        assert not canary.exists() and "Traceback" not in result.out + result.err
        assert result.status == 0, result.err
    result = viva("export")
    assert result.status == 2 and "'plugin_here.Mine' could not be imported" in result.err


def test_a_machine_that_grades_for_another_needs_no_course(course, viva):
    shutil.rmtree(course / "source")
    assert viva("doctor").status == 1
    result = viva("doctor", "--machine")
    assert result.status == 0 and "MISSING" not in result.out
    assert "course" not in result.out
    assert result.out.splitlines()[-1] == f"ok        protection from student code: {protection().level}"


def test_a_missing_program_and_an_exchange_that_is_not_there_are_named_with_their_remedies(course, viva, monkeypatch):
    monkeypatch.setenv("PATH", "/nonexistent")
    opened, config = load(course)
    config.Exchange.root = "/nonexistent"
    sick = {diagnosis.what: diagnosis for diagnosis in examine(opened, config) if not diagnosis.healthy}
    assert sick["the command alembic"].remedy == "pip install alembic"
    assert any("mkdir -p /nonexistent" in diagnosis.remedy for diagnosis in sick.values())
    assert not sick["a browser for the tests of formgrader"].needed


def test_an_assignment_that_was_not_released_is_optional(course, viva):
    (course / "gradebook.db").unlink()
    result = viva("doctor")
    assert result.status == 0
    assert "viva release ps1_general_attention" in result.out


def test_a_layer_that_does_not_hold_comes_with_its_fault_and_its_remedy(course, viva):
    opened, config = load(course)
    diagnoses = {diagnosis.what: diagnosis for diagnosis in examine(opened, config)}
    layers = protection(all_layers=True).layers
    assert set(PROMISES) - {"user"} <= {layer.name for layer in layers}
    for layer in layers:
        (what,) = [what for what in diagnoses if what.startswith(f"sandbox, {layer.name}: ")]
        assert diagnoses[what].healthy == layer.works
        assert diagnoses[what].needed == layer.needed
        assert layer.fault in what and diagnoses[what].remedy == layer.remedy != ""


def test_variants_without_their_key_or_with_one_that_others_can_read_are_found(course, viva):
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('c.Variants.assignments = ["ps4_multihead", "ps3_scaled_attention"]\n')
    opened, _ = load(course)

    def found() -> dict:
        return {one.what: one for one in doctor._variants(opened)}

    assert "but their key" in found()["variants of ps4_multihead"].remedy
    key = course / "variants.key"
    key.write_text("a key that is long enough\n")
    key.chmod(0o644)
    known = found()
    assert known["variants of ps4_multihead"].healthy
    assert "none of its notebooks has a line 'viva_seed = 20261'" in known["variants of ps3_scaled_attention"].remedy
    assert known[f"{key}, which nobody else can read"].remedy == f"chmod 600 {key}"
    key.chmod(0o600)
    assert found()[f"{key}, which nobody else can read"].healthy


def test_a_course_into_which_other_users_can_look_is_named_with_its_remedy(course):
    with tempfile.TemporaryDirectory(dir="/tmp") as outer:
        Path(outer).chmod(0o755)
        root = Path(outer, "course")
        shutil.copytree(course, root)
        for mode, closed in ((0o755, False), (0o711, False), (0o750, True), (0o700, True)):
            root.chmod(mode)
            (diagnosis,) = [one for one in doctor._folders(load(root)[0]) if "other users of this" in one.what]
            assert (diagnosis.healthy, diagnosis.needed, diagnosis.remedy) == (closed, False, f"chmod o-rwx {root}")


def test_an_exchange_that_is_a_plugin_without_a_folder_is_no_fault(course):
    opened, config = load(course)
    config.ExchangeFactory.exchange = "nbgrader.exchange.abc.Exchange"
    (found,) = [one for one in examine(opened, config) if one.what.startswith("exchange ")]
    assert found.healthy and "nbgrader.exchange.abc.exchange.Exchange" in found.what


def test_a_gradebook_that_is_damaged_anywhere_is_found(course, viva):
    path = course / "gradebook.db"
    data = bytearray(path.read_bytes())
    data[3 * 4096 : 8 * 4096] = b"\xa5" * (5 * 4096)
    path.write_bytes(data)
    result = viva("doctor")
    assert result.status == 1 and "Traceback" not in result.out + result.err
    assert "is damaged" in result.out and "Restore a copy" in result.out


def test_the_kernel_of_another_language_is_tried_in_the_sandbox_where_a_notebook_uses_it(course, tmp_path, monkeypatch):
    opened, config = load(course)
    assert not [one for one in examine(opened, config) if "other languages" in one.what]
    install_bash(tmp_path / "jupyter", monkeypatch)
    for name, metadata in {
        "one": BASH,
        "two": {"kernelspec": {"name": "sas", "display_name": "SAS", "language": "sas"}},
    }.items():
        (course / "source" / name).mkdir()
        nbformat.write(new_notebook(metadata=metadata), course / "source" / name / f"{name}.ipynb")
    found = {one.what: one for one in examine(opened, config)}
    assert found["the sandbox for kernels of other languages"].healthy
    assert found["the kernel 'bash' for bash, in the sandbox"].healthy
    missing = found["the kernel 'sas' for sas, in the sandbox"]
    assert not missing.healthy and "is not installed on this machine" in missing.remedy
