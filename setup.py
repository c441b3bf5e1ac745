"""Gives the package's page on an index the README, with links to the repository instead of relative ones.

Everything else about the package stands in pyproject.toml.
"""

import re
import tomllib
from pathlib import Path

from setuptools import setup

PROJECT = Path(__file__).parent
LINK = re.compile(r"(?P<image>!?)(?P<text>\[[^\]]*\])\((?![a-z]+:|#)(?P<target>[^)\s]+)\)")


def with_absolute_links(text: str, repository: str) -> str:
    """The Markdown text with each relative link under the repository: pages at blob, pictures at raw."""

    def absolute(link: re.Match[str]) -> str:
        folder = "raw" if link["image"] else "blob"
        return f"{link['image']}{link['text']}({repository}/{folder}/main/{link['target']})"

    return LINK.sub(absolute, text)


if __name__ == "__main__":
    about = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    setup(
        long_description=with_absolute_links(readme, about["urls"]["Repository"]),
        long_description_content_type="text/markdown",
    )
