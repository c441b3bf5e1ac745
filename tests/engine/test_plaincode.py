"""Code of other languages, read by its words."""

import pytest

from viva.engine import plaincode

BOUND = [
    ("R", "f <- function(x) {\n  y <- 2 * x\n  y\n}", {"f"}),
    ("R", "f = \\(x) x + 1", {"f"}),
    ("R", "(function(x) x * 2) -> f", {"f"}),
    ("R", "my.mean <- mean(c(1, 2), na.rm = TRUE)", {"my.mean"}),
    ("R", "# f <- 1\nprint('f <- 1')\nstopifnot(f == 2)", set()),
    ("R", "m <<- 3; n <- 4", {"m"}),
    ("bash", "double() {\n  local y=2\n}\nexport name=3", {"double", "name"}),
    ("bash", "function double {\n  echo 2\n}", {"double"}),
    ("julia", "function f(x)\n    2x\nend\ny = f(2)", {"f", "y"}),
    ("javascript", "const f = (x) => 2 * x\nlet y = f(2)", {"f", "y"}),
    ("a language that nobody knows", "x = 1", {"x"}),
]


@pytest.mark.parametrize(("language", "source", "names"), BOUND)
def test_the_names_that_lines_at_the_margin_give(language, source, names):
    assert plaincode.bound(source, language) == names


def test_the_names_that_code_uses_are_its_words_without_comments_texts_and_the_languages_own():
    source = "f <- function(x) {\n  # doubles\n  if (is.na(x)) 'secret' else 2 * x\n}"
    assert plaincode.used(source, "R") == {"f", "x", "is.na"}


def test_names_inside_of_blocks_are_found_where_anything_counts():
    source = "if (TRUE) { secret <- 3 }\nfor (i in 1:3) {\n  other <- i\n}"
    assert plaincode.bound(source, "R") == set()
    assert plaincode.bound_anywhere(source, "R") >= {"secret", "other"}
