"""Other people's notebooks that hold an assignment's answers and none of its cells, drawn at random.

So they are where the exercise is a well-known one: a text book's own notebook, filled in. Its texts, pictures and given
numbers stand around the answers, nothing says which cell is which, and what was tried out stands at the end.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

TEXTS = (
    "# **Notebook 12.1: attention**\n\nWork through the cells below, running each cell in turn. In various places you "
    "will see the word TODO.",
    "The attention mechanism maps $N$ inputs $\\mathbf{x}_n$ to $N$ outputs, and every output is a weighted sum.",
    "Now let's compute the queries, keys and values of each input with the weights and biases from above.",
    "We'll need a `softmax` function (equation 12.5): here, it takes a list of arbitrary numbers and returns a list "
    "where the elements are non-negative and sum to one.",
    "If you did this correctly, the values should be the same as above.\n\nIt is now time to do it in matrix form.",
    "The numbers are random, as they would be before any training. Print them, and make sure that you believe them.",
)
PICTURES = (
    "![softmax](https://example.org/softmax.png)",
    "![](attachment:attention.png)",
    "[softmax_cols](figure.png)",
    '<img src="attention.png" width="400"/>',
    "[1](2)",
)
GIVEN = "# Set seed so we get the same random numbers\nnp.random.seed(3)\nsize = 3\nall_numbers = []"
GIVEN += "\nfor n in range(size):\n  all_numbers.append(np.random.normal(size=(4, 1)))\nprint(all_numbers)"


@dataclass(frozen=True)
class Borrowed:
    """A notebook, the answers in it by grade id, and the name of the one that is defined again."""

    notebook: dict
    answers: dict[str, str]
    again: str = ""


def answers_in(full: NotebookNode) -> dict[str, str]:
    """The code of a notebook's answers, by the cell's grade id."""
    cells = [cell for cell in full.cells if cell.cell_type == "code"]
    return {cell.id: cell.source for cell in cells if cell.metadata.get("nbgrader", {}).get("solution")}


def borrow(answers: dict[str, str], dice: random.Random, again: str = "") -> Borrowed:
    """A notebook with some answers; with ``again``, another text for the last one, above or below it."""
    texts = dice.sample(TEXTS, k=len(TEXTS))
    cells = [new_markdown_cell(texts[0]), new_code_cell("import numpy as np\nimport matplotlib.pyplot as plt")]
    cells += [new_markdown_cell(texts[1]), new_code_cell(GIVEN)]
    for place, (name, text) in enumerate(answers.items()):
        if dice.random() < 0.7:
            cells.append(new_markdown_cell(texts[(place + 2) % len(texts)]))
        if dice.random() < 0.4:
            cells.append(new_markdown_cell(dice.choice(PICTURES)))
        twice = bool(again) and name == list(answers)[-1]
        both = [text, again] if twice else [text]
        dice.shuffle(both)
        for version in both:
            cells.append(new_code_cell(version))
            if dice.random() < 0.7:
                cells.append(new_code_cell(tried_out(name, dice)))
    if dice.random() < 0.7:
        cells.append(new_markdown_cell(dice.choice(TEXTS)))
    cells += [new_code_cell(tried_out(list(answers)[-1], dice)) for _ in range(dice.randrange(3))]
    if dice.random() < 0.3:
        cells.append(new_code_cell(dice.choice(["", "print(X_prime)", "plt.imshow(np.eye(3)); plt.show()"])))
    notebook = new_notebook(cells=cells, metadata={"colab": {"provenance": []}})
    for cell in notebook.cells:
        cell.metadata["id"] = f"{dice.randrange(16**12):012x}"
        del cell["id"]
    return Borrowed(notebook | {"nbformat_minor": 0}, answers, list(answers)[-1] if again else "")


def tried_out(name: str, dice: random.Random) -> str:
    """A cell in which the last answer was called or looked at."""
    return dice.choice(
        [
            f"X_prime = {name}(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k)\nprint(X_prime)",
            f"# Run the {name} mechanism\nout = {name}(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k)\n"
            "print('Outputs:')\nprint(out)",
            "print(X)",
            "for x in range(3):\n  print(x)",
            f"help({name})",
            "np.set_printoptions(precision=3)\nfrom math import sqrt\nprint(sqrt(4))",
        ]
    )


def borrowed_bytes(borrowed: Borrowed) -> bytes:
    return nbformat.writes(nbformat.from_dict(borrowed.notebook), version=4).encode()
