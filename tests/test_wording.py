"""What a program has to know is in the notes: in other words everything comes to the same."""

from __future__ import annotations

import ast
import io
import json
import random
import re
import shutil
import tokenize

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.conftest import PROJECT, load
from tests.doubling import ANSWERS, NOTEBOOK, RIGHT, SMALL, hand_in_small, released_small
from tests.mangling import strip_ids, strip_nbgrader
from viva import wording
from viva.course.grading.batch import autograde
from viva.course.regrade.regrading import Regrade
from viva.folder import walk
from viva.pages import report
from viva.pages.feedback import write_feedback
from viva.record import CheckResult, Note
from viva.verdict import Verdict

FULL = Note(
    "told",
    cells=("one", "two"),
    numbers=(3, 4),
    names=("first", "second"),
    amount=2.0,
    because=Note("killed"),
    tests=("test",),
)
MAKERS = {"Note", "note", "about", "doubt", "doubted"}


def made() -> tuple[set[str], set[str]]:
    """The kinds that are named where a note is made, and every text of the code in which a kind may stand."""
    named, texts = set(), set()
    for path in (PROJECT / "viva").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                texts.add(node.value)
            if isinstance(node, ast.Call) and node.args:
                maker = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if maker in MAKERS and isinstance(node.args[0], ast.Constant):
                    named.add(node.args[0].value)
    return named, texts


def test_every_kind_of_note_has_words_and_all_words_are_of_a_kind():
    named, texts = made()
    assert len(named) > 80
    assert named - wording.WORDS.keys() == set()
    assert wording.WORDS.keys() - texts == set()
    assert wording.TO_STUDENTS.keys() <= wording.WORDS.keys()


BANNED = [
    r"lateness costs",
    r"(?<!there )\b(?:is|are|was|were) no (?!longer\b)",
    r"\bmend(?:s|ed|ing)?\b",
    r"\bhand(?:s|ed|ing)? (?:\w+ )?(?:in|back|out)\b",
    r"\bhand-ins?\b",
    r"\bas (?:it|they) stands?\b",
    r"\b(?:comes?|came) to nothing\b",
    r"\bt(?:ells?|old) of\b",
    r"\bwhat (?:came|is known|is said) of\b",
    r"\bcannot be told\b",
    r"\bwall(?:ed|s)? in\b|\bwithout a wall\b|\bthe wall (?!clock)",
    r"\bsigns of print\b",
    r"\bfor a letter\b",
    r"\bcomma too many\b",
    r"\bby text and place\b",
    r"\bFound a course\b",
    r"\brises and holds\b",
    r"\bGive back\b",
    r"\bno witness\b",
    r"\bkinds of answers\b",
    r"\bnot what was loaded\b",
    r"\btells? no\b",
    r"\bloses no check\b",
    r"\bbelong these\b",
    r"\bin the median\b",
    r"\blooks at more than\b",
    r"\bReport of\b",
    r"\bneeds a human\b|\ba human\b",
    r"\bas it is not Python\b|\bnot Python\b",
    r"\bcan be had\b",
    r"\bin any case\b",
    r"\bis nobody's\b",
    r"\bthere belongs?\b",
    r"\b(?:seams?|patience|desks?|crews?|stand-ins?|walled)\b",
    r"\b(?:a|the|no|every|second) wall\b(?! clock)",
]
"""Phrases that broke the rules for sentences in CONTRIBUTING.md once."""
REWRITE = "these phrases broke the rules for sentences in CONTRIBUTING.md: write the sentence in other words"
OF_STORIES = {r"\bfor a letter\b"}
"""Phrases that the texts of exercises may have: somebody looks for a letter."""
DATA = {"not handed in", "handed in"}
"""Values of files and headers of other systems, which stay as they are."""
GUIDES = sorted({*PROJECT.glob("docs/*.md"), PROJECT / "README.md", *PROJECT.glob("viva/**/*.md")})
VOCABULARY = re.compile(r"^\| [^|]+ \| [^|]+ \|")
"""A row of the vocabulary in the design page, without its last column: what is not to be written."""


def strings(path) -> list[tuple[int, str]]:
    """The texts of a module, without docstrings; neighbours in one line of code are one text."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = [(node.lineno, node) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr | ast.Constant)]
    inside = {id(part) for _, node in found if isinstance(node, ast.JoinedStr) for part in ast.walk(node)} - {
        id(node) for _, node in found if isinstance(node, ast.JoinedStr)
    }
    texts = []
    for line, node in found:
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            texts.append((line, "".join(parts)))
        elif isinstance(node.value, str) and id(node) not in docstrings | inside:
            texts.append((line, node.value))
    return texts


def remarks(path) -> list[tuple[int, str]]:
    """The lines of a module's docstrings and its comments."""
    source = path.read_text(encoding="utf-8")
    found = [
        (node.lineno + number, line)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
        for number, line in enumerate(node.value.value.splitlines())
    ]
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return found + [(token.start[0], token.string) for token in tokens if token.type == tokenize.COMMENT]


ANY = re.compile("|".join(f"(?:{one})" for one in BANNED), re.IGNORECASE)


def broken(text: str) -> list[str]:
    if text in DATA or not ANY.search(text):
        return []
    return [one for one in BANNED if re.search(one, text, re.IGNORECASE)]


def test_no_message_has_a_phrase_that_was_banned():
    found = [
        (f"{path.relative_to(PROJECT)}:{line}", text, phrases)
        for part in ("viva", "student/viva_check")
        for path in sorted((PROJECT / part).rglob("*.py"))
        for line, text in strings(path)
        if (phrases := broken(text))
    ]
    assert found == [], REWRITE
    tables = {**wording.WORDS, **wording.TO_STUDENTS}
    assert {kind: words for kind, words in tables.items() if broken(words)} == {}, REWRITE


def test_no_docstring_and_no_comment_has_a_phrase_that_was_banned():
    found = [
        (f"{path.relative_to(PROJECT)}:{number}", phrases)
        for part in ("viva", "student/viva_check", "answers", "bench")
        for path in sorted((PROJECT / part).rglob("*.py"))
        for number, line in remarks(path)
        if (phrases := broken(line))
    ]
    assert found == [], REWRITE


def test_no_notebook_of_the_course_has_a_phrase_that_was_banned():
    ours = [one for one in BANNED if one not in OF_STORIES]
    found = [
        (str(path.relative_to(PROJECT)), cell["id"], line)
        for path in sorted(PROJECT.glob("source/**/*.ipynb"))
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]
        for line in "".join(cell["source"]).splitlines()
        if any(re.search(one, line, re.IGNORECASE) for one in ours)
    ]
    assert found == [], REWRITE


def test_no_page_has_a_phrase_that_was_banned():
    templates = [*PROJECT.glob("viva/pages/templates/**/*.html"), *PROJECT.glob("student/share/**/*.js")]
    pages = [*templates, PROJECT / "Makefile", *GUIDES]
    found = [
        (f"{path.relative_to(PROJECT)}:{number}", phrases)
        for path in pages
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (phrases := broken(_without_last(path, line)))
    ]
    assert found == [], REWRITE


def _without_last(path, line: str) -> str:
    row = VOCABULARY.match(line) if path.name == "design.md" else None
    return (row[0] if row else line).replace("not handed in", "")


INSTALLS = re.compile(r"pip3? (?:install|download)\b([^`\n]*)")


def from_an_index(line: str) -> list[str]:
    """What a line tells people to install of ours from a package index, where anybody may have registered the name."""
    words = [word.strip("\"',.:;()") for part in INSTALLS.findall(line) for word in re.findall("[!-~]+", part)]
    ours = [word for word in words if re.match(r"(?:nb)?viva\b|nbviva_|.*nbviva.*\[", word)]
    extras = "--find-links" in line and bool(ours)  # pip takes the newest file, from the index, too
    return [word for word in ours if extras or not re.search(r"\.whl(?:\[[\w,]+\])?$", word)]


def test_nobody_is_told_to_install_a_package_of_ours_from_an_index():
    folders = ("viva", "student", "plugins", "docs", "deploy", "source", "release", "answers", "examples", ".github")
    kinds = {".py", ".toml", ".md", ".ipynb", ".js", ".yaml", ".yml", ".sh", ".html", ".txt", ""}
    paths = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", PROJECT / "Makefile"]
    paths += [
        path for folder in folders for path in walk(PROJECT / folder, ["build", "generated", "*.egg-info", "tests"])
    ]
    found = [
        (str(path.relative_to(PROJECT)), line.strip())
        for path in paths
        if path.suffix in kinds and path.is_file()
        for line in path.read_text(encoding="utf-8").splitlines()
        if from_an_index(line)
    ]
    assert found == [], "name the wheel (viva.doors.install), or a folder of a clone"


@pytest.mark.parametrize("kind", wording.WORDS)
def test_words_ask_for_nothing_that_a_note_does_not_have(kind):
    for reader in wording.READERS:
        for known in (FULL, Note("told")):
            said = wording.sentence(structs.replace(known, kind=kind), reader)
            assert "{" not in said and "}" not in said


def test_students_are_told_who_looks_and_nothing_of_what_means_nothing_to_them():
    notes = [Note("other_order"), Note("answered_in_text", cells=("softmax",), doubt=True)]
    assert wording.sentences(notes) == [
        "the cells were in another order; the assignment's order was restored",
        "'softmax' was submitted as a Markdown or raw cell instead of code; a grader should check it",
    ]
    assert wording.sentences(notes, wording.STUDENT) == [
        "'softmax' was submitted as a Markdown or raw cell instead of code; a grader checks it before you lose "
        "points for it"
    ]


def test_a_note_of_a_kind_that_nobody_knows_is_told_all_the_same():
    assert wording.sentence(Note("from_the_future", names=("a", "b"))) == "from_the_future: a, b"


def test_the_grader_speaks_before_the_exception():
    assert wording.reason(CheckResult("a", 1, Verdict.ERROR, reason="KeyError: 'a'")) == "KeyError: 'a'"
    cause = Note("in_cell_of", names=("f",), because=Note("unfinished_code", amount=3.0))
    assert wording.reason(CheckResult("a", 1, Verdict.TIMEOUT, reason="x", cause=cause)) == (
        "in the cell that defines f, the code did not finish in 3 seconds"
    )


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.04, "0 seconds"), (0.4, "0.4 seconds"), (0.97, "1 second"), (2.6, "3 seconds")]
)
def test_times_are_told_as_people_say_them(seconds, said):
    assert wording.spoken(seconds) == said


def test_many_cells_are_named_in_part():
    assert wording.listed("a") == "'a'"
    assert wording.listed("abc") == "'a', 'b' and 'c'"
    assert wording.listed("abcdefgh") == "'a', 'b', 'c', 'd', 'e', 'f' and 2 more"
    assert wording.sentence(Note("no_cell", numbers=(1, 3))) == "each of the cells 1, 3 was not valid and was ignored"


def test_repeated_sentences_are_folded_and_name_the_others():
    same = [f"'s{number}' has no attempt 7; attempt 2 counts." for number in range(30)]
    (line,) = wording.folded(same)
    assert line.startswith("30 times: 's0' has no attempt 7; attempt 2 counts. Also: 's1', 's2', ")
    assert line.endswith(" 's20' and 9 more.")
    assert wording.folded(["No.", "Yes.", "No."]) == ["2 times: No.", "Yes."]
    assert wording.folded(same[:2]) == same[:2], "two that differ are shown"
    places = [f"Line {number} is empty." for number in (3, 5, 8)]
    assert wording.folded(places) == ["3 times: Line 3 is empty. Also: 5, 8."]
    labelled = [f"{name}: the file is empty." for name in ("Ann O'Neil", "Bo", "Cy")]
    assert wording.folded(labelled) == ["3 times: Ann O'Neil: the file is empty. Also: Bo, Cy."]
    assert wording.folded([]) == []


def test_sentences_with_different_reasons_are_not_folded_and_all_places_of_one_are_listed():
    told = [f"nb: the cell 't{number}' fails: name '{'ab'[number == 2]}' is missing" for number in range(5)]
    assert wording.folded(told) == [
        "4 times: nb: the cell 't0' fails: name 'a' is missing. Also: 't1', 't3', 't4'.",
        "nb: the cell 't2' fails: name 'b' is missing",
    ]
    different = [f"the cell 't{number}' fails: name 'x{number}' is missing" for number in range(4)]
    assert wording.folded(different) == different
    worth = [f"the cell 't{number}' is worth {number} points" for number in range(4)]
    assert wording.folded(worth) == worth, "the points of the others would be unknown"


@given(st.lists(st.text("ab'1: .", max_size=12), max_size=12))
def test_folding_loses_no_kind_of_sentence(told):
    lines = wording.folded(told)
    assert len(lines) <= len(told)
    for one in told:
        assert any(wording.shape(one) in wording.shape(line) or one in line for line in lines)


# in other words


def reworded(monkeypatch, seed: int = 1) -> None:
    """Other words for every sentence: letters at random around the same particulars."""
    dice = random.Random(seed)

    def other(words: str) -> str:
        fields = re.findall(r"\{\w+\}", words)
        return " ".join(["".join(dice.choices("abcdefghij", k=12)), *fields]) if words else ""

    for table in (wording.WORDS, wording.TO_STUDENTS, *wording.READERS.values()):
        for kind, words in list(table.items()):
            monkeypatch.setitem(table, kind, other(words))


@pytest.fixture(scope="module")
def ungraded(tmp_path_factory):
    """A course in which right, wrong, damaged and hostile answers were handed in."""
    root = tmp_path_factory.mktemp("worded") / "course"
    released_small(root)
    for student in ("right", "wrong", "error", "undefined", "killed", "timeout"):
        hand_in_small(root, student, ANSWERS[student])
    hand_in_small(root, "patched", RIGHT + "np.allclose = len\n")
    hand_in_small(root, "odd", "class Odd:\n    pass\n\n\ndef twice(x):\n    return Odd()\n")
    hand_in_small(root, "unrun", f"%%writefile twice.py\n{RIGHT}")
    for student, answer in (("bare", RIGHT), ("doubted", "def once(x):\n    return x\n")):
        path = hand_in_small(root, student, answer)
        notebook = json.loads(path.read_text())
        strip_nbgrader(notebook, random.Random(1))
        strip_ids(notebook, random.Random(1))
        path.write_text(json.dumps(notebook)[:-2] if student == "doubted" else json.dumps(notebook))
    return root


def everything(root, monkeypatch) -> tuple:
    """What the commands come to: results, what waits for a human, the report's figures, pages, changes of a regrade."""
    monkeypatch.chdir(root)
    course, config = load(root)
    config.Execute.timeout = 2
    outcomes = list(autograde(course, course.submissions([SMALL]), config=config, workers=1))
    with course.gradebook() as gradebook:
        waiting = sorted(
            (grade.notebook.student.id, grade.name)
            for one in gradebook.assignment_submissions(SMALL)
            for book in one.notebooks
            for grade in book.grades
            if grade.needs_manual_grade
        )
    _, figures = report.write(course, [SMALL], "http://localhost:8888")
    pages = list(write_feedback(course, course.submissions([SMALL]), config=config, workers=1))
    regrade = Regrade(course, SMALL, config)
    source = root / "source" / SMALL / f"{NOTEBOOK}.ipynb"
    source.write_text(source.read_text().replace("twice(2) == 4", "twice(2) == 5"))
    regrade.release()
    list(regrade.grade(1))
    found = regrade.finish()
    return (
        sorted((one.submission.student, one.status, len(one.notes)) for one in outcomes),
        waiting,
        without_words(figures),
        sorted((one.submission.student, one.status) for one in pages),
        {path.parts[-3]: shape_of(path) for path in root.glob(f"feedback/*/{SMALL}/*.html")},
        [(one.student, one.check, one.old, one.new) for one in found.changes],
        found.look_again,
        len(found.suspects),
    )


SAID = ("reason", "detail", "repairs", "facts")


def without_words(figures: object) -> object:
    """The figures of a report, with how many sentences there are in place of the sentences; in no order of theirs."""
    if isinstance(figures, dict):
        return {
            key: (len(value) if isinstance(value, list) else bool(value)) if key in SAID else without_words(value)
            for key, value in figures.items()
            if key not in ("speed", "until", "seconds", "slowest", "link", "first")
        }
    if isinstance(figures, list):
        return sorted(map(without_words, figures), key=repr)
    return figures


def shape_of(path) -> list[tuple[str, int]]:
    """What a page holds: its verdicts, and how many repairs it tells of."""
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    verdicts = [(line["class"][0], 1) for line in soup.select(".checks > li")]
    return [*verdicts, ("repairs", len(soup.select(".repairs li")))]


@pytest.mark.slow
def test_in_other_words_report_feedback_and_regrade_come_to_the_same(ungraded, tmp_path, monkeypatch):
    one, other = (shutil.copytree(ungraded, tmp_path / name) for name in ("one", "other"))
    plain = everything(one, monkeypatch)
    words = (one / "report" / "index.html").read_text(encoding="utf-8")
    assert "a grader should check it" in words and "replaced functions of " in words
    with monkeypatch.context() as patch:
        reworded(patch)
        same = everything(other, patch)
    words = (other / "report" / "index.html").read_text(encoding="utf-8")
    assert "a grader should check it" not in words and "replaced functions of " not in words
    for before, after in zip(plain, same, strict=True):
        assert after == before


@pytest.mark.parametrize(
    ("number", "said"),
    [(0, "0 points"), (1, "1 point"), (1.0, "1 point"), (0.5, "0.5 points"), (12345, "12345 points")],
)
def test_one_of_something_is_said_in_the_singular(number, said):
    assert wording.counted(number, "point") == said
    late = Note("late_of_score", names=("10 %", f"{number:g}", "0"), because=Note("late_in_grace"))
    assert wording.sentence(late).endswith(f": 10 % of {said} = 0")
