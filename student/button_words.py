"""Writes the sentences of JupyterLab's button, in all languages, into its JavaScript: run this when they have changed.

The button says them before a kernel can answer, so it has them itself. Those of the results come from the kernel.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

from viva import doors, language

SCRIPT = Path(__file__).parent / "share/jupyter/labextensions/nbviva-check/static/remoteEntry.js"
TABLE = re.compile(r"(?<=  const TABLE = )\{.*?\n  \}(?=;\n)", re.DOTALL)


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
    return TABLE.sub(lambda _: text, script)


if __name__ == "__main__":
    SCRIPT.write_text(with_words(SCRIPT.read_text(encoding="utf-8")), encoding="utf-8")
