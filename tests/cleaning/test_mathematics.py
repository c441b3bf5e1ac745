from __future__ import annotations

import re

import pytest
from bs4 import BeautifulSoup

from tests.hostile import HONEST, MARKDOWN
from viva.cleaning.mathematics import TOO_MUCH, commands_in, unwelcome, without_commands

HARMLESS = [
    r"$\frac{QK^\top}{\sqrt{d_k}}$ and $a < b$",
    r"$$\begin{aligned} x &= y \\ z &= \text{softmax}(w) \\[2pt] u \end{aligned}$$",
    r"$\newcommand{\R}{\mathbb{R}} \R^n$ $\def\softmax{\operatorname{softmax}}\softmax$",
    r"$a\hspace{1em}b\kern 2pt c\mkern3mu$ $\href{https://numpy.org}{x}$",
    r"a path C:\data\class\style without a formula",
    r"<code>$\style{x}{y}$</code> and <pre>$\require{html}$</pre>",
]


@pytest.mark.parametrize("page", HARMLESS)
def test_formulas_that_only_typeset_and_texts_that_are_none_stay(page):
    assert without_commands(page, frozenset()) == (page, [])


@pytest.mark.parametrize(
    "name",
    "commands,definitions,far away,tokens,out of its place,names without a backslash,what macros are made of".split(
        ","
    ),
)
def test_every_command_that_does_more_is_cut_in_two(name):
    page, removed = without_commands(MARKDOWN[name], frozenset())
    assert len(removed) >= 3
    assert unwelcome(page) == []
    assert page.replace("<span></span>", "") == MARKDOWN[name]


@pytest.mark.parametrize("formula", HONEST)
def test_honest_formulas_stay_as_they_are(formula):
    assert without_commands(formula.replace("&", "&amp;"), frozenset()) == (formula.replace("&", "&amp;"), [])


@pytest.mark.parametrize(
    "name", ["deep formula", "deep formula across lines", "deep brackets", "long formula", "steps to the left"]
)
def test_no_formula_of_a_text_that_would_keep_a_browser_busy_is_left_whole(name):
    page, removed = without_commands(f"$x$ {MARKDOWN[name]}", frozenset())
    assert removed == [TOO_MUCH]
    seen = BeautifulSoup(page, "html.parser")
    for code in seen.find_all("code"):
        code.decompose()
    assert "$" not in seen.text
    assert without_commands(page, frozenset()) == (page, [])
    assert re.sub("</?code>", "", page) == f"$x$ {MARKDOWN[name]}"
    assert TOO_MUCH in unwelcome(MARKDOWN[name].replace("<br>", ""))


@pytest.mark.parametrize(
    "page",
    [
        "<p>" + "word " * 700 + "$x$ " + "word " * 700 + "</p>",
        "<table>" + "<tr><td>$5 {a}</td></tr>" * 5000 + "</table>",
        r"<p>$$\begin{pmatrix}" + r"1 &amp; 2 &amp; 3 \\" * 100 + r"\end{pmatrix}$$</p>",
        "<p>" + r"$\frac{a_{i}}{b_{j}}$ " * 200 + "</p>",
        "<p>{" + "<br>{" * 100 + "</p>",
    ],
)
def test_long_texts_tables_and_derivations_are_left_alone(page):
    assert without_commands(page, frozenset()) == (page, [])


def test_a_label_of_the_instructors_cannot_be_taken():
    taken = commands_in(r"\begin{equation}\label{honest} E \end{equation}")
    text = r"\begin{equation}\label{honest} x \end{equation}"
    assert without_commands(text, taken)[0] == text.replace(r"\label", r"\<span></span>label")
    assert unwelcome(text, taken) and not unwelcome(text)


def test_a_link_in_a_formula_obeys_the_rules_for_links():
    assert unwelcome(r"\href{javascript:alert(1)}{x}") and unwelcome(r"\href{/formgrader}{x}") and unwelcome(r"\href x")
    assert not unwelcome(r"\href{https://numpy.org/a_b}{x}")


def test_a_command_that_the_instructor_uses_cannot_be_defined_anew():
    assert unwelcome(r"\newcommand{\attn}{0}", commands_in(r"$\attn(Q)$"))
    assert not unwelcome(r"\newcommand{\mine}{0}", commands_in(r"$\attn(Q)$"))
