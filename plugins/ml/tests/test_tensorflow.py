"""Tensors of TensorFlow cross as what they are, and nothing that no TensorFlow wrote is made one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from plugins.ml.tests.crossing import crossed, learn, refused
from tests.oral import Exam, read_exams
from viva import wording
from viva.engine.grading import Grader
from viva.engine.wire import is_plain
from viva.sandbox.confinement import Sandbox

learn("tensorflow")

import tensorflow as tf  # noqa: E402

EXAMS = read_exams(Path(__file__).with_name("tensorflow.txt"))


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "float64", "int64", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (2, 3)])
def test_a_tensor_crosses_with_its_type_and_shape(kind, shape):
    value = tf.cast(tf.ones(shape), kind)
    (arrived,) = crossed([value])
    assert type(arrived) is type(value) and arrived.dtype == value.dtype and arrived.shape == shape
    assert bool(tf.reduce_all(arrived == value))


def test_shapes_and_types_cross_and_variables_and_texts_stay():
    for value in (tf.TensorShape([None, 3]), tf.TensorShape(None), tf.float32, tf.string):
        arrived = crossed(value)
        assert type(arrived) is type(value) and str(arrived) == str(value)
    assert not is_plain(tf.Variable(1.0)) and not is_plain(tf.constant("text"))


@pytest.mark.parametrize(
    "parts",
    [
        ("EagerTensor", np.zeros(2, "f4"), "float16"),
        ("EagerTensor", np.array(["x"]), "string"),
        ("EagerTensor", "float32", np.zeros(2, "f4")),
        ("TensorShape", [-7, 3]),
        ("TensorShape", [1] * 300),
        ("TensorShape", ["x"]),
        ("DType", "no_type"),
        ("DType", 1),
    ],
)
def test_parts_that_tensorflow_does_not_write_are_refused(parts):
    assert refused(f"tensorflow:{parts[0]}", *parts[1:])


@pytest.mark.slow
def test_tensorflow_runs_in_the_sandbox_and_its_tensors_cross_though_it_cannot_be_forked(tmp_path):
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=("tensorflow",))
    try:
        Exam(EXAMS["notebook"], grader, tmp_path).prove()
    finally:
        grader.close()


@pytest.mark.slow
def test_an_answer_whose_tape_records_a_tests_function_is_looked_at_by_a_grader(tmp_path):
    """The tape saw nothing of what the test's function did, and the reason was that None has no numbers."""
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=("tensorflow",))
    try:
        outcome = Exam(EXAMS["tape"], grader, tmp_path).grade(EXAMS["taped"])
    finally:
        grader.close()
    assert [(one.kind, one.tests) for one in outcome.doubts] == [("refused_crossing", ("test-2",))]
    assert "a tensor that a GradientTape watches cannot pass" in wording.reason(outcome.checks["test-2"][0])


@pytest.mark.slow
def test_a_notebook_with_tensorflow_and_an_optimizer_of_pytorch_is_graded(tmp_path):
    """PyTorch's compiler, which optimizers import, ends a process that has imported TensorFlow before it."""
    pytest.importorskip("torch")
    libraries = ("tensorflow", "torch")
    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), libraries=libraries)
    try:
        Exam(EXAMS["both"], grader, tmp_path).prove()
    finally:
        grader.close()
