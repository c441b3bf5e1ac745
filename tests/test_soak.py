"""The soak finds nothing in a small class, and does find a score that is wrong."""

from __future__ import annotations

import dataclasses

import pytest

from bench import soak
from tests.conftest import SHORT


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Cell is missing an id field")
def test_a_small_soak_finds_a_score_that_is_not_exact_and_only_that(tmp_path):
    material = soak.make_course(tmp_path / "course", SHORT)
    entries = list(soak.baselines(material))
    baseline = {entry.made: entry.student for entry in entries}
    entries += [soak.make(material, number, 5) for number in range(4)]
    status, _, memory = soak.grade(material, tmp_path)
    assert status == 0
    assert memory
    assert list(soak.judge(material, entries, baseline)) == []
    honest = next(entry for entry in entries if entry.behaviour == "honest")
    wrong = dataclasses.replace(honest, least=99, most=99)
    (fault,) = soak.judge(material, [wrong], baseline)
    assert fault.startswith(f"{honest.student} (")
    assert "points instead of 99 to 99" in fault


def test_the_same_seed_makes_the_same_submission(released, tmp_path):
    (source,) = (released / "source" / SHORT).glob("*.ipynb")
    release = soak.nbformat.read(released / "release" / SHORT / source.name, as_version=4)
    answers = soak.read_answers(released / "answers" / SHORT)
    made = []
    for name in ("one", "two"):
        material = soak.Material(tmp_path / name, SHORT, source.name, soak.read_blueprint(source), release, answers)
        made.append([soak.make(material, number, 5) for number in (7, 8, 9)])
    assert made[0] == made[1]
    assert len({entry.made for entry in made[0]}) == 3
