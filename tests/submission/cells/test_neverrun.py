"""An answer that could not run as it stands is told from one that ran and from one that nobody gave."""

import pytest

from tests.submission.cells.test_doubts import doubts, stub
from tests.submission.cells.test_repair import ONE, find
from viva.record import note
from viva.submission.cells.doubts import why_not_run
from viva.wording import sentence

NAME = "self_attention"
SLOT = next(slot for slot in ONE.released.slots if slot.name == NAME)
ANSWER = next(cell.source for cell in ONE.full.cells if cell.id == NAME)
HEAD, _, BODY = ANSWER.partition("\n")
UNRUN = {
    "is commented out": "\n".join(f"# {line}" for line in ANSWER.split("\n")),
    "is commented": f"'''\n{ANSWER}\n'''",
    "begins with %%timeit": f"%%timeit\n{ANSWER}",
    "begins with %%writefile": f"%%writefile answer.py\n{ANSWER}",
    "has a syntax error": f"%%time\n{ANSWER})",
    "has a syntax": f"{ANSWER}\n\n[[0.97 1.59]\n [0.23 0.13]]",
    "has a line 'c'": f"c\n{ANSWER}",
    "has a syntax error, so": BODY.replace("\n    ", "\n").lstrip(),
    "has code": f"for x in all_x:\n    raise NotImplementedError()\n{ANSWER}",
    "defines self_attention twice": f"{ANSWER}\n\n\n{HEAD}\n    raise NotImplementedError()",
    "imports google.colab": f"from google.colab import drive\ndrive.mount('/content/drive')\n{ANSWER}",
    "imports piplite": f"import numpy, piplite.piplite\n{ANSWER}",
    "has code below": f"{HEAD}\n    raise NotImplementedError()\n{BODY}",
}
RUN = [
    *(
        ANSWER,
        f"%%time\n{ANSWER}",
        f"%%capture out\n{ANSWER}",
        f"{ANSWER}\nraise NotImplementedError()",
        f"{ANSWER}\nnp.dot?",
    ),
    *(f"!pip install numpy\n{ANSWER}", "# later", "# self_attention was hard", "raise NotImplementedError()\nprint(x)"),
    *(
        f"{HEAD}\n    raise NotImplementedError()\n\n\n{ANSWER}",
        f"try:\n    import google.colab\nexcept ImportError:\n    pass\n{ANSWER}",
        f"{ANSWER}\nimport google.colab",
        f"import micropipe\n{ANSWER}",
    ),
    *(
        "def f(x):\n    raise NotImplementedError()",
        "try:\n    x = 1\nexcept ValueError:\n    raise NotImplementedError()",
    ),
]


@pytest.mark.parametrize("why", UNRUN)
def test_what_kept_an_answer_from_running_is_said(why):
    kind, *names = why_not_run(UNRUN[why], SLOT, {"c"})
    assert f"'{NAME}' {why}" in sentence(note(kind, *names, cells=(NAME,)))


@pytest.mark.parametrize("code", RUN)
def test_an_answer_that_ran_and_a_stub_are_no_doubt(code):
    assert why_not_run(code, SLOT) == ()


@pytest.mark.parametrize("why", UNRUN)
def test_tests_of_an_answer_that_never_ran_wait(why):
    assert f"test_{NAME}" in doubts(lambda book: find(book, NAME).update(source=UNRUN[why]))


def test_no_answer_waits_for_nobody():
    assert doubts(lambda book: find(book, NAME).update(source=stub(ONE, NAME))) == ()


@pytest.mark.parametrize("name", ["SyntaxError", "IndentationError", "TabError"])
def test_what_the_student_saw_refused_is_no_damage_and_waits_for_nobody(name):
    told = {"output_type": "error", "ename": name, "evalue": "invalid syntax", "traceback": []}
    assert doubts(lambda book: find(book, NAME).update(source=f"{ANSWER})", outputs=[None, told])) == ()
    told["ename"] = "NameError"
    for outputs in ([], [told]):
        assert doubts(lambda book, outputs=outputs: find(book, NAME).update(source=f"{ANSWER})", outputs=outputs))
