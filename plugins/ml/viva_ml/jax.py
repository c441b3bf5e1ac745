"""JAX: arrays and random keys.

An array crosses as NumPy's: its type and shape, no device, no sharding and no weak type. What JAX hands a function that
it traces is no array, and does not cross: a test that traces student code (``jax.grad(student_function)``) is a
single-process cell.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.array import ArrayImpl  # the type of every array; ``jax.Array`` is that of keys, too

from viva.engine.values.codec import Codec
from viva_ml import numbers

KEYS = tuple(cls for cls in jax.Array.__subclasses__() if cls.__name__ == "PRNGKeyArray")
GENERATORS = frozenset(("threefry2x32", "rbg", "unsafe_rbg"))


def split_array(value: Any) -> list | None:
    """The parts of an array; None for one that was given away, or lies on several machines."""
    if value.is_deleted() or not value.is_fully_addressable:
        return None
    return numbers.split(np.asarray(value))


def build_array(parts: list) -> jax.Array:
    """A new array on the CPU. Raises ValueError for a type that JAX does not have here, as float64 usually."""
    array = numbers.build(parts)
    value = jnp.array(array)
    if value.dtype != array.dtype:
        raise ValueError(f"an array of {array.dtype} arrived, but JAX would convert it to {value.dtype}")
    return value


def split_key(value: Any) -> list | None:
    """The parts of a key: its generator, its data."""
    if value.is_deleted() or not value.is_fully_addressable:
        return None
    return [str(jax.random.key_impl(value)), np.asarray(jax.random.key_data(value))]


def build_key(parts: list) -> jax.Array:
    """A key, or an array of keys. Raises ValueError for data that is none of its generator's."""
    generator, data = parts
    if generator not in GENERATORS or data.dtype != np.uint32:
        raise ValueError("the data of a JAX random key is not valid")
    return jax.random.wrap_key_data(jnp.array(data), impl=generator)


PARTS = frozenset((np.ndarray, str))
CODECS = (
    Codec((ArrayImpl,), split_array, build_array, PARTS),
    *(Codec((cls,), split_key, build_key, PARTS) for cls in KEYS),
)
