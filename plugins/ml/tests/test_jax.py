"""Arrays and keys of JAX cross as what they are, and nothing that no JAX wrote is made one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plugins.ml.tests.crossing import crossed, learn, refused
from tests.oral import Exam, read_exams
from viva.engine.grading import Grader
from viva.engine.wire import is_plain
from viva.sandbox.confinement import Sandbox

pytestmark = pytest.mark.usefixtures("processes")

learn("jax")

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

EXAMS = read_exams(Path(__file__).with_name("jax.txt"))


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float16", "int32", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_an_array_crosses_with_its_type_and_shape_also_in_containers(kind, shape):
    value = jnp.ones(shape, kind)
    (arrived,) = crossed({"a": [value]})["a"]
    assert isinstance(arrived, jax.Array) and arrived.dtype == value.dtype and arrived.shape == shape
    assert bool((arrived == value).all())


def test_a_key_crosses_with_its_generator_and_draws_the_same():
    for key in (jax.random.key(3), jax.random.key(3, impl="rbg"), jax.random.split(jax.random.key(1))):
        arrived = crossed(key)
        assert arrived.dtype == key.dtype and arrived.shape == key.shape
        assert bool((jax.random.key_data(arrived) == jax.random.key_data(key)).all())
    assert bool((crossed(jax.random.PRNGKey(3)) == jax.random.PRNGKey(3)).all())


def test_what_is_traced_does_not_cross():
    seen = []
    jax.grad(lambda x: seen.append(is_plain(x)) or x * 2)(1.0)
    assert seen == [False]


@pytest.mark.parametrize(
    "parts",
    [
        ("jax:ArrayImpl", np.zeros(2), "float64"),  # which JAX does not have here
        ("jax:ArrayImpl", np.zeros(2, "f4"), "float16"),
        ("jax:ArrayImpl", np.zeros(2, "f4"), "bfloat16"),
        ("jax:ArrayImpl", np.zeros(2, "u2"), "float8_e4m3fn"),
        ("jax:ArrayImpl", np.array(["x"]), "str32"),
        ("jax:ArrayImpl", np.zeros(2, "M8[s]"), "datetime64[s]"),
        ("jax:ArrayImpl", "float32", np.zeros(2, "f4")),
        ("jax:ArrayImpl", np.zeros(2, "f4"), "float32", np.zeros(2, "f4")),
        ("jax:PRNGKeyArray", "threefry2x32", np.zeros(3, "u4")),
        ("jax:PRNGKeyArray", "threefry2x32", np.zeros(2, "f4")),
        ("jax:PRNGKeyArray", "os.system", np.zeros(2, "u4")),
        ("jax:PRNGKeyArray", "threefry2x32", np.array(0, "u4")),
    ],
)
def test_parts_that_jax_does_not_write_are_refused(parts):
    assert refused(*parts)


def test_other_tests_find_no_threads_of_jax_in_the_process_that_they_share():
    from jax._src import xla_bridge

    assert not xla_bridge.backends_are_initialized()  # this process is a copy of the shared one


TRACED = """
--- test
assert jax.grad(lambda x: soft(x).sum())(jnp.zeros(4)).shape == (4,)
"""


@pytest.mark.slow
def test_a_notebook_with_jax_is_split_but_for_tests_that_trace_student_code(tmp_path):
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=("jax",))
    try:
        exam = Exam(EXAMS["notebook"], grader, tmp_path)
        exam.prove()
        exam = Exam(EXAMS["notebook"] + TRACED, grader, tmp_path)
        assert exam.examination.inside == {exam.tests[-1]}
        assert "Tracer" in exam.examination.single_process_sentences()[exam.tests[-1]]
    finally:
        grader.close()


@pytest.mark.slow
def test_an_answer_that_has_jax_differentiate_a_tests_function_is_looked_at_by_a_grader(tmp_path):
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=("jax",))
    try:
        outcome = Exam(EXAMS["derivative"], grader, tmp_path).grade("def derivative(f, x):\n    return jax.grad(f)(x)")
    finally:
        grader.close()
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_crossing", ("test-2",))]
