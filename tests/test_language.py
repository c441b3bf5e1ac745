"""Students' sentences in their language: every language says all that English says, and no page mixes two."""

from __future__ import annotations

import json
import re
import shutil
from datetime import UTC, datetime
from html.parser import HTMLParser

import pytest

from tests.conftest import PROJECT, load
from tests.doubling import ANSWERS, NOTEBOOK, RIGHT, SECRETS, SMALL, hand_in_small, released_small
from viva import language, wording
from viva.course.grading.batch import autograde
from viva.pages import feedback
from viva.pages.feedback import write_feedback
from viva.record import Note
from viva.verdict import CourseError

OTHERS = [tag for tag in language.BUILTIN if tag != "en"]


@pytest.mark.parametrize("tag", OTHERS)
def test_a_language_has_each_sentence_for_students_with_the_same_fields_and_nothing_else(tag):
    assert language.problems((PROJECT / "viva" / f"words.{tag}.toml").read_text(encoding="utf-8")) == []


FULL = Note(
    "",
    cells=("one", "two"),
    numbers=(3, 4),
    names=("first", "second", "third"),
    amount=2.0,
    because=Note("killed"),
)


@pytest.mark.parametrize("tag", OTHERS)
def test_each_note_can_be_said_and_none_is_said_as_in_english(tag):
    spoken = language.named(tag)
    kinds = {key.rpartition(".")[2] for key in language.required() if not key.startswith(("pages", "readers"))}
    same = set()
    for kind in kinds:
        note = Note(kind, FULL.cells, FULL.numbers, FULL.names, FULL.amount, FULL.because)
        said = wording.sentence(note, wording.STUDENT, spoken)
        assert said and "{" not in said
        if said == wording.sentence(note, wording.STUDENT):
            same.add(kind)
    assert same - {"zip_members"} == {"told", "lied", "other_problem", "late_sum"}


def test_what_a_language_lacks_or_says_with_other_fields_is_said_in_english():
    text = """
        [language]
        singular = "never"
        [late]
        late_free = "vItlh"
        late_sum = "{value} - {unknown}"
        [pages.feedback]
        skip = "<b>naDev</b>"
        unknown = "nuq"
    """
    spoken = language.read("tlh", text)
    assert wording.sentence(Note("late_free"), wording.STUDENT, spoken) == "vItlh"
    assert wording.sentence(Note("late_sum", names=("3", "1", "2")), wording.STUDENT, spoken) == "3 \u2212 1 = 2"
    assert spoken.text("feedback.skip") == "Skip to the results"
    assert wording.sentence(Note("late_free")) == "no penalty", "graders read English"
    found = language.problems(text)
    assert "pages.feedback.unknown is not a key of the English sentences for students" in found
    assert "pages.feedback.score is missing" in found and any(
        "late.late_sum: it has the fields" in one for one in found
    )


def test_numbers_times_and_plurals_are_the_languages_own():
    german, french, chinese = map(language.named, ("de", "fr", "zh"))
    assert [one.text("forms.point", 1.5) for one in (language.ENGLISH, german, french)] == [
        "1.5 points",
        "1,5 Punkte",
        "1,5 point",
    ]
    assert chinese.text("forms.point", 1) == "1 分"
    when = datetime(2026, 10, 5, 23, 59, tzinfo=UTC)
    assert german.time(when) == "5. Oktober 2026, 23:59" and language.ENGLISH.time(when) == "2026-10-05 23:59"
    late = Note("late_by", names=("2026-10-05 23:59", "Europe/Berlin"), amount=90000)
    assert wording.sentence(late, wording.STUDENT, german) == (
        "1 Tag 1 Stunde zu spät: Abgabefrist war 5. Oktober 2026, 23:59 (Europe/Berlin)"
    )


def test_without_babel_numbers_and_times_are_plain(monkeypatch):
    german = language.read("de", (PROJECT / "viva" / "words.de.toml").read_text(encoding="utf-8"))
    monkeypatch.setitem(__import__("sys").modules, "babel", None)
    assert german.text("forms.point", 1.5) == "1.5 Punkte" and german.time(datetime(2026, 1, 5)) == "2026-01-05 00:00"


def test_an_unknown_language_is_named_with_those_that_there_are():
    with pytest.raises(CourseError, match=r"There is no language 'xx'. The languages are: de, en, es, fr, zh"):
        language.named("xx")


# pages in each language


@pytest.fixture(scope="module")
def course(tmp_path_factory):
    """A course with right, wrong, late, repaired, unfinished and unreadable submissions, graded."""
    root = tmp_path_factory.mktemp("spoken") / "course"
    course, config = released_small(root)
    for student in ("wrong", "error", "timeout", "killed", "key"):
        hand_in_small(root, student, ANSWERS[student])
    hand_in_small(root, "untouched", "def twice(x):\n    # YOUR CODE HERE\n    raise NotImplementedError()\n")
    late = hand_in_small(root, "late", RIGHT, "Because.")
    (late.parent / "timestamp.txt").write_text("2026-09-15 14:30:00 UTC")
    repaired = hand_in_small(root, "repaired", RIGHT)
    notebook = json.loads(repaired.read_text())
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"] != "test_twice"]
    repaired.write_text(json.dumps(notebook))
    hand_in_small(root, "refused", RIGHT).write_bytes(b"%PDF-1.7")
    with course.gradebook() as gradebook:
        gradebook.update_or_create_assignment(SMALL, duedate=datetime(2026, 9, 14, 12))
    config.Execute.timeout = 2
    list(autograde(course, course.submissions([SMALL]), config=config, workers=1))
    return root


class Texts(HTMLParser):
    """The texts of a page that are the page's own, with those of attributes that are read aloud."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: set[str] = set()
        self.path: list[tuple[str, bool]] = []

    def handle_starttag(self, tag, attributes):
        about = dict(attributes)
        if tag in ("meta", "img", "link", "br", "hr", "input"):
            return
        foreign = (self.path[-1][1] if self.path else False) or ("lang" in about and tag != "html")
        foreign = foreign or tag in ("style", "code", "time") or "points" in about.get("class", "").split()
        self.path.append((tag, foreign))
        if not foreign and (label := about.get("aria-label")) and about.get("role") != "group":
            self.texts.add(label)

    def handle_endtag(self, tag):
        while self.path and self.path.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if self.path and not self.path[-1][1] and re.search(r"[a-z]{3}", data):
            self.texts.add(" ".join(data.split()))


def pages(root, tag: str, tmp_path) -> dict[str, str]:
    copy = shutil.copytree(root, tmp_path / tag)
    course, config = load(copy)
    config.PageExporter.language = tag
    endings = list(write_feedback(course, course.submissions([SMALL]), config=config, workers=1))
    assert {ending.status.name for ending in endings} == {"DONE"}, endings
    return {path.parts[-3]: path.read_text(encoding="utf-8") for path in copy.glob(f"feedback/*/{SMALL}/*.html")}


SAME = {"Feedback", "Notebook", "text", "error", "question", "Code", "Code:", "Text", "points"}
"""Words that two of the languages share."""


@pytest.mark.slow
@pytest.mark.parametrize("tag", OTHERS)
def test_no_english_sentence_is_left_on_a_page_in_another_language_and_no_hidden_line_gets_onto_it(
    course, tmp_path, tag
):
    english, other = pages(course, "en", tmp_path), pages(course, tag, tmp_path)
    assert english.keys() == other.keys() and len(other) == 9
    for student, text in other.items():
        assert f'<html lang="{language.named(tag).html}">' in text
        assert [secret for secret in SECRETS if secret in text] == []
        readers = Texts(), Texts()
        readers[0].feed(english[student])
        readers[1].feed(text)
        names = {student, NOTEBOOK, SMALL, "twice", "test_twice", "why", "helper", "title", "setup"}
        left = {said for said in readers[0].texts & readers[1].texts if said not in names | SAME}
        assert left == set(), student
    assert 'lang="en"' in other["wrong"] and 'lang="en"' not in english["wrong"].replace('<html lang="en">', "")


@pytest.mark.slow
def test_a_page_is_searched_for_hidden_lines_in_each_language(course, tmp_path, monkeypatch):
    copy = shutil.copytree(course, tmp_path / "leaking")
    path = copy / "autograded" / "wrong" / SMALL / f"{NOTEBOOK}.ipynb"
    path.chmod(0o644)
    path.write_text(path.read_text().replace("Why is $x + x$ right?", "for hidden_number in (271828, 161803):"))
    loaded, config = load(copy)
    config.PageExporter.language = "zh"
    (ending,) = write_feedback(loaded, loaded.submissions([SMALL], "wrong"), config=config, workers=1)
    assert ending.status.name == "FAILED" and "a line of a hidden test" in ending.reason


@pytest.mark.slow
def test_pages_are_written_again_in_another_language_or_with_other_words_and_else_left_alone(
    course, tmp_path, monkeypatch
):
    copy = shutil.copytree(course, tmp_path / "again")

    def statuses(tag: str) -> set[str]:
        loaded, config = load(copy)
        config.PageExporter.language = tag
        return {
            ending.status.name
            for ending in write_feedback(loaded, loaded.submissions([SMALL]), config=config, workers=1)
        }

    assert statuses("de") == {"DONE"} and statuses("de") == {"UNCHANGED"} and statuses("es") == {"DONE"}
    settings = {tag: feedback._settings(_config(tag)) for tag in ("de", "es")}
    assert settings["de"] != settings["es"] and language.named("de").digest in settings["de"]


def _config(tag: str):
    from traitlets.config import Config

    config = Config()
    config.PageExporter.language = tag
    return config
