"""Pillow: images with their mode, size, pixels and palette; what a file said beside them does not cross."""

from __future__ import annotations

from PIL import Image

from viva.engine.values.codec import BYTES, Codec
from viva.verdict import WireError

BITS = {
    **dict.fromkeys(("L", "P"), 8),
    **dict.fromkeys(("LA", "La", "PA", "I;16"), 16),
    **dict.fromkeys(("RGB", "YCbCr", "LAB", "HSV"), 24),
    **dict.fromkeys(("RGBA", "RGBa", "RGBX", "CMYK", "I", "F"), 32),
    "1": 1,
}
"""By mode, the bits of a pixel; each row begins with a whole byte."""
SIDE = 100_000
"""The most pixels of a side: Pillow keeps a pointer for each row, also of an image of no width."""
PALETTES = {"RGB": 3, "RGBA": 4}
"""By the mode of a palette, the bytes of a color."""


def size_of(mode: str, width: int, height: int) -> int:
    """The bytes of an image's pixels. Raises WireError for one that cannot be sent."""
    if mode not in BITS or not (0 <= width <= SIDE and 0 <= height <= SIDE):
        raise WireError(f"an image of mode {mode[:20]!r} and size {width} x {height} cannot be sent")
    size = (width * BITS[mode] + 7) // 8 * height
    if size > BYTES:
        raise WireError(f"an image of {size} bytes; the limit is {BYTES}")
    return size


def split(image: Image.Image) -> list | None:
    """The parts of an image: mode, width, height, pixels, and the mode and the colors of a palette."""
    Image.Image.load(image)
    mode, (width, height) = image.mode, image.size
    if mode not in BITS:
        return None
    size = size_of(mode, width, height)
    colors = image.palette and image.palette.mode if mode in ("P", "PA") else None
    palette = bytes(image.im.getpalette(colors, colors)) if colors in PALETTES else b""
    pixels = Image.Image.tobytes(image) if size else b""
    return [mode, width, height, pixels, colors if palette else "", palette]


def build(parts: list) -> Image.Image:
    """The image again. Raises ValueError or WireError for parts that do not fit each other."""
    mode, width, height, pixels, colors, palette = parts
    if not {type(mode), type(colors)} == {str} or not {type(width), type(height)} == {int}:
        raise ValueError("the mode or the size of an image is not valid")
    if type(pixels) is not bytes or len(pixels) != size_of(mode, width, height):
        raise ValueError("the pixels of an image do not fit its size")
    if (colors or palette) and (mode not in ("P", "PA") or colors not in PALETTES):
        raise ValueError("an image with a palette of this kind cannot be sent to the tests")
    if type(palette) is not bytes or len(palette) > 256 * PALETTES.get(colors, 0):
        raise ValueError("the palette of an image is too long")
    image = Image.frombytes(mode, (width, height), pixels) if pixels else Image.new(mode, (width, height))
    if palette:
        image.putpalette(palette, colors)
    return image


CODECS = (Codec((Image.Image,), split, build, frozenset((str, int, bytes))),)
