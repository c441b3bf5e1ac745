"""The conclusions of an audit's trials: the losses of known answers, the fates of mutants, the worth of checks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Mapping

from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import HIDDEN, Check
from viva.record import Fault
from viva.submission.variant import SEED
from viva.verdict import Verdict
from viva.wording import counted, listed
from viva_audit.auditresult import CheckScore, Fate, Proof
from viva_audit.checkname import CheckName, Ruling
from viva_audit.mutants import Mutant
from viva_audit.trials import Probe

ENDED = "it stopped Python twice"
"""The sentence for a trial without a result."""


def lost_by(trial: Probe | None) -> dict[CheckName, Ruling]:
    """The checks that a trial lost: none where nothing came of it."""
    return trial.lost if trial else {}


def proof_of(name: str, case: str, expected: list[CheckName], trial: Probe | None) -> Proof:
    """Whether a known answer lost what was ``expected`` of it."""
    if trial is None:
        return Proof(name, case, expected, {}, faults=[Fault(ENDED)])
    return Proof(name, case, expected, trial.lost, trial.seconds, list(trial.faults))


def explained(lost: dict[CheckName, Ruling], reasons: Mapping[str, str]) -> dict[CheckName, Ruling]:
    """What the solution lost, the first check of each cell with the reason that it has in one process."""
    left, rulings = dict(reasons), {}
    for check, ruling in lost.items():
        why = None if ruling.verdict is Verdict.UNGRADED else left.pop(check.cell, None)
        rulings[check] = Ruling(ruling.verdict, why) if why else ruling
    return rulings


def varied(name: str, case: str, expected: list[CheckName], trial: Probe | None, seed: int) -> list[str]:
    """What does not hold of a known answer in a variant, a sentence each; a wrong one may lose more there."""
    proof = proof_of(name, case, expected, trial)
    if case == "wrong":
        proof.lost = {check: ruling for check, ruling in proof.lost.items() if check in expected}
    return [f"With {SEED} = {seed}: {sentence}" for sentence in proof.sentences()]


def unnoticed(proof: Proof, blueprint: Blueprint) -> bool:
    """Whether only hidden lines may have noticed a wrong answer: every check that it loses has some."""
    return proof.case == "wrong" and bool(proof.lost) and checks_with_hidden_lines(blueprint).issuperset(proof.lost)


def checks_with_hidden_lines(blueprint: Blueprint) -> set[CheckName]:
    """The checks of a notebook that have hidden lines, or that fail where those before all checks of the cell do."""
    return {CheckName(cell.id, check.title) for cell, check in blueprint.checks() if has_hidden(cell, check)}


def unseen(fates: list[Fate]) -> list[str]:
    """A sentence on each group of mutants of one answer that the same hidden lines notice, and no visible line."""
    groups: dict[tuple, list[Fate]] = {}
    for fate in fates:
        if fate.surprise:
            groups.setdefault((fate.cell, *fate.killers), []).append(fate)
    return [
        f"Students cannot see why they fail: a wrong '{cell}' ({group[0].change}{_and_others(group)}) fails only "
        f"hidden lines of {listed(map(str, checks))}. Add an example like it to a visible check, or list the mutants "
        "in excused.toml."
        for (cell, *checks), group in groups.items()
    ]


def _and_others(group: list[Fate]) -> str:
    return f"; {counted(len(group) - 1, 'other mutant')}, too" if len(group) > 1 else ""


def passed_by_nonsense(degenerate: Mapping[CheckName, list[tuple[str, str]]]) -> list[str]:
    """A sentence on each check that passes though functions return the same nonsense for what students do not see."""
    sentences = []
    for check, answers in degenerate.items():
        cells = " and ".join(dict.fromkeys(f"'{cell}'" if cell else "all answers" for cell, _ in answers))
        forms = " or ".join(dict.fromkeys(form for _, form in answers))
        sentences.append(
            f"The check '{check}' passes when the functions of {cells} return {forms} for every input that is not "
            "in a visible line. Also compare the length or the shape."
        )
    return sentences


def warn(proof: Proof, reason: str, shown: Probe | None) -> list[str]:
    """Note what a wrong answer loses without a warning; a sentence if it gives a ``reason`` that it does not need.

    ``shown`` is what it came to with the lines that students see, if it was graded so.
    """
    proof.reason = reason
    if shown is not None and not shown.lost and not shown.faults:
        proof.unwarned = list(proof.lost)
    if reason and not proof.unwarned:
        return [f"The wrong answer {proof.name} fails a visible check; remove 'hidden: {reason}' from its docstring."]
    return []


def surprises(proofs: list[Proof], check: CheckName) -> list[str]:
    """The wrong answers that lose a check without a warning, and do not say why."""
    return [proof.name for proof in proofs if check in proof.unwarned and not proof.reason]


def unwarned(scores: list[CheckScore]) -> list[str]:
    """A sentence on each check that surprises the students who make a known mistake."""
    return [
        f"A student with the mistake {said(score.surprises)} passes all visible checks. Only hidden lines of the check "
        f"'{score.check}' find it. Add an example to a visible check, or give the reason in the "
        "docstring of that answer ('hidden: an attack')."
        for score in scores
        if score.surprises
    ]


def said(names: list[str]) -> str:
    """Some names in a sentence."""
    return " or ".join(f"'{name}'" for name in names)


def has_hidden(cell: Cell, check: Check) -> bool:
    """Whether a check fails where hidden lines do: its own, or those that stand before all checks of its cell."""
    return bool(HIDDEN.search(check.source) or HIDDEN.search(cell.prelude))


def misfires(untouched: Proof) -> list[str]:
    """A sentence on each check that an untouched notebook loses by neither a wrong answer nor an exception."""
    return [
        f"With an empty answer, the check '{check}' fails for the wrong reason: {ruling}"
        for check, ruling in untouched.lost.items()
        if ruling.verdict not in (Verdict.FAILED, Verdict.ERROR)
    ]


def fate_of(mutant: Mutant, trial: Probe | None) -> Fate:
    """What became of a mutant, as far as the checks say."""
    fate = Fate(mutant.cell, mutant.operator, mutant.change, mutant.diff, line=mutant.line, owner=mutant.owner)
    if trial is None:
        fate.note = ENDED
    elif trial.faults:
        fate.status, fate.note = "survived", f"the grader failed: {trial.faults[-1].what}"
    else:
        fate.killers = list(trial.lost)
        fate.status = "killed" if fate.killers else "survived"
    return fate


FORBIDDEN = re.compile(
    r"""\b(
        in[- ]place | unchanged | untouched | mutat\w* | modif\w+ | alter(s|ed|ing)? | a[ ]copy
        | (stays?|leaves?|left) .{0,30} (as|the[ ]same)\b
        | (not|without|never|nothing) .{0,20} chang\w+
    )""",
    re.IGNORECASE | re.VERBOSE,
)
"""How a notebook says that a function leaves its arguments as they are."""
OF_NUMBERS = ("np.squeeze(", "np.transpose(", "np.round(", "np.ravel(", "np.asarray(", "np.zeros_like(", "np.nan ")


def forgive(fates: list[Fate], kinds: Mapping[str, str], forbidden: bool) -> list[str]:
    """Excuse the survivors that may be right: a change of an array where the result is not one, by the ``kinds`` of
    results and values; and a changed argument, unless that is ``forbidden``. A sentence on each group."""
    groups: dict[tuple[str, str], list[Fate]] = {}
    for fate in fates:
        if fate.status != "survived":
            continue
        kind, new = kinds.get(fate.owner, "numbers"), fate.change.partition(" -> ")[2]
        if (
            kind != "numbers"
            and fate.operator in ("other result", "other value")
            and any(form in new for form in OF_NUMBERS)
        ):
            fate.note = f"the result is not an array of numbers, but of type {kind}"
        elif fate.operator == "changed argument" and not forbidden:
            fate.note = "the notebook does not say that the argument must stay the same"
        else:
            continue
        fate.status = "excused"
        groups.setdefault((fate.cell, fate.note), []).append(fate)
    return [
        f"{counted(len(group), 'mutant')} of '{cell}' passed every check and may be right, because {reason}. For "
        f"example: {group[0].change}"
        for (cell, reason), group in groups.items()
    ]


def compare(fate: Fate, comparison: dict | None, fates: list[Fate]) -> None:
    """Note what the comparison of a mutant with the solution said, and for a survivor the nearest check."""
    if comparison is None:
        comparison = {"state": "unproven", "note": "comparing the two stopped Python twice"}
    fate.note = comparison["note"]
    fate.status = {"equal": "equal", "unproven": "unproven"}.get(comparison["state"], "survived")
    fate.calls, fate.inputs = comparison.get("calls", 0), comparison.get("inputs", 0)
    fate.call, fate.right, fate.wrong = (comparison.get(name, "") for name in ("call", "right", "wrong"))
    if fate.status == "survived":
        near = Counter(
            check
            for neighbour in fates
            if neighbour.cell == fate.cell
            for check in neighbour.killers
            if neighbour.operator == fate.operator or len(neighbour.killers) < 3
        )
        fate.nearest = near.most_common(1)[0][0] if near else None


def flaky(checks: list[CheckName], runs: dict[str, list[Probe | None]]) -> list[str]:
    """A sentence on each check whose verdict differs between two ``runs`` of one text, by whose text it is."""
    sentences = []
    for check in checks:
        for who, trials in runs.items():
            verdicts = (trial.rulings[check].verdict for trial in trials if trial and check in trial.rulings)
            seen = list(dict.fromkeys(verdicts))
            if len(seen) > 1:
                sentences.append(
                    f"The check '{check}' does not always give the same result: of {len(trials)} runs of {who}, one "
                    f"was {seen[0]} and one was {seen[1]}. Set a seed for its random numbers. Do not use the clock "
                    "or an undefined order."
                )
                break
    return sentences


def scores_of(
    blueprint: Blueprint, without: Mapping[str, Container[CheckName]], fates: list[Fate], proofs: list[Proof]
) -> list[CheckScore]:
    """How much each check contributes, where by answer cell the checks are known that are lost ``without`` it."""
    counted, scores = _counted(fates), []
    for cell, check in blueprint.checks():
        name = CheckName(cell.id, check.title)
        needs = [answer for answer, checks in without.items() if name in checks]
        score = CheckScore(name, check.points, check.hidden, needs)
        reach = [fate for fate in counted if fate.cell in needs]
        score.mutants = len(reach)
        score.kills = sum(name in fate.killers for fate in reach)
        score.alone = sum(fate.killers == [name] for fate in reach)
        score.surprises = surprises(proofs, name)
        scores.append(score)
    return scores


def together(scores: list[CheckScore], fates: list[Fate], proofs: list[Proof]) -> list[list[CheckName]]:
    """The checks that notice the same mutants and the same wrong answers, wherever there are several."""
    patterns: dict[tuple, list[CheckName]] = {}
    wrong = [proof.lost for proof in proofs if proof.case == "wrong"]
    for score in scores:
        seen = (*(score.check in fate.killers for fate in _counted(fates)), *(score.check in lost for lost in wrong))
        patterns.setdefault(seen, []).append(score.check)
    return [checks for checks in patterns.values() if len(checks) > 1]


def _counted(fates: list[Fate]) -> list[Fate]:
    """The mutants that are neither equal to the solution nor excused."""
    return [fate for fate in fates if fate.status in ("killed", "survived")]
