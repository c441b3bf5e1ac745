"""The server's answers to a grader's page in formgrader: saving, open answers, the next waiting answer.

Theory of operation. nbgrader's own handlers write whatever comes. Here a page sends along what it had read before
(``seen``), and which graded notebook it shows (``version``). The gradebook's row is locked, read again and compared: a
score or comment that somebody else changed since, or one for a notebook that was graded again since, is not
overwritten; the answer is status 409 with what is in the gradebook. The same request twice is not a conflict: a page
that got no answer sends it again. Requests without ``seen``, of other programs, are saved as nbgrader does.
"""

from __future__ import annotations

import contextlib
import functools
import json
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

import msgspec
from nbgrader.api import Comment, Grade, MissingEntry, Notebook, SubmittedNotebook
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, check_notebook_dir, check_xsrf
from sqlalchemy import update
from sqlalchemy.exc import SQLAlchemyError
from tornado import web

from viva.course.course import Course
from viva.pages import groupcomment, rubricedit, sentvalues, waitinglist
from viva.pages.additions import GRADER, Asked, additions
from viva.pages.openanswers import OpenAnswers
from viva.verdict import CourseError

STRANGE = "This request does not come from a page of formgrader."
KEY = "viva-grader"
"""The cookie that tells one grader's browser from another's."""


class _Given(msgspec.Struct):
    cell: str
    to: set[str]


class _TakenBack(msgspec.Struct):
    changes: list[groupcomment.Change]


_Form = TypeVar("_Form", bound=msgspec.Struct)


def guarded(method: Callable) -> Callable:
    """A method for those who may grade, with nbgrader's checks of a request."""
    return web.authenticated(check_xsrf(check_notebook_dir(method)))


class GradingHandler(BaseApiHandler):
    """Answers that no browser keeps, from a gradebook that is read anew."""

    async def prepare(self) -> None:
        await super().prepare()
        if self.current_user and not self.settings["nbgrader_bad_setup"]:
            self.gradebook.db.rollback()  # else it could show what it read for an earlier request

    def set_default_headers(self) -> None:
        super().set_default_headers()
        self.set_header("Cache-Control", "no-store")

    @functools.cached_property
    def open_answers(self) -> OpenAnswers:
        key = self.get_cookie(KEY)
        if not key:
            key = uuid.uuid4().hex
            self.set_cookie(KEY, key, path=self.base_url or "/", httponly=True, samesite="Lax")
        return OpenAnswers(self.coursedir, key)

    def submitted(self, key: str) -> SubmittedNotebook:
        try:
            return self.gradebook.find_submission_notebook_by_id(key)
        except MissingEntry:
            raise web.HTTPError(404, "This submission is not in the gradebook any more.") from None

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """Inside, the gradebook is written to; a refusal is a sentence, and what was not committed is undone."""
        try:
            yield
        except MissingEntry:
            raise web.HTTPError(404, "One of these submissions is not in the gradebook any more.") from None
        except (sentvalues.RefusedError, UnicodeEncodeError) as error:  # a name may have characters that no text has
            sentence = str(error) if isinstance(error, sentvalues.RefusedError) else STRANGE
            raise web.HTTPError(400, sentence) from error
        except SQLAlchemyError as error:
            self.log.warning("Not saved: %s", error)
            raise web.HTTPError(503, "The gradebook cannot be written to at the moment.") from error
        finally:
            self.gradebook.db.rollback()


class _Collection(GradingHandler):
    rows: ClassVar[str]

    @guarded
    def get(self) -> None:
        notebook = self.submitted(self.get_argument("submission_id"))
        self.write(json.dumps([row.to_dict() for row in getattr(notebook, self.rows)]))


class GradesHandler(_Collection):
    rows = "grades"


class CommentsHandler(_Collection):
    rows = "comments"


class _Saving(GradingHandler):
    """One row of the gradebook, with the ``fields`` that a grader fills in."""

    table: ClassVar[type[Grade] | type[Comment]]
    fields: ClassVar[tuple[str, ...]]

    @guarded
    def get(self, key: str) -> None:
        self.write(json.dumps(self._row(key).to_dict()))

    @guarded
    def put(self, key: str) -> None:
        try:
            data = json.loads(self.request.body)
        except (ValueError, RecursionError):  # bytes that are not UTF-8, too
            data = None
        if not isinstance(data, dict):
            raise web.HTTPError(400, STRANGE)
        session = self.gradebook.db
        with self.writing():
            first = self.fields[0]  # this locks the row, in SQLite the file, until the end of the transaction
            table = self.table.__table__
            session.execute(update(table).where(table.c.id == key).values({first: table.c[first]}))
            row = self._row(key)
            session.refresh(row)
            current = {field: getattr(row, field) for field in self.fields}
            wanted = {field: self.checked(field, data.get(field), row) for field in self.fields}
            seen, version = data.get("seen"), data.get("version")
            if version and version != waitinglist.version_of(self.coursedir, row.notebook):
                self._refuse("graded again", row)
            elif isinstance(seen, dict) and current != wanted and current != {f: seen.get(f) for f in self.fields}:
                self._refuse("saved by another grader", row)
            else:
                for field, value in wanted.items():
                    setattr(row, field, value)
                self.saved(row)
                session.commit()
                self.write(json.dumps(row.to_dict()))

    def _row(self, key: str) -> Any:
        row = self.gradebook.db.get(self.table, key)
        if row is None:
            raise web.HTTPError(404, "This cell is not in the gradebook any more.")
        return row

    def _refuse(self, why: str, row: Any) -> None:
        self.set_status(409)
        self.write(json.dumps({"why": why, "row": row.to_dict()}))

    def checked(self, field: str, value: object, row: Any) -> object:
        """A value as the gradebook takes it. Raises RefusedError for another one."""
        raise NotImplementedError

    def saved(self, row: Any) -> None:
        """What follows from new values."""


class GradeHandler(_Saving):
    table, fields = Grade, ("manual_score", "extra_credit")

    def checked(self, field: str, value: object, row: Any) -> float | None:
        check = sentvalues.points if field == "manual_score" else sentvalues.extra_credit
        return check(value, row.max_score, getattr(row, field))

    def saved(self, row: Any) -> None:
        row.needs_manual_grade = row.manual_score is None and row.auto_score is None


class CommentHandler(_Saving):
    table, fields = Comment, ("manual_comment",)

    def checked(self, field: str, value: object, row: Any) -> str | None:
        return sentvalues.text(value)


class _Writing(GradingHandler):
    """Several rows of the gradebook with one request."""

    def _body(self, form: type[_Form]) -> _Form:
        try:
            return msgspec.json.decode(self.request.body, type=form)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise web.HTTPError(400, STRANGE) from error

    def _written(self, write: Callable[[], object]) -> None:
        with self.writing():
            self.write(msgspec.json.encode({"result": write()}))


class GroupHandler(_Writing):
    """The comment at an answer cell goes to the answers that are like this one, or is taken back from them.

    The body of a POST has the ``cell`` and ``to``, the submitted notebooks that the grader leaves in; the answer has
    the ``changes``. The body of a PUT has these changes, which are taken back.
    """

    @guarded
    def post(self, key: str) -> None:
        submitted, data = self.submitted(key), self._body(_Given)
        asked = Asked(GRADER, submitted.assignment.assignment.name, submitted.name, submitted.student.id)
        try:
            alike = groupcomment.groups(self.gradebook, submitted, additions(Course(self.coursedir), asked))
        except CourseError as error:
            raise web.HTTPError(503, str(error)) from error
        members = [member for member in alike.get(data.cell, ()) if member in data.to]
        self._written(lambda: list(groupcomment.give(self.gradebook, submitted, data.cell, members)))

    @guarded
    def put(self, key: str) -> None:
        self.submitted(key)
        data = self._body(_TakenBack)
        self._written(lambda: groupcomment.take_back(self.gradebook, data.changes))


class RubricHandler(_Writing):
    """An item of the rubric is edited or added (POST ``rubricedit.Edit``), moved (PATCH ``Move``), deleted (DELETE
    ``Deletion``), or one of these is taken back (PUT ``Undoing``).

    A rubric that cannot be edited so is a sentence, ``why``, and status 409.
    """

    @guarded
    def post(self, key: str) -> None:
        self._edited(self.submitted(key), rubricedit.edit, self._body(rubricedit.Edit))

    @guarded
    def delete(self, key: str) -> None:
        self._edited(self.submitted(key), rubricedit.delete, self._body(rubricedit.Deletion))

    @guarded
    def patch(self, key: str) -> None:
        self._edited(self.submitted(key), rubricedit.move, self._body(rubricedit.Move))

    @guarded
    def put(self, key: str) -> None:
        self._edited(self.submitted(key), rubricedit.take_back, self._body(rubricedit.Undoing))

    def _edited(self, submitted: SubmittedNotebook, act: Callable[..., rubricedit.Outcome], data: object) -> None:
        try:
            self._written(lambda: act(self.gradebook, submitted, Path(self.coursedir.root), data))
        except (CourseError, OSError) as error:
            why = str(error) if isinstance(error, CourseError) else f"Not saved: {error.filename}: {error.strerror}."
            self.set_status(409)
            self.write(json.dumps({"why": why}))


class OpenHandler(GradingHandler):
    """A page gives a sign that it shows a submission, or that it was left."""

    @guarded
    def post(self, key: str) -> None:
        self.write(json.dumps({"alone": self.open_answers.take(self.submitted(key).id)}))

    @guarded
    def delete(self, key: str) -> None:
        self.open_answers.leave(self.submitted(key).id)


class NextHandler(GradingHandler):
    """The next submission after one that waits for a grader, with ``question`` the next one whose answer to it does.

    ``url`` is its address, empty where none is left for this grader; ``elsewhere`` says how many others have open.
    """

    @guarded
    def get(self, key: str) -> None:
        submitted, question = self.submitted(key), self.get_argument("question", "")
        waiting = waitinglist.after(waitinglist.waiting(self.gradebook, submitted.notebook_id, question), submitted.id)
        self.write(json.dumps(_handed_out(self, waiting, question)))
        self.open_answers.leave(submitted.id)


class FirstHandler(GradingHandler):
    """On to the first submission of a notebook that waits; to formgrader's list where none is left."""

    @guarded
    def get(self, assignment: str, name: str) -> None:
        try:
            notebook: Notebook = self.gradebook.find_notebook(name, assignment)
        except MissingEntry:
            raise web.HTTPError(404, f"There is no notebook {name} in {assignment}.") from None
        next_answer = _handed_out(self, waitinglist.waiting(self.gradebook, notebook.id), "")
        places = "/".join(quote(part, safe="") for part in (assignment, name))
        alone = "?alone=1" if self.get_argument("alone", "") else ""  # one question at a time
        url = f"{next_answer['url']}{alone}" if next_answer["url"] else f"{self.base_url}/formgrader/gradebook/{places}"
        self.redirect(url)


def _handed_out(handler: GradingHandler, waiting: list[str], question: str) -> dict[str, object]:
    open_answers = handler.open_answers
    for key in waiting:
        if open_answers.take(key):
            focus = f"?question={quote(question, safe='')}" if question else ""
            return {"url": f"{handler.base_url}/formgrader/submissions/{quote(key, safe='')}/{focus}", "elsewhere": 0}
    return {"url": "", "elsewhere": len(waiting)}


HANDLERS = [
    (r"/formgrader/api/grades", GradesHandler),
    (r"/formgrader/api/grade/([^/]+)", GradeHandler),
    (r"/formgrader/api/comments", CommentsHandler),
    (r"/formgrader/api/comment/([^/]+)", CommentHandler),
    (r"/formgrader/viva/group/([^/]+)", GroupHandler),
    (r"/formgrader/viva/rubric/([^/]+)", RubricHandler),
    (r"/formgrader/viva/open/([^/]+)", OpenHandler),
    (r"/formgrader/viva/next/([^/]+)", NextHandler),
    (r"/formgrader/viva/first/([^/]+)/([^/]+)", FirstHandler),
]
"""In place of nbgrader's under the same addresses, and those of our own."""
