"""What a student reads of a lost test that is written with testthat's ``test_that``."""

import pytest

from viva_r.text import with_reason

ENDED = {"name": "", "message": "Error in `reporter$stop_if_needed()`:\n! Test failed", "traceback": ""}
FAILURE = """\x1b[32mTest passed\x1b[39m 😀
── \x1b[1m\x1b[33mFailure\x1b[39m ('<text>:8'): sums should use a for loop\x1b[22m ────────────────────────────
all(!grepl("for", as.character(body(sums)))) is not FALSE

`actual`:   TRUE
`expected`: FALSE

"""
ERROR = """── Error ('<text>:2'): sums adds ───────────────────────────────────────
Error in `sums(2)`: not done
Backtrace:
 1. testthat::expect_equal(sums(2), 2)

── Failure ('<text>:8'): sums should use a for loop ────────────────────────────
it is not
"""


@pytest.mark.parametrize(
    ("shown", "message", "asserted"),
    [
        (FAILURE, 'sums should use a for loop: all(!grepl("for", as.character(body(sums)))) is not FALSE', True),
        (ERROR, "sums adds: Error in `sums(2)`: not done", False),
        ("nothing", ENDED["message"], True),
    ],
)
def test_the_error_of_a_test_says_which_of_its_parts_failed_and_why(shown, message, asserted):
    reply = {"raised": ENDED, "outputs": [{"output_type": "stream", "text": shown}], "asserted": True}
    found = with_reason(reply)
    assert (found["raised"]["message"], found["asserted"]) == (message, asserted)


def test_an_error_of_its_own_stays():
    reply = {"raised": ENDED | {"message": "f(2) == 4 is not TRUE"}, "outputs": [], "asserted": True}
    assert with_reason(reply) is reply
