"""A page of formgrader's server with the report's lists as they are now: waiting and flagged submissions.

Formgrader adds to its server the pages of a list, after it read the course's configuration. The configuration puts this
page into that list. So whoever may open formgrader sees it, and nobody else.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader.base import BaseHandler, check_notebook_dir, check_xsrf
from sqlalchemy.exc import DBAPIError
from tornado import web

from viva.course.course import Course
from viva.course.database import trouble
from viva.course.gradebook import health, releases
from viva.pages import gradingapi
from viva.verdict import CourseError

ADDRESS = r"/formgrader/viva/?"
MENU = re.compile(
    r"""<li\ role="presentation"[^>]*>
    <a\ href="([^"]*/formgrader)/manage_students">Manage\ Students</a></li>""",
    re.VERBOSE,
)
"""The last entry of formgrader's menu."""
DARK = "".join(
    (Path(__file__).parent / "templates" / "viva_formgrade" / name).read_text(encoding="utf-8")
    for name in ("colours.css", "dark.css")
)
"""How the pages look on a dark screen."""
ENTRY = '<li role="presentation"><a href="{}/viva/">Open Grading Work</a></li>'


def add_to(handlers: list[tuple]) -> None:
    """Put the page and what answers to graders' pages before a list of formgrader's, once."""
    if ADDRESS not in {address for address, *_ in handlers}:
        handlers[:] = [(ADDRESS, ListsHandler), *gradingapi.HANDLERS, *map(_ours, handlers)]


class _Page:
    """A page of formgrader's as it is now, also where a grader goes back to it, with our page in its menu."""

    def set_default_headers(self) -> None:
        super().set_default_headers()  # type: ignore[misc]
        self.set_header("Cache-Control", "no-store")  # type: ignore[attr-defined]

    def render(self, name: str, **values: object) -> str:
        page = super().render(name, **values).replace("</head>", f"<style>{DARK}</style></head>", 1)  # type: ignore[misc]
        return MENU.sub(lambda match: match[0] + ENTRY.format(match[1]), page, count=1)


def _ours(handler: tuple) -> tuple:
    """A line of formgrader's list, with its pages as ours."""
    address, kind, *rest = handler
    if issubclass(kind, BaseHandler) and not issubclass(kind, web.StaticFileHandler):
        kind = type(kind.__name__, (_Page, kind), {})
    return address, kind, *rest


class ListsHandler(BaseHandler):
    """The page. What cannot be read is a sentence and status 503."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    async def get(self) -> None:
        from viva.pages import report  # it takes a second, and changes the working folder of all threads meanwhile

        directory = CourseDirectory(config=self.settings["nbgrader_formgrader"].config)
        directory.root, directory.db_url = self.coursedir.root, self.db_url
        try:
            hidden = self.get_argument("names", "") != "show"
            page = await asyncio.to_thread(_page, Course(directory), report.live_page, self.base_url, hidden)
        except CourseError as error:
            raise web.HTTPError(503, str(error)) from error
        except DBAPIError as error:
            raise web.HTTPError(503, trouble(error, self.db_url)) from error
        self.set_header("Cache-Control", "no-store")  # also where a grader goes back to it
        self.write(page)


def _page(course: Course, write: Callable[..., str], server: str, hidden: bool) -> str:
    health.require_columns(course)
    names = course.assignments()
    future = set(releases.unreleased(course, names))
    return write(course, [name for name in names if name not in future], server, hidden)
