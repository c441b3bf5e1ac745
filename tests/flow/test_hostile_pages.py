"""A hostile submission in formgrader and in its feedback: nothing runs, leaves, or covers what the grader needs."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import nbformat
import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader.server_extensions.formgrader import handlers
from playwright.sync_api import Page, expect
from traitlets.config import Config

from tests import hostile
from tests.conftest import BIN, SHORT, hand_in, load
from tests.flow.jupyter import served, stand_in_for_mathjax
from tests.flow.test_formgrader import NOTEBOOK, TASK
from viva.course.gradebook.results import Results
from viva.wording import sentences

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

STUDENT, HONEST = "mallory", "ada"


def hand_in_hostile(root: Path) -> None:
    """A right notebook, with every hostile thing in a cell or an output of its own."""
    path = hand_in(root, STUDENT, answer="right/einsum")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[3:3] = [*hostile.notebook_cells(), *map(new_markdown_cell, hostile.HONEST)]
    for cell in notebook.cells:
        if cell.id == "why_equivariant_answer":
            cell.source = "\n\n".join([*hostile.MARKDOWN.values(), hostile.HTML["handler"]])
    notebook.metadata.title = f"</title><script>{hostile.run('title')}</script>"
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {"m": {}}}}
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def graded(released, browser, tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("hostile") / "course"
    shutil.copytree(released, root)
    hand_in_hostile(root)
    path = hand_in(root, HONEST, answer="right/einsum")
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[3:3] = map(new_markdown_cell, hostile.HONEST)
    nbformat.write(notebook, path)
    for step in ("grade", "feedback"):
        subprocess.run([BIN / "viva", step, SHORT], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return root


@pytest.fixture(scope="module")
def address(graded):
    with served(graded) as printed:
        yield printed


@pytest.fixture
def watched(browser):
    """A page without a network, and what it asked for, said and opened."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    page = context.new_page()
    page.seen = []
    page.set_default_navigation_timeout(120_000)  # nbconvert sets a page of some hundred hostile cells

    def keep_in(route):
        if "mathjax" in route.request.url:  # nbgrader's own template cannot do without
            stand_in_for_mathjax(route)
        else:
            page.seen.append(route.request.url)
            route.abort()

    context.route(lambda url: url.startswith("http") and urlsplit(url).hostname != "localhost", keep_in)
    page.on("dialog", lambda dialog: (page.seen.append(f"dialog {dialog.message}"), dialog.dismiss()))
    context.on("page", lambda opened: page.seen.append(f"opened {opened.url}"))
    yield page
    context.close()


def ran(page: Page) -> list[str]:
    return page.evaluate("window.ran || []")


def click_links(page: Page) -> None:
    """Click what a student wrote and calls itself a solution, wherever it would lead."""
    page.evaluate("document.querySelectorAll('.cell a').forEach(a => a.textContent == 'solution' && a.click())")


OUTSIDE = """() => {
  const far = [];
  for (const cell of document.querySelectorAll('.cell')) {
    const box = cell.getBoundingClientRect();
    for (const inner of cell.querySelectorAll('*')) {
      const own = inner.getBoundingClientRect(), style = getComputedStyle(inner);
      if (!own.width || !own.height || inner.closest('math, .task-question')) continue;
      if (inner.closest('details:not([open]) > :not(summary)')) continue;
      const away = own.top < box.top - 5 || own.bottom > box.bottom + 5 || own.right < box.left;
      if (style.position == 'fixed' || style.position == 'sticky' || away) far.push(inner.outerHTML.slice(0, 200));
    }
  }
  return far;
}"""
"""The elements of cells that are above, below or left of their cell, or stay where they are when the page moves.

Formulas are known elements without styles, the instructor's question has a box of its own to roll in, and what is
folded is not shown.
"""

COVERED = """() => [...document.querySelectorAll('.score, .comment, .scoring-buttons button')].filter(field => {
  if (!field.offsetParent) return false;
  field.scrollIntoView({block: 'center'});
  const box = field.getBoundingClientRect();
  return document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) !== field;
}).map(field => field.id || field.className)"""
"""The fields and buttons of formgrader that something else lies on."""


def test_formgraders_page_of_the_same_cells_runs_their_scripts_unless_the_step_stands_before_it(watched, tmp_path):
    config = Config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    for steps in ([], ["viva.submission.sanitize.Sanitize"]):
        config.HTMLExporter.preprocessors = steps
        notebook = new_notebook(cells=hostile.notebook_cells(), metadata={"title": "</title><script>"})
        if not steps:  # what nbconvert refuses to show or warns of, and what leaves the page
            refused = ("attachment:", "widget-view", "vegalite", "http-equiv")
            notebook.cells = [cell for cell in notebook.cells if not any(word in cell.source for word in refused)]
        resources = {"base_url": "", "index": 0, "total": 1}
        page, _ = HTMLExporter(config=config).from_notebook_node(notebook, resources=resources)
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        watched.seen.clear()
        watched.goto((tmp_path / "page.html").as_uri())
        if steps:
            assert (ran(watched), watched.seen) == ([], [])
        else:
            assert {"script", "handler", "width", "markdown", "mermaid"} <= set(ran(watched))
            assert f"{hostile.ELSEWHERE}script" in watched.seen


def open_in_formgrader(page: Page, graded: Path, address: str, student: str) -> str:
    """Open a student's notebook as a grader would; the path of the page."""
    page.goto(address)
    with load(graded)[0].gradebook() as gradebook:
        submission = gradebook.find_submission_notebook(NOTEBOOK, SHORT, student).id
    path = f"/formgrader/submissions/{submission}/"
    page.goto("{0.scheme}://{0.netloc}{1}?index=0".format(urlsplit(address), path))
    expect(page.locator(f"#{TASK}")).to_be_visible()
    return path


FORMULAS = "[...document.querySelectorAll('.cell math')].map(formula => formula.textContent)"
"""The text of each formula of a page."""


def test_hostile_formulas_do_nothing_and_honest_ones_are_set_as_in_an_honest_notebook(graded, address, watched):
    open_in_formgrader(watched, graded, address, HONEST)
    honest = Counter(watched.evaluate(FORMULAS))
    assert honest.total() > 60
    watched.seen.clear()
    path = open_in_formgrader(watched, graded, address, STUDENT)
    assert honest - Counter(watched.evaluate(FORMULAS)) == Counter()
    assert watched.locator("math [style], math [class], math [id], math [href], math a").count() == 0
    click_links(watched)
    assert (urlsplit(watched.url).path, ran(watched), watched.seen) == (path, [], [])
    assert watched.evaluate(COVERED) == []
    expect(watched.locator(f"#{TASK}")).to_be_editable()


STRAYING = """() => {
  const area = document.querySelector('.jp-NotebookPanel').getBoundingClientRect(), far = [];
  for (const inner of document.querySelectorAll('.jp-RenderedMarkdown *, .jp-OutputArea-output *')) {
    const style = getComputedStyle(inner);
    if (style.position == 'fixed' || style.position == 'sticky') far.push(inner.outerHTML.slice(0, 200));
  }
  const middle = document.elementFromPoint(area.left + 5, 5);
  return middle.closest('.jp-NotebookPanel') ? [...far, 'the menu is covered'] : far;
}"""
"""What of a notebook's content stays where it is when the notebook moves, or lies on JupyterLab's own menu."""


def test_in_jupyterlab_with_its_mathjax_nothing_of_a_graded_notebook_runs_or_leaves(graded, address, watched):
    parts = urlsplit(address)
    path = f"/lab/tree/autograded/{STUDENT}/{SHORT}/{NOTEBOOK}.ipynb"
    watched.goto(f"{parts.scheme}://{parts.netloc}{path}?{parts.query}")
    expect(watched.locator(".jp-RenderedMarkdown").first).to_be_visible(timeout=60_000)
    expect(watched.locator(".jp-Spinner")).to_have_count(0, timeout=60_000)
    panel = watched.locator(".jp-WindowedPanel-outer").first
    formulas = 0
    for _ in range(400):  # cells out of sight are not rendered
        panel.evaluate("panel => panel.scrollBy(0, 600)")
        watched.wait_for_timeout(150)
        formulas += watched.locator("mjx-container").count()
        assert watched.evaluate(STRAYING) == []
        if panel.evaluate("panel => panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 2"):
            break
    assert formulas > 60
    assert (ran(watched), watched.seen) == ([], [])


def test_in_formgrader_nothing_of_a_submission_runs_leaves_or_covers_a_field(graded, address, watched):
    path = open_in_formgrader(watched, graded, address, STUDENT)
    click_links(watched)
    score = watched.locator(f"#{TASK}")
    expect(score).to_be_visible()
    assert urlsplit(watched.url).path == path
    assert ran(watched) == []
    assert watched.seen == []
    assert watched.evaluate(OUTSIDE) == []
    assert watched.evaluate(COVERED) == []
    assert watched.locator("iframe").count() == 0
    with watched.expect_response(lambda answer: "/api/grade/" in answer.url):
        score.fill("2")
        score.blur()


def test_in_the_feedback_nothing_of_a_submission_runs_or_leaves(graded, watched):
    pages = list((graded / "feedback" / STUDENT / SHORT).glob("*.html"))
    assert pages
    for page in pages:
        watched.goto(page.as_uri())
        click_links(watched)
        assert urlsplit(watched.url).path == page.as_posix()
        assert ran(watched) == []
        assert [address for address in watched.seen if not urlsplit(address).path.endswith(".js")] == []


def test_the_results_say_what_was_taken_out_of_which_cell(graded):
    record = Results.of(load(graded)[0].directory).read()[SHORT, STUDENT]
    told = sentences(record.notebooks[NOTEBOOK].sanitized)
    notes = "\n".join(told)
    for what in ("<script>", "onerror", "application/javascript", "style of <div>", "<iframe>", r"\require"):
        assert what in notes
    assert sum(map(len, told)) < 40_000
