"""The report's lists as they are now, a page of formgrader's server: what waits for a grader, and what is flagged.

Formgrader adds to its server the pages of a list, after it read the course's configuration. The configuration puts this
page into that list. So whoever may open formgrader sees it, and nobody else.
"""

from __future__ import annotations

import asyncio

from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader.base import BaseHandler, check_notebook_dir, check_xsrf
from sqlalchemy.exc import DBAPIError
from tornado import web

from viva.course.course import Course
from viva.course.gradebook.database import trouble
from viva.verdict import CourseError

ADDRESS = r"/formgrader/viva/?"


def add_to(handlers: list[tuple]) -> None:
    """Put the page into a list of formgrader's, once."""
    if ADDRESS not in {address for address, *_ in handlers}:
        handlers.append((ADDRESS, ListsHandler))


class ListsHandler(BaseHandler):
    """The page. What cannot be read is a sentence and status 503."""

    @web.authenticated
    @check_xsrf
    @check_notebook_dir
    async def get(self) -> None:
        directory = CourseDirectory(config=self.settings["nbgrader_formgrader"].config)
        directory.root, directory.db_url = self.coursedir.root, self.db_url
        try:
            page = await asyncio.to_thread(_page, Course(directory), self.base_url)
        except CourseError as error:
            raise web.HTTPError(503, str(error)) from error
        except DBAPIError as error:
            raise web.HTTPError(503, trouble(error, self.db_url)) from error
        self.set_header("Cache-Control", "no-store")  # also where a grader goes back to it
        self.write(page)


def _page(course: Course, server: str) -> str:
    from viva.pages import report  # Matplotlib takes a second to load
    from viva.pages.reporting import findings

    course.require_columns()
    names = course.assignments()
    future = set(course.unreleased(names))
    return report.live_page(findings.lists(course, [name for name in names if name not in future], server))
