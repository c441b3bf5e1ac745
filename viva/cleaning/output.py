"""An output of a cell, made from parts that are known to be fit."""

from __future__ import annotations

from nbformat import NotebookNode, from_dict


def output(output_type: str, **fields: object) -> NotebookNode:
    """As ``nbformat.v4.new_output``, with all its ``fields`` given and not validated.

    For a part of the schema nbformat validates in plain Python, which takes a millisecond; whole notebooks are
    validated when they are written.
    """
    return from_dict({"output_type": output_type, **fields})
