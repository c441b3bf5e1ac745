"""Writes the pages of the documentation site that are derived from the code, into ``docs/generated/``."""

from __future__ import annotations

import ast
import difflib
import hashlib
import os
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePosixPath

import nbformat
from traitlets.config import Configurable
from traitlets.utils.importstring import import_item

from viva import wording
from viva.cli import STATUSES, flow
from viva.commands.command import VivaCommand
from viva.course.examining.graders import new_grader
from viva.engine.blueprint import Blueprint, Cell
from viva.engine.checks import HIDDEN
from viva.engine.outcome import Outcome
from viva.engine.rehearsal import rehearse
from viva.sandbox.protection import protection
from viva.verdict import Verdict
from viva_audit.answers import Answer, fill_in, read_answers

PROJECT = Path(__file__).resolve().parents[1]
SECONDS, MEMORY = 30.0, 2048
"""For a cell of a wrong answer, and megabytes for its process."""
EXPLAINED = {
    "viva/engine/README.md": "engine",
    "viva/submission/README.md": "submission",
    "viva/course/README.md": "course",
    "plugins/scale/viva_scale/README.md": "scale-design",
    "plugins/term/viva_term/README.md": "term-design",
    "viva/sandbox/README.md": "sandbox",
    "plugins/audit/viva_audit/README.md": "audit",
    "viva/pages/README.md": "pages",
    "plugins/gradescope/viva_gradescope/README.md": "gradescope-container",
    "plugins/lti/viva_lti/README.md": "lti-design",
    "plugins/ml/viva_ml/README.md": "ml-design",
    "plugins/diagnosis/viva_diagnosis/README.md": "diagnosis-design",
    "CONTRIBUTING.md": "contributing",
    "CHANGELOG.md": "changelog",
    "bench/RESULTS.md": "measurements",
}
"""Pages that lie elsewhere in the repository, and what they are called in the site."""
SITE = {path: PurePosixPath("docs/generated") / f"{name}.md" for path, name in EXPLAINED.items()}
SITE["README.md"] = PurePosixPath("docs/index.md")  # which includes its first screen
HOME = {str(SITE[path]): PurePosixPath(path).parent for path in EXPLAINED}


def write(folder: Path) -> None:
    """Write all generated pages into a folder; those that are the same stay as they are."""
    folder.mkdir(exist_ok=True)
    pages = {f"{name}.md": (PROJECT / path).read_text(encoding="utf-8") for path, name in EXPLAINED.items()}
    pages |= {"commands.md": commands(), "configuration.md": configuration(), "make.md": targets()}
    names = sorted(path.parent.name for path in (PROJECT / "answers").glob("*/wrong"))
    files = [f"wrong-{name.replace('_', '-')}.md" for name in names]
    with ProcessPoolExecutor(2) as pool:
        pages |= dict(zip(files, pool.map(wrong_answers, names, [folder / file for file in files]), strict=True))
    pages["wrong-answers.md"] = _index_of_wrong_answers(sorted(name for name in pages if name.startswith("wrong-ps")))
    for old in set(folder.glob("*.md")) - {folder / name for name in pages}:
        old.unlink()
    for name, text in pages.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def anchor(title: str) -> str:
    """The anchor of a heading, as repository browsers make it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def commands_of_the_flow() -> list[tuple[str, tuple[str, str]]]:
    """Each command's name, with its class and its description."""
    return [command for known in flow().values() for command in known.items()]


def commands() -> str:
    """Every command with its options and examples, as its own --help has them."""
    lines = [
        "# Commands",
        "",
        "`viva COMMAND --help` prints the same. Assignments are named by their whole name or by its beginning; without "
        "a name a command takes all of them. Each command also takes nbgrader's usual options (`--help-all`).",
        "",
        *("    " + line for line in STATUSES.splitlines()),
        "",
    ]
    for part, known in flow().items():
        lines += [f"## {part}", ""]
        for name, (place, description) in known.items():
            lines += [*_command(name, import_item(place), description), ""]
    return "\n".join(lines)


def _command(name: str, command: type[VivaCommand], description: str) -> Iterator[str]:
    yield from (f"### viva {name}", "", description, "")
    if examples := command.examples.strip("\n"):
        yield from ("```console", *(f"$ {line.strip()}" for line in examples.splitlines() if line.strip()), "```", "")
    usual = {*VivaCommand.aliases, *VivaCommand.flags}
    for option in sorted({*command.aliases, *command.flags} - usual):
        if len(option) > 1:
            yield f"- `--{option}{'' if option in command.flags else '=...'}`: {_help(command, option)}"


def _help(command: type[VivaCommand], option: str) -> str:
    if option in command.flags:
        return command.flags[option][1]
    alias = command.aliases[option]
    section, _, trait = (alias[0] if isinstance(alias, tuple) else alias).partition(".")
    owners = {cls.__name__: cls for cls in (*command.mro(), *getattr(command, "settings", ()))}
    found = getattr(owners.get(section), trait, None)
    return (found.help if found is not None else "") or f"sets `{section}.{trait}`"


def configuration() -> str:
    """Every setting of Viva's own classes, as nbgrader_config.py may hold it."""
    lines = [
        "# Configuration",
        "",
        "A course has one file, `nbgrader_config.py`. Its first lines apply Viva's rules; what stands below overrides "
        "them. nbgrader's own settings are described in its documentation.",
        "",
        "```python",
        "from viva import configuration",
        "configuration.apply(c, __file__)",
        "```",
        "",
    ]
    classes: dict[str, type[Configurable]] = {}
    for known in flow().values():
        for place, _ in known.values():
            command = import_item(place)
            classes |= {
                cls.__name__: cls
                for cls in (command, *getattr(command, "settings", ()))
                if cls.__module__.partition(".")[0].split("_")[0] == "viva"
            }
    for name, cls in sorted(classes.items()):
        own = cls.class_own_traits(config=True)
        if not own:
            continue
        lines += [f"## {name}", "", " ".join((cls.__doc__ or "").split("\n\n")[0].split()), ""]
        lines += ["| setting | default | meaning |", "|---|---|---|"]
        for trait in sorted(own):
            about = " ".join(own[trait].help.split()).replace("|", "\\|") or "nbgrader's setting, with Viva's default."
            lines.append(f"| `c.{name}.{trait}` | `{own[trait].default_value_repr()}` | {about} |")
        lines.append("")
    return "\n".join(lines)


def targets() -> str:
    """What `make` prints, as a table."""
    text = (PROJECT / "Makefile").read_text(encoding="utf-8")
    found = re.findall(r"^([a-z-]+):[^#\n]*## (.*)$", text, re.MULTILINE)
    rows = [f"| `make {name}` | {about.replace('|', chr(92) + '|')} |" for name, about in found]
    return "\n".join(
        ["# Make targets", "", "`make` alone prints this list.", "", "| target | result |", "|---|---|", *rows]
    )


def wrong_answers(assignment: str, old: Path) -> str:
    """The known mistakes of an assignment: what each is, the checks that it loses, and the reason a student reads.

    Every answer is graded by the engine, unless the page ``old`` was made from the same files, or FAST is set.
    """
    if os.environ.get("FAST"):
        return old.read_text(encoding="utf-8") if old.is_file() else f"# {assignment}\n\nNot graded: FAST=1 was set.\n"
    (source,) = (PROJECT / "source" / assignment).glob("*.ipynb")
    release = PROJECT / "release" / assignment / source.name
    files = [source, release, *sorted((PROJECT / "answers" / assignment).rglob("*.py")), Path(__file__)]
    mark = f"% made from {hashlib.sha256(b''.join(path.read_bytes() for path in files)).hexdigest()}"
    if old.is_file() and (text := old.read_text(encoding="utf-8")).startswith(mark):
        return text
    wrong = [answer for answer in read_answers(PROJECT / "answers" / assignment) if not answer.right]
    print(f"{assignment}: grading {len(wrong)} wrong answers. 'make docs FAST=1' leaves this out.", flush=True)
    lines = [mark, "", f"# {assignment}: {len(wrong)} wrong answers", ""]
    lines += [
        "Each was graded. First come its lines beside those of the solution: - right, + wrong. Then comes each check "
        "that it loses, with the reason that a student reads. *(hidden)* stands where no visible line notices it.",
        "",
    ]
    grader = new_grader(SECONDS, protection().level == "none", MEMORY)
    try:
        known, text = rehearse(source, grader, source.parent), nbformat.read(release, as_version=4)
        shown = replace(known, blueprint=replace(known.blueprint, cells=tuple(map(_visible, known.blueprint.cells))))
        for answer in wrong:
            notebook = fill_in(answer, text, known.blueprint)
            outcome, visible = (grader.grade(notebook, one, source.parent) for one in (known, shown))
            lines += [f"## {answer.name.replace('_', ' ')}", "", answer.summary, ""]
            lines += [*_difference(answer, known.blueprint), *_lost(outcome, visible), ""]
    finally:
        grader.close()
    return "\n".join(lines)


def _visible(cell: Cell) -> Cell:
    """A test cell as students have it; other cells stay as they are."""
    checks = tuple(replace(check, source=HIDDEN.sub("", check.source)) for check in cell.checks)
    return replace(cell, source=HIDDEN.sub("", cell.source), prelude=HIDDEN.sub("", cell.prelude), checks=checks)


def _difference(answer: Answer, blueprint: Blueprint) -> Iterator[str]:
    """The lines of a wrong answer beside those of the solution, without comments and docstrings."""
    for name, solution in blueprint.solutions().items():
        section = answer.sections.get(name)
        if section is None or section.type != "code":
            continue
        lines = list(difflib.unified_diff(_statements(solution), _statements(section.source), n=0, lineterm=""))[2:]
        if lines := [line for line in lines if not line.startswith("@@")]:
            yield from (f"`{name}`:", "", "```diff", *lines, "```", "")


def _statements(source: str) -> list[str]:
    """The lines of a text as Python writes them again: without comments, docstrings and ways of breaking lines."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node) and len(node.body) > 1:
            del node.body[0]
    return ast.unparse(tree).splitlines()


def _lost(outcome: Outcome, visible: Outcome) -> Iterator[str]:
    """A line for each lost check; where all are lost, one for all of them.

    The reason is that of the visible lines, if they notice the mistake.
    """
    seen = {(cell, one.title): one for cell, results in visible.checks.items() for one in results}
    every = [(cell, one) for cell, results in outcome.checks.items() for one in results]
    lost = [(cell, one) for cell, one in every if one.verdict is not Verdict.PASSED]
    if len(lost) == len(every):
        yield f"It loses all {len(lost)} checks, at first:"
        yield ""
        lost = lost[:1]
    for cell, one in lost:
        noticed = seen[cell, one.title].verdict is not Verdict.PASSED
        reason = wording.reason(seen[cell, one.title] if noticed else one) or "The check does not say why."
        yield f"- `{cell}`, {one.title}{'' if noticed else ' (hidden)'}: *{_plain(reason)}*"


def _plain(text: str) -> str:
    """A reason on one line, with nothing in it that Markdown reads as a mark."""
    return re.sub(r"([\\`*_\[\]<>{}$#|])", r"\\\1", " ".join(text.split()))


def _index_of_wrong_answers(pages: list[str]) -> str:
    count = sum(len(list(path.glob("wrong/*.py"))) for path in (PROJECT / "answers").iterdir())
    lines = [
        f"# What {count} wrong answers teach",
        "",
        "Every assignment is released with known wrong answers: mistakes that people made, or could make. Each must "
        "lose the checks that it names. These pages list them, with the hint that a student reads.",
        "",
        "```{toctree}",
        ":maxdepth: 1",
        *(page.removesuffix(".md") for page in pages),
        "```",
    ]
    return "\n".join(lines)
