"""TensorFlow: tensors of numbers, shapes and types of elements. Variables, models and data sets stay where they are."""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf
from tensorflow.python.eager import record
from tensorflow.python.framework.ops import EagerTensor  # the type of tensors that have a value

from viva.engine.values.codec import Codec
from viva.verdict import WireError
from viva_ml import numbers

DIMENSIONS = 254
"""The most that TensorFlow has."""


def split_tensor(value: Any) -> list | None:
    """The parts of a tensor; None for one of texts or of variants. Raises WireError for one that a tape watches."""
    if record.should_record_backprop([value]):
        raise WireError("a tensor that a GradientTape watches cannot pass between processes")
    array = value.numpy()
    return numbers.split(np.asarray(array)) if value.dtype.is_numpy_compatible else None


def build_tensor(parts: list) -> Any:
    """A new tensor on the CPU. Raises ValueError for parts that do not fit each other."""
    array = numbers.build(parts)
    with tf.device("CPU"):
        return tf.constant(array)


def build_shape(parts: list) -> tf.TensorShape:
    """A shape; None is an unknown rank, or an unknown dimension. Raises ValueError for too many dimensions."""
    (dimensions,) = parts
    if dimensions is not None and len(dimensions) > DIMENSIONS:
        raise ValueError("a shape has too many dimensions")
    return tf.TensorShape(dimensions)


def build_type(parts: list) -> tf.DType:
    """A type of elements. Raises TypeError for an unknown name."""
    return tf.as_dtype(*parts)


CODECS = (
    Codec((EagerTensor,), split_tensor, build_tensor, frozenset((np.ndarray, str))),
    Codec(
        (tf.TensorShape,),
        lambda value: [None if value.rank is None else value.as_list()],
        build_shape,
        frozenset((list, type(None))),
    ),
    Codec((tf.DType,), lambda value: [value.name], build_type, frozenset((str,))),
)
