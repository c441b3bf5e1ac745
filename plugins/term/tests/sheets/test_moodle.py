# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""Moodle's grading worksheet with our column changed, and what its importer would pass over."""

from __future__ import annotations

from datetime import datetime

import pytest
from traitlets.config import Config

from plugins.term.tests.sheets.classroom import PS, enter, grade, planned, refused
from plugins.term.tests.sheets.importers import Moodle, RefusedError
from tests.conftest import load
from viva_term.lms.rosterfile import Entry
from viva_term.sheets.moodle import MoodleExport

JANE = Entry("jdoe", "Jane", "Doe", "jane@example.edu", "700")
ZOE = Entry("zoe", "Zoë 🙂", "O’Neil", "", "701")
LEE1 = Entry("alee1", "Anna", "Lee", "a1@example.edu", "702")
LEE2 = Entry("alee2", "Anna", "Lee", "a2@example.edu", "703")
HEAD = (
    'Identifier,"Full name","Email address",Status,Grade,"Maximum grade","Grade can be changed",'
    '"Last modified (submission)","Online text","Last modified (grade)","Feedback comments"\n'
)
WHEN = "Monday, 2 October 2023, 11:59 PM"
ROWS = (
    f'"Participant 12345","Jane Doe",jane@example.edu,"Submitted",,25.00,Yes,"{WHEN}","=1+1, ""x""",-,\n'
    f'"Participant 12346","Zoë 🙂 O’Neil",,"Submitted",7.00,25.00,Yes,"{WHEN}","two\nlines","{WHEN}","well, done"\n'
    '"Participant 12347","Anna Lee",a1@example.edu,"No submission",,25.00,No,-,,-,\n'
    '"Participant 12348","Anna Lee",a2@example.edu,"No submission",,25.00,Yes,-,,-,\n'
    '"Participant 12349","-, @sum",new@example.edu,"No submission",,25.00,Yes,-,,-,\n'
)
ENGLISH = ("Identifier", "Grade", "Last modified (grade)", ".")
GERMAN = ("ID", "Bewertung", "Zuletzt geändert (Bewertung)", ",")
GERMAN_HEAD = (
    'ID,"Vollständiger Name",E-Mail-Adresse,Status,Bewertung,Bestwertung,"Bewertung kann geändert werden",'
    '"Zuletzt geändert (Abgabe)","Texteingabe online","Zuletzt geändert (Bewertung)","Feedback als Kommentar"\n'
)


@pytest.fixture
def taught(course):
    enter(course, JANE, ZOE, LEE1, LEE2)
    for one, score in ((JANE, 20.5), (ZOE, 7.5), (LEE1, 3.0), (LEE2, 0.0)):
        grade(course, one.id, score)
    return course


def worksheet(course, text: str = HEAD + ROWS) -> str:
    path = course / "worksheet.csv"
    path.write_bytes(text.encode())
    return str(path)


def merged(course, text: str = HEAD + ROWS, **options):
    return planned(course, MoodleExport, into=worksheet(course, text), **options)


def moodle(*words: str, **state) -> Moodle:
    numbers = {str(number) for number in range(12345, 12350)}
    return Moodle(*words, 25.0, numbers, {"12346": 7.0}, **state)


def test_only_grades_change_and_moodle_takes_each_that_is_said_to_be_written(taught):
    plan, data = merged(taught)
    lines = (HEAD + ROWS).replace('"Submitted",,', '"Submitted",20.5,').replace('"Submitted",7.00', '"Submitted",7.5')
    lines = lines.replace('a2@example.edu,"No submission",,', 'a2@example.edu,"No submission",0,')
    assert data.decode() == lines
    system = moodle(*ENGLISH, locked={"12347"}, graded_at={"12346": datetime(2023, 10, 2, 23, 59, 30)})
    assert system.take(data) == {"12345": 20.5, "12346": 7.5, "12348": 0.0}
    assert system.skipped == {"12347": "blank", "12349": "blank"}
    assert {line.student: line.what for line in plan.left} == {
        "alee1": "its grade is locked in Moodle, so Moodle would ignore a new one"
    }
    assert [(line.student, line.what) for line in plan.replaced] == [("zoe", "7.00 → 7.5")]
    assert [line.name for line in plan.strangers] == ["-, @sum"]
    assert "Some scores are 0." in plan.warnings[0]
    assert "encoding UTF-8, separator comma" in plan.following


def test_german_commas_and_dates_that_its_importer_cannot_read(taught):
    when = "Montag, 2. Oktober 2023, 23:59"
    text = GERMAN_HEAD + ROWS.replace("25.00", '"25,00"').replace("7.00", '"7,00"').replace(WHEN, when)
    text = "\ufeff" + text.replace("Participant ", "Teilnehmer/in").replace("Yes", "Ja").replace(",No,", ",Nein,")
    plan, data = merged(taught, text)
    wanted = text.replace('"Submitted",,', '"Submitted","20,5",').replace('"7,00"', '"7,5"')
    assert data.decode() == wanted.replace('a2@example.edu,"No submission",,', 'a2@example.edu,"No submission",0,')
    graded = {"12346": datetime(2023, 10, 2, 23, 59)}
    system = moodle(*GERMAN, graded_at=graded)
    assert system.take(data) == {"12345": 20.5, "12348": 0.0} and system.skipped["12346"] == "stale"
    assert any("When you upload, turn on" in sentence for sentence in plan.warnings)
    assert moodle(*GERMAN, graded_at=graded, ignore_modified=True).take(data)["12346"] == 7.5
    with pytest.raises(RefusedError):
        moodle(*ENGLISH).take(data)
    assert "In Moodle, in German:" in plan.following
    assert not any("When you upload, turn on" in sentence for sentence in merged(taught)[0].warnings)


OTHERS = {
    "French": (
        'Identifiant,"Nom complet","Adresse de courriel",Statut,Note,"Note maximale","La note peut être modifiée",'
        '"Dernière modification (travail remis)","Texte en ligne","Dernière modification (note)",'
        '"Feedback par commentaires"\n',
        ("Identifiant", "Note", "Dernière modification (note)", ","), "Participant", "Oui",
    ),
    "Portuguese": (
        'Identificador,"Nome completo","Endereço de email",Status,Nota,"Nota máxima","Nota pode ser alterada",'
        '"Última modificação (envio)","Texto online","Última modificação (nota)","Comentários de feedback"\n',
        ("Identificador", "Nota", "Última modificação (nota)", ","), "Participante", "Sim",
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", OTHERS)
def test_in_other_languages_of_teachers_moodle_takes_the_same(taught, language):
    head, words, participant, yes = OTHERS[language]
    text = head + ROWS.replace("25.00", '"25,00"').replace("7.00", '"7,00"').replace("Participant ", participant)
    _, data = merged(taught, text.replace(",Yes,", f",{yes},").replace(",No,", f",{yes},"))
    assert moodle(*words).take(data) == {"12345": 20.5, "12346": 7.5, "12347": 3.0, "12348": 0.0}


def test_a_worksheet_that_shows_no_decimals_is_written_as_its_language_has_them_and_that_is_said(taught):
    text = GERMAN_HEAD + ROWS.replace("25.00", "25").replace("7.00", "7").replace("Participant ", "Teilnehmer/in")
    plan, data = merged(taught, text)
    assert b'"20,5",25,' in data
    assert any("does not show whether Moodle writes" in sentence for sentence in plan.warnings)
    _, data = merged(taught, text.replace(",7,25,", ",7.25,25,"))  # as in Switzerland
    assert b",20.5,25," in data
    assert b",20.5,25," in merged(taught, (HEAD + ROWS).replace("25.00", "25"))[1]


def test_a_locked_grade_that_says_the_same_is_no_news(taught):
    text = (HEAD + ROWS).replace('a1@example.edu,"No submission",,', 'a1@example.edu,"No submission",3.00,')
    plan, data = merged(taught, text)
    assert plan.left == [] and "alee1" in [line.student for line in plan.unchanged]
    assert b'a1@example.edu,"No submission",3.00,' in data


def test_no_grade_is_blanked_and_a_second_export_changes_nothing(taught):
    _, data = merged(taught)
    plan, again = merged(taught, data.decode())
    assert again == data and not plan.written and not plan.replaced
    enter(taught, JANE, ZOE, LEE1, LEE2, Entry("never", "-", "@sum", "new@example.edu", "704"))
    text = (HEAD + ROWS).replace('new@example.edu,"No submission",,', 'new@example.edu,"No submission",9.00,')
    assert b'new@example.edu,"No submission",9.00,' in merged(taught, text)[1]


def test_more_than_the_maximum_is_told_and_not_written_as_moodle_would_pass_over_it(taught):
    plan, data = merged(taught, (HEAD + ROWS).replace("25.00", "20.00"))
    assert {line.student: line.what for line in plan.left}["jdoe"] == (
        "20.5 is more than the sheet's maximum of 20; Moodle would ignore it"
    )
    assert any("is 20 points, but 25 points in the gradebook" in one for one in plan.warnings)
    assert b"20.5" not in data


def test_two_of_one_name_without_addresses_are_told_and_not_guessed(taught):
    text = (HEAD + ROWS).replace('"Email address",', "").replace("jane@example.edu,", "")
    text = text.replace('O’Neil",,', 'O’Neil",').replace("a1@example.edu,", "").replace("a2@example.edu,", "")
    plan, _ = merged(taught, text.replace("new@example.edu,", ""))
    assert [(line.student, line.what) for line in plan.written] == [("jdoe", "20.5")]
    assert [line.what for line in plan.strangers][:2] == [
        f"line {line} may be 'alee1' or 'alee2', who have the same name" for line in (5, 6)
    ]
    assert {line.student for line in plan.absent} == {"alee1", "alee2"}


def test_who_is_who_in_a_blind_assignment_may_be_configured(taught):
    text = 'Identifier,Status,Grade,"Maximum grade","Last modified (grade)"\n'
    text += "Participant 12345,-,,25.00,-\nParticipant 12346,-,,25.00,-\n"
    assert "has no names, because the assignment is graded blind. Reveal the" in refused(
        taught, MoodleExport, into=worksheet(taught, text)
    )
    exporter = MoodleExport(config=Config({"MoodleExport": {"participants": {"12346": "jdoe"}}}))
    exporter.into = worksheet(taught, text)
    course = load(taught)[0]
    with course.gradebook() as gradebook:
        plan = exporter.plan(course, gradebook, PS)
    assert [(line.student, line.what) for line in plan.written] == [("jdoe", "20.5")]
    assert "names 'nobody', but no student has this id" in refused(
        taught, MoodleExport, into=worksheet(taught, text), participants={"12345": "nobody"}
    )


def test_a_worksheet_in_a_language_that_is_not_known_needs_the_name_of_one_column(taught):
    text = (
        (HEAD + ROWS)
        .replace("Grade,", "Hodnocení,")
        .replace("Last modified (grade)", "Změněno")
        .replace("25.00", '"25,00"')
    )
    assert "in another language name the column for grades" in refused(
        taught, MoodleExport, into=worksheet(taught, text)
    )
    _, data = merged(taught, text, column="Hodnocení")
    assert b'"Submitted","20,5","25,00"' in data


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            HEAD.replace('"Maximum grade"', "Scale") + ROWS,
            "uses a scale in Moodle, so it cannot have points. Set its grade to",
        ),
        (
            (HEAD + ROWS).replace("25.00", '"25,00"'),
            "is in English but has commas as decimal points, so another program",
        ),
        (HEAD + ROWS.replace("Participant 12345", "Jane"), "begins with 'Jane', where Moodle has 'Participant 12345'"),
        (HEAD + '"Participant 1",x\n', "Line 2 of"),
        (HEAD + ROWS.replace('"Jane Doe"', '"Jane\\"'), "has a backslash before a quote"),
        ("First name,Last name\nA,B\n", "is not a known grading worksheet"),
        ("", "is empty"),
    ],
)
def test_what_moodle_would_refuse_or_misread_is_a_sentence(taught, text, said):
    assert said in refused(taught, MoodleExport, into=worksheet(taught, text))


def test_without_a_worksheet_it_is_said_how_to_get_one(taught):
    for options in ({}, {"feedback": True}):
        assert "choose 'Download grading worksheet'" in refused(taught, MoodleExport, **options)
