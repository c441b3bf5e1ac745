"""Writes the sentences and colours of JupyterLab's button into its JavaScript: run this when they have changed.

The button says them before a kernel can answer, so it has them itself. Those of the results come from the kernel. The
colours are those of all pages of Viva's; JupyterLab says itself whether it is dark.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from viva import doors, language

SCRIPT = Path(__file__).parent / "share/jupyter/labextensions/nbviva-check/static/remoteEntry.js"
TABLE = re.compile(r"(?<=  const TABLE = )\{.*?\n  \}(?=;\n)", re.DOTALL)
COLOURS = re.compile(r"(?<=  const COLOURS = )\{.*?\n  \}(?=;\n)", re.DOTALL)
SHEET = Path(__file__).parents[1] / "viva/pages/templates/viva_formgrade/colours.css"
USED = ("good", "bad", "wait", "tint", "link")


def with_words(script: str) -> str:
    """The script with the sentences as the files of words have them now."""
    table = {}
    for tag in language.BUILTIN:
        spoken = language.named(tag)
        keys = [key for key in language.ENGLISH.pages if key.startswith(("button.", "forms.point"))]
        table[spoken.tag] = {"html": spoken.html} | {
            key.rpartition(".")[2]: spoken.pages.get(key, language.ENGLISH.pages[key]) for key in keys
        }
    text = json.dumps(table, ensure_ascii=False, indent=2).replace("\n", "\n  ")
    text = text.replace("{wheel}", doors.wheel("nbviva-check"))
    return COLOURS.sub(lambda _: _colours(), TABLE.sub(lambda _: text, script))


def _colours() -> str:
    """By kind of screen, the colours that the panel uses."""
    found = re.findall(rf"--({'|'.join(USED)}): (#[0-9a-f]{{6}});", SHEET.read_text(encoding="utf-8"))
    light, dark = dict(found[: len(USED)]), dict(found[len(USED) :])
    return json.dumps({"light": light, "dark": dark}, indent=2).replace("\n", "\n  ")


if __name__ == "__main__":
    SCRIPT.write_text(with_words(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
