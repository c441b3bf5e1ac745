from __future__ import annotations

import copy
import json
import shutil

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tests.conftest import PROJECT, load
from viva_audit.audit import audit
from viva_audit.auditpage import page, proven
from viva_audit.auditresult import Audit, Fate, kinds_in_words, weakened
from viva_audit.checkname import CheckName

pytestmark = [pytest.mark.xdist_group("audit"), pytest.mark.usefixtures("processes")]

CENTRE = '''def centre(table):
    """Subtract from each column of a table its mean; the table stays as it is."""
    ### BEGIN SOLUTION
    means = np.mean(table, axis=0)
    return table - means
    ### END SOLUTION'''
CHECKS = """### CHECK 1: a table of two columns
result = centre(np.array([[1.0, 2.0], [3.0, 6.0]]))
assert np.shape(result) == (2, 2) and np.allclose(result, [[-1, -2], [1, 2]]), "Each column should have the mean 0."
### CHECK 2: other tables: they stay as they are
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(5)
for shape in ((3, 2), (2, 4), (1, 3), (4, 1)):
    table = rng.normal(size=shape)
    before = table.copy()
    result = centre(table)
    expected = [[before[i, j] - sum(before[:, j]) / shape[0] for j in range(shape[1])] for i in range(shape[0])]
    assert np.shape(result) == shape, "The result should have the shape of the table."
    assert np.array_equal(table, before), "The table was changed."
    assert np.allclose(result, np.array(expected)), "For another table the numbers are not right."
### END HIDDEN TESTS"""
SPREAD = """### BEGIN SOLUTION
spread = float(np.max(centre(numbers)))
### END SOLUTION"""
SPREAD_CHECK = (
    """### CHECK 1: the largest distance from the mean
assert spread == 2, "Centre the numbers first, then take the largest.\""""
    + "\n"
)
RIGHT = '''"""One column after the other.

"""

# %% centre
def centre(table):
    return np.stack([column - sum(column) / len(column) for column in table.T], axis=1)

# %% [solution] *
'''
WRONG = '''"""Centres the rows.

Loses:
    test_centre: a table of two columns
    test_centre: other tables: they stay as they are
Keeps:
    everything else
"""

# %% centre
def centre(table):
    return table - np.mean(table, axis=1, keepdims=True)

# %% [solution] *
'''
FIRST = CheckName("test_centre", "a table of two columns")
OTHER = CheckName("test_centre", "other tables: they stay as they are")
LARGEST = CheckName("test_spread", "the largest distance from the mean")
IN_PLACE = "return table - means -> returned = table - means; table[0] = 0; return returned"


def write(root, checks=CHECKS):
    def cell(name, source, points=None, solution=False):
        grade = points is not None
        about = {"grade_id": name, "grade": grade, "solution": solution, "locked": not solution, "schema_version": 3}
        about |= {"points": points} if grade else {}
        return new_code_cell(source, id=name, metadata={"nbgrader": about | {"task": False}})

    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "language": "python", "display_name": "x"}})
    notebook.cells = [
        new_markdown_cell("# Centring\n\n| total | 4 |", id="title"),
        cell("setup", "import numpy as np\n\nnumbers = np.array([[1.0], [2.0], [4.0], [1.0]])"),
        cell("centre", CENTRE, solution=True),
        cell("test_centre", checks, 3),
        cell("spread", SPREAD, solution=True),
        cell("test_spread", SPREAD_CHECK, 1),
    ]
    nbformat.write(notebook, root / "source" / "small" / "small.ipynb")


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A course with one small assignment, which is as it should be."""
    root = tmp_path_factory.mktemp("small")
    for folder in ("source/small", "answers/small/right", "answers/small/wrong"):
        (root / folder).mkdir(parents=True)
    shutil.copy(PROJECT / "source" / "header.ipynb", root / "source")
    shutil.copy(PROJECT / "nbgrader_config.py", root)
    write(root)
    (root / "answers/small/right/columns.py").write_text(RIGHT)
    (root / "answers/small/wrong/rows.py").write_text(WRONG)
    return root


@pytest.fixture
def course(small, tmp_path):
    shutil.copytree(small, tmp_path / "course")
    return tmp_path / "course"


def audited(root, **options) -> Audit:
    return audit(load(root)[0], "small", no_sandbox=True, workers=2, **options)


@pytest.fixture(scope="module")
def strong(small) -> Audit:
    seen = []
    result = audited(small, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] > 30
    return result


def test_a_good_assignment_passes(strong):
    assert strong.complaints() == []
    assert [fate.change for fate in strong.survivors()] == []
    assert strong.passed and strong.score == 1
    assert strong.count("killed") > 25


def test_zero_of_zero_is_nothing_proven_and_only_an_error_fails():
    one = Audit("ps", "ps", warnings=["Cell 'a': the id says nothing."])
    assert one.outcome == "not tested" and not one.failed and one.blocking() == []
    one.fates = [Fate("f", "other axis", "a -> b", "")]
    assert one.outcome == "passed" and one.passed
    one.fates.append(Fate("f", "other axis", "a -> c", "", "survived"))
    assert one.outcome == "failed" and one.blocking() == ["A wrong version of 'f' passes every check: a -> c"]


def test_an_equivalent_mutant_is_recognised_by_running_it(strong):
    equivalent = {fate.change for fate in strong.fates if fate.status == "equal"}
    assert "means = np.mean(table, axis=0) -> means = np.mean(table, axis=-2)" not in equivalent
    assert "spread = float(np.max(centre(numbers))) -> spread = np.max(centre(numbers))" in equivalent


def test_it_tells_which_checks_depend_on_which_answers(strong):
    needs = {score.check: score.answers for score in strong.scores}
    assert needs[OTHER] == ["centre"]
    assert needs[LARGEST] == ["centre", "spread"]
    assert strong.alone["centre"] == [FIRST, OTHER]
    assert strong.alone["spread"] == []


def test_the_record_of_an_audit_names_checks_in_words(strong):
    known = json.loads(json.dumps(strong.record()))
    assert known["kinds"]["centre()"] == "plain"
    assert known["alone"]["centre"] == ["test_centre: a table of two columns", str(OTHER)]
    assert [list(proof["lost"]) for proof in known["proofs"] if proof["name"] == "rows"] == [[str(FIRST), str(OTHER)]]
    assert [score["check"] for score in known["scores"]] == [str(FIRST), str(OTHER), str(LARGEST)]
    assert {killer for fate in known["fates"] for killer in fate["killers"]} == {str(FIRST), str(OTHER), str(LARGEST)}
    assert {fate["nearest"] for fate in known["fates"]} == {""}


@pytest.mark.slow
def test_known_answers_are_graded_as_the_course_carries_errors_forward(strong, course):
    """The spread that follows from rows that are centred is 0; with the right ``centre`` it is right."""
    assert strong.complaints() == []
    config = course / "nbgrader_config.py"
    config.write_text(config.read_text().replace('carry_forward = ["*"]', "carry_forward = []"))
    (complaint,) = audited(course).complaints()
    assert complaint.startswith(f"The wrong answer rows fails '{LARGEST}'")


@pytest.mark.slow
def test_a_weakened_check_lets_a_mutant_survive_which_viva_names_and_refuses_to_release(course, viva):
    write(course, CHECKS.replace('    assert np.array_equal(table, before), "The table was changed."\n', ""))

    said = viva("release", "--no-sandbox")
    assert said.status == 1
    assert f"A wrong version of 'centre' passes every check: {IN_PLACE} (changed argument;" in said.out
    assert "+    table[0] = 0" in said.out
    assert "Not released: small." in said.out
    assert not (course / "release" / "small").exists()
    assert '<span class="add">+    table[0] = 0</span>' in (course / "report/audit/small.html").read_text()
    assert not proven(load(course)[0], "small")

    (course / "answers/small/excused.toml").write_text(
        f'[[excuse]]\ncell = "centre"\nchanges = ["{IN_PLACE}"]\nreason = "the text allows to change the table"\n'
    )
    said = viva("release", "--no-sandbox")
    assert said.status == 0, said.text
    assert (course / "release" / "small" / "small.ipynb").is_file()
    assert proven(load(course)[0], "small")

    said = viva("release")
    assert said.status == 0
    assert "audit" not in said.out

    (course / "answers/small/right/columns.py").write_text(RIGHT.replace("len(column)", "len(table)"))
    assert not proven(load(course)[0], "small")
    assert "Released without an audit: small." in viva("release", "--no-audit").out


def test_a_check_that_got_another_title_notices_what_it_noticed(strong):
    before = strong.record()
    now = copy.deepcopy(strong)
    check = now.scores[0].check
    titled = check._replace(title="another title")
    now.scores[0].check = titled
    for fate in now.fates:
        fate.killers = [titled if killer == check else killer for killer in fate.killers]
    assert weakened(before, now) == []
    fate = next(fate for fate in now.fates if titled in fate.killers)
    fate.killers.clear()
    assert f"The check '{check}' no longer notices 1 mutant that" in weakened(before, now)[0]


WITHOUT_LENGTH = """### CHECK 1: the given table
assert np.allclose(centre(numbers)[:1], [[-1.0]]), "The first row is not right."
### CHECK 2: other tables
### BEGIN HIDDEN TESTS
tables = [np.arange(6.0).reshape(3, 2), np.eye(2)]
for table in tables:
    assert all(np.allclose(row, right) for row, right in zip(centre(table), table - table.mean(axis=0))), "Not right."
### END HIDDEN TESTS"""


@pytest.mark.thorough
def test_a_check_that_nothing_at_all_passes_is_an_error(course):
    """As ``zip`` ends with the shorter of the two, a comparison without a length is passed by what is empty."""
    write(course, WITHOUT_LENGTH)
    shutil.rmtree(course / "answers" / "small")
    (fault,) = [error for error in audited(course).errors if "passes when" in error]
    assert fault.startswith("The check 'test_centre: other tables' passes when the functions of ")
    assert "emptied" in fault and "NaN" not in fault and "{}" not in fault  # an empty container is refused


@pytest.mark.thorough
def test_the_mutants_of_a_name_that_two_answers_define_are_those_of_the_second(course):
    path = course / "source" / "small" / "small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    again = copy.deepcopy(notebook.cells[2:4])
    for cell in again:
        cell.id = cell.metadata.nbgrader.grade_id = f"{cell.id}_again"
    overwritten = copy.deepcopy(notebook.cells[2])
    overwritten.id = overwritten.metadata.nbgrader.grade_id = "overwritten"
    notebook.cells[4:4] = [*again, overwritten, new_code_cell("def centre(table):\n    return table - 2", id="given")]
    nbformat.write(notebook, path)
    shutil.rmtree(course / "answers" / "small")
    found = audited(course)
    assert {fate.status for fate in found.fates if fate.cell == "centre_again"} <= {"killed", "equal"}
    assert not [fate for fate in found.fates if fate.cell == "overwritten"]
    assert [error for error in found.errors if "no check" in error] == [
        "Cell 'overwritten': no check tests this answer, because cell 'given' below defines the same names again.",
    ]


SURPRISING = WRONG.replace("    test_centre: a table of two columns\n", "")
SURPRISING = (
    SURPRISING[: SURPRISING.index("# %%")] + "# %% centre\ndef centre(table):\n    table -= table.mean(axis=0)\n"
)
SURPRISING += "    return table\n\n# %% [solution] *\n"


def test_a_wrong_answer_that_only_hidden_lines_notice_is_a_remark_or_a_fault_where_none_was_promised(course):
    wrong = course / "answers/small/wrong"
    (wrong / "in_place.py").write_text(SURPRISING)
    (wrong / "excused.py").write_text(SURPRISING.replace("\nLoses:", "\nhidden: an attack\n\nLoses:"))
    (wrong / "excused_for_nothing.py").write_text(WRONG.replace("\nLoses:", "\nhidden: an attack\n\nLoses:"))
    found = audited(course)
    sentence = (
        "A student with the mistake 'in_place' passes all visible checks. "
        f"Only hidden lines of the check '{OTHER}' find it."
    )
    assert [warning for warning in found.warnings if warning.startswith(sentence)]
    assert [score.surprises for score in found.scores] == [[], ["in_place"], []]
    assert [fault.split(";")[0] for fault in found.warnings if fault.startswith("The wrong answer")] == [
        "The wrong answer excused_for_nothing fails a visible check"
    ]
    assert "<td>in_place</td>" in page(found)

    (wrong / "excused_for_nothing.py").unlink()
    path = course / "source/small/small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.viva = {"no_surprise": True}
    nbformat.write(notebook, path)
    fault, *others = audited(course).errors
    assert fault.startswith(sentence)
    assert others and all(f"fails only hidden lines of '{OTHER}'" in other for other in others)

    notebook.metadata.viva = {"no_surprise": "known mistakes"}
    nbformat.write(notebook, path)
    found = audited(course)
    assert [error for error in found.errors if not error.startswith(sentence)] == []
    assert set(others) <= set(found.warnings)


@pytest.mark.slow
def test_false_promises_and_untested_answers_are_named(course, viva):
    write(course, CHECKS + "\n")
    (course / "answers/small/right/columns.py").write_text(RIGHT.replace("sum(column)", "max(column)"))
    (course / "answers/small/wrong/rows.py").write_text(WRONG.replace("axis=1", "axis=0"))
    path = course / "source/small/small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[-1].source = "### CHECK 1: the largest distance from the mean\nassert True"
    nbformat.write(notebook, path)
    (course / "answers/small/excused.toml").write_text(
        '[[excuse]]\ncell = "centre"\noperator = "no exponential"\nreason = "there is no exponential in it"\n'
    )

    said = viva("audit", "--no-sandbox")
    assert said.status == 1
    assert "The right answer columns fails 'test_centre: a table of two columns': failed" in said.out
    assert "The wrong answer rows passes 'test_centre: a table of two columns', but must fail it." in said.out
    assert (
        "An untouched notebook passes 'test_spread: the largest distance from the mean', but must fail it." in said.out
    )
    assert "Cell 'spread': no check tests this answer." in said.out
    assert "No mutant matches the excuse 'there is no exponential in it'. Remove the excuse." in said.out


COUNTS = """### CHECK 3: columns
float(np.allclose(centre(numbers), numbers - 2)) + 2 * (len(centre(numbers)) == 4)
"""
MIXED = """\"\"\"Takes another number.

Loses:
    test_centre: columns
Keeps:
    everything else
\"\"\"

# %% centre
def centre(table):
    return np.zeros_like(table)

# %% [solution] *
"""


@pytest.mark.slow
def test_a_cell_whose_last_value_is_its_credit_is_named_with_the_wrong_answers_that_keep_all_of_it(course):
    write(course, checks=COUNTS)
    kept = WRONG.replace("test_centre: a table of two columns", "test_spread: *").splitlines(keepends=True)
    kept = "".join(line for line in kept if "other tables" not in line).replace("axis=1, keepdims", "keepdims")
    (course / "answers/small/wrong/rows.py").write_text(kept)
    (course / "answers/small/wrong/zeros.py").write_text(MIXED.replace("everything else", "test_spread: *"))
    found = audited(course)
    (told,) = [remark for remark in found.remarks if "gives the points" in remark]
    assert told == (
        "Cell 'test_centre': the last line of the test gives the points that a student earns"
        ". These wrong answers keep all points: rows."
    )
    lost = {proof.name: [str(ruling) for ruling in proof.lost.values()] for proof in found.proofs}
    assert "partly right: the test gave 2 of 3 points" in lost["zeros"]


def test_a_last_value_beyond_the_points_is_an_error_as_it_is_in_nbgrader(course):
    """As in a public test course, whose cell of two points ends in ``totalcredit``, which is three."""
    write(course, checks="### CHECK 3: columns\nassert len(centre(numbers)) == 4\n1 + len(centre(numbers))\n")
    shutil.rmtree(course / "answers" / "small")
    (said,) = [sentence for sentence in audited(course).errors if "more than the points" in sentence]
    assert said.startswith("Cell 'test_centre': the last value of the test is more than the points of the cell.")


def test_what_the_solution_loses_is_said_once_and_no_other_reason_is_given_for_it(course):
    lacking = "### CHECK 3: by a library that is not here\nfrom nose.tools import assert_equal\nassert_equal(1, 1)"
    write(course, checks=lacking)
    shutil.rmtree(course / "answers" / "small")
    found = audited(course)
    said = [sentence for sentence in found.complaints() if "solution" in sentence]
    assert said == [
        "The solution fails 'test_centre: by a library that is not here': error: the module 'nose' is not "
        "installed, and no file of that name lies beside the notebook"
    ]
    assert [remark for remark in found.remarks if "single-process" in remark] == []


def test_the_page_and_the_terminal_show_what_kind_an_answer_must_be(strong, course, viva):
    assert strong.kinds == {"centre": "", "centre()": "plain", "spread": "plain"}
    text = page(strong)
    for path, words in (("centre", "function or object"), ("centre()", "plain data")):
        assert f"<code>{path}</code></td>\n<td>{words}</td>" in text
    kinds = {"f": "", "norm": "numpy.linalg:norm", "f()": "any"} | {f"number_{n}": "plain" for n in range(9)}
    assert kinds_in_words(kinds) == (
        "f(...): anything (allowed); f: function or object; "
        "number_0, number_1, number_2, number_3 and 5 more: plain data; norm: the library's numpy.linalg.norm"
    )

    path = course / "source/small/small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata.viva = {"kinds": {"centre(...)": "any", "center()": "any"}}
    notebook.cells = notebook.cells[:4]
    notebook.cells[0].source = "# Centring"
    nbformat.write(notebook, path)
    (course / "answers/small/wrong/rows.py").unlink()
    said = viva("audit", "--no-sandbox")
    assert "small: Expected types: centre(...): anything (allowed); centre: function or object.\n" in said.out
    assert "allow more types for 'center()', but no test uses it." in said.out
    assert "<td>anything (allowed)</td>" in (course / "report/audit/small.html").read_text()


def test_the_page_escapes_what_it_shows():
    fates = [Fate("cell", "<b>", "a", "@@\n-<script>\n+<i>", "survived", note="<u>", nearest=CheckName("<p>", "<p>"))]
    text = page(Audit("a", "n", fates=fates, errors=["<script>alert(1)</script>"]))
    assert "<script>" not in text and "<i>" not in text and "<u>" not in text and "<p>: " not in text
    assert "&lt;script&gt;alert(1)" in text


def test_a_check_whose_verdict_depends_on_chance_is_called_flaky_by_name(course):
    chance = "assert np.random.default_rng().random() < 0.5, 'Luck.'\n### END HIDDEN TESTS"
    write(course, CHECKS.replace("### END HIDDEN TESTS", chance))
    for number in range(14):  # each is run twice: that luck is the same each time is one case in a million
        (course / f"answers/small/right/columns_{number}.py").write_text(RIGHT)
    found = [fault for fault in audited(course).errors if "does not always give the same" in fault]
    assert len(found) == 1
    assert found[0].startswith(
        "The check 'test_centre: other tables: they stay as they are' does not always give the same result: of "
    )


@pytest.mark.slow
def test_a_notebook_without_tests_is_said_to_be_unproven(course):
    path = course / "source" / "small" / "small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if not cell.metadata.get("nbgrader", {}).get("grade")]
    nbformat.write(notebook, path)
    shutil.rmtree(course / "answers")
    found = audited(course)
    assert any(
        "No test was run, because no cell is graded automatically: no cell has" in remark for remark in found.remarks
    )
    assert (found.outcome, found.passed, found.failed) == ("not tested", False, False), found.errors


VARIED = "import numpy as np\n\nviva_seed = 3\nnumbers = np.random.default_rng(viva_seed).normal(size=(4, 1))"
LARGEST_OF_ALL = """### CHECK 1: the largest distance from the mean
### BEGIN HIDDEN TESTS
expected = max(float(number) for number in numbers.ravel()) - sum(numbers.ravel()) / 4
assert abs(spread - expected) < 1e-9, "It is not the largest distance."
### END HIDDEN TESTS
"""


def vary(root, setup: str = VARIED, check: str = LARGEST_OF_ALL) -> None:
    path = root / "source" / "small" / "small.ipynb"
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        cell.source = {"setup": setup, "test_spread": check}.get(cell.id, cell.source)
    nbformat.write(notebook, path)
    wrong = WRONG.replace("spread = 2.0", "spread = float(np.max(numbers - np.mean(numbers)))")
    (root / "answers/small/wrong/rows.py").write_text(wrong)


def test_right_answers_are_right_in_every_variant(course):
    vary(course)
    found = audited(course)
    assert found.complaints() == [] and found.passed
    (remark,) = (one for one in found.remarks if "variants" in one)
    assert remark.startswith(
        "The assignment has variants (viva_seed = 3). Right answers were also graded with 271828182 and 314159265"
    )


def test_a_test_that_knows_one_variant_only_is_refused_by_its_check(course):
    names: dict = {}
    exec(VARIED, names)
    largest = float((names["numbers"] - names["numbers"].mean()).max())
    vary(course, check=f"### CHECK 1: the largest distance from the mean\nassert abs(spread - {largest!r}) < 1e-9\n")
    found = audited(course)
    assert all(proof.holds for proof in found.proofs if proof.case in ("solution", "right"))
    said = [fault for fault in found.errors if fault.startswith("With viva_seed = ")]
    assert [fault.partition(":")[0] for fault in said] == [
        "With viva_seed = 271828182", "With viva_seed = 271828182",
        "With viva_seed = 314159265", "With viva_seed = 314159265",
    ]  # fmt: skip
    assert "The solution fails 'test_spread: the largest distance from the mean'" in said[0]
    assert "The right answer columns fails 'test_spread: the largest distance from the mean'" in said[1]
    assert not found.passed


def test_a_mistake_that_shows_in_one_variant_only_is_named(course):
    setup = VARIED.replace("size=(4, 1))", "size=(4, 1)) * (viva_seed == 3)")
    lenient = LARGEST_OF_ALL.replace("abs(spread - expected) < 1e-9", "expected == 0 or abs(spread - expected) < 1e-9")
    vary(course, setup, lenient)
    (course / "answers/small/wrong/half.py").write_text(
        '"""Half of it.\n\nLoses:\n    test_spread: *\nKeeps:\n    everything else\n"""\n\n'
        "# %% spread\nspread = float(np.max(centre(numbers))) / 2\n\n# %% [solution] centre\n"
    )
    faults = audited(course).errors
    assert (
        "With viva_seed = 271828182: The wrong answer half passes 'test_spread: the largest distance from the mean', "
        "but must fail it." in faults
    )
