"""The names in a cell's text."""

from __future__ import annotations

import ast

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from viva.notebook.names import changed_of, imports_of, names_of
from viva.notebook.syntax import nodes_of, parsed

NAMES = {
    "an assignment": ("x = y", {"x"}, {"y"}),
    "several targets": ("a, (b, *c) = d = e", {"a", "b", "c", "d"}, {"e"}),
    "an augmented assignment uses and binds": ("x += y", {"x"}, {"x", "y"}),
    "an index changes its base": ("x[i].y = z", {"x"}, {"x", "i", "z"}),
    "a deletion binds": ("del x, y[0]", {"x", "y"}, {"y"}),
    "imports bind their first name": ("import a.b, c as d\nfrom e import f as g", {"a", "d", "g"}, set()),
    "a loop and a with bind": ("for i in s:\n    pass\nwith o() as f:\n    pass", {"i", "f"}, {"s", "o"}),
    "an exception's name binds": ("try:\n    f()\nexcept E as e:\n    pass", {"e"}, {"f", "E"}),
    "a walrus binds": ("print(y := 3)", {"y"}, {"print"}),
    "a function binds its name only": ("def f(a=b):\n    c = d", {"f"}, {"b"}),
    "a global in a function binds": ("def f():\n    global g\n    g = 1", {"f", "g"}, set()),
    "a decorator is used": ("@d\ndef f(): pass", {"f"}, {"d"}),
    "a class uses what its body uses": ("class C(B):\n    x = y\n    def m(self): return z", {"C"}, {"B", "y"}),
    "what a class has bound is its own": (
        "class C:\n    a = b\n    c = a\n    def f(self): return a\n    @f.setter\n    def f(self, x): pass",
        {"C"},
        {"b"},
    ),
    "a comprehension keeps its variable": ("s = [x + c for x in xs if x > d]", {"s"}, {"c", "xs", "d"}),
    "which may have the name of what it runs over": ("[x for x in x]", set(), {"x"}),
    "a walrus in it binds outside": ("any((hit := x) > 1 for x in xs)", {"hit"}, {"any", "xs"}),
    "a match binds": ("match p:\n    case [a, *b]: pass\n    case {'k': c, **d}: pass", {"a", "b", "c", "d"}, {"p"}),
    "a lambda counts as used": ("f = lambda a: a + b", {"f"}, {"b"}),
    "a magic that captures binds": ("%%capture --no-stderr seen\nx = y", {"seen", "x"}, {"y"}),
    "one that captures for nobody does not": ("%%capture --no-stderr\nx = y", {"x"}, {"y"}),
    "magics are Python to IPython": ("%matplotlib inline\nx = 1", {"x"}, {"get_ipython"}),
}


@pytest.mark.parametrize("name", NAMES)
def test_the_names_of_a_cell(name):
    source, bound, used = NAMES[name]
    names = names_of(source)
    assert (names.bound, names.used) == (bound, used)


def test_what_is_global_in_one_scope_is_not_in_those_around_it():
    source = "def f():\n    class C:\n        global a\n        a = 1\n    def g():\n        global b\n        b = 2"
    assert names_of(source).assigned == {"f"}
    assert names_of(f"{source}\n    global c\n    c = 3").assigned == {"f", "c"}


@pytest.mark.parametrize("name", NAMES)
def test_the_nodes_of_a_tree_are_those_that_python_walks_through_but_for_those_without_fields(name):
    tree = parsed(NAMES[name][0])
    assert nodes_of(tree) == [node for node in ast.walk(tree) if node._fields]


def test_what_a_function_mentions_is_not_used_before_the_call():
    assert names_of("def f(a):\n    b = a\n    return b + c").mentioned == {"f": {"c"}}


@pytest.mark.parametrize("source", ["def f(", "x = \0", "if:"])
def test_a_cell_that_is_not_python_has_no_names(source):
    assert names_of(source) is None


def test_the_names_that_a_cell_imports():
    assert imports_of("%matplotlib inline\nimport a.b, c as d\nfrom e import f as g\nx = 1") == {"a", "d", "g"}
    assert imports_of("import (") == set()


def test_a_method_changes_its_object_and_what_it_is_given():
    assert changed_of("cases.append(1)\nrng.shuffle(deck)\nprint(x.mean(y), sort(z))") == {"cases", "rng", "deck"}


MENTIONED = {
    "its own names are not": ("def f(a):\n    b = a\n    return b + c", {"c"}),
    "nor is the variable of a comprehension": ("def f():\n    return [x for x in xs]", {"xs"}),
    "which is another than the name below it": ("def f():\n    [x for x in xs]\n    return x", {"x", "xs"}),
    "what it changes is": ("def f():\n    table[0] = 1", {"table"}),
    "what it declares global is": ("def f():\n    global n\n    n = 1", {"n"}),
    "what a function in it mentions is": ("def f():\n    a = 1\n    def g(): return a + b\n    return g", {"b"}),
    "what is local to that one is not its own": ("def f():\n    def g():\n        x = 1\n    return x", {"x"}),
}


@pytest.mark.parametrize("name", MENTIONED)
def test_what_a_function_mentions(name):
    source, mentioned = MENTIONED[name]
    assert names_of(source).mentioned["f"] == mentioned


def test_names_are_told_apart_by_how_they_are_given():
    names = names_of("import a\nfor b in c:\n    d = b\nwith e as f:\n    g[0] = h")
    assert (names.imported, names.passing, names.assigned, names.changed) == ({"a"}, {"b", "f"}, {"d"}, {"g"})


DEEP = {
    "what comprehensions run over": ("[a for a in {}]", 60),
    "their variables": ("[0 for a[{}] in y]", 40),
    "their items": ("[{} for a in y]", 60),
    "their conditions": ("[a for a in y if {}]", 60),
    "lambdas": ("lambda: {}", 60),
    "defaults of lambdas": ("lambda a={}: a", 60),
    "arguments": ("f({})", 60),
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_deep_is_read_in_no_time(name):
    frame, depth = DEEP[name]
    source = "y"
    for _ in range(depth):
        source = frame.format(source)
    assert "y" in names_of(source).used


@pytest.mark.parametrize("source", ["x = " + "lambda: " * 900 + "y", "lambda a=0: " * 400 + "y"])
def test_more_functions_in_functions_than_anybody_writes_are_not_read(source):
    assert names_of(source) is None


@pytest.mark.parametrize("source", ["x = " + " + ".join(["y"] * 900), "x = y" + ".z" * 900])
def test_the_names_of_a_deep_expression_are_read(source):
    assert names_of(source).used == {"y"}


CELLS = {
    "plain Python": "def f(x):\n    '''\n    %ls\n    !ls\n    '''\n    return (x\n% 2)",
    "empty lines at its head": "\n\nx = 1",
    "IPython's prompt, which is an annotation": "In [1]: x\n",
    "a prompt in a docstring": '"""A.\n   ...: \nB"""\nx = 1',
    "Python's prompt": ">>> x = 1\n>>> y = 2",
    "magics": "%matplotlib inline\nx = !ls\ny?",
    "an indented cell": "    x = 1\n    y = 2",
    "no Python": "x = = 1",
}


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_is_read_as_ipython_reads_it(name):
    def told(tree):
        return tree and ast.dump(tree, include_attributes=True)

    try:
        expected = ast.parse(TransformerManager().transform_cell(CELLS[name]))
    except SyntaxError:
        expected = None
    assert told(parsed(CELLS[name])) == told(expected)
