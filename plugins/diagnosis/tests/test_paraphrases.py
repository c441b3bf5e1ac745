"""The proof: known wrong answers in other words get their names, and no right answer gets one.

An answer can stay without a name: it does nothing, its results are errors or constants, or its values are whole numbers
that many mistakes have.
"""

from __future__ import annotations

import dataclasses

import pytest

from plugins.diagnosis.tests.paraphrase import paraphrased, restyled
from tests.conftest import PROJECT
from tests.oral import thinned
from viva.course.examining.graders import new_grader
from viva.course.examining.rehearsals import Rehearsals
from viva.engine import libraries
from viva.engine.blueprint import read_notebook
from viva_audit.answers import Section
from viva_diagnosis import fingerprints
from viva_diagnosis.fingerprints import Making
from viva_diagnosis.probing import probed
from viva_diagnosis.recognition import Reference, recognise

pytestmark = pytest.mark.timeout(1800)

BLANK = {"untouched", "only_the_first_answers", "name_misspelt", "misspelt_name", "placeholder_left"}
NAMED = {
    "ps1_general_attention": 31,
    "ps2_self_attention": 32,
    "ps3_scaled_attention": 34,
    "ps4_multihead": 25,
    "ps5_sentence": 28,
    "ps6_transformer_block": 48,
    "ps7_decoder": 38,
    "ps8_first_gradient": 20,
    "ps9_backward": 31,
    "ps10_training": 26,
}
"""By assignment, how many of its wrong answers in other words get their name."""
RESTYLED = {
    "ps1_general_attention": 31,
    "ps2_self_attention": 32,
    "ps3_scaled_attention": 32,
    "ps4_multihead": 25,
    "ps5_sentence": 28,
    "ps6_transformer_block": 48,
    "ps7_decoder": 38,
    "ps8_first_gradient": 20,
    "ps9_backward": 31,
    "ps10_training": 26,
}
"""The same for the other style."""
OWN_WORDS = {
    "ps3_scaled_attention": {
        "softmax_along_rows": """def weigh(scores):
    out = []
    for row in np.array(scores):
        powers = [np.exp(value - max(row)) for value in row]
        out.append([power / sum(powers) for power in powers])
    return np.array(out)

def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    columns = [X[:, [n]] for n in range(X.shape[1])]
    q, k, v = ([b + o @ c for c in columns] for o, b in ((omega_q, beta_q), (omega_k, beta_k), (omega_v, beta_v)))
    A = weigh([[(one.T @ two).item() for two in q] for one in k])
    return np.hstack(v) @ A, A
""",
        "bias_forgotten": """def self_attention(X, omega_v, omega_q, omega_k, beta_v, beta_q, beta_k):
    scores = (omega_k @ X).T @ (omega_q @ X)
    shifted = np.exp(scores - scores.max(axis=0))
    weights = shifted / np.sum(shifted, axis=0, keepdims=True)
    return np.einsum("di,ij->dj", omega_v @ X, weights), weights
""",
    },
}
"""By assignment and mistake, the first function as another person would write it."""


def test_four_of_five_wrong_answers_of_the_course_get_their_name():
    wrong = [path for path in (PROJECT / "answers").glob("*/wrong/*.py") if path.stem not in BLANK]
    assert sum(NAMED.values()) >= 0.8 * (len(wrong) + sum(map(len, OWN_WORDS.values())))


@pytest.mark.parametrize("assignment", thinned(NAMED, 10))
def test_wrong_answers_in_other_words_get_their_name_and_right_ones_none(assignment):
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    grader = new_grader(10.0, False, 2048, libraries=libraries.wanted([source]))
    try:
        examination = Rehearsals().examination(source, grader)
        release = read_notebook(PROJECT / "release" / assignment / source.name)
        making = Making(grader, release, examination, source.parent)
        answers = fingerprints.answers_of(PROJECT / "answers" / assignment, examination)
        probes, right = making.probes()
        mistakes = [
            making.mistake(answer.name, answer.name, "", making.known(answer), probes, right)
            for answer in answers
            if not answer.right
        ]
        reference = Reference.of(fingerprints.assembled(making, probes, right, [one for one in mistakes if one]))
        spots = [spot.cell for spot in making.spots]

        def names(answer) -> list[list[str]]:
            notebook = making.known(answer)
            behaviour = probed(grader, notebook, examination, reference.fingerprints.probes(), spots, source.parent)
            return [one.mistakes for one in recognise(reference, notebook, examination, behaviour, spots)[0]]

        assert {answer.name: names(answer) for answer in answers if answer.right and names(answer)} == {}
        variations = [
            (answer.name, in_other_words(answer)) for answer in answers if not answer.right and answer.name not in BLANK
        ]
        by_name = {answer.name: answer for answer in answers}
        for name, text in OWN_WORDS.get(assignment, {}).items():
            first = next(iter(by_name[name].sections))
            rest = {"*": Section("solution", "")}
            variations.append(
                (name, dataclasses.replace(by_name[name], sections={first: Section("code", text)} | rest))
            )
        recognised = [(name, names(answer)) for name, answer in variations]
        in_style = [
            (answer.name, names(in_other_words(answer, restyled)))
            for answer in answers
            if not answer.right and answer.name not in BLANK
        ]
    finally:
        grader.close()
    everything = [*recognised, *in_style]
    assert [(name, groups) for name, groups in everything if any(name not in group for group in groups)] == []
    assert sum(bool(groups) for _, groups in in_style) >= RESTYLED[assignment]
    silent = [name for name, groups in recognised if not groups]
    assert len(recognised) - len(silent) >= NAMED[assignment], silent


def in_other_words(answer, words=paraphrased):
    """A known answer whose code is written otherwise."""
    sections = {
        cell: dataclasses.replace(section, source=words(section.source)) if section.type == "code" else section
        for cell, section in answer.sections.items()
    }
    return dataclasses.replace(answer, sections=sections)
