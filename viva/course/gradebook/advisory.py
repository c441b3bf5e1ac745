"""Being alone with a course whose gradebook lies on a server, from whatever machine: an advisory lock of PostgreSQL's.

The server gives such a lock up when the connection ends that took it, as the kernel does with a file's.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import socket
import sys
from collections.abc import Callable, Iterator

from sqlalchemy import Connection, create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from viva.course.database import AGAIN, is_lost, shown
from viva.course.processes.leftovers import wait_for
from viva.verdict import CourseError


class Alone:
    """An advisory lock on a course in PostgreSQL, which holds between machines.

    It lasts as long as its connection. Whoever writes asks before each commit whether it is ``held``, which takes it
    again when the connection was lost.
    """

    def __init__(self, url: str, course: str) -> None:
        self.url, self.course = url, course
        name = hashlib.sha256(f"viva {course}".encode()).digest()
        self.key = int.from_bytes(name[:8], "big", signed=True)
        self.engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
        self.connection: Connection | None = None

    def take(self) -> bool:
        """Whether it could be taken. Raises DBAPIError; the next call opens a new connection then."""
        try:
            if self.connection is None:
                self.connection = self.engine.connect()
                name = f"{' '.join(['viva', *sys.argv[1:2]])} (process {os.getpid()} on {socket.gethostname()})"
                self.connection.execute(
                    text("SELECT set_config('application_name', :name, false)"), {"name": name[:63]}
                )
            return bool(self.connection.execute(text("SELECT pg_try_advisory_lock(:key)"), {"key": self.key}).scalar())
        except DBAPIError:
            self.release()  # SQLAlchemy refuses every further question on a lost connection
            raise

    def held(self) -> None:
        """Raises CourseError when another one has it by now, and DBAPIError when the server is out of reach."""
        try:
            if self.connection is not None:
                self.connection.execute(text("SELECT 1"))
                return
        except DBAPIError as error:
            if not is_lost(error):
                raise
            self.release()
        if not self.take():
            raise CourseError(
                f"The connection to the gradebook {shown(self.url)} was lost, and {self.holder()} is using this "
                f"course now. {AGAIN}"
            )

    def holder(self) -> str:
        """The holder's name, as the holder gave it."""
        query = text(
            "SELECT a.application_name FROM pg_locks l JOIN pg_stat_activity a USING (pid)"
            " JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()"
            " WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 1"
            " AND (l.classid::bigint << 32 | l.objid::bigint) = :key"
        )
        with self.engine.connect() as connection:
            return connection.execute(query, {"key": self.key}).scalar() or "another command"

    def release(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(DBAPIError):
                self.connection.close()
            self.connection = None


_held: dict[tuple[str, str], Alone] = {}
"""What this process is alone with, by address and course."""


@contextlib.contextmanager
def alone(url: str, course: str, tell: Callable[[str], object]) -> Iterator[None]:
    """Nobody else works on the course in this database, from whatever machine; nothing to wait for where it is a file.

    Raises DBAPIError.
    """
    if make_url(url).get_backend_name() != "postgresql" or (url, course) in _held:
        yield
        return
    lock = Alone(url, course)
    try:
        wait_for(lock.take, lock.holder, tell)
        _held[url, course] = lock
        yield
    finally:
        _held.pop((url, course), None)
        lock.release()


def still_alone(url: str, course: str) -> None:
    """Before a commit: raises CourseError when another one has taken what this process was alone with."""
    if lock := _held.get((url, course)):
        lock.held()
