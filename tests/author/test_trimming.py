"""What the audit leaves out of a notebook that only the tests look at."""

from __future__ import annotations

import pytest

from viva.author.trimming import needs, unneeded, used_later
from viva.engine.blueprint import Blueprint, Cell


def blueprint(given, later="assert words == [1]"):
    cells = [Cell("data", "given", "words = []"), Cell("middle", "given", given)]
    cells += [Cell("answer", "answer", "double = 2 * words[0]\nown = 1"), Cell("tests", "tests", later)]
    return Blueprint("notebook", tuple(cells))


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        ("plt.imshow(words)\nplt.show()", False),
        ("axes = draw(words)", False),
        ("print(words)", False),
        ("words.append(1)", True),
        ("words[0] = 1", True),
        ("words += [1]", True),
        ("np.random.seed(1)", True),
        ("%matplotlib inline", False),
        ("this is no Python", True),
    ],
)
def test_a_given_cell_is_needed_when_later_cells_could_tell(source, needed):
    assert unneeded(blueprint(source)) == (set() if needed else {"middle"})


def test_of_what_an_answer_binds_only_what_later_cells_use_is_compared():
    used = used_later(blueprint("", "assert double == 2"), "answer")
    assert "double" in used
    assert "own" not in used


NEEDS = {
    "what is bound first is not needed": ("a = 1\nb = a + c", {"c"}),
    "its own old value is": ("a = a + 1", {"a"}),
    "an augmented assignment needs its target": ("a += 1", {"a"}),
    "so does what changes a part": ("a[0] = 1\ndel b", {"a", "b"}),
    "the variable of a loop is bound in its body": ("for a in b:\n    c = a", {"b"}),
    "and perhaps nowhere else": ("for a in b:\n    c = a\nprint(a, c)", {"b", "print", "a", "c"}),
    "a comprehension has its own": ("[a for a in b if a > c]", {"b", "c"}),
    "one branch may not run": ("if a:\n    b = 1\nc = b", {"a", "b"}),
    "a function reads when it is called": ("def f(x):\n    return x + y\ny = 1", {"y"}),
    "a lambda has its arguments": ("f = lambda a: a + b", {"b"}),
    "an import binds": ("import a.b as c, d.e\nc.f(d.g)", set()),
    "several at once are bound": ("(a, *b), c = d\na, b, c", {"d"}),
    "what is opened has a name below": ("with a as b:\n    c = b\nb, c", {"a"}),
    "an error may come before the name": ("try:\n    a = 1\nexcept E:\n    pass\na", {"E", "a"}),
    "a class reads its body": ("class C(B):\n    x = y\n    def m(self): return z", {"B", "y", "z"}),
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_cell_needs_the_names_that_it_may_read_before_it_binds_them(name):
    source, expected = NEEDS[name]
    assert needs(source) == expected


def test_a_picture_is_left_out_though_a_test_has_a_loop_over_the_same_name():
    assert unneeded(blueprint("for row in words:\n    axes = draw(row)", "for row in words:\n    axes = row")) == {
        "middle"
    }
