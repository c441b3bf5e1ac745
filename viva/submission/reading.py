"""A submission becomes the assignment's notebooks, cell by cell, or a reason why there are none.

    handin    the files that may be notebooks, by name
    salvage   the bytes of a file -> cells
    matching  which cell is which cell of the assignment
    repair    the assignment's cells in the assignment's order

Each step notes what it had to repair; a submission that needed nothing has no notes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nbformat import NotebookNode

from viva import wording
from viva.record import Note, note
from viva.submission.cells.handout import Shipped
from viva.submission.cells.places import Released
from viva.submission.cells.repair import Repaired, repair
from viva.submission.cells.texts import NAME
from viva.submission.files.contents import Handed
from viva.submission.files.handin import SHOWN, Finding, find, of_file, reason_of, shortened
from viva.submission.files.salvage import PICTURE, other_file, read
from viva.submission.files.sizes import limited
from viva.submission.submission import Submission
from viva.submission.variant import Meant, Seeds, seeded
from viva.verdict import SubmissionError

MOST_TRIED = 10
"""The most files that are read in search of a notebook."""
LITTLE = 0.25
"""Less of the assignment than this in a file of another name, and the file is something else,"""
MOST = 0.5
"""unless more of its answers than this are in it, whoever's cells they stand among."""
MOST_LOOKED_AT = 2**22
"""Bytes that are looked at of a file beside a blank notebook."""


@dataclass
class Opened:
    """A submission's notebooks by name, repaired, with the repairs of each; or the ``reasons`` why there are none."""

    notebooks: dict[str, NotebookNode] = field(default_factory=dict)
    repairs: dict[str, list[Note]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    reasons: tuple[Note, ...] = ()
    seeds: dict[str, int] = field(default_factory=dict)
    """By notebook, the seed of the variant that it is graded as, where the assignment has variants. It is put in when
    the notebook is examined: before that nbgrader puts the text back that everybody's release has."""
    integrity: dict[str, list[Note]] = field(default_factory=dict)
    """By notebook, what a grader should know of its time and its variant."""

    @property
    def problem(self) -> str:
        """The reasons as a sentence."""
        return wording.joined(self.reasons)


@dataclass(frozen=True)
class _Candidate:
    handed: Handed
    repaired: Repaired
    exact: bool
    meant: Meant

    @property
    def fits(self) -> bool:
        return self.repaired.fit >= LITTLE or self.repaired.share_given > MOST


def open_submission(
    submission: Submission,
    releases: Mapping[str, Released],
    shipped: Shipped | None = None,
    seeds: Seeds | None = None,
) -> Opened:
    """Find, read and repair the notebooks of a submission."""
    finding = find(submission, set(releases))
    return Opened(reasons=finding.reasons) if finding.reasons else open_notebooks(finding, releases, shipped, seeds)


def open_notebooks(
    finding: Finding, releases: Mapping[str, Released], shipped: Shipped | None = None, seeds: Seeds | None = None
) -> Opened:
    """Read and repair the notebooks of a submission; ``releases`` are the released ones, by name.

    Those that were ``shipped`` with the assignment are none. An assignment with variants has ``seeds``.
    """
    try:
        with limited():
            return _open(finding, releases, shipped, seeds)
    except SubmissionError as error:
        return Opened(reasons=(Note("of_submission", because=reason_of(error)),))


def _open(finding: Finding, releases: Mapping[str, Released], shipped: Shipped | None, seeds: Seeds | None) -> Opened:
    opened = Opened()
    complaints: list[Note] = []
    left_out: list[Note] = []
    read_files: dict[Handed, tuple[NotebookNode, list[Note]] | None] = {}
    unread: list[Handed] = []
    graded: set[Handed] = set()
    for name in sorted(finding.files):
        fitting: list[_Candidate] = []
        for handed in finding.files[name][:MOST_TRIED]:
            if handed in graded:
                continue
            if handed not in read_files:
                settled = any(candidate.exact and candidate.repaired.answered for candidate in fitting)
                content = _read(handed, [] if settled else complaints)
                if settled and content is None:
                    continue  # whatever else lies there, nobody misses it
                unread += [handed] if content is None else []
                if content and _was_shipped(handed, shipped, handed.name == f"{name}.ipynb", content[0]):
                    left_out.append(note("shipped_file", handed.name))
                    content = None
                read_files[handed] = content
            if content_of := read_files[handed]:
                notebook, repairs = content_of
                meant = seeds.meant(notebook, releases[name]) if seeds else Meant(releases[name])
                repaired = repair(notebook, meant.released)
                repaired.repairs[:0] = repairs
                fitting.append(_Candidate(handed, repaired, handed.name == f"{name}.ipynb", meant))
        best = _best(fitting)
        if best:
            graded.add(best.handed)
            if rival := _rival(best, fitting):
                every = releases[name].graded
                best.repaired.repairs.append(note("rival", rival.handed.name, doubt=True, tests=every))
            if not best.exact:
                best.repaired.repairs.insert(0, note("graded_as", best.handed.name, name))
            if not best.repaired.answered:
                best.repaired.repairs.extend(_beside_blank(finding.beside, unread, shipped, releases[name]))
            if best.repaired.fit < 0.1:
                best.repaired.repairs.insert(0, Note("hardly", doubt=True))
            opened.notebooks[name], opened.repairs[name] = best.repaired.notebook, best.repaired.repairs
            if best.meant.seed is not None and best.meant.default is not None:
                opened.seeds[name] = best.meant.seed
                opened.notebooks[name] = seeded(best.repaired.notebook, best.meant.default)
            opened.integrity[name] = [*finding.facts, *([best.meant.note] if best.meant.note else [])]
        else:
            complaints += [note("too_little", rest.handed.name, f"{name}.ipynb") for rest in fitting]
    if not opened.notebooks:
        opened.reasons = (*complaints, *left_out) or (Note("no_notebook"),)
        return opened
    missing = [name for name in sorted(finding.files) if name not in opened.notebooks]
    opened.notes = [f"{name}.ipynb was not submitted" for name in missing]
    opened.notes += wording.sentences(complaints)
    ungraded = {handed for files in finding.files.values() for handed in files if handed not in graded}
    strays = {handed.name for handed in ungraded if not handed.kept}
    same = [_sources(content) for handed, content in read_files.items() if content and handed in graded]
    strays -= {handed.name for handed, content in read_files.items() if content is None or _sources(content) in same}
    if strays:
        opened.notes.append(f"also submitted, not graded: {shortened(sorted(strays))}")
    return opened


def _read(handed: Handed, complaints: list[Note]) -> tuple[NotebookNode, list[Note]] | None:
    try:
        return read(handed.read())
    except SubmissionError as error:
        complaints.append(of_file(handed.name, error))
        return None


def _was_shipped(handed: Handed, shipped: Shipped | None, exact: bool, content: NotebookNode) -> bool:
    """Whether a file was released beside the assignment's notebooks, or is one of those, saved again."""
    if not shipped or not shipped.digests:
        return False
    return shipped.has_file(handed.read()) or (not exact and shipped.has_notebook(content))


def _beside_blank(
    beside: tuple[Handed, ...], unread: list[Handed], shipped: Shipped | None, release: Released
) -> list[Note]:
    """Notes about the files beside a notebook without answers; each may hold the answers."""
    answers = set().union(*(slot.own for slot in release.slots if slot.answers))
    shipped_names = shipped.names if shipped else set()
    files = [*unread, *(handed for handed in beside if _may_hold(handed, answers))]
    files = [handed for handed in files if handed.name not in shipped_names and not handed.kept]
    return [note("beside_blank", handed.name, doubt=True, tests=release.graded) for handed in files[:SHOWN]]


def _may_hold(handed: Handed, answers: set[str]) -> bool:
    """Whether a file that is not a notebook may hold answers: it speaks of what they give, or nobody here reads it."""
    head = handed.head(MOST_LOOKED_AT)
    if kind := other_file(head):
        return kind != PICTURE
    text = head.replace(b"\0", b"").decode("utf-8", errors="replace")
    return not answers.isdisjoint(NAME.findall(text))


def _sources(content: tuple[NotebookNode, list[Note]]) -> list[str]:
    return [cell.source for cell in content[0].cells]


def _best(candidates: list[_Candidate]) -> _Candidate | None:
    """The first with answers in it, else the first."""
    fitting = [candidate for candidate in candidates if candidate.exact or candidate.fits]
    answered = [candidate for candidate in fitting if candidate.repaired.answered]
    return next(iter(answered or fitting), None)


def _rival(best: _Candidate, candidates: list[_Candidate]) -> _Candidate | None:
    """Another file with as many answers, not all of them the same; what Jupyter saved by itself is older."""
    sources = [cell.source for cell in best.repaired.notebook.cells]
    for candidate in candidates:
        enough = candidate.fits and candidate.repaired.answered >= max(1, best.repaired.answered)
        candidate_sources = [cell.source for cell in candidate.repaired.notebook.cells]
        if enough and candidate_sources != sources and not candidate.handed.kept:
            return candidate
    return None
