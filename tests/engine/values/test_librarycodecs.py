"""Values of other libraries cross by the codecs of packages, and no bytes make more of a codec than it says."""

from __future__ import annotations

import numpy as np
import pytest

from viva.engine.values import librarycodecs
from viva.engine.values.codec import CODEC_OF, Codec, Reference
from viva.engine.values.librarycodecs import LIBRARY, add
from viva.engine.wire import FRAMES, LEVELS, Writer, decode, encode, is_plain
from viva.verdict import WireError


class Grid:
    """A library's type."""

    def __init__(self, cells, width):
        self.cells, self.width = cells, width


def split(grid):
    return [grid.cells, grid.width]


@pytest.fixture(autouse=True)
def codec():
    tables = CODEC_OF, librarycodecs.CODEC_BY_NAME, librarycodecs._NAMES
    before = [dict(table) for table in tables]
    add("grids", Codec((Grid,), split, lambda parts: Grid(*parts), frozenset((np.ndarray, int))))
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)


def message(*parts) -> bytes:
    """A message that holds a library's value of these parts, as a hostile process may write it."""
    writer = Writer(lambda value: Reference(7, {}))
    writer.put_parts(LIBRARY, list(parts), Grid)
    return writer.message()


def test_a_value_of_a_library_crosses_also_in_containers_and_of_a_subclass():
    class Own(Grid):
        pass

    for value in (Grid(np.arange(4), 2), Own(np.arange(4), 2)):
        crossed = decode(encode({"a": [value, value]}))["a"]
        assert [type(grid) for grid in crossed] == [Grid, Grid]
        assert crossed[0].width == 2 and crossed[0].cells.tolist() == [0, 1, 2, 3]
    assert is_plain([Grid(np.arange(4), 2)])


def test_a_reader_who_wants_only_atoms_builds_no_value_of_a_library():
    assert decode(encode([1, Grid(np.arange(4), 2)]), simple=True) == [1, None]


@pytest.mark.parametrize(
    "parts",
    [
        (),
        (7, np.arange(4), 2),
        ("torch:Tensor", np.arange(4), 2),
        ("grids:Grid",),
        ("grids:Grid", np.arange(4)),
        ("grids:Grid", "text", 2),
        ("grids:Grid", [np.arange(4)], 2),
        ("grids:Grid", np.arange(4), 2, 3),
    ],
)
def test_parts_that_no_codec_writes_are_refused(parts):
    with pytest.raises(WireError):
        decode(message(*parts), lambda reference: pytest.fail("a reference was resolved"))


def test_a_reference_in_the_parts_is_refused_on_both_sides_whatever_the_codec_says():
    class Box:
        content = object()

    add("grids", Codec((Box,), lambda box: [box.content], lambda parts: Box()))
    with pytest.raises(WireError, match="a value of type object cannot be sent"):
        encode(Box(), lambda value: Reference(7, {}))
    with pytest.raises(WireError, match="in place of a plain value"):
        decode(message("grids:Box", object()), lambda reference: pytest.fail("a reference was resolved"))


def test_a_codec_that_builds_something_else_is_refused():
    class Box:
        pass

    add("grids", Codec((Box,), lambda box: [], lambda parts: object()))
    with pytest.raises(WireError, match="cannot be built"):
        decode(encode(Box()))


def test_the_limits_of_the_wire_hold_for_the_values_of_libraries():
    with pytest.raises(WireError, match="more than"):
        decode(encode([Grid(np.arange(1), 1)] * (FRAMES + 1)))
    deep: list = []
    for _ in range(LEVELS):
        deep = [deep]

    class Box:
        pass

    add("grids", Codec((Box,), lambda box: [deep], lambda parts: Box()))
    with pytest.raises(WireError, match="deeper"):
        encode(Box())


def test_a_type_that_crosses_already_cannot_be_taken():
    with pytest.raises(ValueError, match="crosses already"):
        add("grids", Codec((list,), list.copy, list))
