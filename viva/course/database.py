"""The errors of a gradebook's database, in sentences, and waiting until it answers.

It is a file of SQLite's, or lies in PostgreSQL (``c.CourseDirectory.db_url``), where several machines can work on it.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from nbgrader import api
from nbgrader.api import Base, Comment, Grade, Gradebook, SubmittedAssignment, SubmittedNotebook
from nbgrader.coursedir import CourseDirectory
from nbgrader.dbutil import ALEMBIC_DIR
from sqlalchemy import URL, Engine, false, inspect, make_url, text, update
from sqlalchemy.exc import (
    ArgumentError,
    DatabaseError,
    DBAPIError,
    NoSuchModuleError,
    OperationalError,
    PendingRollbackError,
    ProgrammingError,
)
from sqlalchemy.orm import InstrumentedAttribute
from tornado.log import app_log

from viva.course.processes import stopping
from viva.verdict import CourseError, VivaError

Found = TypeVar("Found")

SETTING = "c.CourseDirectory.db_url"

AGAIN = "The results so far are kept. Fix the problem, then run the same command again."
DAMAGED = (
    "Restore a copy, then run 'viva grade --force': it grades everything again, and keeps manual grades. "
    "Without a copy, 'sqlite3 gradebook.db .recover | sqlite3 rescued.db' saves the readable parts."
)
UPGRADE = "Run 'nbgrader db upgrade', then the same command again."
RETRY_SECONDS, STEP = 20.0, 0.1
"""Seconds that a gradebook may be locked or out of reach, beside SQLite's own five; and between two attempts."""
MOMENT = 10.0
"""Seconds by which two failures lie apart, beside RETRY_SECONDS, that have nothing to do with each other."""
CAUSES = 10
"""The length of a chain of causes of an error that is followed."""
SHARED = {"40001", "40P01", "55P03", "57014"}
"""PostgreSQL's states where another one was in the way: serialization, deadlock, a lock, a limit of time."""
STOPPING = {"57P01", "57P02", "57P03"}
"""PostgreSQL's states of a server that stops or starts."""
OTHER_VERSION = {"42703", "42P01"}
"""PostgreSQL's states for a column and a table that do not exist."""
RIGHTS, READ_ONLY = "42501", "25006"
"""PostgreSQL's states for missing rights, and for a database that is read-only."""


def shown(url: str) -> str:
    """The address of a gradebook without anything that may be secret; the setting's name, if it cannot be read.

    Of a server these are the driver, the user, the host, the port and the database: libpq takes passwords also behind
    the ``?``, and a password with an ``@`` in it reaches into what is read as the host.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):  # a ValueError is about the port, which a password may have been read as
        return SETTING
    if parsed.get_backend_name() == "sqlite":
        return parsed.set(query={}).render_as_string()
    plain = URL.create(parsed.drivername, parsed.username, None, parsed.host, parsed.port, parsed.database)
    names = (parsed.username, parsed.host, parsed.database)
    return SETTING if any(set(name or "") & set("@=;?&") for name in names) else plain.render_as_string()


def unusable(url: str, error: Exception) -> CourseError:
    """The error for an address of which no gradebook can be opened, without the address where it may hold a secret."""
    named = isinstance(error, ModuleNotFoundError | NoSuchModuleError)
    why = f": {error}" if named else ""
    if isinstance(error, ValueError):
        why = ": its port is not a number"
    return CourseError(
        f"'{shown(url)}' is not a usable gradebook address{why}. Write sqlite:////home/me/course/gradebook.db, or "
        "postgresql+psycopg://user@host/course after: pip install 'psycopg[binary]'."
    )


def file_of(directory: CourseDirectory) -> Path | None:
    """The gradebook's file; None when it is in another kind of database."""
    path = directory.db_url.removeprefix("sqlite:///")
    return None if path == directory.db_url else Path(directory.root, path)


def trouble(error: DBAPIError, url: str) -> str:
    """A sentence for an error of the database: the gradebook's problem, and the remedy."""
    message, book, state = str(error.orig).splitlines()[0], f"The gradebook {shown(url)}", _state(error)
    # A driver repeats the host, in which a password may stand.
    details = "" if shown(url) == SETTING else f" ({message})"
    if is_lost(error):
        return f"{book} cannot be reached{details}. Check that its server runs and its address is right. {AGAIN}"
    if is_locked(error):
        return f"{book} is locked by another program; close it. {AGAIN}"
    if "readonly" in message or "read-only" in message:
        return f"{book} cannot be used: it is read-only. {AGAIN}"
    if "is full" in message or state == "53100":
        return f"{book} cannot be used: its disk is full. {AGAIN}"
    if state == RIGHTS:
        return f"{book} cannot be used: its database user lacks permissions{details}. {AGAIN}"
    if "malformed" in message or "not a database" in message:
        return damaged(url, message)
    if state in OTHER_VERSION or any(sign in message for sign in ("no such column", "no such table", "has no column")):
        return f"{book} is from another version of nbgrader{details}. {UPGRADE}"
    return f"{book} cannot be used{details and f': {message}'}. {AGAIN}"


def waiting(error: DBAPIError, url: str) -> str:
    """A sentence that tells why a command waits."""
    state = "is locked by another program" if is_locked(error) else "cannot be reached"
    return f"The gradebook {shown(url)} {state}. Trying again for {RETRY_SECONDS:.0f} seconds; press Ctrl-C to stop."


def damaged(url: str, message: str) -> str:
    """A sentence for a gradebook of which the database said so."""
    return f"The gradebook {shown(url)} is damaged ({message}). {DAMAGED}"


def is_locked(error: DBAPIError) -> bool:
    """Whether another program was in the way."""
    message = str(error.orig)
    return "database is locked" in message or "table is locked" in message or _state(error) in SHARED


def is_lost(error: DBAPIError) -> bool:
    """Whether a server is out of reach, at first or by now; one that answers and refuses is not."""
    if _state(error) in STOPPING or error.connection_invalidated:
        return True
    message = str(error.orig)
    ours = isinstance(error, OperationalError) and type(error.orig).__module__.startswith("psycopg")
    return ours and not _state(error) and ("FATAL" not in message or "the database system is" in message)


def with_retries(
    work: Callable[[], Found],
    seconds: float | None = None,
    before_again: Callable[[], object] = lambda: None,
) -> Found:
    """What ``work`` returns, tried again where the gradebook is locked or its server out of reach.

    Whatever asks the gradebook goes through here: ``work`` is what can be done once more from its beginning, and every
    command is. It is tried for RETRY_SECONDS ``seconds``; who is ``telling`` hears of it when that takes a while.
    What was tried so long in vain is tried no longer by who called it. Raises what the database said, as DBAPIError.
    """
    limit = RETRY_SECONDS if seconds is None else seconds
    start: float | None = None
    last, announced = 0.0, False
    while True:
        try:
            return work()
        except Exception as error:
            cause = passing(error)
            if cause is None or getattr(cause, "given_up", False):
                raise
            now = time.monotonic()
            if start is None or now - last > limit + MOMENT:  # it has worked for long since
                start, announced = now, False
            last = now
            if now - start >= limit:
                vars(cause)["given_up"] = True
                if cause is error:
                    raise
                raise cause from error
            if now - start > 1 and not announced:
                announced = True
                for tell in _telling[-1:]:
                    tell(cause)
        before_again()
        stopping.check()
        time.sleep(STEP)


_telling: list[Callable[[DBAPIError], object]] = []


@contextlib.contextmanager
def telling(tell: Callable[[DBAPIError], object]) -> Iterator[None]:
    """Inside, ``tell`` gets the database's error, once, when a command has to wait."""
    _telling.append(tell)
    try:
        yield
    finally:
        _telling.pop()


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Inside, nbgrader and SQLAlchemy print no tracebacks of database errors, which are raised as well."""
    loggers = [app_log, logging.getLogger("sqlalchemy.pool")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def begin_writing(gradebook: Gradebook) -> None:
    """Begin to write into every table, and change nothing: until the transaction ends SQLite lets nobody else write."""
    for table in Base.metadata.sorted_tables:
        key = next(iter(table.primary_key))
        gradebook.db.execute(update(table).values({key: key}).where(false()))


LOST_BEFORE = "8s2b"
"""SQLAlchemy's code for a question on a connection that was lost before, and that nobody has rolled back yet."""


def said_by(error: BaseException | None) -> DBAPIError | None:
    """The database's error, if it caused ``error``; nbgrader wraps it as an invalid entry."""
    for _ in range(CAUSES):
        if error is None or isinstance(error, VivaError):
            return None
        if isinstance(error, DBAPIError):
            return error
        if isinstance(error, PendingRollbackError) and error.code == LOST_BEFORE:
            return OperationalError(None, None, error, connection_invalidated=True)
        error = error.__cause__ or error.__context__
    return None


def passing(error: BaseException | None) -> DBAPIError | None:
    """The database's error, if it caused ``error`` and may pass with time."""
    cause = said_by(error)
    return cause if cause is not None and (is_locked(cause) or is_lost(cause)) else None


def concerns_all(error: Exception) -> bool:
    """Whether the database would refuse every submission, not only this one."""
    if isinstance(error, OperationalError | CourseError) or type(error) is DatabaseError:
        return True
    return isinstance(error, DBAPIError) and _state(error) in {RIGHTS, READ_ONLY, *OTHER_VERSION}


def _state(error: DBAPIError) -> str:
    """The SQLSTATE; empty where the database has none."""
    return getattr(error.orig, "sqlstate", None) or ""


# Indexes that nbgrader's gradebook lacks: they find the rows of one submission without reading those of all.
#
# nbgrader declares keys for (cell, notebook), not for the notebook alone. To look up the grades of one submission, as
# the batch's writer, every page of feedback and formgrader do, the database reads all that there are: time that grows
# with the square of the class. With these it does not. They change nothing else, and any nbgrader may use the file.

COLUMNS: tuple[InstrumentedAttribute, ...] = (
    Grade.notebook_id,
    Comment.notebook_id,
    SubmittedNotebook.assignment_id,
    SubmittedAssignment.student_id,
)


def ensure_indexes(gradebook: Gradebook) -> list[str]:
    """Create the missing indexes; returns their names. If the database refuses, the gradebook stays slow."""
    try:
        return [name for column in COLUMNS if (name := _make(gradebook.engine, column))]
    except ProgrammingError:  # a server's user who may not
        return []
    except DBAPIError as error:
        if is_locked(error):  # the next batch will
            return []
        raise


def _make(engine: Engine, column: InstrumentedAttribute) -> str:
    """Make an index of a column; its name, empty where an index begins with it already."""
    table = column.class_.__tablename__
    if any(index["column_names"][:1] == [column.key] for index in inspect(engine).get_indexes(table)):
        return ""
    name = f"viva_{table}_{column.key}"
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # a browser may sleep in a transaction
            connection.execute(text("SET LOCAL lock_timeout = '5s'"))
        connection.execute(text(f'CREATE INDEX IF NOT EXISTS "{name}" ON "{table}" ("{column.key}")'))
    return name


# The revision of nbgrader's tables, which a new gradebook is told.
#
# nbgrader starts a process that looks for it, which takes as long as all else that makes a course, and needs the
# program ``alembic`` on the path. It stands in files beside nbgrader's own.


@functools.cache
def newest() -> str:
    """The newest revision, as nbgrader's ``get_alembic_version`` returns it."""
    from alembic.script import ScriptDirectory  # slow to load, and only a new gradebook asks

    head = ScriptDirectory(ALEMBIC_DIR).get_current_head()
    assert head is not None  # nbgrader's tables have had revisions since its first
    return head


def look_up() -> None:
    """From now on this process looks it up, also where nbgrader makes the gradebook."""
    api.get_alembic_version = newest
