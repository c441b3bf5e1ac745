"""Which cells depend on the student."""

from __future__ import annotations

from viva.engine.ownership import plan


def planned(*cells: tuple[str, str]):
    """The plan for cells given as (purpose, source); ids are their numbers."""
    return plan([(str(number), purpose, source) for number, (purpose, source) in enumerate(cells)])


def test_imports_data_and_helpers_are_the_instructors():
    result = planned(("given", "import numpy as np"), ("given", "x = np.ones(3)"), ("answer", "y = x + 1"))
    assert result.given == {"0", "1"}
    assert result.owned == {"2": {"y"}}


def test_what_uses_an_answer_is_the_students():
    result = planned(("answer", "y = 1"), ("given", "z = y + 1"), ("given", "w = z"), ("given", "v = 5"))
    assert result.given == {"3"}
    assert result.owned == {"0": {"y"}, "1": {"z"}, "2": {"w"}}


def test_an_instructors_name_is_the_students_once_an_answer_changes_it():
    result = planned(("given", "x = [1]"), ("answer", "x[0] = 2"), ("given", "y = x[0]"))
    assert result.given == {"0"}
    assert result.owned == {"1": {"x"}, "2": {"y"}}


def test_a_change_that_only_running_shows_counts():
    cells = [("a", "given", "x = [1]"), ("b", "answer", "x.sort()"), ("c", "given", "y = x")]
    assert plan(cells, {"b": {"x"}}).given == {"a"}
    assert plan(cells).given == {"a", "c"}


def test_an_instructor_takes_a_name_back_by_binding_it_anew():
    result = planned(("answer", "x = 1"), ("given", "x = 2"), ("given", "y = x"))
    assert result.given == {"1", "2"}


def test_a_helper_that_mentions_an_answer_taints_who_calls_it():
    helper = "def helper(v):\n    return answer(v)"
    result = planned(("given", helper), ("answer", "def answer(v): return v"), ("given", "x = helper(1)"))
    assert result.given == {"0"}
    assert "x" in result.owned["2"]


def test_a_helper_of_a_helper_taints_as_well():
    result = planned(
        ("given", "def one(): return two()\ndef two(): return answer"),
        ("answer", "answer = 1"),
        ("given", "x = one()"),
    )
    assert result.given == {"0"}


def test_a_helper_called_before_its_answer_is_the_students():
    result = planned(("given", "def helper(): return answer"), ("given", "x = helper()"), ("answer", "answer = 1"))
    assert result.given == {"0"}


def test_a_given_cell_that_is_not_python_is_the_students():
    assert planned(("given", "this is no Python")).given == set()


def test_grade_cells_change_nothing():
    result = planned(("answer", "x = 1"), ("tests", "y = x"), ("given", "z = y"))
    assert result.given == {"2"}


def test_what_is_graded_by_hand_is_the_students_as_well():
    result = planned(("given", "x = [0]"), ("manual", "x[0] = 1\ny = 2"), ("given", "z = y"))
    assert result.given == {"0"}
    assert result.owned == {"1": {"x", "y"}, "2": {"z"}}


def test_an_open_cell_that_a_test_is_about_is_the_students():
    helper, asked = "def double(v): return 2 * v", "x = double(3)"
    result = planned(("open", "import math"), ("open", helper), ("open", asked), ("tests", "assert x == 6"))
    assert result.given == {"0", "1"}
    assert result.owned == {"2": {"x"}}


def test_an_open_cell_beside_an_answer_stays_the_instructors():
    helper, test = "def close(a, b): return abs(a - b) < 1", "def check(): assert close(x, 6)\ncheck()"
    result = planned(("open", helper), ("answer", "x = 6"), ("tests", test))
    assert result.given == {"0"}


def test_a_test_about_given_cells_that_are_locked_makes_nothing_the_students():
    assert planned(("given", "x = 6"), ("tests", "assert x == 6")).owned == {}


def test_an_import_in_an_open_cell_is_no_answer():
    assert planned(("open", "import math"), ("tests", "assert math.pi > 3")).owned == {}
