"""The audit's page can be read on a phone, in the dark, on paper, with a keyboard and a screen reader."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup

from tests.browser import CONTRAST, barriers, print_problems
from viva_audit.auditpage import page
from viva_audit.auditresult import Audit, CheckScore, Fate, Proof
from viva_audit.checkname import CheckName

pytestmark = pytest.mark.xdist_group("browser")

LONG = "x" * 300
GIVEN, SIZES = CheckName("test_attend", "the given example"), CheckName("test_attend", "other sizes")
DIFF = f"@@ -1,2 +1,2 @@\n def attend(x):\n-    return softmax({LONG})\n+    return softmax({LONG}.T)"
AUDIT = Audit(
    assignment="ps9_long_names",
    notebook="a_notebook_with_a_very_long_name_that_does_not_break",
    proofs=[Proof("right/one", "right", [], {}), Proof("wrong/two", "wrong", [GIVEN], {})],
    fates=[
        Fate(
            "attend",
            "dropped transpose",
            f"{LONG} -> {LONG}.T",
            DIFF,
            "survived",
            nearest=SIZES,
            note="<b>",
            line=2,
            number=1,
            call=f"attend({LONG})",
            right="array([[1., 2.]])",
            wrong="array([[2., 1.]])",
        ),
        Fate("attend", "other axis", "axis=0 -> axis=1", DIFF, "survived", note="another result", line=2, number=2),
        Fate(
            "attend",
            "other axis",
            "axis=0 -> axis=2",
            DIFF,
            "unproven",
            note="attend: the solution is slow",
            line=1,
            number=3,
        ),
        Fate("attend", "other axis", "axis=0 -> axis=1", DIFF, "killed", [GIVEN]),
        Fate("attend", "other axis", "axis=0 -> axis=1", DIFF, "equal", note="of one element"),
        Fate("attend", "other axis", "axis=0 -> axis=1", DIFF, "excused", note="taught later"),
    ],
    scores=[CheckScore(GIVEN, 2.5, True, ["attend"], 1, 2, 1)],
    together=[[GIVEN, SIZES]],
    kinds={"attend()": "float64 array", LONG: "any"},
    alone={"attend": [SIZES], LONG: []},
    remarks=["A remark."],
    untold=["a line"],
    solutions={"attend": f"def attend(x):\n    return softmax({LONG})", "unread": "x = 1"},
    unseen={"unread": "Cell 'unread': no check tests this answer."},
)


@pytest.fixture
def written(tmp_path):
    path = tmp_path / "audit.html"
    path.write_text(page(AUDIT), encoding="utf-8")
    return path


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.slow
def test_the_page_is_no_wider_than_the_screen_and_all_text_stands_out(browser, written, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened = context.new_page()
    opened.goto(written.as_uri())
    opened.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert opened.evaluate("document.documentElement.scrollWidth") <= width
    assert opened.evaluate(CONTRAST) == []
    assert barriers(opened) == []
    context.close()


@pytest.mark.slow
def test_on_paper_nothing_is_folded_dark_or_cut_off(browser, written):
    opened = browser.new_page()
    opened.goto(written.as_uri())
    assert print_problems(opened) == []
    opened.close()


def test_what_scrolls_has_a_name_of_its_own_and_can_be_reached_by_keyboard(written):
    html = BeautifulSoup(written.read_text(encoding="utf-8"), "html.parser")
    regions = html.select("pre, .scroll")
    assert all(region["tabindex"] == "0" and region["role"] == "region" for region in regions)
    names = [region["aria-label"] for region in regions]
    assert len(names) == len(set(names)) > 5
    assert [child.name for child in html.body.find_all(recursive=False)] == ["main"]
