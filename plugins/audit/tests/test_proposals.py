"""Proposed check lines: passed by all that is right, each naming what it notices, and put where they belong."""

from __future__ import annotations

import nbformat
import pytest

from bench.proposals import main
from plugins.audit.tests.test_audit import course, small, write  # noqa: F401 (fixtures)
from tests.conftest import load
from viva_audit.audit import audit
from viva_audit.checkname import CheckName
from viva_audit.proposals import Draft, Proposal, _cover, added
from viva_audit.proposals import proposals as propose
from viva_audit.proposals import write as accept

WEAK = """### CHECK 1: a table of two columns
result = centre(np.array([[1.0, 2.0], [3.0, 6.0]]))
assert np.shape(result) == (2, 2) and np.allclose(result, [[-1, -2], [1, 2]]), "Each column should have the mean 0."
### CHECK 2: other tables: they stay as they are
assert np.shape(centre(np.zeros((3, 1)))) == (3, 1), "The result should have the shape of the table."
### BEGIN HIDDEN TESTS
rng = np.random.default_rng(5)
for shape in ((3, 2), (2, 4), (1, 3), (4, 1)):
    table = rng.normal(size=shape)
    result = centre(table.copy())
    expected = [[table[i, j] - sum(table[:, j]) / shape[0] for j in range(shape[1])] for i in range(shape[0])]
    assert np.shape(result) == shape, "The result should have the shape of the table."
    assert np.allclose(result, np.array(expected)), "For another table the numbers are not right."
### END HIDDEN TESTS"""


def proposal(text: str = "assert f(1) == 2", title: str = "test_f", hidden: bool = False) -> Proposal:
    return Proposal(1, CheckName("test_f", title), "f", text, hidden, [])


def test_a_line_goes_to_the_end_of_its_check_above_the_hidden_lines_that_end_it():
    hidden = "### BEGIN HIDDEN TESTS\nassert f(9) == 18\n### END HIDDEN TESTS"
    assert added("assert f(0) == 0\n\n", proposal()) == "assert f(0) == 0\nassert f(1) == 2\n"
    assert added(f"assert f(0) == 0\n{hidden}", proposal()) == f"assert f(0) == 0\nassert f(1) == 2\n{hidden}"
    two = "x = 1\n### CHECK 1: a\nassert f(x)\n### CHECK 2: b\nassert f(0) == 0"
    assert added(two, proposal(title="a")) == two.replace("f(x)", "f(x)\nassert f(1) == 2")
    assert added(two, proposal(title="b")) == f"{two}\nassert f(1) == 2"


def test_a_line_for_a_hidden_check_is_hidden_with_the_others():
    hidden = "### BEGIN HIDDEN TESTS\nassert f(9) == 18\n### END HIDDEN TESTS"
    secret = proposal(hidden=True)
    assert added(hidden, secret) == hidden.replace("18\n", "18\nassert f(1) == 2\n")


def test_no_line_gets_into_a_block():
    block = "for n in (1, 2):\n    pass\n    ### BEGIN HIDDEN TESTS\n    assert f(n)\n    ### END HIDDEN TESTS"
    assert added(block, proposal()) == f"{block}\nassert f(1) == 2"


def test_few_lines_are_chosen_that_notice_all_and_the_short_one_of_two():
    def draft(text: str, *kills: int) -> Draft:
        return Draft("f", CheckName("test_f", "test_f"), {"visible": text}, kills=set(kills))

    both, alone, long, last = draft("aaaa", 1, 2), draft("a", 1), draft("aaaaaa", 1, 2), draft("a", 3)
    assert _cover([alone, long, both, last]) == [both, last]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_weakened_check_is_proposed_the_lines_that_it_lacks(course, viva):  # noqa: F811
    write(course, WEAK)
    path = course / "source/small/small.ipynb"
    original = path.read_bytes()
    said = viva("audit", "--no-sandbox", "--propose")
    assert said.status == 1, said.text
    assert "+centre(table)" in said.out and "table should stay as it is." in said.out
    assert "Proposal 1, visible lines for 'test_centre: a table of two columns'" in said.out
    assert "Nothing was written." in said.out and path.read_bytes() == original

    before = nbformat.read(path, as_version=4)
    said = viva("audit", "--no-sandbox", "--propose", "--write")
    assert "wrote the proposals 1" in said.out
    after = nbformat.read(path, as_version=4)
    assert [cell.id for cell in after.cells] == [cell.id for cell in before.cells]
    assert [cell.metadata for cell in after.cells] == [cell.metadata for cell in before.cells]
    assert not any(cell.get("outputs") for cell in after.cells)

    said = viva("audit", "--no-sandbox", "--propose")
    assert said.status == 0, said.text
    assert "No line is needed" in said.out


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_proposal_fails_what_is_right(course):  # noqa: F811
    """Another right answer returns a list of rows, and so a line about the type of the result would be wrong."""
    write(course, WEAK)
    (course / "answers/small/right/rows.py").write_text(
        '"""Rows as lists."""\n\n# %% centre\ndef centre(table):\n'
        "    means = [sum(column) / len(column) for column in zip(*table)]\n"
        "    return [[x - mean for x, mean in zip(row, means)] for row in table.tolist()]\n\n# %% [solution] *\n"
    )
    here = load(course)[0]
    before = audit(here, "small", no_sandbox=True, workers=2)
    found = propose(here, before, no_sandbox=True, workers=2, memory=2000)
    assert found.noticed(survivors=True) >= 1
    accept(here, found)
    after = audit(here, "small", no_sandbox=True, workers=2)
    assert after.complaints() == []
    assert after.count("killed") == before.count("killed") + found.noticed(survivors=True)
    named = {fate.number for line in found.lines for fate in line.fates}
    assert named <= {fate.number for fate in after.fates if fate.killers and not fate.surprise}


@pytest.mark.thorough
@pytest.mark.timeout(600)
def test_the_bench_counts_nbgraders_own_examples(capsys):
    main([])
    lines = capsys.readouterr().out.splitlines()[2:]
    assert len(lines) == 2
    for line in lines:
        before, after = (int(part.split(" of ")[0]) for part in line.split("|")[2:4])
        assert after >= before
