# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""A whole round for learning systems: class list and archive in, graded, sheet out; same people, same numbers.

Lists, archives and sheets are written here as the systems' documents have them; what comes out is read by second
readers that follow their importers' rules (plugins/term/tests/sheets/importers.py).
"""

from __future__ import annotations

import json
import shutil
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from plugins.term.tests.sheets.importers import Canvas, Moodle, gradescope
from tests.doubling import ANSWERS, SMALL, hand_in_small, write_small
from tests.handmade import empty_course

pytestmark = pytest.mark.usefixtures("processes")

PEOPLE = {
    "mking": ("101", "Martin", "King, Jr."),
    "zoneil": ("102", "Zoë 🙂", "O’Neil"),
    "lhaddad": ("104", "ليلى", "حداد"),
    "alee1": ("105", "Anna", "Lee"),
    "alee2": ("106", "Anna", "Lee"),
    "nomail": ("107", "Nobody", "Mailless"),
    "team1": ("108", "Tia", "Amber"),
    "team2": ("109", "Tom", "Amber"),
    "ill": ("110", "Ina", "Ill"),
    "never": ("111", "Nev", "Er"),
}
"""By login: the number in the system, first and last name."""
WRONG = {"lhaddad", "alee2"}
LATE = "zoneil"
"""Handed in a day late."""
BY_HAND = {login: 0.25 * place for place, login in enumerate(PEOPLE, 1)} | {"team2": 1.75}
"""What a grader gives each; both of a team the same."""


def wanted(login: str) -> float:
    score = (0 if login in WRONG else 4) + BY_HAND[login]
    return round(score * 0.9 + 1e-9, 2) if login == LATE else score


HANDED_IN = [login for login in PEOPLE if login not in ("never", "team2")]
SCORES = {login: wanted(login) for login in PEOPLE if login not in ("never", "ill")}


def mail(login: str) -> str:
    return "" if login == "nomail" else f"{login}@example.edu"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


def full(login: str) -> str:
    return " ".join(PEOPLE[login][1:])


@dataclass
class System:
    """What one system gives: a class list, an archive by member, options; and what it takes."""

    roster: str
    members: Callable[[dict[str, bytes]], dict[str, bytes]]
    collect: list[str]
    export: list[str]
    taken: Callable[[bytes], dict[str, object]]
    called: Callable[[str], str] = str
    options: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """What else lies in the course folder."""
    excused: object = None
    """What the importer makes of who is excused; None where nothing is to reach it."""


def squeezed(login: str) -> str:
    """As Canvas squeezes a sortable name."""
    _, first, last = PEOPLE[login]
    return "".join(letter for letter in f"{last}, {first}".lower() if letter.isalnum() or letter == "_")


def canvas() -> System:
    head = "Student,ID,SIS User ID,SIS Login ID,Section,Doubling (1234)\n    Points Possible,,,,,7\n"
    rows = "".join(f"{quoted(f'{last}, {first}')},{n},S-{n},{one},A,\n" for one, (n, first, last) in PEOPLE.items())

    def members(books):
        names = {one: "teamamber" if one == "team1" else squeezed(one) for one in books}
        late = {one: "_LATE" * (one == LATE) for one in books}
        return {
            f"{names[one]}{late[one]}_{PEOPLE[one][0]}_9{PEOPLE[one][0]}_doubling.ipynb": books[one] for one in books
        }

    def taken(data):
        students = {n: (f"S-{n}", one, f"{last}, {first}") for one, (n, first, last) in PEOPLE.items()}
        system = Canvas(students, {"1234": "Doubling"})
        changes = system.take(data)
        assert (system.skipped, system.new) == ([], [])
        return {system.students[number][1]: score for (number, _), score in changes.items()}

    times = "student_id,timestamp\n" + "".join(f"{one},{moment(one)}\n" for one in HANDED_IN)
    return System(
        head + rows,
        members,
        ["--times=times.csv"],
        ["--as=canvas", "--into=list.csv", "--column=1234"],
        taken,
        files={"times.csv": times, "matches.csv": "sender,student_id\nteamamber_108,team1\nteamamber_108,team2\n"},
        excused="EX",
    )


def moment(login: str) -> str:
    return "2026-10-06 12:00:00 +0200" if login == LATE else "2026-10-05 22:10:00 +0200"


def moodle() -> System:
    rows = "".join(
        f"{quoted(first)},{quoted(last)},{number},{mail(one)},{'Team A' if 'team' in one else ''}\n"
        for one, (number, first, last) in PEOPLE.items()
    )
    numbers = {one: str(9000 + place) for place, one in enumerate(PEOPLE)}
    sheet = (
        '\ufeffID,"Vollständiger Name",ID-Nummer,E-Mail-Adresse,Status,Bewertung,Bestwertung,'
        '"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)"\n'
    )
    for one, (number, _, _) in PEOPLE.items():
        when = "Dienstag, 6. Oktober 2026, 12:00" if one == LATE else "Montag, 5. Oktober 2026, 22:10"
        when = "-" if one == "never" else when
        sheet += f'Teilnehmer/in{numbers[one]},{quoted(full(one))},{number},{mail(one)},x,,"7,00",Ja,{quoted(when)},-\n'

    def members(books):
        labels = {one: f"{full(one)}_{numbers[one]}" for one in books} | {"team1": "Team A_55"}
        return {f"{labels[one]}_assignsubmission_file/{one} 1.ipynb": books[one] for one in books}

    def taken(data):
        system = Moodle("ID", "Bewertung", "Zuletzt geändert (Bewertung)", ",", 7.0, set(numbers.values()))
        found = system.take(data)
        assert system.skipped == {numbers["ill"]: "blank", numbers["never"]: "blank"}
        return {one: found[number] for one, number in numbers.items() if number in found}

    return System(
        "First name,Last name,ID number,Email address,Groups\n" + rows,
        members,
        ["--times=worksheet.csv", "--zone=Europe/Berlin"],
        ["--as=moodle", "--into=worksheet.csv"],
        taken,
        called=lambda one: PEOPLE[one][0],
        options=["--id=sis"],
        files={"worksheet.csv": sheet},
    )


def graded_by_gradescope() -> System:
    rows = "".join(
        f"{quoted(first)},{quoted(last)},{number},{mail(one)},Lab\n" for one, (number, first, last) in PEOPLE.items()
    )

    def members(books):
        told = "---\n"
        for one in books:
            told += f"submission_{PEOPLE[one][0]}:\n  :submitters:\n"
            for who in ("team1", "team2") if one == "team1" else (one,):
                address = mail(who) or "~"
                told += f"  - :name: {json.dumps(full(who), ensure_ascii=False)}\n"
                told += f"    :sid: '{PEOPLE[who][0]}'\n    :email: {address}\n"
            when = "2026-10-06 10:00:00.226151000 Z" if one == LATE else "2026-10-05 20:10:00.226151000 Z"
            told += f"  :created_at: {when}\n  :score: 0.0\n"
        found = {f"submission_{PEOPLE[one][0]}/doubling.ipynb": books[one] for one in books}
        found["submission_metadata.yml"] = told.encode()
        return {f"assignment_5_export/{name}": data for name, data in found.items()}

    def taken(data):
        logins = {number: one for one, (number, *_) in PEOPLE.items()}
        found = {logins[number]: about for number, about in gradescope(data).items()}
        assert found.pop("ill") == found.pop("never") == (None, "Missing")
        assert {status for _, status in found.values()} == {"Graded"}
        return {one: score for one, (score, _) in found.items()}

    return System(
        "First Name,Last Name,SID,Email,Sections\n" + rows,
        members,
        [],
        ["--as=gradescope"],
        taken,
        called=lambda one: PEOPLE[one][0],
    )


@pytest.fixture
def course(tmp_path) -> Path:
    """A course with one small assignment that is due on the evening of 5 October in Berlin."""
    root = empty_course(tmp_path / "course")
    write_small(root)
    with (root / "nbgrader_config.py").open("a") as file:
        file.write('c.LatePolicy.zone = "Europe/Berlin"\n')
        file.write(f'c.LatePolicy.assignments = {{"{SMALL}": {{"due": "2026-10-05 23:59"}}}}\n')
    return root


def told(result) -> dict:
    assert result.status == 0, result.text
    return json.loads(result.out)


@pytest.mark.parametrize(
    "system",
    [canvas, *(pytest.param(one, marks=[pytest.mark.slow]) for one in (moodle, graded_by_gradescope))],
    ids=lambda one: one.__name__,
)
def test_what_a_system_gave_goes_back_to_it_as_the_same_peoples_numbers(course, viva, system):
    given = system()
    assert viva("release", SMALL, "--no-audit").status == 0
    books = {}
    for answer in ("right", "wrong"):
        path = hand_in_small(course, answer, ANSWERS[answer], "Because.")
        books[answer] = path.read_bytes()
    shutil.rmtree(course / "submitted")
    (course / "list.csv").write_text(given.roster, encoding="utf-8")
    for name, text in given.files.items():
        (course / name).write_text(text, encoding="utf-8")
    told(viva("roster", "list.csv", "--json", *given.options))
    with zipfile.ZipFile(course / "archive.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        answers = {one: books["wrong" if one in WRONG else "right"] for one in HANDED_IN}
        for name, data in given.members(answers).items():
            archive.writestr(name, data)

    collected = told(viva("collect", "archive.zip", f"--assignment={SMALL}", "--json", *given.collect))
    assert collected["unmatched"] == []
    submitted = {path.name for path in (course / "submitted").iterdir() if path.is_dir()}
    assert submitted == {given.called(one) for one in [*HANDED_IN, "team2"]}
    told(viva("grade", SMALL, "--json"))
    with Gradebook(f"sqlite:///{course / 'gradebook.db'}") as book:
        for one in [*HANDED_IN, "team2"]:
            (notebook,) = book.find_submission(SMALL, given.called(one)).notebooks
            for grade in notebook.grades:
                if grade.needs_manual_grade:
                    grade.manual_score, grade.needs_manual_grade = BY_HAND[one], False
        book.db.commit()
    told(viva("extend", given.called("ill"), SMALL, "--excuse", "--json"))

    again = told(viva("collect", "archive.zip", f"--assignment={SMALL}", "--json", *given.collect))
    assert {one["status"] for one in again["students"]} == {"unchanged"}
    unchanged = told(viva("grade", SMALL, "--json"))
    assert {one["status"] for one in unchanged["submissions"]} == {"unchanged"}

    told(viva("export", SMALL, "--json", *given.export))
    name = given.export[0].partition("=")[2]
    expected = SCORES | ({"ill": given.excused} if given.excused else {})
    assert given.taken((course / f"{SMALL}-{name}.csv").read_bytes()) == pytest.approx(expected)
