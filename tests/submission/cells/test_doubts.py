"""What repair cannot place waits for a human where its tests do not pass; what a student tried out does not."""

from __future__ import annotations

import random

import pytest

from tests.mangling import KEEPING, plain
from tests.submission.cells.test_repair import CASES, ONE, bare, below, find, repaired, source
from viva.record import doubtful
from viva.submission.cells.places import Piece
from viva.wording import sentences

TWO = CASES["ps5_sentence"][0]
TESTS = ("test_self_attention", "test_self_attention_sizes")
WORDS = "The softmax is taken of each column, and the columns only change their places, so the outputs do so too."


def stub(case, name: str) -> str:
    return next(cell.source for cell in case.release.cells if cell.id == name)


def doubts(change, case=ONE, strip: bool = False) -> tuple[str, ...]:
    notebook = plain(case.full)
    change(notebook)
    return doubtful(repaired(bare(notebook) if strip else notebook, case).repairs)


def left_out(book: dict) -> str:
    """Leave an answer as released; its text."""
    cell = find(book, "self_attention")
    text, cell["source"] = cell["source"], stub(ONE, "self_attention")
    return text


UNPLACED = {
    "in a written answer": lambda book: book["cells"][-1].update(source=f"So:\n\n```\n{left_out(book)}\n```\n"),
    "in a test cell": lambda book: find(book, "test_permuted").update(source=f"x = 1\n{left_out(book)}"),
    "in the cell of another answer": lambda book: find(book, "scaled_dot_product_self_attention").update(
        source=f"{find(book, 'scaled_dot_product_self_attention')['source']}\n\n{left_out(book)}\nx = 1"
    ),
    "at the other end of the notebook": lambda book: below(book, "name", left_out(book)),
    "in a test cell, above a text with other code": lambda book: (
        UNPLACED["in a test cell"](book),
        below(book, "self_attention", "I tried\n\n```\ny = 2\n```\n", cell_type="markdown"),
    ),
}


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("where", UNPLACED)
def test_an_answer_that_stands_elsewhere_is_taken_or_doubted(where, strip):
    notebook = plain(ONE.full)
    UNPLACED[where](notebook)
    result = repaired(bare(notebook) if strip else notebook, ONE)
    taken = "NotImplementedError" not in source(result, "self_attention")
    assert taken or set(TESTS) <= set(doubtful(result.repairs)), sentences(result.repairs)
    by_name, by_place = (
        [note.cells for note in result.repairs if note.kind == kind] for kind in ("may_belong", "may_be_answer")
    )
    assert not set(by_name) & set(by_place)


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize(
    "scratch",
    [
        *("print(X)", "", "pritn(1", "X = np.ones((4, 3))", "for i in range(3):\n    print(i)", "!pip install numpy"),
        *("self_attention(X, *parameters)", "out = self_attention\nout", "def mine(x):\n    return x"),
    ],
)
def test_what_a_student_tried_out_is_no_doubt(scratch, strip):
    assert doubts(lambda book: below(book, "self_attention", scratch), strip=strip) == ()


@pytest.mark.parametrize("text", ["## My notes", "Remember: $K^T Q$, not `Q @ K`!", "TODO"])
def test_a_note_is_no_doubt_and_no_answer(text):
    def change(book):
        book["cells"][-1]["source"] = stub(ONE, book["cells"][-1]["id"])
        below(book, "self_attention", text, "markdown")

    assert doubts(change) == ()


PICTURES = ("![softmax](softmax.png)", "[softmax](figure.png)", '<img src="softmax.png">', "![](attachment:a.png)")


@pytest.mark.parametrize("picture", PICTURES)
@pytest.mark.parametrize("deleted", [False, True])
def test_a_picture_is_no_code(picture, deleted):
    notebook = plain(TWO.full)
    below(notebook, "softmax", picture, "markdown")
    if deleted:
        notebook["cells"].remove(find(notebook, "softmax"))
    for book in (notebook, bare(plain(notebook))):
        assert not any("cell" in sentence and "may" in sentence for sentence in sentences(repaired(book, TWO).repairs))


AGAIN = "def multihead_scaled_self_attention(X, *more):\n    return X"
RAN = "X_prime = multihead_scaled_self_attention(*arguments)\nprint(X_prime)"


@pytest.mark.parametrize("code", [AGAIN, RAN])
@pytest.mark.parametrize("answer", ["deleted", "left"])
@pytest.mark.parametrize("strip", [False, True])
def test_code_is_no_written_answer_and_what_it_defines_again_is_doubted(code, answer, strip):
    case = CASES["ps4_multihead"][0]
    notebook, release = plain(case.full), plain(case.release)
    name = release["cells"][-1]["id"]
    notebook["cells"][-1:] = release["cells"][-1:] if answer == "left" else []
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": code})
    result = repaired(bare(notebook) if strip else notebook, case)
    assert source(result, name) == "YOUR ANSWER HERE"
    assert code in [cell.source for cell in result.notebook.cells]
    assert ("test_multihead" in doubtful(result.repairs)) == (code == AGAIN)
    assert "why_two_heads" not in doubtful(result.repairs)


def test_a_text_of_the_release_is_no_written_answer():
    notebook = plain(ONE.full)
    shown = find(notebook, "why_equivariant")["source"].split("\n\n")[1]
    notebook["cells"][-1]["source"] = stub(ONE, notebook["cells"][-1]["id"])
    notebook["cells"].append({"cell_type": "markdown", "metadata": {}, "source": shown})
    for book in (notebook, bare(plain(notebook))):
        result = repaired(book, ONE)
        assert (source(result, "why_equivariant_answer"), doubtful(result.repairs)) == ("YOUR ANSWER HERE", ())


def test_a_note_that_mentions_code_does_not_take_the_place_of_a_stub():
    notebook = plain(TWO.full)
    find(notebook, "attend_me")["source"] = stub(TWO, "attend_me")
    below(notebook, "attend_me", "It is a row, so me_alphas = softmax(x) works", "markdown")
    result = repaired(notebook, TWO)
    assert source(result, "attend_me") == stub(TWO, "attend_me")
    assert doubtful(result.repairs) == ()


def test_an_answer_that_uses_what_only_an_answer_below_gives_is_doubted():
    notebook = plain(TWO.full)
    one, other = find(notebook, "attend_gusta"), find(notebook, "stack_sentence")
    one["source"] = "gusta_alphas = softmax(half)\ngusta_attention = gusta_alphas @ half"
    other["source"] = f"half = np.ones(3)\n{other['source']}"
    assert "test_gusta" in doubtful(repaired(notebook, TWO).repairs)


def test_a_function_that_is_defined_again_is_doubted_below_its_answer_and_above_one_that_does_not_say_what_it_is():
    again = "def self_attention(*arguments):\n    return arguments[0], None"
    assert set(TESTS) <= set(doubts(lambda book: below(book, "self_attention", again)))
    assert doubts(lambda book: below(book, "name", again)) == ()
    assert set(TESTS) <= set(doubts(lambda book: below(book, "name", again), strip=True))


def test_a_whole_cell_split_off_right_below_its_answer_runs_there_and_is_no_doubt():
    def split(book):
        answer = find(book, "attend_me")
        head, _, tail = answer["source"].partition("me_attention = ")
        answer["source"] = head
        below(book, "attend_me", f"me_attention = {tail}")

    assert doubts(split, TWO) == ()


def test_an_import_and_the_function_split_off_below_it_are_no_doubt():
    def split(book):
        answer = find(book, "self_attention")
        below(book, "self_attention", answer["source"])
        answer["source"] = "import math"

    assert doubts(split) == ()


def test_what_needs_an_import_of_an_answer_that_did_not_run_is_doubted_with_it():
    def unrun(book):
        answer, other = find(book, "self_attention"), find(book, "scaled_dot_product_self_attention")
        answer["source"] = f"import math\n{answer['source']})"
        other["source"] += "\nmath.sqrt(4)"

    assert "test_scaled_attention" in doubts(unrun)


def test_an_answer_that_lost_its_first_line_is_not_joined_with_the_answer_above_it():
    def behead(book):
        first, second = find(book, "attend_me"), find(book, "attend_gusta")
        first["source"] += "\nfor n in range(2):\n    print(n)"
        second["source"] = "    x = 1\n    return x"

    notebook = plain(TWO.full)
    behead(notebook)
    result = repaired(notebook, TWO)
    assert "return" not in source(result, "attend_me")
    assert "test_gusta" in doubtful(result.repairs) and "test_me" not in doubtful(result.repairs)


@pytest.mark.parametrize("cell_type", ["code", "raw", "markdown"])
def test_code_that_cannot_be_read_beside_a_stub_is_doubted(cell_type):
    def change(book):
        text = left_out(book).split("\n")
        below(book, "self_attention", "\n".join(["```python", f"3 In [3]: {text[0]}", *text[1:], "```"]), cell_type)

    assert set(TESTS) <= set(doubts(change))


def test_an_answer_in_a_raw_cell_is_doubted_with_the_one_that_it_uses():
    def change(book):
        find(book, "attend_me")["source"] += "\n\nso that is it."
        find(book, "attend_gusta").update(source="gusta_alphas = gusta_attention = me_alphas", cell_type="raw")

    assert {"test_me", "test_gusta"} <= set(doubts(change, TWO))


def test_an_answer_merged_into_its_test_is_taken_out_of_it_and_is_no_doubt():
    def merge(book):
        answer, test = find(book, "self_attention"), find(book, "test_self_attention")
        test["source"] = f"{answer['source']}\n\n{test['source']}"
        book["cells"].remove(answer)

    assert doubts(merge) == ()


def test_code_with_the_numbers_of_its_lines_becomes_the_answer_and_is_told():
    notebook = plain(ONE.full)
    answer = find(notebook, "self_attention")
    text = answer["source"]
    answer["source"] = "\n".join(f"{number:3} {line}".rstrip() for number, line in enumerate(text.split("\n"), 1))
    result = repaired(notebook, ONE)
    assert source(result, "self_attention").split() == text.split()
    assert (len(sentences(result.repairs)), doubtful(result.repairs)) == (1, ())
    assert "had line numbers in its code; they were removed" in sentences(result.repairs)[0]


def test_two_answers_in_the_cell_of_one_where_the_others_is_gone_are_both_doubted():
    def gathered(book):
        second = find(book, "scaled_dot_product_self_attention")
        find(book, "self_attention")["source"] += f"\n\n{second['source']}"
        book["cells"].remove(second)

    assert {"test_self_attention", "test_scaled_attention"} <= set(doubts(gathered))


@pytest.mark.parametrize("strip", [False, True])
@pytest.mark.parametrize("place", [0, -2])
def test_a_written_answer_elsewhere_is_taken_or_doubted(place, strip):
    notebook = plain(ONE.full)
    notebook["cells"][-1]["source"] = stub(ONE, notebook["cells"][-1]["id"])
    notebook["cells"].insert(place, {"cell_type": "markdown", "metadata": {}, "source": WORDS})
    result = repaired(bare(notebook) if strip else notebook, ONE)
    assert source(result, "why_equivariant_answer") == WORDS or "why_equivariant" in doubtful(result.repairs)


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: f"{text}\n\n{WORDS}",
        lambda text: f"{text.replace('the', 'The')}\n\n{WORDS}",
        lambda text: f"{text[: len(text) // 2]}\n{WORDS}\n{text[len(text) // 2 :]}",
        lambda text: WORDS,
    ],
)
def test_what_was_written_into_a_question_stays(edit):
    notebook = plain(ONE.full)
    notebook["cells"][-1]["source"] = stub(ONE, notebook["cells"][-1]["id"])
    question = find(notebook, "why_equivariant")
    question["source"] = edit(question["source"])
    result = repaired(notebook, ONE)
    ids = [cell.id for cell in result.notebook.cells]
    below_it = [cell.source for cell in result.notebook.cells[ids.index("why_equivariant") + 1 :]]
    assert WORDS in "\n".join(below_it)


def test_what_a_damaged_file_may_have_held_is_doubted():
    from tests.mangling import as_utf8
    from viva.submission.cells.repair import repair
    from viva.submission.files.salvage import read

    whole = as_utf8(plain(ONE.full))
    part = whole[: whole.index(b"def scaled_dot_product") + 50]
    result = repair(read(part)[0], ONE.released)
    assert {"test_scaled_attention", "why_equivariant"} <= set(doubtful(result.repairs))
    assert not set(TESTS) & set(doubtful(result.repairs))


def test_a_program_that_lost_all_code_is_suspected():
    def change(book):
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                cell["source"] = ""

    assert set(TESTS) <= set(doubts(change))


def test_the_ways_that_were_hard_lose_nothing_without_a_doubt():
    notebook = plain(TWO.full)
    answer = find(notebook, "add_positions")
    lines = [line for line in answer["source"].split("\n") if line[0] != "#"]
    answer["source"] = "\n".join(lines[1:])
    below(notebook, "name", f"```python\n{lines[0]}\n```", "markdown")
    result = repaired(bare(notebook), TWO)
    assert "test_positions" in doubtful(result.repairs) or lines[0] in source(result, "add_positions")


@pytest.mark.parametrize("way", KEEPING)
def test_a_notebook_that_was_put_right_raises_no_doubt(way):
    if way in (
        "split_answer",
        "gather_answers",
        "merge_answers",
        "merge_text",
    ):
        pytest.skip("these leave a human to look")
    for number in range(3):
        notebook = plain(ONE.full)
        KEEPING[way](notebook, random.Random(number))
        assert doubtful(repaired(notebook, ONE).repairs) == ()


def test_a_piece_knows_what_it_gives_and_uses():
    piece = Piece(1, "code", "from math import exp\ndef f(x):\n    y = g(x)\n    return [exp(z) for z in y]\na = h")
    assert piece.gives == {"exp", "f", "a"}
    assert piece.uses == {"g", "h"}


def test_what_uses_an_answer_in_doubt_is_in_doubt_too():
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    cell = find(notebook, "project_words")
    copy = dict(cell, id="copied", source=cell["source"].replace(" @ ", " @ 2 * "))
    assert copy["source"] != cell["source"]
    notebook["cells"].insert(notebook["cells"].index(cell), copy)
    found = set(doubtful(repaired(notebook, case).repairs))
    assert {"test_projections", "test_me", "test_gusta"} <= found
    assert not {"test_positions", "test_softmax"} & found


@pytest.mark.parametrize("both", [False, True])
def test_a_cell_that_holds_another_answer_stays_what_it_says_it_is_and_both_are_doubted(both):
    case = CASES["ps5_sentence"][0]
    notebook = plain(case.full)
    one, other = find(notebook, "add_positions"), find(notebook, "project_words")
    were = one["source"], other["source"]
    if both:
        one["source"], other["source"] = other["source"], one["source"]
    else:  # copied, to type another answer into the copy
        other["source"] = stub(case, "project_words")
        copy = dict(one, id="copied", source=were[1])
        notebook["cells"].insert(notebook["cells"].index(other) + 1, copy)
    result = repaired(notebook, case)
    code = [cell.source.strip() for cell in result.notebook.cells]
    assert all(code.count(text.strip()) == 1 for text in were)
    assert source(result, "project_words") == other["source"]
    assert "test_positions" in doubtful(result.repairs)


def test_answers_without_identity_that_changed_places_are_doubted():
    case = CASES["ps1_general_attention"][0]
    notebook = plain(case.full)
    one, other = find(notebook, "attention_word_1"), find(notebook, "attention_matrices")
    one["source"], other["source"] = (
        "scores = Q @ K.T\nweights = softmax(scores / np.sqrt(3), axis=1)\nattention = weights @ V",
        "attention = weights @ np.array([value_1, value_2, value_3, value_4])",
    )
    result = repaired(bare(notebook), case)
    placed = source(result, "attention_word_1").startswith("attention =")
    assert placed or {"test_attention_word_1", "test_attention_matrices"} <= set(doubtful(result.repairs))


@pytest.mark.parametrize(
    ("code", "doubted"), [("queries = {}", True), ("mine = {}", False), ("print(me_query)", False)]
)
def test_a_cell_that_gives_what_other_answers_use_may_be_the_blank_one_beside_it(code, doubted):
    def moved(book):
        find(book, "project_words")["source"] = stub(TWO, "project_words")
        find(book, "attend_me")["source"] = "me_alphas, me_attention = queries['me']"
        below(book, "test_projections", f"{code}\nfor word in words:\n    globals()[word + '_query'] = word")

    assert ("test_projections" in doubts(moved, TWO)) == doubted


@pytest.mark.parametrize("strip", [False, True])
def test_an_answer_that_was_renamed_with_its_tests_is_doubted_as_the_tests_that_were_put_back_ask_for_the_old_name(
    strip,
):
    def rename(book):
        for cell in book["cells"]:
            cell["source"] = cell["source"].replace("self_attention", "attend_to_itself")

    assert set(TESTS) <= set(doubts(rename, strip=strip))


@pytest.mark.parametrize("strip", [False, True])
def test_an_answer_that_uses_what_only_an_edited_given_cell_gave_is_doubted(strip):
    def edit(old, new):
        def change(book):
            for cell in book["cells"]:
                cell["source"] = cell["source"].replace(old, new)
            find(book, "self_attention")["source"] += "\n\nROOT = math.sqrt(2)"

        return change

    assert set(TESTS) <= set(doubts(edit("import numpy as np", "import math, numpy as np"), strip=strip))
    assert doubts(edit("import numpy as np", "import numpy as np\nimport math"), strip=strip) == ()


@pytest.mark.parametrize("strip", [False, True])
def test_an_answer_that_uses_what_a_cell_gives_below_an_import_of_another_platform_is_doubted(strip):
    mount = "from google.colab import drive\ndrive.mount('/content/drive')"

    def above(cell: str):
        def change(book):
            find(book, "self_attention")["source"] += "\n\nROOT = math.sqrt(2)"
            book["cells"].insert(0, {"cell_type": "code", "metadata": {}, "source": cell, "outputs": []})

        return change

    assert set(TESTS) <= set(doubts(above(f"{mount}\nimport math"), strip=strip))
    assert doubts(above(f"import math\n{mount}"), strip=strip) == ()


@pytest.mark.parametrize("strip", [False, True])
def test_a_stub_that_is_left_with_a_line_of_the_students_is_doubted_where_the_answer_stands_above_it(strip):
    def change(book):
        text = left_out(book)
        find(book, "self_attention")["source"] = f"import math\n{stub(ONE, 'self_attention')}"
        place = [cell.get("id") for cell in book["cells"]].index("self_attention")
        book["cells"].insert(place, {"cell_type": "code", "id": "own", "metadata": {}, "source": text, "outputs": []})

    assert set(TESTS) <= set(doubts(change, strip=strip))


def test_an_answer_in_a_raw_cell_that_is_not_python_is_doubted_beside_its_stub():
    def change(book):
        text = left_out(book).replace("return", "Return")
        below(book, "self_attention", text, "raw")

    assert set(TESTS) <= set(doubts(change))


def test_an_answer_in_the_cell_of_the_answer_below_its_test_is_doubted():
    case = next(case for case in CASES["ps1_general_attention"] if case.name == "list_softmax")

    def merge(book):
        first, second = find(book, "vectors"), find(book, "scores_word_1")
        second["source"], first["source"] = f"{first['source']}\n\n{second['source']}", ""

    assert "test_vectors" in doubts(merge, case)


def test_a_line_that_asks_for_help_hides_no_name():
    text = "x = 1\nnp.dot?\nfiles = !ls\nhere = %pwd\ny = x"
    piece = Piece(1, "code", text)
    assert (piece.binds, piece.uses) == ({"x", "files", "here", "y"}, set())


def test_a_stub_that_undoes_what_an_answer_above_gives_is_doubted():
    def change(book):
        second, name = find(book, "self_attention"), "scaled_dot_product_self_attention"
        second["source"] += f"\n\n{find(book, name)['source']}"
        find(book, name)["source"] = f"%%time\nimport math\n{stub(ONE, name)}"

    assert {"test_scaled_attention", "test_scaled_attention_sizes"} <= set(doubts(change))


def foreign(*texts: str) -> dict:
    """A notebook without any cell of the assignment's."""
    cells = [{"cell_type": "markdown", "metadata": {}, "source": text} for text in texts]
    return {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}


CHAPTER = "The gradient of the loss shows in which direction the weights have to be changed."


def test_one_text_in_a_notebook_without_the_questions_may_be_an_answer_and_is_not_taken_for_it():
    result = repaired(foreign(CHAPTER), ONE)
    assert source(result, "why_equivariant_answer") != CHAPTER
    assert any("may be the answer" in sentence for sentence in sentences(result.repairs))


def test_a_text_among_answers_without_the_questions_may_be_an_answer_and_is_not_taken_for_it():
    """Whole books hold the answers too (tests/submission/test_borrowed.py)."""
    notebook = plain(ONE.full)
    code = [find(notebook, name)["source"] for name in ("self_attention", "scaled_dot_product_self_attention")]
    book = foreign(CHAPTER)
    cells = [
        {"cell_type": "code", "metadata": {}, "source": text, "outputs": [], "execution_count": None} for text in code
    ]
    book["cells"] = [*cells, *book["cells"]]
    result = repaired(book, ONE)
    assert source(result, "why_equivariant_answer") != CHAPTER
    assert any("may be the answer" in sentence for sentence in sentences(result.repairs))


@pytest.mark.parametrize("texts", [(CHAPTER, f"{CHAPTER} This is the second chapter."), ("Hm.", "Yes.")])
def test_texts_of_a_notebook_without_the_questions_are_no_answers_and_no_doubts(texts):
    result = repaired(foreign(*texts), ONE)
    assert not [sentence for sentence in sentences(result.repairs) if "may be the answer" in sentence]
