from __future__ import annotations

import ast
import warnings

import pytest

from tests.conftest import PROJECT
from tests.oral import thinned
from viva.engine.blueprint import Cell, read_blueprint
from viva_audit.fieldmistakes import read_mistakes
from viva_audit.mutants import EXPRESSIONS, mutants, mutants_of
from viva_audit.operators import Scene

MISTAKES = read_mistakes(PROJECT)
WAITING = {"not centred", "smallest k by name", "other text", "other pattern", "other format"}
"""The operators for which no solution has a place yet."""
SHARED = frozenset({"np", "X", "softmax", "beta_q", "omega_q", "N"})


def of(source, **scene):
    return mutants_of(Cell("cell", "answer", source), Scene(SHARED, mistakes=MISTAKES, **scene))


def changes(source, operator, **scene):
    found = (mutant for mutant in of(source, **scene) if mutant.operator == operator)
    return {
        part.strip()
        for mutant in found
        for part in (mutant.change.partition(" -> ")[2], mutant.source.splitlines()[-1])
    }


@pytest.mark.parametrize(
    ("source", "operator", "change"),
    [
        ("q = beta_q + omega_q @ X", "dropped operand", "q = omega_q @ X"),
        ("q = beta_q + omega_q @ X", "doubled bias", "q = 2 * beta_q + omega_q @ X"),
        ("q = beta_q + omega_q @ X", "swapped operands", "q = beta_q + X @ omega_q"),
        ("q = beta_q + omega_q @ X", "transposed", "q = beta_q + omega_q.T @ X"),
        ("q = beta_q + omega_q @ X", "other operator", "q = beta_q + omega_q * X"),
        ("q = beta_q + omega_q @ X", "deleted statement", "pass"),
        ("a = softmax(X.T @ N)", "keys for queries", "a = softmax(N.T @ X)"),
        ("a = softmax(X.T @ N)", "other softmax axis", "a = np.transpose(softmax(np.transpose(X.T @ N)))"),
        ("a = softmax(X.T @ N)", "other scale", "a = softmax(np.asarray(X.T @ N) / 2)"),
        ("a = softmax(X / np.sqrt(4))", "other scale", "a = softmax(X) / np.sqrt(4)"),
        ("a = softmax(X / np.sqrt(4))", "dropped call", "a = softmax(X / 4)"),
        ("a = softmax(np.where(m, X, -9))", "other mask", "a = np.where(m, softmax(X), 0.0)"),
        ("a = np.max(X, axis=0)", "dropped keyword", "a = np.max(X)"),
        ("a = np.max(X, axis=0)", "other axis", "a = np.max(X, axis=1)"),
        ("a = np.max(X, axis=0)", "other function", "a = np.min(X, axis=0)"),
        ("a = np.vstack([X, N])", "other items", "a = np.vstack([N, X])"),
        ("a = np.vstack([X, N])", "other items", "a = np.vstack([X])"),
        ("a = X[0] if N > 1 else 2", "other comparison", "a = X[0] if N >= 1 else 2"),
        ("a = X[0] if N > 1 else 2", "other constant", "a = X[1] if N > 1 else 2"),
        ("a = [X[i] for i in range(N)]", "off by one", "a = [X[i] for i in range(0, N - 1)]"),
        ("a = f(X, N)", "swapped arguments", "a = f(N, X)"),
        ("a = f(X)", "other value", "a = np.round(f(X), 3)"),
        ("def f(X):\n    return 2 * X", "global for argument", "X = globals()['X']"),
        ("def f(X):\n    return 2 * X", "returned input", "return X"),
        ("def f(X):\n    return 2 * X", "changed argument", "returned = 2 * X; X[0] = 0; return returned"),
        ("def f(X):\n    return 2 * X", "spoilt argument", "X[:] = [0 * part for part in X]"),
        ("def f(X):\n    return 2 * X", "spoilt argument", "X[:] = [np.nan * part for part in X]"),
        ("def f(X):\n    return 2 * X", "spoilt argument", "X[:] = np.sort(X, 0)"),
        ("def f(X):\n    return 2 * X", "constant result", "return np.array([2, 4])"),
        ("def f(X):\n    return (X, N)", "other result", "return (X, np.transpose(N))"),
        ("def f(X):\n    return (X, N)", "other items", "return (N, X)"),
        ("for x in X:\n    total += x", "overwritten sum", "total = x"),
        ("for x in X:\n    total += x", "stopped loop", "break"),
        (r"a = re.fullmatch(r'^\d{4}', X)", "other pattern", r"a = re.search('^\\d{4}', X)"),
        (r"a = re.fullmatch(r'^\d{4}', X)", "other pattern", r"a = re.fullmatch('\\d{4}', X)"),
        (r"a = re.fullmatch(r'^\d{4}', X)", "other pattern", r"a = re.fullmatch('^\\w{4}', X)"),
        (r"a = re.fullmatch(r'^\d{4}', X)", "other pattern", r"a = re.fullmatch('^\\d+', X)"),
        ("a = f'{N:.2f} and {N:<10}'", "other format", "a = f'{N:.1f} and {N:<10}'"),
        ("a = f'{N:.2f} and {N:<10}'", "other format", "a = f'{N:.2f} and {N:>10}'"),
        ("a = f'{N:.2f} and {N:<10}'", "other format", "a = f'{N} and {N}'"),
        ("a = X.groupby('k').agg('mean')", "other text", "a = X.groupby('k').agg('median')"),
        ("a = X.merge(N, how='left')", "other text", "a = X.merge(N, how='inner')"),
        ("@cache\ndef f(n):\n    return n", "dropped decorator", "nothing"),
        ("def f(a):\n    for b in a:\n        yield b", "not lazy", "yield from list(all_of_it(a))"),
    ],
)
def test_a_mistake_is_made(source, operator, change):
    assert change in changes(source, operator, results={"f": "np.array([2, 4])"})


def test_only_the_solutions_lines_are_changed():
    source = "a = 1\n### BEGIN SOLUTION\nb = 2\n### END SOLUTION\nprint(a, 3)"
    assert all(mutant.source.startswith("a = 1") and "print(a, 3)" in mutant.source for mutant in of(source))
    assert {mutant.source.splitlines()[1] for mutant in of(source)} >= {"b = 3", "b = 1", "pass"}


def test_prints_and_docstrings_are_left_alone():
    assert of('def f():\n    """Two: 2."""\n    print(1)') == []


def test_another_language_has_no_mutants():
    assert of("this is no Python") == []


def test_what_python_warns_of_in_a_mutant_is_not_told():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert "q = 1(2)" in {mutant.source for mutant in of("q = f(1)(2)")}
    assert not told


def test_sizes_come_from_outside_as_well():
    assert "d = N" in changes("d = X.shape[0]", "other scale", integers=("N",))


@pytest.mark.parametrize("path", thinned(sorted((PROJECT / "source").glob("*/*.ipynb"))), ids=lambda path: path.stem)
def test_mutants_of_our_solutions_are_many_different_and_always_the_same(path):
    blueprint = read_blueprint(path)
    found = mutants(blueprint, mistakes=MISTAKES)
    assert found == mutants(blueprint, mistakes=MISTAKES)
    assert len(found) > 100
    answers = {cell.id for cell in blueprint.cells if cell.purpose == "answer"}
    assert {mutant.cell for mutant in found} == answers
    for cell in answers:
        dumps = [ast.dump(ast.parse(mutant.source)) for mutant in found if mutant.cell == cell]
        assert len(dumps) == len(set(dumps))
    for mutant in found:
        assert ast.dump(ast.parse(mutant.source)) != ast.dump(ast.parse(mutant.original))
        assert any(line.startswith(("+", "-")) for line in mutant.diff.splitlines())


@pytest.mark.slow
def test_every_operator_is_used_by_some_solution_but_for_those_that_wait():
    sources = (PROJECT / "source").glob("*/*.ipynb")
    used = {mutant.operator for path in sources for mutant in mutants(read_blueprint(path), mistakes=MISTAKES)}
    known = EXPRESSIONS.keys() | MISTAKES.expressions.keys() | MISTAKES.bodies.keys()
    assert not WAITING - known, "what waits is no operator"
    assert known - used <= WAITING, "no solution has a place for it: list it as waiting"
    assert not WAITING & used, "a solution has a place for it now: it waits no longer"
