"""Images cross with their pixels and palette, and no message makes one that is larger than it paid for."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

from plugins.ml.tests.crossing import crossed, learn, refused
from viva_ml.pillow import BITS, SIDE

learn("PIL")


@pytest.mark.parametrize("mode", BITS)
def test_an_image_crosses_with_its_mode_and_pixels(mode):
    for size in ((13, 3), (0, 3)):
        image = Image.new(mode, size)
        if mode == "RGB" and size[0]:
            image.putpixel((1, 1), (1, 2, 3))
        arrived = crossed([image])[0]
        assert (arrived.mode, arrived.size) == (mode, size) and arrived.tobytes() == image.tobytes()


def test_the_palette_of_an_image_crosses_and_an_opened_file_as_an_image():
    image = Image.fromarray(np.arange(12, dtype="u1").reshape(3, 4)).convert("RGB").quantize(5)
    assert crossed(image).convert("RGB").tobytes() == image.convert("RGB").tobytes()
    file = io.BytesIO()
    image.convert("RGB").save(file, "PNG")
    assert crossed(Image.open(file)).tobytes() == image.convert("RGB").tobytes()


@pytest.mark.parametrize(
    "parts",
    [
        ("RGB", 2, 2, bytes(11), "", b""),
        ("RGB", 10**9, 10**9, bytes(12), "", b""),
        ("L", 0, SIDE + 1, b"", "", b""),
        ("L", -1, -4, bytes(4), "", b""),
        ("L", True, 4, bytes(4), "", b""),
        ("BGR;24", 2, 2, bytes(12), "", b""),
        ("P", 2, 2, bytes(4), "RGB", bytes(769)),
        ("P", 2, 2, bytes(4), "L", bytes(3)),
        ("L", 2, 2, bytes(4), "RGB", bytes(3)),
        ("L", 2, 2, "text", "", b""),
        ("L", 2, 2, bytes(4), "", 0),
        ("L", 2, 2),
    ],
)
def test_parts_that_pillow_does_not_write_are_refused(parts):
    assert refused("PIL:Image", *parts)
