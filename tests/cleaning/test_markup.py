from __future__ import annotations

import re
from html.parser import HTMLParser

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import hostile
from tests.conftest import PROJECT
from viva.cleaning.address import may_hear, may_link, may_show
from viva.cleaning.htmlpolicy import ATTRIBUTES, TAGS
from viva.cleaning.markup import PANDAS, clean_html, clean_markdown, rendered

FRAMES = {
    "numbers": pd.DataFrame({"a": [1, 2], "b": ["x < y", "z"]}),
    "long": pd.DataFrame({"a": range(100)}),
    "two heads": pd.DataFrame({("a", "x"): [1], ("b", "y"): [2]}),
}

SAME_HTML = [
    '<p style="color: red; text-align: center">x</p>',
    "<b>bold</b> <i>it</i> <sub>2</sub><br><hr>",
    '<table border="1" class="dataframe"><tbody><tr><th>a</th></tr><tr><td colspan="2">1</td></tr></tbody></table>',
    "<details><summary>more</summary>text</details>",
    '<ol start="3"><li>x</li></ol>',
    f'<img src="data:image/png;base64,{hostile.png(9, 9)}" alt="a" width="300">',
    "a &lt; b &amp; c",
    '<font color="red">x</font>',
]

SAME_MARKDOWN = [
    "# A heading\n\nText with **bold**, *italic*, `code <b>`, ~~not~~ and a [link](https://numpy.org/doc?a=1&b=2).",
    "a < b and c > d, x << 2, if n<m then <3",
    "| a | b |\n|---|:-:|\n| 1 | $x < y$ |",
    "```html\n<script>alert(1)</script>\n```\n\n    <b>indented</b>\n\n`<img src=x onerror=alert(1)>`",
    "```python\nx: List[int] = ['a', \"b\"]  # comment\nif a < b: pass\n```",
    "$$\\begin{align}\na &= b \\\\\nc &< d\n\\end{align}$$ and $\\frac{a}{b} < c_{ij}$",
    "> a quote\n\n1. one\n2. two\n   - three\n\n- [ ] open\n- [x] done\n\n---\n\nterm\n: definition",
    "<details><summary>More</summary>\n\nHidden **text**\n\n</details>\n\n<center>x</center> <br> y<br/>z <!-- c -->",
    "![figure](figure.png \"title\") https://numpy.org <https://numpy.org> ada@example.org",
    "\"quoted\" 'and' & &amp; &copy; ü 中文 שלום",
    "A footnote[^1], \\* escaped \\*, 5 * 3 * 2, snake_case_name, C:\\data\\class\\x",
    "",
]  # fmt: skip


class Inspector(HTMLParser):
    """Complains of every element and attribute that should not be there."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag, attributes):
        if tag not in TAGS:
            self.found.append(f"<{tag}>")
        for name, value in attributes:
            if name not in ATTRIBUTES["*"] | ATTRIBUTES.get(tag, set()) | {"rel"}:
                self.found.append(f"{name} of <{tag}>")
            if (name == "href" and not may_link(value)) or (
                name == "src" and not (may_show(value) if tag == "img" else may_hear(value))
            ):
                self.found.append(f"{name}={value}")
            if name == "style" and re.search(r"position|url|\(|margin|display|z-index", value.replace("rgb(", "")):
                self.found.append(f"style={value}")
        if tag == "input" and dict(attributes) | {"type": "checkbox", "disabled": ""} != dict(attributes):
            self.found.append("a field that is alive")

    def handle_decl(self, declaration):
        self.found.append(f"<!{declaration}>")

    handle_pi = unknown_decl = handle_comment = handle_decl


def dangers(page: str) -> list[str]:
    inspector = Inspector()
    inspector.feed(PANDAS.sub("", page))
    inspector.close()
    return inspector.found


@pytest.mark.parametrize("name", FRAMES)
def test_a_pandas_table_stays_byte_for_byte(name):
    page = FRAMES[name]._repr_html_()
    assert "<style scoped>" in page
    assert clean_html(page).text == page
    assert clean_html(page).removed == ()


@pytest.mark.parametrize("page", SAME_HTML)
def test_harmless_html_stays_byte_for_byte(page):
    assert (clean_html(page).text, clean_html(page).removed) == (page, ())


def test_a_link_stays_and_the_page_it_opens_knows_nothing_of_this_one():
    page = '<a href="https://numpy.org" target="_blank">x</a>'
    assert clean_html(page).text == page.replace(">x", ' rel="noopener noreferrer">x')
    assert clean_html(page).removed == ()


@pytest.mark.parametrize("source", SAME_MARKDOWN)
def test_harmless_markdown_stays_byte_for_byte(source):
    assert (clean_markdown(source).text, clean_markdown(source).removed) == (source, ())


def test_every_text_of_the_course_itself_is_harmless():
    import nbformat

    for path in [*PROJECT.glob("source/*/*.ipynb"), *PROJECT.glob("release/*/*.ipynb")]:
        for cell in nbformat.read(path, as_version=4).cells:
            if cell.cell_type == "markdown":
                assert clean_markdown(cell.source).text == cell.source


@pytest.mark.parametrize("source", ["List<int> and Dict<str, T>", "a <name> in brackets </name>"])
def test_angle_brackets_that_no_browser_knows_are_shown_as_typed(source):
    cleaned = clean_markdown(source)
    assert cleaned.removed == ()
    assert source.replace("<", "&lt;").replace(">", "&gt;") in cleaned.text
    assert rendered(cleaned.text, {}).strip() == cleaned.text


def test_an_attachment_is_shown_and_one_that_was_lost_is_named():
    there = {"a.png": {"image/png": hostile.png(9, 9)}}
    assert clean_markdown("![x](attachment:a.png)", there).text == "![x](attachment:a.png)"
    assert "not shown: x" in clean_markdown("![x](attachment:b.png)", there).text


@pytest.mark.parametrize("name", hostile.HTML)
def test_nothing_dangerous_is_left_of_hostile_html(name):
    cleaned = clean_html(hostile.HTML[name])
    assert dangers(cleaned.text) == []
    assert cleaned.removed or name in ("unfinished tag", "link to the opener")
    assert dangers(clean_html(cleaned.text).text) == []


@pytest.mark.parametrize("text", [*hostile.HTML.values(), *hostile.MARKDOWN.values()])
def test_nothing_dangerous_is_left_of_hostile_markdown_once_it_is_rendered(text):
    page = rendered(clean_markdown(text).text, {})
    assert dangers(re.sub("<!--[^<>-]*-->", "", page)) == []


def test_what_stands_beside_something_dangerous_is_shown_as_before():
    source = "**Bold** `code` $x^2$\n\n    indented\n\n    more\n\n<script>alert(1)</script>\n\n- a\n- b"
    cleaned = clean_markdown(source)
    page = rendered(cleaned.text, {})
    assert cleaned.removed == ("<script>",)
    for part in ("<strong>Bold</strong>", "<code>code</code>", "$x^2$", "indented&#10;\nmore", "<li>b</li>"):
        assert part in page
    assert "alert" not in page


PIECES = r"""<script> </script> <img src= onerror= alert(1) javascript: data: <a href= > < " ' ` = / <!-- --> ]]>
<![CDATA[ <svg> </svg> <math> <style> </style> <textarea> <title> <noscript> <iframe srcdoc= <b> </b> <p> </p> <table>
<td> <tr> $ $$ \( \[ ```mermaid ``` [x]( ) ![ ] <details ontoggle= style=" position:fixed url(x) &#106; &lt; &Tab; x
id= class= navbar-fixed-top files/ <input type=text autofocus <form> attachment:a \style{ } <div> </div> <pre> </pre>
<x-y> :""".split()
SPACES = ["\n", "\n\n", " ", "\t", "    ", "\x00"]
TYPED = st.lists(st.sampled_from(PIECES + SPACES) | st.text(max_size=3), max_size=25).map("".join)


@settings(max_examples=300, deadline=None)
@given(TYPED)
@pytest.mark.slow
def test_whatever_is_typed_nothing_dangerous_is_left(text):
    assert dangers(clean_html(text).text) == []
    cleaned = clean_markdown(text)
    assert dangers(re.sub("<!--[^<>-]*-->", "", rendered(cleaned.text, {}))) == []
