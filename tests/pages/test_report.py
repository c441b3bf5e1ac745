"""The report says what results and gradebook say, of any class; nothing in it is a student's to run."""

from __future__ import annotations

import base64
import copy
import csv
import html
import io
import itertools
import json
import re
import shutil
import statistics
from datetime import datetime
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.browser import CONTRAST, barriers, print_problems
from tests.conftest import SHORT, hand_in, load
from viva.commands.grade import GradeCommand
from viva.course.gradebook.results import Results
from viva.course.grades import export
from viva.pages import report
from viva.pages.reporting import findings
from viva.pages.reporting.findings import people_of
from viva.pages.reporting.pseudonyms import Pseudonyms, focus, read_cells
from viva.record import Note, NotebookRecord, SubmissionRecord, encode, note
from viva.verdict import CourseError, Verdict
from viva.wording import sentence, sentences

pytestmark = pytest.mark.xdist_group("report")

SERVER = "http://localhost:8888"
MISCHIEF = "np.allclose = lambda *args, **more: True\nopen('/etc/passwd')"
BOOK = "scaled_attention"
HOSTILE = [
    "<script>document.title = 'run'</script>",
    "<img src=x onerror=\"document.title='run'\"><svg onload=\"document.title='run'\">",
    "</pre></details><iframe src='http://example.invalid/x'></iframe>",
    "{{ 7 * 7 }}{% raw %} javascript:document.title='run'",
    "=HYPERLINK(\"http://example.invalid\")",
    "\u202egnp.exe\u2066\x00\x1b]0;run\x07",
    "<style>body { display: none }</style><meta http-equiv=refresh content='0;url=http://example.invalid'>",
]  # fmt: skip


@pytest.fixture(scope="module")
def classroom(released, tmp_path_factory) -> Path:
    """A course where six students handed in one assignment, and five of them were graded."""
    root = tmp_path_factory.mktemp("report") / "course"
    shutil.copytree(released, root)
    hand_in(root, "ada", answer="right/einsum", name='NAME = "Augusta King"\nCOLLABORATORS = "none"')
    hand_in(root, "bo", answer="wrong/softmax_along_rows")
    hand_in(root, "cy", answer="right/einsum", self_attention="import os\nos._exit(1)")
    hand_in(root, "untouched")
    hand_in(root, "mallory", self_attention=MISCHIEF)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        command = GradeCommand()
        command.initialize([SHORT])
        command.start()
    (root / "submitted" / "late" / SHORT).mkdir(parents=True)
    with load(root)[0].gradebook() as gradebook:
        gradebook.update_or_create_student("nobody", first_name="Nora", last_name="Nobody", email="n@example.org")
    return root


@pytest.fixture
def room(classroom, tmp_path) -> Path:
    """A copy for one test to change."""
    return shutil.copytree(classroom, tmp_path / "course", ignore=shutil.ignore_patterns("report"))


def written(root: Path, **options) -> tuple[str, dict]:
    course, _ = load(root)
    chosen = options.pop("assignments", [SHORT]), options.pop("server", SERVER)
    path, figures = report.write(course, *chosen, **{"people": people_of(course)} | options)
    return path.read_text(encoding="utf-8"), figures


def records(root: Path) -> dict:
    return Results.of(load(root)[0].directory).read()


def rows_of(page: str) -> dict[str, list[dict]]:
    """Every CSV file in a page, by name."""
    found = {}
    for link in BeautifulSoup(page, "html.parser").select("a[download]"):
        head, _, data = link["href"].partition(",")
        assert head == "data:text/csv;charset=utf-8;base64"
        found[link["download"]] = list(csv.DictReader(io.StringIO(base64.b64decode(data).decode())))
    return found


def test_scores_and_counts_are_those_of_the_gradebook(classroom):
    _, figures = written(classroom)
    (part,) = figures["assignments"]
    with load(classroom)[0].gradebook() as gradebook:
        truth = [row for row in export.scores(load(classroom)[0], gradebook, [SHORT]) if row["score"] is not None]
    assert part["scores"] == sorted(row["score"] for row in truth)
    assert part["median"] == statistics.median(part["scores"])
    assert (part["students"], part["handed_in"], part["graded"], part["missing"]) == (7, 6, 5, ["nobody"])
    assert part["maximum"] == 25
    assert part["speed"]["submissions"] == 5
    titles = [check["title"] for check in part["checks"]]
    assert titles == [result.title for _, _, result in records(classroom)[SHORT, "ada"].results()]


def test_lateness_and_its_penalty_count(room):
    with load(room)[0].gradebook() as gradebook:
        gradebook.update_or_create_assignment(SHORT, duedate=datetime(2026, 1, 1))
        submission = gradebook.find_submission(SHORT, "ada")
        submission.timestamp = datetime(2026, 1, 2)
        score = submission.score
        gradebook.db.commit()
    (part,) = written(room)[1]["assignments"]
    assert [row["student"] for row in part["late"]] == ["ada"]
    assert score - score / 10 in part["scores"]


def test_who_needs_a_human_is_told_with_a_link_to_the_place(classroom):
    page, figures = written(classroom, server="https://hub.example.org/user/me/")
    (part,) = figures["assignments"]
    waiting = {reason["why"]: {row["student"]: row for row in reason["rows"]} for reason in part["waiting"]}
    assert set(waiting) == {"killed", "refused", "manual grading"}
    assert set(waiting["killed"]) == {"cy"}
    assert set(waiting["refused"]) == {"late"}
    assert waiting["refused"]["late"]["detail"] == "no scaled_attention.ipynb was submitted (found: nothing)"
    assert waiting["refused"]["late"]["link"].endswith(f"/formgrader/manage_submissions/{SHORT}/")
    assert re.search(">late</bdi></a>: <bdi>no scaled_attention", page), "what was refused has no notebook to name"
    by_hand = waiting["manual grading"]
    assert set(by_hand) == {"ada", "bo", "cy"}
    with load(classroom)[0].gradebook() as gradebook:
        place = gradebook.find_submission_notebook(BOOK, SHORT, "ada").id
    cells = read_cells(classroom / "autograded" / "ada" / SHORT / f"{BOOK}.ipynb")
    index = focus(cells, "why_equivariant")
    assert index > 10
    assert by_hand["ada"]["link"] == f"https://hub.example.org/user/me/formgrader/submissions/{place}/?index={index}"


DOUBT = Note("may_belong", cells=("self_attention",), numbers=(3,), doubt=True)


def test_ungraded_checks_doubtful_repairs_and_missing_sandboxes_are_told(room):
    old = records(room)
    old[SHORT, "ada"].sandboxed = False
    old[SHORT, "ada"].notebooks[BOOK].repairs = [DOUBT]
    old[SHORT, "cy"].notebooks[BOOK].repairs = [DOUBT, Note("other_order")]
    _, _, result = next(old[SHORT, "bo"].results())
    result.verdict, result.cause = Verdict.UNGRADED, note("grader_failed", "disk full")
    Results.of(load(room)[0].directory).add(old.values())
    page, figures = written(room)
    rows = {reason["why"]: reason["rows"] for reason in figures["assignments"][0]["waiting"]}
    assert [row["student"] for row in rows["ungraded"]] == ["bo"]
    doubted = [(row["student"], row["detail"]) for row in rows["uncertain repair"]]
    assert doubted == [("cy", sentence(DOUBT))], "ada passed everything, so that nothing is in doubt"
    assert "1 submission was" in re.sub(r"\s+", " ", page)
    assert "without a sandbox" in page
    assert "without a sandbox" not in written(room, assignments=["ps1_general_attention"])[0]


def test_facts_are_recorded_by_notebook_where_there_are_some_and_told(classroom):
    found = records(classroom)
    told = sentences(found[SHORT, "mallory"].notebooks[BOOK].integrity)
    assert told == [
        "replaced functions of Python or of a library: numpy.allclose",
        "tried to open files outside its folder: '/etc/passwd' (the sandbox stopped it)",
    ]
    assert not any(record.notebooks[BOOK].integrity for (_, name), record in found.items() if name != "mallory")
    page, figures = written(classroom)
    assert [(row["student"], row["facts"]) for row in figures["assignments"][0]["integrity"]] == [("mallory", told)]
    assert told[0] in page


def test_what_was_taken_out_before_a_notebook_is_shown_is_told(room):
    old = records(room)
    old[SHORT, "bo"].notebooks[BOOK].sanitized = [note("shown_without", "<script>", numbers=(7,))]
    Results.of(load(room)[0].directory).add(old.values())
    page, figures = written(room)
    assert ("bo", ["Parts of cell 7 were removed from the page: <script>."]) in [
        (row["student"], row["facts"]) for row in figures["assignments"][0]["integrity"]
    ]
    assert "Parts of cell 7 were removed from the page: &lt;script&gt;" in page


def test_refusals_excuses_and_repairs_are_told_with_their_reasons_in_page_files_and_figures(room):
    old = records(room)
    old[SHORT, "ada"].notebooks[BOOK].repairs = [note("told", "'name' was <moved>")]
    Results.of(load(room)[0].directory).add(old.values())
    (room / "excused.csv").write_text(f"assignment,student_id,reason\n{SHORT},nobody,ill <until> spring\n")
    page, figures = written(room)
    (part,), refusal = figures["assignments"], "no scaled_attention.ipynb was submitted (found: nothing)"
    assert (part["handed_in"], part["graded"], part["missing"]) == (6, 5, [])
    assert part["refused"] == [{"student": "late", "reason": refusal}]
    assert part["excused"] == [{"student": "nobody", "reason": "ill <until> spring"}]
    assert [(row["student"], row["repairs"]) for row in part["repairs"]] == [("ada", ["'name' was <moved>"])]
    text = BeautifulSoup(page, "html.parser").get_text()
    for said in (refusal, "ill <until> spring", "'name' was <moved>"):
        assert said in text
    files = rows_of(page)
    assert {"student": "late", "what": "refused", "reason": refusal} in files[f"{SHORT}-students.csv"]
    assert [row["repair"] for row in files[f"{SHORT}-repairs.csv"]] == ["'name' was <moved>"]
    (overview,) = files["overview.csv"]
    assert [overview[what] for what in ("missing", "refused", "excused")] == ["0", "1", "1"]


def test_who_is_excused_is_in_no_other_figure_and_who_left_is_missing_nowhere(room):
    before = written(room)[1]["assignments"][0]
    assert "mallory" in [row["student"] for row in before["integrity"]] and before["missing"] == ["nobody"]
    (room / "excused.csv").write_text(f"assignment,student_id,reason\n{SHORT},mallory,ill\n")
    (room / "roster.csv").write_text("id\n" + "".join(f"{one}\n" for one in ("bo", "cy", "untouched", "mallory")))
    (part,) = written(room)[1]["assignments"]
    assert [row["student"] for row in part["excused"]] == ["mallory"]
    assert "mallory" not in json.dumps(part | {"excused": []})
    assert {check["taken"] for check in part["checks"]} == {check["taken"] - 1 for check in before["checks"]}
    assert part["missing"] == [], "nobody left the course"
    assert part["handed_in"] == before["handed_in"] - 1 == part["students"], "ada left too, after she handed in"
    assert part["graded"] == before["graded"] - 1 == len(part["scores"])


def test_the_same_results_give_the_same_bytes(classroom):
    assert written(classroom)[0] == written(classroom)[0]


def test_every_table_and_figure_is_in_the_page_as_csv(classroom):
    page, figures = written(classroom)
    files = rows_of(page)
    names = {f"{SHORT}-{name}" for name in ("scores", "checks", "wrong-results", "waiting", "students")}
    assert names | {"overview"} <= {name.removesuffix(".csv") for name in files}
    (part,) = figures["assignments"]
    assert [float(row["score"]) for row in files[f"{SHORT}-scores.csv"]] == part["scores"]
    assert [row["title"] for row in files[f"{SHORT}-checks.csv"]] == [check["title"] for check in part["checks"]]


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1+1", "@sum", "\t=1", " =1", "\r=1", "\x00=1"])
def test_no_text_in_a_csv_file_is_a_formula(text):
    (row,) = csv.DictReader(io.StringIO(report.csv_text([{"reason": text, "points": -1.5}]), newline=""))
    assert row["reason"][0] in "'\N{REPLACEMENT CHARACTER}"
    assert row["points"] == "-1.5"


def test_hidden_names_are_nowhere_in_page_files_and_figures(room):
    old = records(room)
    old[SHORT, "cy"].notebooks[BOOK].repairs = [note("told", "ada.ipynb was cut in two")]
    old[SHORT, "bo"].notebooks[BOOK].integrity = [note("told", "tried to open /home/untouched/x")]
    for _, _, result in old[SHORT, "bo"].results():
        result.reason = f"{result.reason} says Nora Nobody in ADA's file"
    Results.of(load(room)[0].directory).add(old.values())
    page, figures = written(room, anonymous=True)
    again, _ = written(room, anonymous=True)
    assert page == again
    texts = [page, json.dumps(figures), json.dumps(rows_of(page))]
    for name in ("ada", "untouched", "nora", "nobody", "n@example.org"):
        for text in texts:
            assert not re.search(rf"(?<![a-z0-9+/=]){re.escape(name)}(?![a-z0-9+/=])", text, re.IGNORECASE), name
    for text in texts:
        assert ">bo<" not in text
        assert '"bo"' not in text
    shown = {row["student"] for reason in figures["assignments"][0]["waiting"] for row in reason["rows"]}
    assert all(re.fullmatch(r"student-[0-9a-f]{8}", name) for name in shown)
    assert (room / "report" / "anonymous.html").exists()
    assert not (room / "report" / "index.html").exists()


def test_what_students_call_themselves_and_their_files_is_not_in_an_anonymous_report(room):
    name = "Lovelace, A. (ps3 final).pdf"
    (room / "submitted" / "late" / SHORT / name).write_text("a scan")
    old = records(room)
    assert old[SHORT, "ada"].notebooks[BOOK].names == ["Augusta King", "Augusta", "King"], "'none' is a word of Python"
    told = note("told", "cell 3 by augusta KING was cut in two; scaled_attention.ipynb was None")
    old[SHORT, "cy"].notebooks[BOOK].repairs = [told]
    Results.of(load(room)[0].directory).add(old.values())
    named, _ = written(room)
    assert name in named and "augusta KING" in named
    page, figures = written(room, anonymous=True)
    for text in (page, json.dumps(figures), json.dumps(rows_of(page))):
        assert not re.search("lovelace|augusta|king\\b", text, re.IGNORECASE)
    assert "no scaled_attention.ipynb was submitted (found: 'a file')" in html.unescape(page)
    assert "cell 3 by a student was cut in two; scaled_attention.ipynb was None" in page


def test_a_graded_notebook_says_no_name(classroom):
    given, graded = (
        {cell["id"]: cell["source"] for cell in json.loads(path.read_text())["cells"]}
        for path in (
            classroom / "release" / SHORT / f"{BOOK}.ipynb",
            classroom / "autograded" / "ada" / SHORT / f"{BOOK}.ipynb",
        )
    )
    assert graded["name"] == given["name"]
    assert "Augusta" not in json.dumps(graded)


@pytest.mark.parametrize("server", ["javascript:alert(1)", "localhost:8888", "http://x/' onclick='", ""])
def test_an_address_that_is_none_is_refused(classroom, server):
    with pytest.raises(CourseError, match="is not the address of a server"):
        written(classroom, server=server)


def test_a_course_where_nothing_was_handed_in_and_one_where_nothing_was_released(course, released, tmp_path):
    assignments = load(course)[0].assignments()
    page, figures = written(course, assignments=assignments)
    assert [row["name"] for row in figures["assignments"]] == assignments
    assert len(assignments) > 1
    assert "There are no results yet." in page
    assert "unknown" not in page and "none of" not in page and "0 hold too little" not in page
    (course / "gradebook.db").unlink()
    assert "Nothing was graded yet." in written(course)[0]


def test_one_student_and_old_records(room):
    one, path = records(room)[SHORT, "ada"], room / "results.jsonl"
    check = {"title": "a", "points": 1, "earned": 1, "verdict": "passed", "reason": ""}
    old = {"assignment": SHORT, "student": "ada", "notebooks": {BOOK: {"test": [check]}}, "repairs": {BOOK: ["so"]}}
    for line in (encode(one), encode(SubmissionRecord(SHORT, "ada")), json.dumps(old).encode()):
        path.write_bytes(line + b"\n")
        page, figures = written(room)
        assert "Class report" in page
    assert [row["repairs"] for row in figures["assignments"][0]["repairs"]] == [["so"]], "what was written long ago"


def test_the_command_prints_figures_as_json_and_where_the_page_is(classroom, viva, course, monkeypatch):
    hand_in(course, "ada")
    result = viva("report", SHORT)
    assert result.status == 0
    assert str(course / "report" / "index.html") in result.out
    printed = json.loads(viva("report", "--json", SHORT).out)
    assert [part["name"] for part in printed["assignments"]] == [SHORT]
    assert viva("report", "ps99").status == 2


# in the browser


@pytest.fixture
def hostile(room) -> Path:
    """A report about students whose names, answers, results and repairs are all meant to do harm."""
    old = records(room)
    made = []
    for place, text in enumerate(HOSTILE):
        record = copy.deepcopy(old[SHORT, "bo"])
        record.student = text.replace("/", "|")
        for _, _, result in record.results():
            result.reason = result.traceback = result.printed = text
            result.verdict = Verdict.KILLED if place % 2 else Verdict.FAILED
            result.title += text
        record.notebooks[BOOK].integrity = [note("opened", text), Note("told", names=(text,))]
        record.notebooks[BOOK].repairs = [note("rival", text)]
        record.notebooks[text] = NotebookRecord(integrity=[Note("told", names=(text,))])
        made.append(record)
    for student in ("ada", "bo"):
        path = room / "autograded" / student / SHORT / f"{BOOK}.ipynb"
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("solution"):
                cell["source"] = "\n".join(f"{text}\nrow = [x ** {n} for x in y]" for n, text in enumerate(HOSTILE))
        path.chmod(0o644)
        path.write_text(json.dumps(notebook))
    Results.of(load(room)[0].directory).add(made)
    written(room)
    return room / "report" / "index.html"


@pytest.mark.xdist_group("browser")
@pytest.mark.slow
def test_nothing_of_a_students_runs_or_leaves_the_report(browser, hostile):
    context = browser.new_context()
    page, asked, errors = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.on("dialog", lambda dialog: errors.append(dialog.message))
    page.goto(hostile.as_uri())
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    page.wait_for_timeout(200)
    assert asked == [hostile.as_uri()]
    assert errors == []
    assert page.title().startswith("Class report")
    assert page.locator("script, iframe, img, object, embed, form, base, link").count() == 0
    assert page.locator("style").count() == 1
    text = page.locator("body").inner_text()
    assert "<script>document.title" in text
    assert "{{ 7 * 7 }}" in text
    assert not set("\u202e\u2066\x1b") & set(text)
    assert page.locator("mark").count() > 0
    for link in page.locator("a").evaluate_all("links => links.map(link => link.href)"):
        assert link.startswith((f"{SERVER}/formgrader/", "data:text/csv;", hostile.as_uri())), link
    context.close()


@pytest.mark.xdist_group("browser")
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.slow
def test_the_page_fits_and_can_be_read_in_light_and_dark(browser, classroom, width, scheme):
    written(classroom)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto((classroom / "report" / "index.html").as_uri())
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    faint = page.evaluate(CONTRAST)
    assert faint == []
    assert barriers(page) == []
    context.close()


def test_on_paper_the_page_is_light_unfolded_and_not_cut_off(browser, classroom):
    written(classroom)
    page = browser.new_context(color_scheme="dark").new_page()
    page.goto((classroom / "report" / "index.html").as_uri())
    assert print_problems(page) == []
    page.context.close()


def test_headings_tables_and_figures_can_be_heard(classroom):
    soup = BeautifulSoup(written(classroom)[0], "html.parser")
    levels = [int(tag.name[1]) for tag in soup.find_all(re.compile("^h[1-6]$"))]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    assert all(cell.get("scope") for cell in soup.find_all("th"))
    assert all(table.caption for table in soup.find_all("table"))
    assert soup.select("summary a, caption a") == []
    assert all(svg["role"] == "img" and "median" in svg["aria-label"] for svg in soup.find_all("svg"))
    assert len(soup.find_all("svg")) == 1
    ids = [tag["id"] for tag in soup.find_all(id=True)]
    assert len(ids) == len(set(ids))
    names = [link.get("aria-label") for link in soup.select("a[download]")]
    for link in soup.select("a[aria-label]"):
        assert link["aria-label"].startswith(link.get_text(strip=True)), "who says what is shown reaches the link"
    assert len(names) == len(set(names))
    for link in soup.select("a[href^='#']"):
        assert soup.find(id=link["href"][1:]) or link["href"][1:] in ids


def test_files_beside_a_page_go_when_they_fit_into_it_again(room):
    folder = room / "report" / "index-tables"
    folder.mkdir(parents=True)
    (folder / "old.csv").write_text("old")
    written(room)
    assert not folder.exists()


def test_what_is_shown_side_by_side_is_cut_and_says_so(classroom):
    part = object.__new__(findings._Part)
    part.names = Pseudonyms()
    left = [10, 10]
    assert part._cut([(True, "12345678"), (False, "abcdefgh"), (True, "more")], left, 0)[1][1].startswith("ab\n…")
    assert part._cut([(True, "next cell")], left, 0)[0][1].startswith("\n…")
    assert part._cut([(True, "whole")], left, 1) == [(True, "whole")]
