"""The pages of one family: each fits a phone and a desk, light and dark, and is photographed for a person to look at.

The pictures lie in build/pictures/.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page

from plugins.audit.tests.test_auditpage import AUDIT, LONG
from plugins.diagnosis.tests.conftest import means  # noqa: F401
from plugins.diagnosis.tests.course import NAME
from tests.browser import barriers
from tests.conftest import BIN, PROJECT, load
from tests.flow.jupyter import served
from viva.pages.page import environment
from viva_audit import auditpage
from viva_watch import status
from viva_watch.memory import Event, Memory

pytestmark = [pytest.mark.xdist_group("diagnosis"), pytest.mark.slow, pytest.mark.timeout(1800)]

PICTURES = PROJECT / "build" / "pictures"
SIZES = {390: 844, 1200: 900}
RUBRIC = """[[item]]
key = "zero"
points = -1
text = "Say why the numbers lie around zero."
cell = "why"

[[item]]
key = "words"
points = -0.5
text = "Use the words of the course."
"""
CERTIFICATE = {
    "assignment": NAME,
    "notebook": "means",
    "points": 7,
    "right": 3,
    "wrong": {f"wrong/{name}": sentence for name, sentence in {
        "median": "The median is subtracted in the place of the mean.",
        "first": "The first number is subtracted, not the mean.",
        "sum": "The squares are added, and no mean is taken.",
    }.items()},
    "mutants": {"killed": 21, "survived": 0, "equal": 3, "unproven": 1, "excused": 0},
    "checks": [
        {"title": title, "cell": cell, "points": 2, "hidden": hidden, "mutants": {"noticed": 9, "of": 10},
         "catches": ["wrong/median", "wrong/first"]}
        for title, cell, hidden in (
            ("an example", "test_centred", False), ("other numbers", "test_centred", True), ("all", "test_spread", True)
        )
    ],
    "hidden_only": {"wrong": {"wrong/first": "too long for an example"}, "mutants": 2},
    "twice": {"wrong/median": ["test_spread: as NumPy has it"]},
    "single_process": [],
    "sandbox": True,
    "versions": {"viva": "0.1.0", "nbgrader": "0.9.5", "numpy": "2.3.0"},
    "sha256": {"source": "5d41402abc4b2a76b9719d911017c592" * 2, "release": "7d793037a0760186574b0282f2f435e7" * 2},
}  # fmt: skip
CUT = """part => [...(part ? document.querySelector(part) : document.body).querySelectorAll('*')].filter(e => {
  const style = getComputedStyle(e), small = e.clientWidth < 2 || e.clientHeight < 2;
  if (small || style.clipPath !== 'none' || e.closest('math, svg, input, textarea')) return false;
  const cut = (way, size) =>
    ['hidden', 'clip'].includes(style[`overflow${way}`]) && e[`scroll${size}`] > e[`client${size}`] + 1;
  return e.innerText?.trim() && (cut('X', 'Width') || cut('Y', 'Height'));
}).map(e => `cut off: ${e.tagName}.${e.className}`)"""
"""The texts of which a part cannot be seen, and not be scrolled to."""
OVER = """part => {
  const root = part ? document.querySelector(part) : document.body, all = [], found = [];
  const both = (a, b) => ({left: Math.max(a.left, b.left), right: Math.min(a.right, b.right),
    top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom)});
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT), visible = {visibilityProperty: true};
  while (walker.nextNode()) {
    const node = walker.currentNode, parent = node.parentElement;
    if (!node.data.trim() || parent.closest('math, svg, style, script') || !parent.checkVisibility(visible)) continue;
    let seen = {left: 0, top: -1e9, right: innerWidth, bottom: 1e9};
    for (let e = parent; e && seen; e = e.parentElement) {
      const style = getComputedStyle(e);
      if (style.clipPath !== 'none' || style.position === 'fixed') seen = null;
      else if (style.overflowX !== 'visible') seen = both(seen, e.getBoundingClientRect());
    }
    const range = document.createRange(); range.selectNodeContents(node);
    for (const box of seen ? range.getClientRects() : []) {
      const shown = both(box, seen);
      if (shown.right - shown.left > 2 && shown.bottom - shown.top > 2) all.push([shown, node]);
    }
  }
  all.sort(([a], [b]) => a.top - b.top);
  all.forEach(([a, node], place) => {
    for (const [b, other] of all.slice(place + 1)) {
      if (b.top > a.bottom) break;
      const shared = both(a, b), covers = shared.right - shared.left > 3 && shared.bottom - shared.top > 6;
      if (node !== other && covers) found.push(`one over the other: ${node.data.trim()} / ${other.data.trim()}`);
    }
  });
  return found;
}"""
"""The texts that cover each other."""

BROKEN = """part => {
  const root = part ? document.querySelector(part) : document.body, found = [];
  for (const head of root.querySelectorAll('th, h1, h2, h3, summary'))
    for (const node of [...head.childNodes].filter(one => one.nodeType === 3))
      for (const word of node.data.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(node, word.index); range.setEnd(node, word.index + word[0].length);
        const lines = new Set([...range.getClientRects()].map(box => Math.round(box.top))).size;
        if (lines > 1 && !/[-_/]/.test(word[0])) found.push(`broken word in a head: ${word[0]}`);
      }
  return found;
}"""
"""The words of heads that stand in two lines."""


@pytest.fixture(scope="module")
def course(means, tmp_path_factory) -> Path:  # noqa: F811
    """A small class in which answers are alike, one submission is refused, and all pages are written."""
    root = tmp_path_factory.mktemp("family") / "Means 2026"
    shutil.copytree(means, root)
    (root / "rubrics").mkdir()
    (root / "rubrics" / f"{NAME}.toml").write_text(RUBRIC)
    broken = root / "submitted" / "mona" / NAME / "means.ipynb"
    broken.parent.mkdir(parents=True)
    broken.write_text("%PDF-1.7 this is not a notebook")
    for step in (["diagnose", NAME, "--no-mutants"], ["grade"], ["feedback"], ["report"]):
        done = subprocess.run([BIN / "viva", *step], cwd=root, capture_output=True, text=True)
        assert done.returncode in (0, 1), done.stderr
    (root / "report" / "audit.html").write_text(auditpage.page(AUDIT).replace(LONG, "table"), encoding="utf-8")
    certificate = environment({}).get_template("certificate.html").render(CERTIFICATE)
    (root / "report" / "certificate.html").write_text(certificate, encoding="utf-8")
    now = datetime(2026, 10, 1, 12, tzinfo=UTC)
    told = [Event(now, "graded, 12 of 15 checks pass", NAME, name, 1.4) for name in ("anna", "bo", "carl")]
    wrong = [Event(now, "The submission 'means (2).ipynb' cannot be read.", NAME, "mona", 0.1)]
    status.write(root, Memory(pid=12345, started=now, looked=now, graded=3, last=[*told, *wrong], errors=wrong))
    return root


class Desk:
    """A course with formgrader and JupyterLab, and how each page of the family is opened."""

    def __init__(self, root: Path, server: str) -> None:
        self.root, self.server = root, server

    def file(self, place: str) -> Callable[[Page], str | None]:
        (path,) = self.root.glob(place)
        return lambda page: page.goto(path.as_uri()) and None

    def answer(self, page: Page) -> None:
        """The screen of one question, with a rubric, and answers that are like this one."""
        with load(self.root)[0].gradebook() as gradebook:
            key = gradebook.find_submission_notebook("means", NAME, "anna").id
        page.goto(f"{self.server}/formgrader/submissions/{key}/?question=why")
        page.wait_for_load_state("networkidle")
        page.keyboard.press("Alt+Digit0")

    def group(self, page: Page) -> None:
        self.answer(page)
        page.locator(".nbgrader_cell:has(#why-comment) .viva-group summary").click()
        page.locator("#why").focus()
        page.keyboard.press("Alt+Shift+Digit1")

    def work(self, page: Page) -> None:
        page.goto(f"{self.server}/formgrader/viva/")

    def panel(self, page: Page) -> str:
        """The button's panel; in a narrow window JupyterLab hides the button."""
        page.goto(f"{self.server}/lab/tree/release/{NAME}/means.ipynb?reset")
        page.locator(".jp-NotebookPanel-toolbar").get_by_role("button", name="Check", exact=True).click(timeout=120_000)
        page.locator("#nbviva-check .viva-number").wait_for(timeout=120_000)
        return "#nbviva-check"

    @property
    def pages(self) -> dict[str, Callable[[Page], str | None]]:
        """What opens each page; where it is a part of another one's page, the part."""
        return {
            "feedback": self.file(f"feedback/bo/{NAME}/*.html"),
            "refusal": self.file(f"feedback/mona/{NAME}/*.html"),
            "report": self.file("report/index.html"),
            "audit": self.file("report/audit.html"),
            "certificate": self.file("report/certificate.html"),
            "watch": self.file("report/watch.html"),
            "open grading work": self.work,
            "question": self.answer,
            "group comment": self.group,
            "panel": self.panel,
        }


@pytest.fixture(scope="module")
def desk(course, home) -> Iterator[Desk]:
    themes = home / ".jupyter/lab/user-settings/@jupyterlab/apputils-extension/themes.jupyterlab-settings"
    themes.parent.mkdir(parents=True, exist_ok=True)
    themes.write_text(json.dumps({"adaptive-theme": True}))
    with pytest.MonkeyPatch.context() as patch, contextlib.ExitStack() as stack:
        patch.setenv("JUPYTER_PATH", str(PROJECT / "student" / "share" / "jupyter"))
        patch.setenv("JUPYTERLAB_WORKSPACES_DIR", str(course.parent / "workspaces"))
        stack.callback(themes.unlink)
        address = urlsplit(stack.enter_context(served(course)))
        desk = Desk(course, f"{address.scheme}://{address.netloc}")
        desk.token = address.query
        yield desk


@pytest.mark.thorough
def test_each_page_fits_a_phone_and_a_desk_in_the_light_and_in_the_dark(desk, browser):
    problems, chosen = [], os.environ.get("VIVA_PAGES", "").split(",")  # for a look at some of them
    for name, act in desk.pages.items():
        if chosen == [""] or name in chosen:
            widths = list(SIZES)[1:] if act == desk.panel else SIZES
            enter = act in (desk.work, desk.answer, desk.group, desk.panel)
            begin = f"{desk.server}/formgrader?{desk.token}" if enter else None
            problems += seen_everywhere(browser, name, act, widths, begin)
    assert problems == []


@pytest.mark.extra("docs")
@pytest.mark.xdist_group("site")
def test_the_first_page_of_the_site_fits_too_and_says_on_its_first_screen_how_it_is_installed(browser, tmp_path):
    command = [BIN / "sphinx-build", "--quiet", "-d", tmp_path / "doctrees", PROJECT / "docs", tmp_path / "site"]
    done = subprocess.run(command, env=os.environ | {"FAST": "1"}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr

    def site(page: Page) -> None:
        page.goto((tmp_path / "site" / "index.html").as_uri())
        page.wait_for_load_state("networkidle")
        assert page.get_by_text("pip install . ./plugins").bounding_box()["y"] < page.viewport_size["height"]
        pictures = "[...document.images].filter(e => e.clientWidth < .75 * e.naturalWidth).map(e => e.src)"
        assert page.evaluate(pictures) == [], "letters of a picture that is shown smaller cannot be read"

    assert seen_everywhere(browser, "site", site) == []


def seen_everywhere(
    browser: Browser,
    name: str,
    act: Callable[[Page], str | None],
    widths: Iterable[int] = SIZES,
    begin: str | None = None,
) -> list[tuple[str, int, str, str]]:
    """What is wrong with a page, of which pictures are taken; ``begin`` is the address that lets one in."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    problems = []
    for width, scheme in itertools.product(widths, ("light", "dark")):
        context = browser.new_context(viewport={"width": width, "height": SIZES[width]}, color_scheme=scheme)
        with contextlib.closing(context):
            page = context.new_page()
            if begin:
                page.goto(begin)
            problems += [(name, width, scheme, one) for one in looked_at(page, act, f"{name}-{width}-{scheme}")]
    return problems


def looked_at(page: Page, act: Callable[[Page], str | None], name: str) -> list[str]:
    part = act(page)
    place = PICTURES / f"{name.replace(' ', '-')}.png"
    if part:
        page.locator(part).screenshot(path=place)
    else:
        page.screenshot(path=place, full_page=True)
    wide = not part and page.evaluate("document.documentElement.scrollWidth > innerWidth")
    rules = {
        "target-size": {"enabled": True},
        "meta-refresh": {"enabled": False},
    }  # the watcher's page tells what is now
    return [
        *["wider than the screen"] * wide,
        *page.evaluate(CUT, part),
        *page.evaluate(OVER, part),
        *page.evaluate(BROKEN, part),
        *barriers(page, part, rules),
    ]
