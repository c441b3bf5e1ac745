"""The audit's page: one self-contained HTML file for each notebook, and the record that it passed."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path

import numpy as np
from jinja2 import Environment

from viva import ENGINE
from viva.course import Course
from viva.proving.proof import Audit, kind_in_words

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Audit of {{ audit.assignment }}</title>
<style>
:root { color-scheme: light dark; --line: #8884; --good: #1a7f37; --bad: #cf222e; --add: #2da44e33; --del: #ff818266; }
@media (prefers-color-scheme: dark) { :root { --good: #3fb950; --bad: #f85149; --add: #2ea04340; --del: #f8514940; } }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: 0; } h2 { margin-top: 2.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
.good { color: var(--good); } .bad { color: var(--bad); }
pre { margin: .4rem 0 1rem; padding: .5rem; border: 1px solid var(--line); overflow-x: auto; font-size: .85rem; }
pre span { display: block; white-space: pre; } .add { background: var(--add); } .del { background: var(--del); }
.hunk { opacity: .6; }
summary { cursor: pointer; } code { font-size: .9em; } article { margin: 1.2rem 0; }
</style>
</head>
<body>
{% macro diff(text) %}<pre aria-label="what was changed in the solution">
{%- for line in text.splitlines() -%}
<span class="{{ 'add' if line[:1] == '+' else 'del' if line[:1] == '-' else 'hunk' if line[:2] == '@@' else '' }}">
{{- line or ' ' }}</span>
{%- endfor %}</pre>{% endmacro %}
<h1>Audit of {{ audit.assignment }}</h1>
<p>Notebook {{ audit.notebook }}, {{ "%.0f" | format(audit.seconds) }} s,
{{ "in the wall" if audit.walled else "without a wall" }}.</p>
{% if audit.passed %}<p class="good"><strong>Passed.</strong> It may be released.</p>
{% else %}<p class="bad"><strong>Not passed.</strong> It should not be released as it is.</p>{% endif %}

<h2>What was not proven</h2>
{% if not audit.complaints() and not audit.survivors() %}<p>Nothing is left open.</p>{% endif %}
{% if audit.complaints() %}
<ul>{% for sentence in audit.complaints() %}<li>{{ sentence }}</li>{% endfor %}</ul>{% endif %}
{% for fate in audit.survivors() %}
<article><strong class="bad">Survived</strong> in cell <code>{{ fate.cell }}</code>: {{ fate.operator }}.
It differs from the solution: {{ fate.note }}.
{% if fate.nearest %}The check that came nearest: <em>{{ fate.nearest }}</em>.{% endif %}
{{ diff(fate.diff) }}</article>
{% endfor %}

<h2>What was proven</h2>
<table>
<tr><th>graded</th><th class="n">how many</th><th class="n">as they should be</th></tr>
{% for kind, words in kinds %}{% set these = audit.proofs | selectattr("kind", "equalto", kind) | list %}
<tr><td>{{ words }}</td><td class="n">{{ these | length }}</td>
<td class="n">{{ these | selectattr("holds") | list | length }}</td></tr>
{% endfor %}
<tr><td>mutants of the solution that can be told from it</td>
<td class="n">{{ audit.count("killed") + audit.count("survived") }}</td>
<td class="n">{{ audit.count("killed") }}</td></tr>
</table>
<p>Mutation score: <strong>{{ "%.1f" | format(100 * audit.score) }} %</strong>; besides these
{{ audit.count("equivalent") }} mutants were proven equivalent and {{ audit.count("excused") }} were excused.
The slowest right answer took {{ "%.1f" | format(audit.slowest) }} s in all and the solution
{{ audit.megabytes }} MB; a mutant's cell could take {{ "%.1f" | format(audit.limit) }} s.</p>
{% if audit.remarks %}<ul>{% for sentence in audit.remarks %}<li>{{ sentence }}</li>{% endfor %}</ul>{% endif %}

{% if audit.untold %}<h2>Hidden lines that cannot be looked for</h2>
<p>Every page for a student is searched for hidden lines. These are left out, because anybody may write them.</p>
<details><summary>{{ audit.untold | length }} lines</summary>
<ul>{% for sentence in audit.untold %}<li>{{ sentence }}</li>{% endfor %}</ul></details>{% endif %}

<h2>Checks</h2>
<p><em>Kills</em> are the mutants that fail the check, of those in answers it depends on; <em>alone</em> counts those
that no other check kills. A check with none of these is a candidate for deletion, unless it is there to help.</p>
<table>
<tr><th>check</th><th class="n">points</th><th class="n">kills</th><th class="n">alone</th>
<th>fails without</th></tr>
{% for score in audit.scores %}<tr><td>{{ score.check }}{{ " (hidden)" if score.hidden }}</td>
<td class="n">{{ "%g" | format(score.points) }}</td><td class="n">{{ score.kills }} of {{ score.mutants }}</td>
<td class="n">{{ score.alone }}</td><td>{{ score.answers | join(", ") }}</td></tr>
{% endfor %}</table>
{% for checks in audit.together %}<p>These always fail together: {{ checks | join("; ") }}.</p>{% endfor %}

<h2>Answers alone</h2>
<p>Checks that pass when one answer is right and all others are blank.</p>
<table><tr><th>answer</th><th>checks</th></tr>
{% for cell, checks in audit.alone.items() %}<tr><td><code>{{ cell }}</code></td>
<td>{{ checks | join("; ") or "none" }}</td></tr>{% endfor %}</table>

<h2>Kinds of answers</h2>
<p>Recorded while the solution was examined, and enforced in grading. Plain data (numbers, lists, arrays, tables, in
any mixture) may be of another kind in an answer, but must be plain, so that no operator of a student's own class
decides a comparison. Where more is right, widen it in the notebook's metadata:
<code>"viva": {"kinds": {"f()": "any"}}</code>.</p>
<table><tr><th>name</th><th>kind</th></tr>
{% for name, kind in audit.kinds.items() %}<tr><td><code>{{ name }}</code></td>
<td>{{ kind | in_words }}</td></tr>{% endfor %}</table>

{% for status, words in others %}{% set these = audit.fates | selectattr("status", "equalto", status) | list %}
{% if these %}<h2>{{ words }}</h2>
<details><summary>{{ these | length }} mutants</summary>
{% for fate in these %}<article><code>{{ fate.cell }}</code>, {{ fate.operator }}{{ ": " ~ fate.note if fate.note }}
{{ diff(fate.diff) }}</article>{% endfor %}</details>{% endif %}{% endfor %}

<h2>Killed mutants</h2>
<details><summary>{{ audit.count("killed") }} mutants</summary>
<table><tr><th>cell</th><th>mistake</th><th>change</th><th class="n">checks</th></tr>
{% for fate in audit.fates if fate.status == "killed" %}<tr><td><code>{{ fate.cell }}</code></td>
<td>{{ fate.operator }}</td><td><code>{{ fate.change }}</code></td><td class="n">{{ fate.killers | length }}</td></tr>
{% endfor %}</table></details>
</body>
</html>
"""
AUDIT = 2
"""Raised when an audit proves more than before, so that what was proven before is proven again."""
KINDS = (
    ("untouched", "the untouched notebook, losing every check"),
    ("solution", "the solution, losing none"),
    ("again", "the solution again and again, with the same verdicts"),
    ("right", "right answers, losing no check"),
    ("wrong", "wrong answers, losing exactly what they name"),
)
OTHERS = (("excused", "Excused mutants"), ("equivalent", "Mutants that were proven equivalent"))


def page(audit: Audit) -> str:
    """The page of one audit."""
    environment = Environment(autoescape=True, trim_blocks=True)
    environment.filters["in_words"] = kind_in_words
    return environment.from_string(PAGE).render(audit=audit, kinds=KINDS, others=OTHERS)


def ground(course: Course, assignment: str) -> str:
    """A hash of all that an audit depends on: source, answers, header, configuration, engine."""
    digest = hashlib.sha256(f"{ENGINE} {AUDIT} {np.__version__}".encode())
    folders = (course.path("source", assignment), course.root / "answers" / assignment)
    files = [*(path for folder in folders for path in folder.rglob("*") if ".ipynb_checkpoints" not in path.parts)]
    files += [*course.path("source", ".").glob("*.ipynb"), course.root / "nbgrader_config.py"]
    for path in sorted(path for path in files if path.is_file()):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(course.root)} {len(content)} ".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:32]


def record(course: Course, assignment: str) -> dict:
    """What the last audit of an assignment came to; empty when there was none."""
    path = course.root / "report" / "audit" / f"{assignment}.json"
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def save(course: Course, audits: list[Audit], key: str) -> list[Path]:
    """Write the pages of an assignment's audits, and the record of what they came to; the pages' paths."""
    folder = course.root / "report" / "audit"
    folder.mkdir(parents=True, exist_ok=True)
    pages = []
    for audit in audits:
        name = audit.assignment if len(audits) == 1 else f"{audit.assignment}-{audit.notebook}"
        pages.append(folder / f"{name}.html")
        pages[-1].write_text(page(audit), encoding="utf-8")
    result = {"key": key, "passed": all(audit.passed for audit in audits), "audits": [asdict(one) for one in audits]}
    (folder / f"{audits[0].assignment}.json").write_text(json.dumps(result, indent=1), encoding="utf-8")
    return pages


def proven(course: Course, assignment: str) -> bool:
    """Whether the assignment has passed its audit as it is now."""
    last = record(course, assignment)
    return bool(last.get("passed") and last.get("key") == ground(course, assignment))
