"""The documentation site: `make docs` builds these pages, the theory pages of the packages, and generated references.

Pages keep links that work in a repository browser (``../viva/engine/README.md``); they are rewritten while they are
read. ``docs/generated/`` is written at the start of each build.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path, PurePosixPath

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS), str(DOCS.parent)]

import generate  # noqa: E402

import viva  # noqa: E402

project, author, version = "Viva", "the Viva developers", viva.__version__
project_copyright = "the Viva developers"
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
myst_heading_slug_func = "generate.anchor"
html_theme = "pydata_sphinx_theme"
html_title = "Viva"
html_static_path = ["_static"]
html_css_files = ["narrow.css"]
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],  # the one with a field has a name that is not its text
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_show_sourcelink = False
html_copy_source = False

LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)\s#]+)(#[^)\s]*)?(?=\))")


def rewritten(text: str, folder: PurePosixPath, page: PurePosixPath) -> str:
    """A text whose links are relative to ``folder`` of the repository, with links as the site's ``page`` needs them."""

    def target(match: re.Match) -> str:
        path = PurePosixPath(_normal(folder / match[1]))
        site = generate.SITE.get(str(path), path)
        inside = site.is_relative_to("docs")
        place = site.relative_to("docs") if inside else PurePosixPath("..") / site
        up = "../" * (len(page.parts) - 1)
        return f"{up}{place}{match[2] or ''}"

    return LINK.sub(target, text)


def _normal(path: PurePosixPath) -> str:
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def setup(app) -> None:
    generate.write(DOCS / "generated")

    def read(_, name: str, source: list[str]) -> None:
        page = PurePosixPath(f"{name}.md")
        source[0] = rewritten(source[0], generate.HOME.get(f"docs/{page}", PurePosixPath("docs") / page.parent), page)

    app.connect("source-read", read)
