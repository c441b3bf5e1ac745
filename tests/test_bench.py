"""The measurements that the Makefile starts can be started, and run to their end on a class of two."""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from bench import conditions, figures, names
from tests.conftest import PROJECT, SHORT, lacking
from tests.faults import grade_here, hand_in_tiny, make_course
from tests.kernels import require_r
from viva_audit.answers import read_answers

MAKEFILE = (PROJECT / "Makefile").read_text(encoding="utf-8")
MODULES = [f"bench.{path.stem}" for path in sorted((PROJECT / "bench").glob("*.py"))]
OTHER = "ps1_general_attention"


@pytest.mark.parametrize("module", MODULES)
def test_a_measurement_is_found_from_the_project(module, monkeypatch):
    monkeypatch.syspath_prepend(str(PROJECT))
    importlib.import_module(module)


@pytest.mark.slow
def test_the_tape_is_the_same_twice_and_says_which_line_moved():
    from bench.tape import moved, tape

    ours, theirs = tape(few=1)
    assert ours and not theirs
    assert (ours, theirs) == tape(few=1)
    changed = [[*ours[0][:3], "failed", *ours[0][4:]], *ours[1:]]
    assert [line.split(": ")[0] for line in moved(ours, changed)] == [" | ".join(ours[0][:3])]


def test_a_name_that_says_nothing_is_counted_once_for_each_binding():
    code = (
        "def f(told, /, *, x):\n    for one, y in told:\n        known = [what for what in one]\n    self.found = known"
    )
    counted = list(names.bindings(ast.parse(code)))
    assert sorted(counted) == sorted(["told", "x", "one", "y", "known", "what"])


def test_each_condition_is_changed_in_each_way_and_lines_keep_their_numbers():
    code = (
        "def f(a, b):\n    if a < b and not b:\n        return 1\n"
        "    assert a\n    return [x for x in a if x] if a\\\n        else f'{a < b}'\n"
    )
    changes = list(conditions.changes(code))
    assert {(change.first, change.before, change.after) for change in changes} == {
        (2, "a < b and (not b)", "(a < b and (not b)) and False"),
        (2, "a < b and (not b)", "a < b or not b"),
        (2, "a < b and (not b)", "a < b"),
        (2, "a < b and (not b)", "not b"),
        (2, "a < b", "a <= b"),
        (2, "a < b", "a > b"),
        (2, "not b", "b"),
        (5, "a", "not a"),
        (5, "x", "not x"),
    }
    assert {len(change.text.splitlines()) for change in changes} == {6}
    assert (
        conditions.tests_of(PROJECT / "viva/course/examining/links.py")[0]
        == PROJECT / "tests/course/examining/test_links.py"
    )
    assert conditions.tests_of(PROJECT / "viva/clock.py") == (PROJECT / "tests/test_clock.py", PROJECT / "tests")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_conditions_of_a_module_are_tried_and_what_no_test_reaches_survives():
    if subprocess.run([*conditions.NAMESPACES, "true"], check=False).returncode:
        lacking("unshare may not make namespaces here. Run this test as root")
    printed = started("bench.conditions", "plugins/otter/viva_otter/conversion.py", "--sample=2")
    assert re.search(r"^\| plugins/otter/tests \| \d+ \| 2 \| [012] \| 0 \| [012] \|$", printed, re.MULTILINE)


def test_the_makefile_starts_them_as_modules():
    assert set(re.findall(r"-m (bench\.\w+)", MAKEFILE)) <= set(MODULES)
    assert not re.search(r"bench/\w+\.py", MAKEFILE)


def started(*words: str | Path) -> str:
    """What a measurement prints that ends well."""
    command = [sys.executable, "-m", *map(str, words)]
    done = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, timeout=1500, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_start_of_one_submission_is_compared_with_nbgraders():
    told = started("bench.start", "--rounds=1", f"--assignment={OTHER}")
    found = {line.split("|")[1].strip(): line.split("|")[5].strip() for line in told.splitlines()[2:]}
    assert float(found["stock `nbgrader autograde`, one submission"]) == 1 and "`viva grade`, nothing to do" in found


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_feedback_with_nothing_to_do_is_measured_beside_all_pages():
    told = started("bench.feedback", "--submissions=4", "--answers=2", f"--assignment={OTHER}")
    assert re.search(r"^\| 4 \| [\d.]+ \| [\d.]+ \| 0\.\d+ \|$", told, re.MULTILINE), told


@pytest.mark.slow
@pytest.mark.timeout(1600)
def test_throughput_measures_a_class_of_two(tmp_path):
    results = tmp_path / "RESULTS.md"
    results.write_text("old\n\n## Before and after\n\nby hand\n")
    few = ("--submissions=2", "--stock=1", "--rounds=0")  # bench.start has a test of its own
    told = started("bench.throughput", *few, f"--results={results}", "--others", SHORT)  # so only without its picture
    assert "| stock `nbgrader autograde` |" in told and "| the notebook's cells |" in told
    assert re.search(
        rf"^\| {SHORT} without its picture \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|  \|$",
        told,
        re.MULTILINE,
    )
    assert results.read_text() == told + "\n## Before and after\n\nby hand\n"


@pytest.mark.slow
def test_costs_measures_every_known_answer_right_and_wrong(monkeypatch):
    from bench import costs

    known = read_answers(PROJECT / "answers" / OTHER)[::8]
    monkeypatch.setattr(costs, "read_answers", lambda _: known)
    monkeypatch.setattr(costs, "RUNS", 1)
    rows = [line.split("|")[1:-1] for line in costs.by_answer(OTHER)][2:]
    assert {one.right for one in known} == {True, False}
    assert sorted((name.strip(), right.strip()) for name, right, *_ in rows) == sorted(
        (one.name, "yes" if one.right else "no") for one in known
    )
    assert all(float(times) > 0 for *_, times in rows)


def test_throughput_prints_what_it_has_when_it_fails(tmp_path, monkeypatch, capsys):
    from bench import costs, throughput

    def fail(assignment: str) -> list[str]:
        raise RuntimeError("the machine was switched off")

    results = tmp_path / "RESULTS.md"
    monkeypatch.setattr(throughput, "figures", lambda *_: iter(["| Viva | 60 | 1.000 |"]))
    monkeypatch.setattr(costs, "table", fail)
    monkeypatch.setattr(sys, "argv", ["throughput", "--submissions=2", f"--results={results}"])
    with pytest.raises(RuntimeError, match="switched off"):
        throughput.main()
    assert "| Viva | 60 | 1.000 |" in capsys.readouterr().out and not results.exists()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_parity_compares_two_known_answers():
    assert re.search(rf"{SHORT}\W+2\W+\d+\W+0", started("bench.parity", SHORT, "--submissions=2"))


def test_parity_prints_what_it_has_when_one_fails(monkeypatch, capsys):
    from bench import parity

    def compare(assignment: str, folder: Path, most: int | None) -> tuple[str, int, int, list[str]]:
        if assignment == "two":
            sys.exit("viva failed")
        return assignment, 7, 8, []

    monkeypatch.setattr(parity, "compare", compare)
    assert parity.main(["one", "two"]) == 1
    told = capsys.readouterr().out
    assert re.search(r"one\W+7\W+8\W+0", told) and "two could not be compared: viva failed" in told


@pytest.mark.slow
@pytest.mark.timeout(1600)
@pytest.mark.parametrize("term", ["exam", pytest.param("course", marks=pytest.mark.thorough)])
def test_scale_measures_a_term_of_two(term, tmp_path):
    told = started(
        "bench.scale", "--submissions=2", f"--term={term}", f"--keep={tmp_path / 'course'}", "--assignments", SHORT
    )
    assert "| 2 |" in told and told.count("- `viva ") == 5


def test_scale_prints_what_it_has_when_it_fails(monkeypatch, capsys, tmp_path):
    from bench import scale

    def measure(root: Path, options: argparse.Namespace) -> None:
        root.mkdir()
        scale._write(root, {"tenths": [], "after": {"export": {"seconds": 1.0, "spent": 1.0, "memory": 2**20}}})
        sys.exit("viva grade ended with 2")

    monkeypatch.setattr(scale, "measure", measure)
    monkeypatch.setattr(sys, "argv", ["scale", f"--keep={tmp_path / 'course'}"])
    with pytest.raises(SystemExit, match="ended with 2"):
        scale.main()
    assert "- `viva export`: 1 s" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_soak_grades_two():
    assert "No fault: every score is exact" in started("bench.soak", "--submissions=2")


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_cost_of_a_diagnosis_is_measured_beside_grading():
    printed = started("bench.diagnosis", OTHER, "--submissions=14", "--no-mutants")  # some of them are right
    wrong, without, grouped = (
        int(re.search(pattern, printed)[1])
        for pattern in (r"(\d+) with wrong results", r"comments: (\d+) without", r"groups, (\d+) with them")
    )
    assert "known mistakes: " in printed and 0 < grouped <= without == wrong < 14


@pytest.mark.slow
def test_a_small_course_becomes_a_large_one(tmp_path):
    root = make_course(tmp_path / "small")
    hand_in_tiny(root, 2)
    grade_here(root)
    told = started("bench.filled", root, tmp_path / "large", "--submissions=20")
    assert "| 20 |" in told and len(list((tmp_path / "large" / "autograded").iterdir())) == 20


@pytest.mark.slow
def test_the_figures_of_the_package_are_counted_and_a_check_goes_no_longer_way_than_it_did():
    modules, lines = figures.sizes()["engine"]
    # Right answers lost points, and wrong ones passed, for want of 1,400 of these lines: what a test sees (looks), a
    # second look at what a refusal cost (secondlook), which values are one (sameness), where random numbers come from
    # (streams). The marks of looks, which are made when a check is compiled, are 25 of the functions on its way.
    # Kernels of other languages took 600 more, a slip that costs once (carried) 300; explaining/ has a module for each
    # cause.
    assert modules <= 64 and 5000 < lines <= 14_600
    assert figures.importers()["viva.engine.dialogue.asker"] >= {"viva.engine.examiner"}
    assert "viva.engine.dialogue.asker" not in figures.single_importers()
    seen = set().union(*figures.trace().values())
    assert len({file for file, _, _ in seen}) <= 25 and 60 <= len(seen) <= 180  # pandas, where it is loaded, adds two


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_class_in_r_is_measured_beside_nbgrader():
    require_r()
    told = started("bench.kernels", "--submissions=2")
    assert re.search(r"^\| `viva grade --workers=2` \| [\d.]+ \| [\d.]+ \| [\d.]+ \| [\d.]+ \|$", told, re.MULTILINE)
