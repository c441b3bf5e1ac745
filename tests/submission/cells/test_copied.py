"""Code that was copied through something is read as it was typed, and only where nothing else can be meant."""

import numpy as np
import pytest

from viva.submission.cells.copied import as_typed

CODE = 'def softmax(x):\n    """Down each column."""\n    e = np.exp(x - x.max(axis=0))\n\n    return e / e.sum(axis=0)'
LINES = CODE.split("\n")
COPIED = {
    "numbers": "\n".join(f"{number} {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "numbers to the right": "\n".join(f"{number:3}  {line}".rstrip() for number, line in enumerate(LINES, 8)),
    "numbers and tabs": "\n".join(f"{number}\t{line}" for number, line in enumerate(LINES, 1)),
    "numbers and points": "\n".join(f"{number}. {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "numbers and bars": "\n".join(f"{number} | {line}".rstrip() for number, line in enumerate(LINES, 1)),
    "a fence": f"```python\n{CODE}\n```",
    "words around a fence": f"Sure! Here's the code:\n\n```python\n{CODE}\n```\n\nIt works on columns.",
    "half a fence": f"{CODE}\n```",
    "quotes of print": CODE.replace('"""', "\u201d" * 3),
    "a dash of print": CODE.replace(" - ", " \u2212 "),
    "wide marks": CODE.replace("(", "\uff08").replace(")", "\uff09"),
    "spaces that do not break": CODE.replace("    ", "\u00a0" * 4),
    "marks of a mail": "\n".join(f"> {line}" for line in LINES),
    "marks of a difference": "\n".join(f"+{line}" for line in LINES),
    "signs of a page": CODE.replace('"', "&quot;"),
    "guillemets": CODE.replace('"""', "\u00bb", 1).replace('"""', "\u00ab"),
    "signs of a keyboard for another script": CODE.replace(" - ", " \u2212 ").replace("axis=0)", "axis=0\u3001)"),
    "bullets": "\n".join(f"\u2022 {line}" for line in LINES),
    "marks of direction": CODE.replace("(", "\u202a(\u202c"),
    "soft hyphens": CODE.replace("softmax", "soft\u00admax"),
    "spaces behind a backslash": CODE.replace("e / e", "e / \\ \t\n        e"),
    "one tab": CODE.replace("    return", "\treturn"),
}

SPACES = ("spaces that do not break", "marks of direction", "soft hyphens", "spaces behind a backslash")
"""What nobody sees is not worth a note."""


@pytest.mark.parametrize("how", COPIED)
def test_what_copying_added_is_taken_off(how):
    text, why = as_typed(COPIED[how])
    assert text.startswith("def softmax(x):")
    namespace = {"np": np, "x": np.zeros((2, 2))}
    exec(text, namespace)
    assert namespace["softmax"](namespace["x"]).tolist() == [[0.5, 0.5], [0.5, 0.5]]
    assert bool(why) is (how not in SPACES)


def test_lines_that_were_marked_from_the_first_word_on_lose_the_spaces_that_they_share():
    assert as_typed("x = 1\n    for y in z:\n        x += y") == ("x = 1\nfor y in z:\n    x += y", "indented")


@pytest.mark.parametrize(
    "source",
    [
        *(
            CODE,
            "",
            "x = '\u201cquoted\u201d'",
            "%%writefile a.py\n1 x = 1",
            "print(x\n",
            "def f(:\n    pass",
            f"{CODE}\n)",
        ),
        *(
            "1. Yes.\n2. No.",
            "1 x\n3 y",
            "The code:\n\nx = (",
            "if x:\n\ty = 1\n        z = 2",
            ">>> x = 1\n>>> x",
            "# Equation (1)\u2028x = 1",
            "[[0.97 1.59]\n [0.2 0.1]]",
            "    x = 1\n        y = 2",
            "else:\n    y = 2\n    return y",
        ),
    ],
)
def test_what_is_python_or_can_be_read_in_no_one_way_is_left_alone(source):
    assert as_typed(source) == (source, "")
