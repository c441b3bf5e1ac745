"""Counts the words of the pages that a person reads: ``python docs/count.py``.

Pages of the site and of the packages count. Generated pages, the course's, the changelog, measurements and the
page for contributors are not. A word has a letter or a digit, so the lines of a table are not words.
"""

from __future__ import annotations

import re
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
PATTERNS = ("docs/*.md", "viva/*/README.md", "plugins/*/*/README.md")


def pages() -> dict[str, str]:
    """The text of each page, by its path in the repository."""
    found = sorted(path for pattern in PATTERNS for path in PROJECT.glob(pattern))
    return {str(path.relative_to(PROJECT)): path.read_text(encoding="utf-8") for path in found}


def count(text: str) -> int:
    """How many words a page has."""
    return sum(re.search(r"\w", word) is not None for word in text.split())


if __name__ == "__main__":
    counts = {name: count(text) for name, text in pages().items()}
    for name in sorted(counts, key=counts.__getitem__):
        print(f"{counts[name]:6} {name}")
    print(f"{sum(counts.values()):6} words")
