"""What the database of a gradebook says when it cannot do something, and waiting for it.

It is a file of SQLite's, or lies in PostgreSQL (``c.CourseDirectory.db_url``), where several machines can work on it.
"""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

from nbgrader.coursedir import CourseDirectory
from sqlalchemy import make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError, OperationalError
from tornado.log import app_log

from viva.course.processes import stopping
from viva.verdict import CourseError, VivaError

Found = TypeVar("Found")

AGAIN = "What was recorded before is kept; mend that, then run the same command again."
DAMAGED = (
    "Put a copy of it back, then run 'viva grade --force': it grades everything again, and keeps the grades by hand. "
    "Without a copy 'sqlite3 gradebook.db .recover | sqlite3 rescued.db' saves what can be read."
)
UPGRADE = "Run 'nbgrader db upgrade', then the same command again."
RETRY_SECONDS, STEP = 20.0, 0.1
"""Seconds that a gradebook may be locked or out of reach, beside SQLite's own five; and between two attempts."""
MOMENT = 10.0
"""Seconds by which two failures lie apart, beside RETRY_SECONDS, that have nothing to do with each other."""
CAUSES = 10
"""So many causes of causes of an error are looked at."""
SHARED = {"40001", "40P01", "55P03", "57014"}
"""PostgreSQL's states where another one was in the way: serialization, deadlock, a lock, a limit of time."""
STOPPING = {"57P01", "57P02", "57P03"}
"""Those of a server that stops, or starts."""
OTHER_VERSION = {"42703", "42P01"}
"""Those of a column and a table that are not there."""
RIGHTS, READ_ONLY = "42501", "25006"
"""Those of too few rights, and of a database that takes nothing."""


def shown(url: str) -> str:
    """The address of a gradebook without its password."""
    try:
        return make_url(url).render_as_string(hide_password=True)
    except ArgumentError:
        return url


def file_of(directory: CourseDirectory) -> Path | None:
    """The gradebook's file; None when it is in another kind of database."""
    path = directory.db_url.removeprefix("sqlite:///")
    return None if path == directory.db_url else Path(directory.root, path)


def trouble(error: DBAPIError, url: str) -> str:
    """A sentence for what the database said: what is the matter with the gradebook, and what to do."""
    said, book, state = str(error.orig).splitlines()[0], f"The gradebook {shown(url)}", _state(error)
    if is_lost(error):
        return f"{book} cannot be reached ({said}). Look whether its server runs and its address is right. {AGAIN}"
    if is_locked(error):
        return f"{book} is locked by another program; close it. {AGAIN}"
    if "readonly" in said or "read-only" in said:
        return f"{book} cannot be used: it is read-only. {AGAIN}"
    if "is full" in said or state == "53100":
        return f"{book} cannot be used: its disk is full. {AGAIN}"
    if state == RIGHTS:
        return f"{book} cannot be used: its user has too few rights there ({said}). {AGAIN}"
    if "malformed" in said or "not a database" in said:
        return damaged(url, said)
    if state in OTHER_VERSION or any(sign in said for sign in ("no such column", "no such table", "has no column")):
        return f"{book} is of another version of nbgrader ({said}). {UPGRADE}"
    return f"{book} cannot be used: {said}. {AGAIN}"


def waiting(error: DBAPIError, url: str) -> str:
    """A sentence for what is waited for."""
    what = "is locked by another program" if is_locked(error) else "cannot be reached"
    return f"The gradebook {shown(url)} {what}. Trying again, for {RETRY_SECONDS:.0f} seconds; Ctrl-C to leave."


def damaged(url: str, said: str) -> str:
    """A sentence for a gradebook of which the database said so."""
    return f"The gradebook {shown(url)} is damaged ({said}). {DAMAGED}"


def is_locked(error: DBAPIError) -> bool:
    """Whether another program was in the way."""
    said = str(error.orig)
    return "database is locked" in said or "table is locked" in said or _state(error) in SHARED


def is_lost(error: DBAPIError) -> bool:
    """Whether a server is out of reach, at first or by now; one that answers and refuses is not."""
    if _state(error) in STOPPING or error.connection_invalidated:
        return True
    said = str(error.orig)
    ours = isinstance(error, OperationalError) and type(error.orig).__module__.startswith("psycopg")
    return ours and not _state(error) and ("FATAL" not in said or "the database system is" in said)


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
    last, told = 0.0, False
    while True:
        try:
            return work()
        except Exception as error:
            found = passing(error)
            if found is None or getattr(found, "given_up", False):
                raise
            now = time.monotonic()
            if start is None or now - last > limit + MOMENT:  # it has worked for long since
                start, told = now, False
            last = now
            if now - start >= limit:
                vars(found)["given_up"] = True
                if found is error:
                    raise
                raise found from error
            if now - start > 1 and not told:
                told = True
                for tell in _telling[-1:]:
                    tell(found)
        before_again()
        stopping.check()
        time.sleep(STEP)


_telling: list[Callable[[DBAPIError], object]] = []


@contextlib.contextmanager
def telling(tell: Callable[[DBAPIError], object]) -> Iterator[None]:
    """Inside, ``tell`` is given what the database said, once, where something has to wait."""
    _telling.append(tell)
    try:
        yield
    finally:
        _telling.pop()


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Inside, neither nbgrader nor SQLAlchemy prints what the database says, with tracebacks: it is raised as well."""
    loggers = [app_log, logging.getLogger("sqlalchemy.pool")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def passing(error: BaseException | None) -> DBAPIError | None:
    """What the database said that may pass, where that is the cause of an error; nbgrader calls it an invalid entry."""
    for _ in range(CAUSES):
        if error is None or isinstance(error, VivaError):
            return None
        if isinstance(error, DBAPIError):
            return error if is_locked(error) or is_lost(error) else None
        error = error.__cause__ or error.__context__
    return None


def concerns_all(error: Exception) -> bool:
    """Whether the database would refuse every submission, not only this one."""
    if isinstance(error, OperationalError | CourseError) or type(error) is DatabaseError:
        return True
    return isinstance(error, DBAPIError) and _state(error) in {RIGHTS, READ_ONLY, *OTHER_VERSION}


def _state(error: DBAPIError) -> str:
    """The SQLSTATE; empty where the database has none."""
    return getattr(error.orig, "sqlstate", None) or ""
