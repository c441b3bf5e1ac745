from __future__ import annotations

import pytest

from tests.hostile import MARKDOWN
from viva.cleaning.mathematics import commands_in, unwelcome, without_commands

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


@pytest.mark.parametrize("name", ["commands", "definitions", "far away"])
def test_every_command_that_does_more_is_cut_in_two(name):
    page, removed = without_commands(MARKDOWN[name], frozenset())
    assert len(removed) >= 4
    assert unwelcome(page) == []
    assert page.replace("<span></span>", "") == MARKDOWN[name]


def test_a_link_in_a_formula_obeys_the_rules_for_links():
    assert unwelcome(r"\href{javascript:alert(1)}{x}") and unwelcome(r"\href{/formgrader}{x}") and unwelcome(r"\href x")
    assert not unwelcome(r"\href{https://numpy.org/a_b}{x}")


def test_a_command_that_the_instructor_uses_cannot_be_defined_anew():
    assert unwelcome(r"\newcommand{\attn}{0}", commands_in(r"$\attn(Q)$"))
    assert not unwelcome(r"\newcommand{\mine}{0}", commands_in(r"$\attn(Q)$"))
