"""Pictures from a student: whether a browser can show one without being overwhelmed or told to do anything else."""

from __future__ import annotations

import base64
import binascii
import io

from viva.cleaning import drawing

FORMATS = {"image/png": "PNG", "image/jpeg": "JPEG", "image/gif": "GIF", "image/webp": "WEBP"}
SVG = "image/svg+xml"
MOST_PIXELS = 50_000_000
"""A browser takes four bytes of memory for each; a figure of 60 by 60 cm at 300 dpi still fits."""
MOST_BYTES = 10 * 2**20


def problem(mime: str, text: object) -> str:
    """Why a picture, base64 text of the MIME type ``mime``, is not shown; empty when it can be."""
    if mime not in FORMATS or not isinstance(text, str):
        return f"a picture of an unknown kind ({mime[:40] if mime.isprintable() else '?'})"
    if len(text) > MOST_BYTES * 4 / 3:
        return f"a picture of more than {MOST_BYTES // 2**20} MB"
    try:
        data = base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return "an invalid picture"
    return _measured(FORMATS[mime], data)


def _measured(name: str, data: bytes) -> str:
    import warnings

    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow's own limit warns first
            with Image.open(io.BytesIO(data), formats=[name]) as image:  # reads the head only
                width, height = image.size
    except Image.DecompressionBombError:
        return f"a picture of more than {MOST_PIXELS // 10**6} million pixels"
    except Exception:  # Pillow raises what it likes over a damaged file
        return "an invalid picture"
    if width * height > MOST_PIXELS:
        return f"a picture of {width} x {height} pixels"
    return ""


def svg_problem(text: object) -> str:
    """Why a drawing is not shown; empty when it can be."""
    return drawing.problem(text, problem)
