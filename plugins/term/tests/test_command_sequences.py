"""Whatever an instructor types in which order, every score and sheet is what the docs say.

Random sequences of commands run on a small course, in this process, and beside them a model of a term (termmodel.py).
After each command the gradebook's rows, the folders in submitted/ and the roster are compared, at the end every sheet.
Changes are killed between their steps, and a teacher types while a command grades.

The sequences change with the part of the thorough tests. With VIVA_SEQUENCES=100 in the environment there are as many,
new ones each time; each prints its seed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import random
import shutil
import signal
import tempfile
import zipfile
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import nbformat
import openpyxl
import pytest
from nbgrader.api import Gradebook
from traitlets.utils.importstring import import_item

from plugins.term.tests.sheets.importers import Brightspace
from plugins.term.tests.termmodel import COURSE, HEIR, PEOPLE, PER_DAY, TYPED, Item, Term
from tests.doubling import NOTEBOOK, SMALL, source, write_small
from tests.handmade import empty_course
from tests.oral import thinned
from viva import cli
from viva.course.gradebook import journal
from viva.course.grading import batch

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ANSWERS = {
    "right": "def twice(x):\n    return x + x\n",
    "half": "def twice(x):\n    return x if isinstance(x, str) else x + x\n",
    "wrong": "def twice(x):\n    return x\n",
}
STRICT, LENIENT = '== "kumquat-31415kumquat-31415"', '!= ""'
DAYS = 3, 5, 7, 9, 11, 13


STEPS = 20
"""The commands of a random sequence."""


def some(chance: random.Random) -> set[str]:
    return set(chance.sample(sorted(PEOPLE), chance.randint(1, len(PEOPLE))))


@pytest.fixture(scope="module")
def released(tmp_path_factory) -> Path:
    root = empty_course(tmp_path_factory.mktemp("sequences") / "course")
    write_small(root)
    assert typed(root, "release", SMALL, "--no-audit")[0] == 0
    return root


def typed(root: Path, name: str, *arguments: str) -> tuple[int, str]:
    """A command's exit status, and what it printed."""
    place, _ = cli.subcommands()[name]
    out, status = io.StringIO(), 0
    with contextlib.chdir(root), contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()) as err:
        command = import_item(place)()
        try:
            command.initialize(list(arguments))
            command.start()
        except SystemExit as stop:
            status = int(stop.code or 0)
    assert "Traceback" not in err.getvalue()
    return status, out.getvalue() or err.getvalue()


class Commands:
    """An instructor who types commands."""

    def __init__(self, released: Path) -> None:
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(shutil.copytree(released, Path(self.folder.name, "course")))
        self.config = (self.root / "nbgrader_config.py").read_text()
        self.term, self.archives, self.sent = Term(), [], 0
        self.collected, self.looked = 0, False
        """How often since the last grading; whether scores were compared since a command that can change them."""
        self.twice: set[str] = set()
        """Who was entered under two ids once."""
        self._configure()

    def end(self) -> None:
        """All are graded, and sheets are written."""
        if self.term.current:
            self.grade()
        self.compare()
        self.sheets()

    def viva(self, name: str, *arguments: str, status: int = 0) -> str:
        found, said = typed(self.root, name, *arguments)
        assert found == status, f"viva {name} {' '.join(arguments)}: {said}"
        return said

    def _configure(self) -> None:
        due = f"2026-10-{self.term.due:02} 12:00"
        rules = f"c.LatePolicy.zone = {COURSE.key!r}\nc.LatePolicy.per_day = {float(PER_DAY)}\n"
        rules += f"c.LatePolicy.assignments = {{{SMALL!r}: {{'due': {due!r}}}}}\n"
        (self.root / "nbgrader_config.py").write_text(self.config + rules)

    def _list(self, people: dict[str, tuple[str, str, str]]) -> None:
        rows = [["OrgDefinedId", "Username", "Last Name", "First Name", "Email", "End-of-Line Indicator"]]
        rows += [[f"#{sis}", f"#{login}", last, first, f"{first.lower()}{login[3:]}@x.edu", "#"]
                 for login, (sis, first, last) in people.items()]  # fmt: skip
        with (self.root / "list.csv").open("w", newline="") as file:
            csv.writer(file).writerows(rows)

    def type_at_random(self, chance: random.Random, steps: int) -> None:
        self.roster({*PEOPLE} - {chance.choice([*PEOPLE, ""])})
        for _ in range(steps):
            self.type_a_command(chance)
            self.compare()
        self.end()

    def type_a_command(self, chance: random.Random) -> None:
        term, commands = self.term, []
        commands += [self.submit_and_collect] * 4 + [self.grant] * 2 + [self.set_a_deadline] + [self.drop_and_add]
        commands += [self.pass_a_login_on] * bool(term.known) + [self.collect_again] * bool(self.archives)
        commands += [self.match] * (4 * any(one.login in term.known for one in term.waiting))
        commands += [self.forget_and_restore] * bool(term.known)
        commands += [self.forget_for_good] * (bool(term.known) + bool(term.matched))
        commands += [self.enter_twice_and_join] * bool(term.enrolled - self.twice)
        commands += [self.submit_after_an_extension] * (4 * bool(term.extended))
        commands += [self.grade_the_rest] * (3 * (term.pending and self.collected > 2))  # it takes seconds
        commands += [self.grade_by_hand] * (2 * bool(term.graded))
        commands += [self.regrade] * (bool(term.graded) and not term.lenient and len(self.archives) > 3)
        chance.choice(commands)(chance)

    def drop_and_add(self, chance: random.Random) -> None:
        self.roster(some(chance), chance.choice([None, 0, 1, 2]))

    def enter_twice_and_join(self, chance: random.Random) -> None:
        """Somebody is in a list under two ids, which become one; the next list has the first one."""
        login = chance.choice(sorted(self.term.enrolled - self.twice))
        twin = f"{login:_<3}2"
        sis, first, last = PEOPLE[login]
        self._list({name: PEOPLE[name] for name in sorted(self.term.enrolled)} | {twin: (f"{sis}x", first, last)})
        self.viva("roster", "list.csv")
        self.twice.add(login)
        self.interrupted(chance.choice([None, 0, 1, 3, 5, 7]), "roster", "--same", login, twin)
        self.roster(self.term.enrolled)

    def roster(self, enrolled: set[str], steps: int | None = None) -> None:
        self._list({login: PEOPLE[login] for login in sorted(enrolled)})
        self.interrupted(steps, "roster", "list.csv")
        self.term.enrolled = enrolled
        self.term.known |= enrolled
        self.looked = False

    def pass_a_login_on(self, chance: random.Random) -> None:
        """Refused, and nothing is written."""
        victim = chance.choice(sorted(self.term.known))
        self._list({login: PEOPLE[login] for login in sorted(self.term.enrolled)} | {victim: HEIR})
        self.viva("roster", "list.csv", status=2)

    def submit_and_collect(self, chance: random.Random) -> None:
        who, answer = some(chance), chance.choice(sorted(ANSWERS))
        alias = chance.choice([0, 0, 1, 2, 3])
        far = chance.randint(0, 3) < (3 if alias else 1)  # the zone that was typed must outlive the command
        self.collect(who, alias, answer, chance.choice(DAYS), chance.randint(0, 23), far)

    def collect(self, who: set[str], alias: int, answer: str, day: int, hour: int, far: bool) -> None:
        """A new archive."""
        items = []
        for login in sorted(who):
            self.sent += 1  # no two are sent at the same minute
            local = datetime(2026, 10, day, hour, self.sent % 60)
            items.append(Item(login, alias, local, answer))
        path = self.root / f"{self.sent}.zip"  # none has the name of another, also after one went
        self.archives.append((path, items))
        with zipfile.ZipFile(path, "w") as archive:
            for one in items:
                notebook = nbformat.read(self.root / "release" / SMALL / f"{NOTEBOOK}.ipynb", as_version=4)
                for cell in notebook.cells:
                    texts = {"twice": ANSWERS[one.answer], "why_answer": f"Since {one.folder}."}
                    cell.source = texts.get(cell.id, cell.source)
                archive.writestr(f"{one.folder}/{NOTEBOOK}.ipynb", nbformat.writes(notebook))
        self._collect(path, items, far)

    def collect_again(self, chance: random.Random) -> None:
        self._collect(*chance.choice(self.archives), chance.random() < 0.5)

    def submit_after_an_extension(self, chance: random.Random) -> None:
        """In most cases the class's deadline is moved beyond both."""
        login = chance.choice(sorted(self.term.extended))
        day = self.term.extended[login] + chance.randint(1, 3)
        if chance.randint(0, 3) < 3:
            self.move_the_deadline(day + 1)
        self.collect({login}, alias=0, answer=chance.choice(["right", "half"]), day=day, hour=9, far=False)

    def _collect(self, path: Path, items: list[Item], far: bool) -> None:
        self.term.collect(items, TYPED if far else None)
        self.collected += 1
        zone = [f"--zone={TYPED.key}"] if far else []
        self.viva("collect", path.name, f"--assignment={SMALL}", *zone, status=int(bool(self.term.waiting)))

    def forget_and_restore(self, chance: random.Random) -> None:
        self.take_out_and_put_back(chance.choice(sorted(self.term.known)), chance.randint(0, 30))

    def take_out_and_put_back(self, login: str, steps: int) -> None:
        """All of a student goes and comes back; the restore is killed, and the next command finishes it."""
        self.interrupted(steps // 2, "roster", "--forget", login)
        self.interrupted(steps, "roster", "--restore", login)
        assert not (self.root / ".forgotten").exists()

    def forget_for_good(self, chance: random.Random) -> None:
        self.erase(chance.choice(sorted(self.term.known)), chance.choice([None, 0, 3, 9, 20]))

    def erase(self, login: str, steps: int | None) -> None:
        """No byte of a student's name or submissions is left, also where the command was killed."""
        self.interrupted(steps, "roster", "--forget", login, "--now")
        if (self.root / ".forgotten").exists():  # it was killed between the two changes
            self.viva("roster", "--forget", login, "--now")
        theirs = self.term.erase(login)
        self.twice.discard(login)
        self.archives = [(path, [one for one in items if one not in theirs]) for path, items in self.archives]
        self.archives = [(path, items) for path, items in self.archives if items]
        needles = {PEOPLE[login][2].encode(), *(one.folder.encode() for one in theirs)}
        assert {name for name, data in self._contents() if any(needle in data for needle in needles)} == set()

    def _contents(self) -> Iterator[tuple[str, bytes]]:
        """Every file of the course with its name, and every member of an archive."""
        for path in (path for path in self.root.rglob("*") if path.is_file()):
            name = str(path.relative_to(self.root))
            yield name, name.encode() + path.read_bytes()
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    yield from ((name, member.encode() + archive.read(member)) for member in archive.namelist())

    def interrupted(self, steps: int | None, name: str, *arguments: str) -> None:
        """A command that is killed after so many steps of its change, or none; the next command finishes it."""
        self.looked = False
        if steps is None:
            self.viva(name, *arguments)
            return
        child = os.fork()
        if not child:
            self._kill_after(steps)
            typed(self.root, name, *arguments)
            os._exit(0)
        os.waitpid(child, 0)
        self.viva("roster", "--numbers=brightspace")
        waits = [path for path in self.root.glob(".journal/*") if not path.name.startswith("regrade")]
        assert waits == []

    def _kill_after(self, steps: int) -> None:
        """From now on this process is killed at one of the steps of a change, before the line that says so."""
        left, note = [steps], journal.note

        def counted(*arguments: Any) -> None:
            left[0] -= 1
            if left[0] < 0:
                os.kill(os.getpid(), signal.SIGKILL)
            note(*arguments)

        journal.note = counted

    def match(self, chance: random.Random) -> None:
        """A line in matches.csv, and then collect, without the archive and without what was typed with it."""
        known = sorted({(one.login, one.alias) for one in self.term.waiting if one.login in self.term.known})
        self.term.matched.add(chance.choice(known))
        self.write_matches()
        self.term.collect([])
        self.viva("collect", f"--assignment={SMALL}", status=int(bool(self.term.waiting)))

    def write_matches(self) -> None:
        senders = [Item(login, alias, datetime(2026, 1, 1), "") for login, alias in sorted(self.term.matched)]
        rows = [f"{one.name},{one.login}" for one in senders]
        (self.root / "matches.csv").write_text("\n".join(["sender,student_id", *rows, ""]))

    def grant(self, chance: random.Random) -> None:
        what, login = chance.choice(["extend"] * 4 + ["excuse", "remove"]), chance.choice([*PEOPLE])
        self.give(login, what, chance.choice([self.term.due + 2] * 6 + [*DAYS]))

    def give(self, login: str, what: str, day: int) -> None:
        term = self.term
        if what == "extend":
            refused = login not in term.known or day <= term.due
            self.viva("extend", login, SMALL, f"--until=2026-10-{day:02} 12:00", status=2 if refused else 0)
            term.extended |= {} if refused else {login: day}
        elif what == "excuse":
            self.viva("extend", login, SMALL, "--excuse", status=0 if login in term.known else 2)
            term.excused |= {login} & term.known
        else:
            some = login in term.excused or login in term.extended
            self.viva("extend", login, SMALL, "--remove", status=0 if some else 2)
            term.excused.discard(login)
            term.extended.pop(login, None)
        self.looked = False

    def set_a_deadline(self, chance: random.Random) -> None:
        self.move_the_deadline(chance.choice(DAYS))

    def move_the_deadline(self, day: int) -> None:
        self.term.due, self.looked = day, False
        self._configure()

    def grade_the_rest(self, chance: random.Random) -> None:
        self.grade(self._points(chance) if self.term.graded and chance.random() < 0.5 else None)

    def grade(self, meanwhile: tuple[str, float] | None = None) -> None:
        with self._typing(meanwhile):
            self.viva("grade", SMALL)
        self.term.grade()
        self.collected, self.looked = 0, False

    def grade_by_hand(self, chance: random.Random) -> None:
        self.enter(*self._points(chance))

    def _points(self, chance: random.Random) -> tuple[str, float]:
        return chance.choice(sorted(self.term.graded)), chance.choice([0.0, 0.5, 1.25, 3.0])

    def enter(self, login: str, points: float) -> None:
        with Gradebook(f"sqlite:///{self.root / 'gradebook.db'}") as book:
            grade = book.find_grade("why", NOTEBOOK, SMALL, login)
            grade.manual_score, grade.needs_manual_grade = points, False
            book.db.commit()
        self.term.manual[login], self.looked = points, False

    @contextlib.contextmanager
    def _typing(self, entry: tuple[str, float] | None) -> Iterator[None]:
        """A teacher enters points in formgrader while a command grades, when it has recorded the first submission."""
        real = batch.grade

        def watched(*arguments: Any, **options: Any) -> Iterator[Any]:
            for number, outcome in enumerate(real(*arguments, **options)):
                if entry and not number:
                    self.enter(*entry)
                yield outcome

        batch.grade = watched
        try:
            yield
        finally:
            batch.grade = real

    def regrade(self, chance: random.Random) -> None:
        self.term.lenient = not self.term.lenient
        notebook = source()
        for cell in notebook.cells if self.term.lenient else ():
            cell.source = cell.source.replace(STRICT, LENIENT)
        nbformat.write(notebook, self.root / "source" / SMALL / f"{NOTEBOOK}.ipynb")
        if chance.random() < 0.5:
            self.interrupted(chance.randint(0, 6), "regrade", SMALL, "--no-audit")
            self.enter(*self._points(chance))
        with self._typing(self._points(chance) if chance.random() < 0.5 else None):
            self.viva("regrade", SMALL, "--no-audit")
        assert not (self.root / ".journal").exists()
        self.term.grade(set(self.term.graded))
        self.looked = False

    def compare(self) -> None:
        self.the_same_scores_in_every_place()
        self.the_newest_submission_of_each_lies_in_its_folder_with_its_moment()
        self.the_roster_has_who_is_enrolled()
        self.attempts_say_by_whom_each_sender_was_resolved()

    def the_same_scores_in_every_place(self) -> None:
        if self.looked or not self.term.graded:
            return
        self.looked = True
        rows = json.loads(self.viva("export", SMALL, "--json"))["scores"]
        found = {row["student_id"]: (row["status"], row["score"]) for row in rows}
        assert found == {login: pytest.approx(self.term.row(login)) for login in self.term.known}
        with (self.root / "grades.csv").open(newline="") as file:
            table = {row["student_id"]: row["score"] for row in csv.DictReader(file)}
        assert {login: float(score) if score else None for login, score in table.items()} == {
            login: score for login, (_, score) in found.items()
        }

    def the_newest_submission_of_each_lies_in_its_folder_with_its_moment(self) -> None:
        found = {}
        for path in self.root.glob(f"submitted/*/{SMALL}"):
            text = (path / f"{NOTEBOOK}.ipynb").read_text()
            found[path.parent.name] = (path / "timestamp.txt").read_text().strip(), text
        assert found.keys() == self.term.current.keys()
        for login, one in self.term.current.items():
            assert found[login][0] == f"{self.term.moments[one]:%Y-%m-%d %H:%M:%S} UTC"
            assert f"Since {one.folder}." in found[login][1]

    def the_roster_has_who_is_enrolled(self) -> None:
        path = self.root / "roster.csv"
        with path.open(newline="") if path.exists() else io.StringIO() as file:
            assert {row["id"] for row in csv.DictReader(file)} == self.term.enrolled

    def attempts_say_by_whom_each_sender_was_resolved(self) -> None:
        path = self.root / "attempts" / f"{SMALL}.csv"
        with path.open(newline="") if path.exists() else io.StringIO() as file:
            rows = {row["sender"].split(" | ")[-1]: row for row in csv.DictReader(file)}
        assert {folder: row["student_id"] for folder, row in rows.items()} == {
            one.folder: login for one, login in self.term.of.items()
        }
        said = {one.folder for one in self.term.of if one.alias}
        assert all(row["by"] == "matches.csv" for folder, row in rows.items() if folder in said)
        assert {row["by"] for row in rows.values()} <= {"name", "matches.csv"}

    def sheets(self) -> None:
        """Each sheet as Python's own readers read it: our cells are the model's, all others those of the sheet."""
        people = {**PEOPLE, "dfrey": HEIR}
        names = {login: f"{last}, {first}" for login, (_, first, last) in people.items()}
        canvas = [["Student", "ID", "SIS User ID", "SIS Login ID", "Section", f"{SMALL} (11)"]]
        canvas += [["    Points Possible", "", "", "", "", "7"]]
        canvas += [[names[login], str(900 + place), people[login][0], login, "A", ""]
                   for place, login in enumerate(people)]  # fmt: skip
        moodle = [["Identifier", "Full name", "Email address", "Status", "Grade", "Maximum grade",
                   "Grade can be changed", "Last modified (grade)", "Feedback comments"]]  # fmt: skip
        moodle += [[f"Participant {70 + place}", f"{first} {last}", f"{first.lower()}@x.edu", "", "", "7.00", "Yes",
                    "-", "well, =1+1"] for place, (_, first, last) in enumerate(people.values())]  # fmt: skip
        rows = {login: self.term.row(login) if login in self.term.known else ("", None) for login in people}
        for system, sheet, column, logins in (
            ("canvas", canvas, 5, ["", "", *people]), ("moodle", moodle, 4, ["", *people]),
        ):  # fmt: skip
            with (self.root / "sheet.csv").open("w", newline="") as file:
                csv.writer(file).writerows(sheet)
            if any(score is not None for _, score in rows.values()):
                self.viva("export", SMALL, f"--as={system}", "--into=sheet.csv", "--unfinished", "--to=out.csv")
                with (self.root / "out.csv").open(newline="", encoding="utf-8-sig") as file:
                    written = list(csv.reader(file))
                for login, old, new in zip(logins, sheet, written, strict=True):
                    assert [cell for place, cell in enumerate(new) if place != column] == [
                        cell for place, cell in enumerate(old) if place != column
                    ], system
                    status, score = rows.get(login, ("", None))
                    wanted = "EX" if status == "excused" and system == "canvas" else score
                    assert (float(new[column]) if new[column][:1].isdigit() and login else new[column]) == (
                        pytest.approx(wanted) if isinstance(wanted, float) else wanted or old[column]
                    ), (system, login)
        self.viva("export", SMALL, "--as=xlsx", "--to=out.xlsx")
        sheets = openpyxl.load_workbook(self.root / "out.xlsx").worksheets
        tables = [[list(row) for row in sheet.iter_rows(values_only=True)] for sheet in sheets]
        self._workbook(tables, {login: row for login, row in rows.items() if login in self.term.known})
        self._brightspace()

    def _workbook(self, tables: list[list[list]], rows: dict[str, tuple[str, float | None]]) -> None:
        """The first table with a column of ids and one of scores has the model's."""
        found = {}
        for header, *lines in (table for table in tables if table):
            if "student_id" in header and "score" in header:
                student, score = header.index("student_id"), header.index("score")
                found = {line[student]: line[score] for line in lines}
                break
        assert found == {login: score if score is None else pytest.approx(score) for login, (_, score) in rows.items()}

    def _brightspace(self) -> None:
        """What Brightspace's importer takes from its sheet."""
        self.viva("export", SMALL, "--as=brightspace", "--unfinished")
        people = {(sis, login) for login, (sis, _, _) in PEOPLE.items()}
        taken = Brightspace(people, {SMALL: 7.0}).take((self.root / f"{SMALL}-brightspace.csv").read_bytes())
        rows = {login: self.term.row(login)[1] for login in self.term.known}
        assert {login: score for (login, _), score in taken.items()} == pytest.approx(
            {login: score for login, score in rows.items() if score is not None}
        )


@pytest.fixture
def commands(released, monkeypatch) -> Iterator[Commands]:
    monkeypatch.setenv("COLUMNS", "200")
    commands = Commands(released)
    yield commands
    commands.folder.cleanup()


def a_restore_is_killed(one: Commands) -> None:
    one.collect({"ada", "bo"}, alias=0, answer="half", day=6, hour=8, far=False)
    one.grade()
    with Gradebook(f"sqlite:///{one.root / 'gradebook.db'}") as book:
        book.find_grade("why", NOTEBOOK, SMALL, "ada").manual_score = 1.25
        book.db.commit()
    one.term.manual["ada"] = 1.25
    for steps in (0, 2, 5):
        one.take_out_and_put_back("ada", steps)
        one.grade()


def a_sender_of_another_name_is_erased(one: Commands) -> None:
    one.collect({"ada", "bo"}, alias=1, answer="half", day=6, hour=8, far=False)
    one.term.matched.add(("ada", 1))
    one.write_matches()
    one.collect({"ada", "bo"}, alias=1, answer="right", day=6, hour=9, far=False)
    one.erase("ada", steps=4)
    one.roster(set(PEOPLE))
    one.collect_again(random.Random(1))


def a_sender_is_erased_who_waits_since_before_the_list_had_them(one: Commands) -> None:
    one.erase("ada", steps=None)
    one.roster({"bo"})
    one.collect({"ada", "bo"}, alias=0, answer="half", day=6, hour=8, far=False)
    one.collect({"ada"}, alias=0, answer="right", day=6, hour=10, far=False)
    one.roster(set(PEOPLE))
    one.take_out_and_put_back("ada", steps=4)
    one.erase("ada", steps=3)
    one.collect({"bo"}, alias=0, answer="right", day=6, hour=9, far=False)


def a_regrade_is_killed_while_a_teacher_types(one: Commands) -> None:
    one.collect({"ada", "bo"}, alias=0, answer="half", day=6, hour=8, far=False)
    one.grade()
    one.grade(("ada", 1.25))
    chance = random.Random(2)
    for _ in range(2):
        one.regrade(chance)
        one.compare()


@pytest.mark.parametrize(
    "sequence",
    [a_restore_is_killed, a_sender_of_another_name_is_erased,
     a_sender_is_erased_who_waits_since_before_the_list_had_them, a_regrade_is_killed_while_a_teacher_types],
    ids=lambda sequence: sequence.__name__,
)  # fmt: skip
def test_sequences_that_lost_points_once_are_told_apart_by_the_model(commands, sequence):
    commands.roster(set(PEOPLE))
    sequence(commands)
    commands.end()


@pytest.mark.parametrize("number", thinned(range(int(os.environ.get("VIVA_SEQUENCES", 9)))))
def test_random_sequences_of_commands_come_to_what_the_docs_say(commands, number):
    seed = random.randrange(10**9) if "VIVA_SEQUENCES" in os.environ else f"{os.environ.get('VIVA_PART')} {number}"
    print(f"The sequence of random.Random({seed!r})")
    commands.type_at_random(random.Random(seed), STEPS)
