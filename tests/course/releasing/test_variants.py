"""A course whose students have a variant each: everybody's work is graded with the seed that it was made with."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import pickle
import random
import re
import shutil
import stat

import msgspec
import nbformat
import pytest
from bs4 import BeautifulSoup
from nbformat.v4 import new_markdown_cell
from nbgrader.converters import Autograde
from nbgrader.coursedir import CourseDirectory

from tests import handmade
from tests.conftest import load
from tests.course.grading.test_pipeline import timeless
from tests.mangling import strip_ids, strip_nbgrader
from viva import wording
from viva.course.gradebook.recording import Expected
from viva.course.gradebook.results import Results
from viva.course.grading.batch import autograde
from viva.course.grading.material import Material
from viva.course.grading.pipeline import Passed, grade
from viva.course.regrade.regrading import Regrade
from viva.course.releasing.variants import KEY, made_key, require_offered, seed_for, seeds_of, write_copies
from viva.pages import report
from viva.pages.feedback import write_feedback
from viva.submission.packing import pack
from viva.verdict import BlueprintError, CourseError, Verdict

pytestmark = [pytest.mark.xdist_group("variants"), pytest.mark.usefixtures("processes")]

NAME, DEFAULT = "drawn", 11
DATA = """import numpy as np

viva_seed = 11  # everybody's, unless the course gives each student a seed
numbers = np.random.default_rng(viva_seed).integers(500, 1000, size=4).tolist()"""
SUM = "### BEGIN SOLUTION\ntotal = sum(numbers)\n### END SOLUTION"
SUM_TESTS = """### BEGIN HIDDEN TESTS
def reference_total():
    result = 0
    for number in numbers:
        result += number
    return result
### END HIDDEN TESTS
### CHECK 1: the total is as large as the largest number at least
assert total >= max(numbers), "The total is too small."
### CHECK 2: the total of the given numbers
### BEGIN HIDDEN TESTS
assert total == reference_total(), "The total is not right."
### END HIDDEN TESTS"""
SECOND = "viva_seed = 12\nlimit = viva_seed % 1000 + 1"
LARGE = "### BEGIN SOLUTION\nlarge = limit + 1\n### END SOLUTION"
WORD = "### BEGIN SOLUTION\nword = 'a'\n### END SOLUTION"
WORD_TESTS = '### CHECK 1: a letter\nassert word == "a", "It is not a."'
LARGE_TESTS = '### CHECK 1: above the limit\nassert large == limit + 1, "It is not one more than the limit."'
STUDENTS = ("anna", "bo", "cy", "di", "ed", "fay", "gus", "hal")
SERVER = "http://localhost:8888"
ON = f'\nc.Variants.assignments = ["{NAME}"]\n'


def write_source(root, data: str = DATA) -> None:
    folder = root / "source" / NAME
    for name, given, (answer, solution), tests, points in (
        ("first", {"data": data}, ("total", SUM), SUM_TESTS, 3),
        ("second", {"limit": SECOND}, ("large", LARGE), LARGE_TESTS, 1),
        ("third", {}, ("word", WORD), WORD_TESTS, 1),
    ):
        cells = [new_markdown_cell(f"# {name}", id="title")]
        cells += [handmade.code(each, source, locked=True) for each, source in given.items()]
        cells += [handmade.answer(answer, solution), handmade.graded(f"test_{answer}", tests, points)]
        handmade.write_notebook(folder / f"{name}.ipynb", *cells)
    (folder / "table.csv").write_text("1,2\n")


def hand_in(root, student: str, whose: str = "", total: str = "total = sum(numbers)", change=None) -> None:
    """Hand in everybody's release, or a copy that was made for somebody, with an answer to each question."""
    made = root / "variants" / NAME / whose if whose else root / "release" / NAME
    answers = {"total": total, "large": "large = limit + 1", "word": "word = 'a'"}
    (root / "submitted" / student / NAME).mkdir(parents=True)
    for path in made.glob("*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.source = answers.get(cell.id, cell.source)
        if change:
            change(notebook)
        nbformat.write(notebook, root / "submitted" / student / NAME / path.name)


def numbers_of(root, student: str) -> list[int]:
    """What a student's own variant gives."""
    names: dict = {}
    exec(DATA.replace(" = 11", f" = {seed_of(root, student)}"), names)
    return names["numbers"]


def seed_of(root, student: str) -> int:
    """As the manual says it, and not by what is tested."""
    key = (root / KEY).read_text().strip().encode()
    digest = hmac.new(key, f"{student}\0{NAME}".encode(), hashlib.sha256).digest()
    return 100_000_000 + int.from_bytes(digest, "big") % 900_000_000


def renumbered(notebook) -> None:
    for cell in notebook.cells:
        cell.source = re.sub(r"viva_seed = \d+", "viva_seed = 5", cell.source)


def nameless(notebook) -> None:
    strip_nbgrader(notebook, random.Random(4))
    strip_ids(notebook, random.Random(4))


def emptied(notebook) -> None:
    notebook.cells = [cell for cell in notebook.cells if "viva_seed =" not in cell.source]


@pytest.fixture(scope="module")
def before(tmp_path_factory):
    """A course with variants, handed in and not graded."""
    root = handmade.empty_course(tmp_path_factory.mktemp("variants"))
    with (root / "nbgrader_config.py").open("a") as file:
        file.write(ON)
    write_source(root)
    course, _ = handmade.released(root, NAME)
    with course.gradebook() as gradebook:
        for student in STUDENTS:
            gradebook.update_or_create_student(student)
    write_copies(course, NAME)
    pasted = f"total = {sum(numbers_of(root, 'anna'))}"
    hand_in(root, "anna", "anna")
    hand_in(root, "bo", "anna")
    hand_in(root, "cy")
    hand_in(root, "di", "di", change=renumbered)
    hand_in(root, "ed", "ed", pasted)
    hand_in(root, "fay", "anna", pasted)
    hand_in(root, "gus", "gus", change=nameless)
    hand_in(root, "hal", "hal", change=emptied)
    return root


@pytest.fixture(scope="module")
def graded(before, tmp_path_factory):
    root = tmp_path_factory.mktemp("graded") / "course"
    shutil.copytree(before, root)
    course, config = load(root)
    endings = list(autograde(course, course.submissions([NAME]), config=config))
    assert {str(one.status) for one in endings} == {"done"}, [one.reason for one in endings]
    return root


@pytest.fixture
def course(before, tmp_path):
    return shutil.copytree(before, tmp_path / "course")


def records(root) -> dict:
    return {student: record for (_, student), record in Results(root / "results.jsonl").read().items()}


def lost(record) -> list[str]:
    return [result.title for _, _, result in record.results() if result.verdict != Verdict.PASSED]


def facts(record, notebook: str = "first") -> list[str]:
    return wording.sentences(record.notebooks[notebook].integrity)


@pytest.mark.slow
def test_each_notebook_is_graded_with_the_seed_that_it_was_handed_out_with(graded):
    known = records(graded)
    assert {student: lost(record) for student, record in known.items()} == {
        "anna": [], "bo": [], "cy": [], "di": [], "fay": [], "gus": [], "hal": [],
        "ed": ["the total of the given numbers"],
    }  # fmt: skip
    shown = {}
    for student in STUDENTS:
        text = (graded / "autograded" / student / NAME / "first.ipynb").read_text()
        shown[student] = re.findall(r"viva_seed = (\d+)", text)
    own = {student: [str(seed_of(graded, student))] for student in STUDENTS}
    assert shown == own | {"bo": own["anna"], "fay": own["anna"], "cy": [str(DEFAULT)]}


def test_whose_variant_it_is_is_listed_under_integrity_and_nowhere_else(graded):
    known = records(graded)
    told = {student: facts(record) for student, record in known.items()}
    whose = ["contains the variant of anna and was graded with that variant"]
    assert told == {
        "anna": [], "ed": [], "gus": [], "hal": [], "bo": whose, "fay": whose,
        "cy": ["contains the assignment without a variant and was graded without one"],
        "di": ["the seed of its variant was changed to 5, which belongs to no student; it was graded with the "
               "student's own seed"],
    }  # fmt: skip
    assert all(facts(record, "second") == told[student] for student, record in known.items())
    assert not any(facts(record, "third") for record in known.values())
    repairs = {student: wording.sentences(record.notebooks["first"].repairs) for student, record in known.items()}
    assert [student for student in ("anna", "bo", "cy", "ed", "fay") if repairs[student]] == []
    assert repairs["di"] == ["the read-only cell 'data' was edited; the released text was restored"]
    assert any("was missing in the submission" in sentence for sentence in repairs["hal"])


def test_the_report_lists_it_and_no_page_of_a_student_does(graded, tmp_path):
    root = shutil.copytree(graded, tmp_path / "course")
    course, config = load(root)
    path, figures = report.write(course, [NAME], SERVER)
    (part,) = figures["assignments"]
    rows = {(row["student"], row["notebook"]): row["facts"] for row in part["integrity"]}
    assert rows["bo", "first"] == ["contains the variant of anna and was graded with that variant"]
    assert {student for student, _ in rows} == {"bo", "cy", "di", "fay"}
    assert "contains the variant of anna" in path.read_text()
    hidden, _ = report.write(course, [NAME], SERVER, anonymous=True)
    assert "contains the variant of" in hidden.read_text() and "anna" not in hidden.read_text()
    with contextlib.chdir(root):
        list(write_feedback(course, course.submissions([NAME]), config=config))
    page = (root / "feedback" / "bo" / NAME / "first.html").read_text()
    text = BeautifulSoup(page, "html.parser").get_text()
    assert f"viva_seed = {seed_of(root, 'anna')}" in text
    assert "variant" not in text and "anna" not in text


def test_nbgrader_autograde_agrees(graded, before, tmp_path):
    root = shutil.copytree(before, tmp_path / "course")
    _, config = load(root)
    config.CourseDirectory.assignment_id = NAME
    with contextlib.chdir(root):
        Autograde(coursedir=CourseDirectory(config=config), config=config).start()
    one, other = records(graded), records(root)
    for student in STUDENTS:
        assert timeless(one[student]).notebooks == timeless(other[student]).notebooks
        for name in ("first", "second", "third"):
            place = f"autograded/{student}/{NAME}/{name}.ipynb"
            assert (graded / place).read_text() == (root / place).read_text()


def test_who_grades_from_bytes_has_the_seeds_and_not_the_key(graded, grader, tmp_path):
    course, config = load(graded)
    with course.gradebook() as gradebook:
        expected = Expected.of(gradebook, NAME)
    with contextlib.chdir(graded):
        material = Material.of(course, NAME, config, expected, grader)
    material.config.Variants.key = "a secret of the configuration"
    data = material.to_bytes()
    everything = data + pickle.loads(data)[1]
    assert b"a secret of the" not in everything and (graded / KEY).read_bytes().strip() not in everything
    assert b"IncludeHeaderFooter" in everything
    material = Material.from_bytes(data)
    for submission in [one for one in course.submissions([NAME]) if one.student in ("bo", "di")]:
        passed = msgspec.msgpack.decode(grade(pack(submission), material, grader), type=Passed)
        here = timeless(passed.record), passed.notebooks["first"]
        text = (graded / "autograded" / submission.student / NAME / "first.ipynb").read_text()
        assert here == (timeless(records(graded)[submission.student]), text)
    (course.root / "submitted" / "new").mkdir()
    try:
        shutil.copytree(course.root / "submitted" / "anna" / NAME, course.root / "submitted" / "new" / NAME)
        (late,) = course.submissions([NAME], "new")
        with pytest.raises(CourseError, match="The variant of the student 'new' is unknown"):
            grade(pack(late), material, grader)
    finally:
        shutil.rmtree(course.root / "submitted" / "new")


def test_code_of_a_student_reads_neither_the_key_nor_other_variants(course):
    places = [str(course / KEY), str(course / "variants" / NAME / "bo" / "first.ipynb")]
    attempt = (
        f"total = sum(numbers)\nfor place in {places}:\n    try:\n        print('read', len(open(place).read()))\n"
        "    except OSError as error:\n        print('refused')"
    )
    shutil.rmtree(course / "submitted")
    hand_in(course, "anna", "anna", attempt)
    opened, config = load(course)
    list(autograde(opened, opened.submissions([NAME]), config=config))
    text = (course / "autograded" / "anna" / NAME / "first.ipynb").read_text()
    assert text.count("refused\\n") == 2 and "read 6" not in text
    assert lost(records(course)["anna"]) == []


def test_a_submission_is_unchanged_until_its_seed_is_another(graded, tmp_path):
    root = shutil.copytree(graded, tmp_path / "course")
    course, config = load(root)

    def statuses() -> set[str]:
        return {str(one.status) for one in autograde(course, course.submissions([NAME]), config=config)}

    assert statuses() == {"unchanged"}
    with course.gradebook() as gradebook:
        gradebook.update_or_create_student("zoe")  # nobody's seed is another because somebody came
    assert statuses() == {"unchanged"}
    (root / KEY).write_text("another key, of some characters\n")
    assert statuses() == {"done"}
    assert facts(records(root)["anna"])[0].startswith("the seed of its variant was changed to")


def test_without_variants_everything_is_as_if_there_were_none(before, tmp_path):
    """What is switched on for one assignment changes no byte of another; switched off, there is only the release."""
    found = {}
    for way, line in {"none": "", "other": 'c.Variants.assignments = ["another"]\n'}.items():
        root = shutil.copytree(before, tmp_path / way)
        shutil.copytree(root / "source" / NAME, root / "source" / "another")
        config = root / "nbgrader_config.py"
        config.write_text(config.read_text().replace(ON, f"\n{line}"))
        if way == "none":
            (root / KEY).unlink()
            shutil.rmtree(root / "variants")
        course, config = load(root)
        list(autograde(course, course.submissions([NAME]), config=config))
        keys = {student: record.key for student, record in records(root).items()}
        books = {path.relative_to(root): path.read_bytes() for path in sorted(root.glob("autograded/**/*.ipynb"))}
        found[way] = keys, books, {student: timeless(record) for student, record in records(root).items()}
    assert found["none"] == found["other"]
    _, _, known = found["none"]
    assert not any(facts(record) for record in known.values())
    (repair,) = wording.sentences(known["anna"].notebooks["first"].repairs)
    assert repair == "the read-only cell 'data' is from an earlier release; it was replaced by the current text"


def test_a_regrade_gives_everybody_the_same_again(graded, tmp_path):
    root = shutil.copytree(graded, tmp_path / "course")
    course, config = load(root)
    with contextlib.chdir(root):
        regrade = Regrade(course, NAME, config)
        assert regrade.release()[-1] == f"To update the copies in variants/, run: viva release {NAME} --variants"
        assert {str(one.status) for one in regrade.grade()} == {"done"}
        assert regrade.finish().changes == []


def test_without_its_key_an_assignment_with_variants_is_not_graded(course):
    (course / KEY).unlink()
    opened, config = load(course)
    with pytest.raises(CourseError, match=rf"{NAME} has variants, but their key .*{KEY}"):
        list(autograde(opened, opened.submissions([NAME]), config=config))
    assert not (course / "results.jsonl").exists() and not (course / "autograded").exists()


def test_the_key_is_made_once_for_the_owner_alone_and_never_again(course):
    opened, _ = load(course)
    path = course / KEY
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    text = path.read_text()
    assert re.fullmatch(r"[0-9a-f]{64}\n", text)
    assert made_key(opened) == (text.strip().encode(), False) and path.read_text() == text
    path.write_text("short\n")
    with pytest.raises(CourseError, match="has only 5 characters"):
        made_key(opened)
    assert path.read_text() == "short\n"
    path.unlink()
    with pytest.raises(CourseError, match=f"{KEY} is missing. .* has variants made with it"):
        made_key(opened)
    assert not path.exists()
    shutil.rmtree(course / "variants")
    key, made = made_key(opened)
    assert made and path.read_bytes() == key + b"\n"


def test_a_course_may_keep_its_key_in_its_configuration(course):
    with (course / "nbgrader_config.py").open("a") as file:
        file.write('c.Variants.key = "kept elsewhere by the course"\n')
    (course / KEY).unlink()
    opened, _ = load(course)
    seeds = seeds_of(opened, NAME)
    assert seeds["anna"] == seed_for(b"kept elsewhere by the course", "anna", NAME)
    assert not (course / KEY).exists()


def test_a_seed_has_nine_digits_and_belongs_to_one_student_and_one_assignment():
    key = b"some key of a course"
    seeds = [seed_for(key, f"s{number}", "ps1") for number in range(2000)]
    assert all(len(str(seed)) == 9 for seed in seeds) and len(set(seeds)) > 1990
    assert seed_for(key, "s1", "ps1") == seeds[1]
    assert seed_for(key, "s1", "ps2") != seeds[1] != seed_for(key + b"!", "s1", "ps1")
    assert seed_for(key, "a", "bc") != seed_for(key, "ab", "c")


def test_a_notebook_whose_seed_cannot_be_put_in_is_refused_with_its_cell(course):
    write_source(course, DATA.replace("viva_seed = 11", "viva_seed = 10 + 1"))
    opened, _ = load(course)
    with pytest.raises(BlueprintError, match="first, cell 'data': the value of viva_seed must be a whole"):
        require_offered(NAME, opened.source_notebooks(NAME))


def test_an_assignment_that_offers_none_is_refused_where_it_is_switched_on(course):
    write_source(course, DATA.replace("viva_seed", "seed"))
    path = course / "source" / NAME / "second.ipynb"
    path.write_text(path.read_text().replace("viva_seed", "seed"))
    opened, config = load(course)
    with pytest.raises(CourseError, match="none of its notebooks has a line 'viva_seed = 20261' in a read-only cell"):
        require_offered(NAME, opened.source_notebooks(NAME))
    assert all(map(str, autograde(opened, opened.submissions([NAME]), config=config))), "graded as it was released"


def test_a_name_of_no_assignment_among_those_with_variants_is_refused_before_anything_is_graded(course):
    opened, config = load(course)
    for named in (["drawm"], [NAME, "drawm"]):
        opened.directory.config.Variants.assignments = named
        with pytest.raises(CourseError, match=r"c\.Variants\.assignments in .*: There is no assignment 'drawm'"):
            list(autograde(opened, opened.submissions([NAME]), config=config))
    assert not (course / "results.jsonl").exists()
