"""Files that tell times and people, as the systems write them, and hostile ones."""

from __future__ import annotations

import pytest

from plugins.term.tests.archives.given import GERMAN, GRADESCOPE, WORKSHEET
from viva.verdict import CourseError
from viva_term.archives import companion
from viva_term.archives.layouts import Piece, Sender


@pytest.fixture
def read(tmp_path):
    def run(name: str, text: str):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return companion.read(tmp_path / name)

    return run


FRENCH = """Identifiant,"Nom complet","Adresse de courriel",Statut,"Permettre les remises depuis le",\
"À rendre jusqu'au",Note,"Note maximale","La note peut être modifiée",\
"Dernière modification (travail remis)","Dernière modification (note)"
"Participant 1","Jane Doe",jane@x.edu,"Remis pour évaluation",-,"lundi 12 octobre 2026, 23:59",,"100,00",Oui,\
"lundi 5 octobre 2026, 23:59","mardi 6 octobre 2026, 08:00"
"""
NO_GROUPS = Sender("Group A_1", "Group A")


@pytest.mark.parametrize("sheet", [WORKSHEET, GERMAN, FRENCH], ids=["english", "german", "french"])
def test_a_worksheet_of_moodle_is_read_in_the_teachers_language(read, sheet):
    found = read("sheet.csv", sheet)
    done = found.completed(Piece(Sender("Jane Doe_1_", "Jane Doe"), ("x",)))
    assert done.time == "" and found.system == "moodle"  # the number ends the label
    done = found.completed(Piece(Sender("Jane Doe_1", "Jane Doe"), ("x",)))
    assert companion.moments.read(done.time).isoformat() == "2026-10-05T23:59:00"
    assert done.sender.email == "jane@x.edu"
    assert found.completed(Piece(NO_GROUPS, ("x",))) == Piece(NO_GROUPS, ("x",))


def test_the_group_in_a_worksheet_tells_the_members_and_the_latest_time(read):
    sheet = WORKSHEET.replace("Status,", "Status,Group,").replace('grading - ",', 'grading - ","Group A",')
    sheet = sheet.replace('"No submission - ",', '"No submission - ",,')
    done = read("sheet.csv", sheet).completed(Piece(NO_GROUPS, ("x",)))
    assert [one.email for one in done.sender.others] == ["jane@x.edu", "ann@x.edu"]
    assert done.time == "Tuesday, 6 October 2026, 12:05 AM"


def test_metadata_of_gradescope_is_texts_only(read):
    found = read("submission_metadata.yml", GRADESCOPE)
    done = found.completed(Piece(Sender("submission_77", anonymous=True), ("x",), attempt="submission_77"))
    assert (done.sender.email, done.sender.lms, done.sender.anonymous) == ("jane@x.edu", "123", False)
    both = found.by_label["submission_78"].sender.others
    assert [(one.name, one.lms) for one in both] == [("Zoë Lee", ""), ("Bo King, Jr.", "124")]


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * 200_000,
        "submission_1:\n  :submitters: " + "[" * 5000 + "]" * 5000,
        "a: &a [x, x]\n" + "".join(f"b{n}: &b{n} [*{f'b{n - 1}' if n else 'a'}, *a]\n" for n in range(60)),
        "a: !!python/object/apply:os.system ['echo']\n",
        "\x01",
        "- 1",
        "submission_1: &x\n  :submitters: [*x]\n",
    ],
)
def test_hostile_metadata_ends_in_a_sentence(read, text):
    with pytest.raises(CourseError, match=r"cannot be read as YAML|lists no submissions"):
        read("submission_metadata.yml", text)


def test_any_list_of_people_and_times_will_do_and_one_without_is_refused(read):
    found = read("times.csv", "student_id;timestamp\njdoe;2026-10-05 23:59\nzoe;-\n")
    assert [(known.sender.login, known.time) for known in found.times_of_people()] == [("jdoe", "2026-10-05 23:59")]
    grades = "First Name,Last Name,SID,Email,Submission Time\nJane,Doe,123,jane@x.edu,2026-10-05 23:59:00 +0200\n"
    (known,) = read("grades.csv", grades).times_of_people()
    assert (known.sender.lms, known.sender.email) == ("123", "jane@x.edu")
    with pytest.raises(CourseError, match="has no submission times"):
        read("list.csv", "id,name\n1,Jane\n")
    with pytest.raises(CourseError, match=r"Line 3 of .* does not name a student"):
        read("times.csv", "student_id,timestamp\njdoe,2026-10-05 23:59\n,2026-10-05 23:59\n")


@pytest.mark.parametrize("ids", [("s01", "s02"), ("e12345", "e12346"), ("demo-1", "demo-2")])
def test_ids_that_look_like_moodles_participants_make_no_worksheet_of_a_list_of_times(read, ids):
    text = "student_id,timestamp\n" + "".join(f"{one},2026-10-05 23:59\n" for one in ids)
    found = read("times.csv", text)
    assert [(known.sender.login, known.time) for known in found.times_of_people()] == [
        (one, "2026-10-05 23:59") for one in ids
    ]


def test_metadata_in_an_archive_is_called_as_the_archive_calls_it(tmp_path):
    (tmp_path / "8").write_text("- no mapping", encoding="utf-8")
    with pytest.raises(CourseError, match=r"^export/submission_metadata\.yml lists no submissions"):
        list(companion.inside([("export/submission_metadata.yml", tmp_path / "8")]))
