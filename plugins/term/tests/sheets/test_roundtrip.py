# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""For each system: its list in, grades, its file out; the same people have the same numbers.

What comes out is read by a second reader that follows the importer's rules (importers.py). The students are the same
everywhere: a suffix behind a comma, an apostrophe, an emoji, right-to-left letters, two of one name, one without an
e-mail address, two in a group, one excused, one who never handed in, and names that a spreadsheet would compute.
"""

from __future__ import annotations

import json

import pytest

from plugins.term.tests.sheets import classroom
from plugins.term.tests.sheets.classroom import PS
from plugins.term.tests.sheets.importers import Brightspace, Canvas, Moodle, gradescope

PEOPLE = {
    "mking": ("101", "Martin", "King, Jr."),
    "zoneil": ("102", "Zoë 🙂", "O’Neil"),
    "poneil": ("103", "Pat", "O'Neil"),
    "lhaddad": ("104", "ليلى", "حداد"),
    "alee1": ("105", "Anna", "Lee"),
    "alee2": ("106", "Anna", "Lee"),
    "nomail": ("107", "Nobody", "Mailless"),
    "team1": ("108", "Tia", "Amber"),
    "team2": ("109", "Tom", "Amber"),
    "ill": ("110", "Ina", "Ill"),
    "never": ("111", "Nev", "Er"),
    "dash": ("112", "-", "@lee"),
    "ecmd": ("113", "Eve", "=Cmd"),
}
"""By login: the number in the system, first and last name."""
SCORES = {
    "mking": (20.125, 0), "zoneil": (25.0, 0), "poneil": (10.0, 1), "lhaddad": (7.5, 0), "alee1": (3.0, 0),
    "alee2": (4.25, 0), "nomail": (1.005, 0), "team1": (12.0, 0), "team2": (12.0, 0), "ill": (5.0, 0),
    "dash": (0.0, 0), "ecmd": (9.0, 0),
}  # fmt: skip
"""What each has, and how many days late."""
WANTED = {
    "mking": 20.13, "zoneil": 25.0, "poneil": 9.0, "lhaddad": 7.5, "alee1": 3.0, "alee2": 4.25, "nomail": 1.01,
    "team1": 12.0, "team2": 12.0, "dash": 0.0, "ecmd": 9.0,
}  # fmt: skip
"""What each is to have in the system: rounded, less a tenth for a day; nothing for who is excused or never came."""


def mail(login: str) -> str:
    return "" if login == "nomail" else f"{login}@example.edu"


def quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


@pytest.fixture
def listed(course, viva):
    """Read a system's list, and grade whom it names."""

    def listed(text: str, *options: str, called=lambda login: login):
        (course / "list.csv").write_bytes(text.encode())
        result = viva("roster", "list.csv", *options)
        assert result.status == 0, result.err
        classroom.grade_all(course, {called(login): score for login, score in SCORES.items()})
        (course / "excused.csv").write_text(f"assignment,student_id,reason\n{PS},{called('ill')},ill\n")

    return listed


def export(viva, *options: str) -> dict:
    result = viva("export", PS, "--json", *options)
    assert result.status == 0, result.err
    return json.loads(result.out)


CANVAS_HEAD = "Student,ID,SIS User ID,SIS Login ID,Section,Old work (7),Problem set 1 (1234),Final Score\n"


def canvas_rows() -> str:
    rows = ",,,,,,Manual Posting,\n    Points Possible,,,,,10,25,(read only)\n"
    for login, (number, first, last) in PEOPLE.items():
        name = f"{last}, {first}"
        name = quoted(f'="{name}"') if name.startswith("=") else quoted(name)
        rows += f"{name},{number},S-{number},{login},Monday,{int(number) % 10},,50.5\n"
    return rows + '"Student, Test",199,,0123456789abcdef0123456789abcdef01234567,Monday,,,\n'


def canvas(**options) -> Canvas:
    students = {one: (f"S-{one}", login, f"{last}, {first}") for login, (one, first, last) in PEOPLE.items()}
    grades = {(one, "7"): float(int(one) % 10) for one, _, _ in PEOPLE.values()}
    return Canvas(students, {"7": "Old work", "1234": "Problem set 1"}, grades, **options)


@pytest.mark.parametrize("into", [True, False], ids=["merged", "minimal"])
def test_canvas(course, viva, listed, into):
    listed(CANVAS_HEAD + canvas_rows())
    options = ["--into=list.csv"] if into else []
    told = export(viva, "--as=canvas", "--column=Problem set 1 (1234)", *options)
    system = canvas()
    changes = system.take((course / f"{PS}-canvas.csv").read_bytes())
    wanted = {(PEOPLE[login][0], "1234"): score for login, score in WANTED.items()}
    assert changes == wanted | {(PEOPLE["ill"][0], "1234"): "EX"}
    assert system.new == []
    assert [name for name, _ in system.skipped] == (["Student, Test"] if into else [])
    assert (told["strangers"], told["absent"]) == ([], [])
    assert [line["student"] for line in told["left"]] == ["never"]


WORKSHEETS = {
    "English": (
        'Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
        '"Last modified (submission)","Last modified (grade)","Feedback comments"',
        "Participant ", "Identifier", "Grade", "Last modified (grade)", ".", "Yes",
    ),
    "German": (
        'ID,"Vollständiger Name",ID-Nummer,E-Mail-Adresse,Status,Bewertung,Bestwertung,'
        '"Bewertung kann geändert werden","Zuletzt geändert (Abgabe)","Zuletzt geändert (Bewertung)",'
        '"Feedback als Kommentar"',
        "Teilnehmer/in", "ID", "Bewertung", "Zuletzt geändert (Bewertung)", ",", "Ja",
    ),
    "French": (
        'Identifiant,"Nom complet","Numéro d’identification","Adresse de courriel",Statut,Note,"Note maximale",'
        '"La note peut être modifiée","Dernière modification (travail remis)","Dernière modification (note)",'
        '"Feedback par commentaires"',
        "Participant", "Identifiant", "Note", "Dernière modification (note)", ",", "Oui",
    ),
    "Portuguese": (
        'Identificador,"Nome completo","Número de identificação","Endereço de email",Status,Nota,"Nota máxima",'
        '"Nota pode ser alterada","Última modificação (envio)","Última modificação (nota)","Comentários de feedback"',
        "Participante", "Identificador", "Nota", "Última modificação (nota)", ",", "Sim",
    ),
}  # fmt: skip
"""By language: the columns, what stands before numbers, three of the columns, the decimal mark and yes."""


def worksheet(language: str) -> str:
    head, participant, _, _, _, decimal, yes = WORKSHEETS[language]
    rows = [head]
    for place, (login, (number, first, last)) in enumerate(PEOPLE.items()):
        most = quoted(f"25{decimal}00") if decimal == "," else "25.00"
        name = quoted(f"{first} {last}")
        rows.append(f'{quoted(f"{participant}{9000 + place}")},{name},{number},{mail(login)},"-",,{most},{yes},-,-,')
    return "\ufeff" + "\n".join(rows) + "\n"


@pytest.mark.parametrize("language", WORKSHEETS)
@pytest.mark.slow
def test_moodle(course, viva, listed, language):
    rows = "".join(
        f"{quoted(first)},{quoted(last)},{number},{mail(login)},{'Team' if 'team' in login else ''}\n"
        for login, (number, first, last) in PEOPLE.items()
    )
    listed(
        "First name,Last name,ID number,Email address,Groups\n" + rows, "--id=sis", called=lambda one: PEOPLE[one][0]
    )
    (course / "worksheet.csv").write_bytes(worksheet(language).encode())
    told = export(viva, "--as=moodle", "--into=worksheet.csv")
    _, _, identifier, grade, modified, decimal, _ = WORKSHEETS[language]
    numbers = {login: str(9000 + place) for place, login in enumerate(PEOPLE)}
    system = Moodle(identifier, grade, modified, decimal, 25.0, set(numbers.values()))
    data = (course / f"{PS}-moodle.csv").read_bytes()
    assert system.take(data) == {numbers[login]: score for login, score in WANTED.items()}
    assert system.skipped == {numbers["ill"]: "blank", numbers["never"]: "blank"}
    assert data.startswith("\ufeff".encode()) and (told["strangers"], told["absent"]) == ([], [])
    left = {line["student"]: line["what"] for line in told["left"]}
    assert left == {"110": "excused: ill", "111": "not handed in"}


BRIGHTSPACE_HEAD = (
    "OrgDefinedId,Username,Last Name,First Name,Email,Old Points Grade <Numeric MaxPoints:10>,"
    "PS 1 Points Grade <Numeric MaxPoints:25 Weight:10 Category:Labs CategoryWeight:15>,End-of-Line Indicator\n"
)


@pytest.mark.parametrize("into", [True, False], ids=["from its list", "from the roster"])
def test_brightspace(course, viva, listed, into):
    rows = "".join(
        f"#{number},#{login},{quoted(last)},{quoted(first)},{mail(login)},5,,#\n"
        for login, (number, first, last) in PEOPLE.items()
    )
    listed(BRIGHTSPACE_HEAD + rows)
    export(viva, "--as=brightspace", "--column=PS 1", *(["--into=list.csv"] if into else []))
    system = Brightspace({(number, login) for login, (number, *_) in PEOPLE.items()}, {"PS 1": 25.0, "Old": 10.0})
    taken = system.take((course / f"{PS}-brightspace.csv").read_bytes())
    assert taken == {(login, "PS 1"): score for login, score in WANTED.items()}
    assert system.skipped == []


def test_gradescope(course, viva, listed):
    rows = "".join(
        f"{quoted(first)},{quoted(last)},{number},{mail(login)},Lab\n"
        for login, (number, first, last) in PEOPLE.items()
    )
    listed("First Name,Last Name,SID,Email,Sections\n" + rows, called=lambda one: PEOPLE[one][0])
    export(viva, "--as=gradescope")
    data = (course / f"{PS}-gradescope.csv").read_bytes()
    found = gradescope(data)
    wanted = {PEOPLE[login][0]: (score, "Graded") for login, score in WANTED.items()}
    assert found == wanted | {PEOPLE["ill"][0]: (None, "Missing"), PEOPLE["never"][0]: (None, "Missing")}
    assert b"'-,'@lee," in data and b"Eve,'=Cmd," in data
