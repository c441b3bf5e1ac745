"""Test code of the diagnosis, which runs in the examiner: it notes calls, repeats them, and prints the results.

The text of this module stands at the head of a test cell, as its prelude (``probing``): so a student's function is
called as every test calls it, from the examiner, and only plain values cross. It needs NumPy and nothing of Viva. The
grading process imports the same functions to read what was told.
"""

import base64
import contextlib
import copy
import io
import json

import numpy as np

VIVA_MOST = 6000
"""The most characters of the arguments of a call that is noted."""
VIVA_CALLS = 60
"""The most calls of a function that are noted."""
VIVA_PIECE = 15_000
"""The characters that one check prints."""
VIVA_LARGEST = 2500
"""A result with more numbers is not told: what a check prints is cut at 20,000 characters."""
VIVA_ARRAYS = (np.ndarray, np.generic)
VIVA_PLAIN = (list, tuple, bool, int, float, complex, *VIVA_ARRAYS)


def viva_packed(value):
    """A value as JSON can hold it. Raises TypeError for what is not plain data."""
    if type(value) is float and not np.isfinite(value):
        value = np.float64(value)  # JSON has no number for it
    if type(value) is int and abs(value) > 2**53:
        raise TypeError("int")
    if type(value) in (type(None), bool, int, float, str):
        return value
    if isinstance(value, VIVA_ARRAYS) and value.dtype.kind in "biufc":
        array = np.asarray(value)
        data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
        return {"array": data, "type": array.dtype.str, "shape": list(array.shape), "single": array is not value}
    if type(value) in (list, tuple):
        return {type(value).__name__: [viva_packed(part) for part in value]}
    if type(value) is dict:
        return {"dict": [[viva_packed(key), viva_packed(part)] for key, part in value.items()]}
    raise TypeError(type(value).__name__)


def viva_unpacked(value):
    """The value that ``viva_packed`` packed; its arrays can be written to."""
    if not isinstance(value, dict):
        return value
    if "array" in value:
        data = np.frombuffer(base64.b64decode(value["array"]), value["type"]).reshape(value["shape"]).copy()
        return data[()] if value["single"] else data
    if "dict" in value:
        return {viva_unpacked(key): viva_unpacked(part) for key, part in value["dict"]}
    parts = value.get("list", value.get("tuple"))
    return type(parts)(map(viva_unpacked, parts)) if "list" in value else tuple(map(viva_unpacked, parts))


def viva_spread(value, form, numbers):
    """Add the form of a value to one list and its numbers to another. Raises TypeError for what is not plain data.

    A list or a tuple of numbers is what an array of them is, and a number of any type is a number: an answer may
    return either.
    """
    if value is None or isinstance(value, (str, bytes)):
        form.append(repr(value)[:500])
        return
    if isinstance(value, dict):
        form.append("{")
        for key in sorted(value, key=repr):
            form.append(repr(key)[:100])
            viva_spread(value[key], form, numbers)
        form.append("}")
        return
    if isinstance(value, VIVA_PLAIN):
        array = None
        with contextlib.suppress(ValueError, TypeError, OverflowError):
            array = np.asarray(value)
        if array is not None and array.dtype.kind in "biufc":
            form.append(f"{'truth' if array.dtype.kind == 'b' else 'numbers'}{list(array.shape)}")
            flat = array.ravel()
            flat = np.stack([flat.real, flat.imag], 1).ravel() if array.dtype.kind == "c" else flat
            numbers.append(flat.astype(float))
            return
        if isinstance(value, (list, tuple)):
            form.append("[")
            for part in value:
                viva_spread(part, form, numbers)
            form.append("]")
            return
    raise TypeError(type(value).__name__)


def viva_told(value, before, after):
    """A result as text: its form and its numbers; with those of the arguments, where the call has changed them.

    Raises TypeError for what is not plain data, and for what is too large.
    """
    form, numbers = [], []
    viva_spread(value, form, numbers)
    first, second = ([], []), ([], [])
    with contextlib.suppress(TypeError):
        viva_spread(before, *first)
        viva_spread(after, *second)
        if first[0] != second[0] or not all(map(viva_same, first[1], second[1])):
            form += ["changed", *second[0]]
            numbers += second[1]
    if sum(map(len, numbers)) > VIVA_LARGEST:
        raise TypeError("too large")
    with np.errstate(over="ignore"):
        data = np.concatenate([*numbers, np.zeros(0)]).astype("<f4")
    return [" ".join(form), base64.b64encode(data.tobytes()).decode()]


def viva_same(one, two):
    return np.array_equal(one, two, equal_nan=True)


def viva_probe(function, probes):
    """Call a function with each of the packed arguments, and print what it gives or the class of what it raises."""
    told = []
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for packed in json.loads(probes):
            args, kwargs = (viva_unpacked(part) for part in packed)
            before = copy.deepcopy([args, kwargs])
            try:
                result = function(*args, **kwargs)
            except Exception as error:
                told.append([getattr(error, "viva_name", "") or error.__class__.__name__])
                continue
            try:
                told.append(viva_told(result, before, [args, kwargs]))
            except TypeError:
                told.append(None)
    print(json.dumps(told))


def viva_value(value):
    """Print what a name means."""
    try:
        told = [viva_told(value, None, None)]
    except TypeError:
        told = [None]
    print(json.dumps(told))


viva_notes: dict = {}


def viva_noting(name, value):
    """A function that notes what it is called with; a value is noted as it is."""
    notes = viva_notes.setdefault(name, [])
    if not callable(value):
        with contextlib.suppress(TypeError):
            viva_told(value, None, None)
            notes.append("value")
        return value

    def noting(*args, **kwargs):
        try:
            text = json.dumps([viva_packed(args), viva_packed(kwargs)])
        except TypeError:
            text = "call"
        if len(text) <= VIVA_MOST and len(notes) < VIVA_CALLS and text not in notes:
            notes.append(text)
        return value(*args, **kwargs)

    return noting


viva_results: dict = {}


def viva_watching(name, function):
    """The function; the results of its calls are noted, as tests make them."""
    results = viva_results.setdefault(name, [])

    def watching(*args, **kwargs):
        data = [part for part in (*args, *kwargs.values()) if not callable(part)]
        try:
            before = copy.deepcopy(data)
        except Exception:
            before = data = None
        try:
            result = function(*args, **kwargs)
        except Exception as error:
            results.append([getattr(error, "viva_name", "") or error.__class__.__name__])
            raise
        try:
            results.append(viva_told(result, before, data))
        except TypeError:
            results.append(None)
        return result

    return watching


def viva_watched(name):
    """Print the results since the last time."""
    results = viva_results[name]
    print(json.dumps(results[:VIVA_CALLS]))
    results.clear()


def viva_tell(piece):
    """Print one piece of all that was noted."""
    print(json.dumps(viva_notes)[piece * VIVA_PIECE : (piece + 1) * VIVA_PIECE], end="")
