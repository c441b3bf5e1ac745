# ruff: noqa: RUF001 (names are spelt as their owners spell them)
"""Each system's list as that system writes it, by what is known of its format; and what is wrong with lists."""

from __future__ import annotations

import csv
from io import StringIO

import pytest

from viva.verdict import CourseError
from viva_term.lms.participants import read
from viva_term.lms.rosterfile import Entry

CANVAS = '''\
Student,ID,SIS User ID,SIS Login ID,Integration ID,Section,"Homework 1, attention (4711)",Final Score
,,,,,,Manual Posting,
    Points Possible,,,,,,10,(read only)
"King, Martin, Jr.",101,S-1,mking,,Monday,9.5,95
"O’Neil, Zoë 🙂",102,S-2,zoneil,,Monday and Tuesday,EX,90
"Lee, Anna",103,S-3,alee1,,Tuesday,N/A,
"Lee, Anna",104,S-4,alee2,,Monday,7,70
"=""=Cmd, Eve""",105,S-5,ecmd,,Tuesday,,
"حداد, ليلى",106,S-6,lhaddad,,Tuesday,8,80
"Student, Test",199,,,,Monday,,
'''
MOODLE = {
    "English": "First name,Last name,ID number,Email address,Username,Groups",
    "German": "Vorname,Nachname,ID-Nummer,E-Mail-Adresse,Anmeldename,Gruppen",
    "French": "Prénom,Nom,Numéro d’identification,Adresse de courriel,Nom d’utilisateur,Groupes",
    "Spanish": "Nombre,Apellido(s),Número de ID,Dirección de correo,Nombre de usuario,Grupos",
    "Italian": "Nome,Cognome,Codice identificativo,Indirizzo email,Username,Gruppi",
    "Dutch": "Voornaam,Achternaam,ID-nummer,E-mailadres,Gebruikersnaam,Groepen",
}
WORKSHEET = """\
Identifier,"Full name","ID number","Email address",Status,Grade,"Maximum grade","Last modified (submission)"
"Participant 12345","Jane Anne Doe",700,jane@example.edu,"Submitted for grading - ",,10.00,"Monday, 2 October 2023"
"Participant 12346",Cher,,cher@example.edu,"No submission",,10.00,-
"""
BRIGHTSPACE = """\
OrgDefinedId,Username,Last Name,First Name,Email,HW Points Grade <Numeric MaxPoints:50 Weight:10>,End-of-Line Indicator
#0012,#jsmith,"King, Jr.",John,j@example.edu,40,#
#0013,#zoe,O’Neil,Zoë 🙂,z@example.edu,,#
"""
GRADESCOPE = """\
First Name,Last Name,SID,Email,Sections,Total Score,Max Points,Status
Zoë 🙂,"King, Jr.",3031,zk@example.edu,Lab 1,9,10,Graded
No,Number,,nn@example.edu,Lab 2,,10,Missing
"""
GITHUB = """\
"identifier","github_username","github_id","name","group_name"
"zk-3031","octozoe","583231","Zoë King","team-a"
"nn-3032","","","",""
"""
NBGRADER = "id,first_name,last_name,email,lms_user_id\nbitdiddle,Ben,Bitdiddle,ben@example.edu,77\n"


@pytest.fixture
def listed(tmp_path):
    """Read a list with this text or these bytes."""

    def listed(content: str | bytes, *options, **named):
        path = tmp_path / "list.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return read(path, *options, **named)

    return listed


def refused(listed, content, **options) -> str:
    with pytest.raises(CourseError) as error:
        listed(content, **options)
    assert str(error.value).endswith((".", "'", ")", '"')) or "\n  line" in str(error.value)
    return str(error.value)


def ids(found) -> list[str]:
    return [entry.id for entry in found.entries.values()]


def test_canvas_students_are_read_and_its_other_rows_are_none(listed):
    found = listed(CANVAS)
    assert (found.system, found.called) == ("canvas", "SIS Login ID")
    assert found.entries == {
        4: Entry("mking", "Martin", "King, Jr.", "", "101", "mking", "Monday", sis="S-1"),
        5: Entry("zoneil", "Zoë 🙂", "O’Neil", "", "102", "zoneil", "Monday and Tuesday", sis="S-2"),
        6: Entry("alee1", "Anna", "Lee", "", "103", "alee1", "Tuesday", sis="S-3"),
        7: Entry("alee2", "Anna", "Lee", "", "104", "alee2", "Monday", sis="S-4"),
        8: Entry("ecmd", "Eve", "=Cmd", "", "105", "ecmd", "Tuesday", sis="S-5"),
        9: Entry("lhaddad", "ليلى", "حداد", "", "106", "lhaddad", "Tuesday", sis="S-6"),
    }
    assert found.notes[0] == "Line 10: Canvas's test student was skipped."
    assert (
        "Lines 6, 7 have the same name, Anna Lee; they are treated as different students: 'alee1' and 'alee2'."
    ) in found.notes
    assert "email" not in found.columns and "group" not in found.columns


@pytest.mark.parametrize(
    "row", [",,,,,,Manual Posting (scores hidden from instructors),", ",,,,,,Muted,", ", ,,,,, muted ,"]
)
def test_canvas_rows_about_assignments_are_nobodys_as_its_own_importer_has_it(listed, row):
    assert listed(CANVAS.replace(",,,,,,Manual Posting,", row)).entries == listed(CANVAS).entries


def test_canvas_test_student_is_told_by_its_login_in_any_language(listed):
    text = "Student,ID,SIS User ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    test = '"Étudiant, Test",9,,0123456789abcdef0123456789abcdef01234567,A\n'
    found = listed(text + '"Doe, Jane",7,S7,jdoe,A\n' + test)
    assert (ids(found), found.notes[0]) == (["jdoe"], "Line 4: Canvas's test student was skipped.")
    # A school may call all students like that; then the login tells nothing.
    other = test.replace("Étudiant, Test", "Low, Ana").replace("9,,0", "8,,1")
    assert len(ids(listed(text + test + other))) == 2


def test_the_groups_of_canvas_are_read_as_groups(listed):
    text = "name,canvas_user_id,user_id,login_id,sections,group_name,canvas_group_id,group_id\n"
    found = listed(text + '"Doe, Jane",7,S7,jdoe,Monday,Team 7,1,\nBo King,8,S8,bking,Monday,,,\n')
    assert found.system == "canvas-groups"
    assert [(one.id, one.lms_user_id, one.sis, one.group) for one in found.entries.values()] == [
        ("jdoe", "7", "S7", "Team 7"),
        ("bking", "8", "S8", ""),
    ]


def test_teachers_in_a_list_of_moodles_are_no_students(listed):
    text = "First name,Last name,Email address,Roles\nA,A,a@x.edu,Student\nB,B,b@x.edu,Teacher\n"
    text += 'C,C,c@x.edu,"Student, Non-editing teacher"\nD,D,d@x.edu,Trainer/in\nE,E,e@x.edu,Tutor of ours\n'
    found = listed(text)
    assert ids(found) == ["a@x.edu", "c@x.edu", "e@x.edu"]
    assert found.notes[:2] == [
        "Line 3: 'Teacher' is not a student's role; skipped.",
        "Line 5: 'Trainer/in' is not a student's role; skipped.",
    ]


def test_an_id_with_slashes_is_made_one_for_a_folder_and_is_kept_as_the_login(listed):
    found = listed("id,first_name,last_name\n21/CS/045,Asha,Rao\n")
    assert [*found.entries.values()] == [Entry("21-CS-045", "Asha", "Rao", login="21/CS/045")]
    assert "so the student's id is '21-CS-045'" in found.notes[0]


def test_canvas_with_names_in_two_columns_and_without_what_is_optional(listed):
    text = "LastName,FirstName,ID,SIS Login ID,Section\n    Points Possible,,,,\n"
    text += "Student,Test,9,0123456789abcdef0123456789abcdef01234567,A\nStudent,Test,8,tstudent,A\nDoe,Jane,7,,A\n"
    found = listed(text)
    assert ids(found) == ["tstudent", "7"]
    assert "Line 5: 'SIS Login ID' is empty, so 'ID' is used as the id." in found.notes


@pytest.mark.parametrize("language", MOODLE)
def test_moodles_participants_in_the_languages_of_teachers(listed, language):
    rows = '\nZoë 🙂,"King, Jr.",700,z@example.edu,zking,"Group A, Group B"\nJan,\'t Hooft,701,j@example.edu,jth,\n'
    found = listed("\ufeff" + MOODLE[language] + rows)
    assert (found.system, [*found.entries.values()]) == (
        "moodle",
        [
            Entry("zking", "Zoë 🙂", "King, Jr.", "z@example.edu", "700", "zking", "", "Group A, Group B"),
            Entry("jth", "Jan", "'t Hooft", "j@example.edu", "701", "jth"),
        ],
    )


def test_moodles_grading_worksheet_names_people_in_one_column(listed):
    found = listed(WORKSHEET)
    assert [*found.entries.values()] == [
        Entry("700", "Jane Anne", "Doe", "jane@example.edu", "700"),
        Entry("cher@example.edu", "", "Cher", "cher@example.edu"),
    ]
    assert "Line 3: 'ID number' is empty, so 'Email address' is used as the id." in found.notes
    assert "First and last names are in one column, so the last word is used as family name." in found.notes


def test_a_german_worksheet_whose_id_is_a_participant_of_one_assignment(listed):
    text = "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung\n"
    found = listed(text + "Teilnehmer/in12345,Jörg Groß,jg@example.edu,Abgegeben,,10\n")
    assert (found.system, ids(found)) == ("moodle", ["jg@example.edu"])


def test_brightspace_loses_its_hashes(listed):
    found = listed(BRIGHTSPACE)
    assert (found.system, [*found.entries.values()]) == (
        "brightspace",
        [
            Entry("jsmith", "John", "King, Jr.", "j@example.edu", "0012", "jsmith"),
            Entry("zoe", "Zoë 🙂", "O’Neil", "z@example.edu", "0013", "zoe"),
        ],
    )
    assert ids(listed(BRIGHTSPACE.replace("OrgDefinedId,Username", "#OrgDefinedId,#Username"))) == ["jsmith", "zoe"]


def test_gradescope_by_number_or_else_by_address(listed):
    found = listed(GRADESCOPE)
    assert (found.system, [*found.entries.values()]) == (
        "gradescope",
        [
            Entry("3031", "Zoë 🙂", "King, Jr.", "zk@example.edu", "3031", "", "Lab 1"),
            Entry("nn@example.edu", "No", "Number", "nn@example.edu", "", "", "Lab 2"),
        ],
    )
    staff = "Name,SID,Email,Role,Section\nAda Teach,1,a@example.edu,Instructor,\nBo Learn,2,b@example.edu,Student,A\n"
    found = listed(staff)
    assert (ids(found), found.notes[0]) == (["2"], "Line 2: 'Instructor' is not a student's role; skipped.")


def test_github_classroom_and_nbgrader(listed):
    found = listed(GITHUB)
    assert (found.system, [*found.entries.values()]) == (
        "github",
        [Entry("zk-3031", "Zoë", "King", "", "583231", "octozoe", "", "team-a"), Entry("nn-3032")],
    )
    assert ids(listed("identifier,github_username\na,ga\nb,gb\n", id_from="github")) == ["ga", "gb"]
    found = listed(NBGRADER)
    assert (found.system, [*found.entries.values()]) == (
        "nbgrader",
        [Entry("bitdiddle", "Ben", "Bitdiddle", "ben@example.edu", "77")],
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_every_encoding_and_mark_that_a_spreadsheet_writes(listed, encoding, delimiter, ending):
    text = StringIO(newline="")
    csv.writer(text, delimiter=delimiter, lineterminator=ending).writerows(csv.reader(StringIO(CANVAS)))
    assert listed(text.getvalue().encode(encoding)).entries == listed(CANVAS).entries


def test_excels_line_about_the_mark_and_line_ends_in_a_name(listed):
    found = listed('sep=;\r\nid;first_name;last_name\r\nzoe;"Zoë\nMaria";King\r\n\r\nbo;Bo;Lee\r\n')
    assert found.entries == {3: Entry("zoe", "Zoë Maria", "King"), 6: Entry("bo", "Bo", "Lee")}


def test_windows_1252_is_read_and_said(listed):
    found = listed(NBGRADER.replace("Ben", "Zoë").encode("cp1252"))
    assert [one.first_name for one in found.entries.values()] == ["Zoë"]
    assert "is not in UTF-8; it was read as Windows-1252" in found.notes[0]
    assert listed(b"id,email\nzo\x81e,\n".replace(b"\x81", "ë".encode("cp1252"))).notes


def test_the_columns_of_any_list_may_be_named(listed):
    text = 'Matrikel,Rufname,Familie,"Mail, privat"\n700,Zoë,King,z@example.edu\n'
    found = listed(text, named="id=Matrikel,first=Rufname, last=familie,email=Mail, privat")
    assert [*found.entries.values()] == [Entry("700", "Zoë", "King", "z@example.edu")]
    assert ids(listed(CANVAS, named="id=SIS User ID"))[:2] == ["S-1", "S-2"]
    assert ids(listed(CANVAS, id_from="sis"))[:2] == ["S-1", "S-2"]
    assert ids(listed(CANVAS, id_from="lms"))[:2] == ["101", "102"]
    assert ids(listed("id,name\na,Ann Lee\n", system="nbgrader")) == ["a"]


def test_one_section_alone_may_be_read(listed):
    assert ids(listed(CANVAS, section="monday")) == ["mking", "zoneil", "alee2"]
    assert ids(listed(CANVAS, section="Monday and Tuesday")) == ["zoneil"]
    assert "It has: 'Monday', 'Monday and Tuesday', 'Tuesday'." in refused(listed, CANVAS, section="Friday")
    groups = 'First name,Email address,Groups\nA,a@x.edu,"One, Two"\nB,b@x.edu,Two\n'
    assert ids(listed(groups, section="One")) == ["a@x.edu"]
    assert "It has no sections." in refused(listed, NBGRADER, section="A")


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("", {}, "is empty"),
        ("\n\n", {}, "is empty"),
        ("id,first_name\n", {}, "has no students after its first line"),
        ("PK\x03\x04sheet", {}, "is an Excel or LibreOffice workbook, or another zip"),
        ("%PDF-1.7", {}, "is a PDF"),
        ("\ufeff<!DOCTYPE html><table>", {}, "is a web page"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1", {}, "is an old Excel workbook"),
        ("Jméno,Příjmení,E-mailová adresa\na,b,c\n", {}, "Name the columns, as in: --columns='id="),
        ("Jméno;Příjmení;E-mailová adresa\na;b;c\n", {}, "'Jméno', 'Příjmení', 'E-mailová adresa'"),
        (CANVAS, {"system": "blackboard"}, "There is no system 'blackboard'. The systems are: canvas, brightspace"),
        (CANVAS, {"id_from": "email"}, "Choose another of id, login, sis, lms, email, github with --id"),
        (CANVAS, {"id_from": "name"}, "--id=name is not one of: id, login"),
        (CANVAS, {"named": "id=Nothing"}, "has no column 'Nothing'. --columns names this column"),
        (CANVAS, {"named": "mail=ID"}, "'mail=ID' in --columns must have the form id=Matriculation"),
        (CANVAS, {"system": "github"}, "is one of 'identifier', 'roster_identifier'"),
        ("id,email\na,x\na,y\n", {}, "lines 2, 3 have the same id 'a'"),
        ("id,email\n,x\n", {}, "line 2: it has no id (id is empty)"),
        ("id,email\n../x,y\n", {}, "line 2: the id '../x' is not a valid folder name"),
        ("id,email\n.x,y\n", {}, "begins with a dot"),
        ("id,email\na//b,y\n", {}, "contains a '/'"),
        ("id,email\na/b,y\na-b,z\n", {}, "lines 2, 3 have the same id 'a-b'"),
        ("id,email\n=cmd()|x,y\n", {}, "is unsafe in pages"),
        ("id,email\n<b>x</b>,y\n", {}, "is not a valid folder name"),
        ("id,email\n<b>x,y\n", {}, "is unsafe in pages"),
        ("id,email\na\0b,y\n", {}, "is unsafe in pages"),
        ("id,email\na\x1b[31m,y\n", {}, "is unsafe in pages"),
        (f"id,email\n{'a' * 129},y\n", {}, "is longer than 128 letters"),
        ("id,last_name,email\na,Doe, Jane,y\n", {}, "Line 2 of"),
        ('id,email\na,"y\nb,z\nc,w\n', {}, "in the row that starts in line 2 a quote is missing"),
    ],
)
def test_what_is_wrong_with_a_list_is_a_sentence(listed, content, options, said):
    assert said in refused(listed, content, **options)


@pytest.mark.slow
def test_what_is_far_too_long_is_a_sentence_that_is_not(listed):
    large = "x" * 10_000_000
    for content, said in {
        f"id,email\n{large},y\n": "is longer than 128 letters",
        f"id,email,last_name\na,y,{large}\n": "line 2: its last_name has more than 128 letters",
        f"{large},email\na,y\n": "Name the columns",
        6 * large: "has more than 50 MB",
    }.items():
        sentence = refused(listed, content)
        assert said in sentence and len(sentence) < 1500


def test_what_is_no_file_is_said(tmp_path):
    with pytest.raises(CourseError, match="does not exist"):
        read(tmp_path / "nothing.csv")
    with pytest.raises(CourseError, match="is a folder"):
        read(tmp_path)


def test_all_that_is_wrong_is_told_at_once_and_not_without_end(listed):
    said = refused(listed, "id,email\n" + ",x\n" * 1000)
    assert said.startswith("Nothing was written, because of 1000 errors in")
    assert "\n  line 2: " in said and "\n  line 21: " in said and "line 22" not in said and said.endswith("980 more")


def test_names_are_made_fit_for_pages_and_stay_names(listed):
    rows = ["a,<script>alert(1)</script>,x", "b,A\0nn\x1b[1m,x", "c,\u200fليلى\u200f,x", "d,علی\u200cرضا,x"]
    rows += ["e,Ann \u202eevil,x", "f,=HYPERLINK(1),x", "g,'t,x", "h,@sum,x"]
    found = listed("id,first_name,last_name\n" + "\n".join(rows) + "\n")
    names = {entry.id: entry.first_name for entry in found.entries.values()}
    assert names == {
        "a": "‹script›alert(1)‹/script›",
        "b": "A\ufffdnn\ufffd[1m",
        "c": "ليلى",
        "d": "علی\u200cرضا",
        "e": "Ann \ufffdevil",
        "f": "=HYPERLINK(1)",
        "g": "'t",
        "h": "@sum",
    }
    assert "Lines 2, 3, 6: unsafe characters were replaced." in found.notes


def test_ten_thousand_students_with_a_long_answer_each_are_read(listed):
    text = "id,email,Online text\n" + "".join(f"s{number},s{number}@x,{'y' * 1000}\n" for number in range(10_000))
    assert len(listed(text).entries) == 10_000


@pytest.mark.parametrize(
    ("cell", "first", "last"),
    [
        ("King, Martin", "Martin", "King"),
        ("King, Martin, Jr.", "Martin", "King, Jr."),
        ("King, Jr., Martin", "Martin", "King, Jr."),
        ("King, Jr.", "", "King, Jr."),
        ("Ng, Vi", "Vi", "Ng"),
        ("Tudor, Henry, VI", "Henry", "Tudor, VI"),
        ("Cher", "", "Cher"),
        ("", "", ""),
    ],
)
def test_a_name_in_one_column_is_cut_at_its_comma(listed, cell, first, last):
    (entry,) = listed(f'Student,ID,Section\n"{cell}",1,A\n').entries.values()
    assert (entry.first_name, entry.last_name) == (first, last)


def test_ids_that_nbgrader_takes_are_taken(listed):
    assert ids(listed("id,email\na+b@c.edu,\nO’Neil é,\n")) == ["a+b@c.edu", "O’Neil é"]
