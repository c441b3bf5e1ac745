"""Canvas, asked over its REST API with the access token of a person: who is in the course, and when they submitted.

canvasapi builds the requests and follows the pages. Limits, attempts and sentences are ours (``transport``). Its own
objects are not used: they read each text as a date, and fail where a student is called 9999-12-31T23:00:00-10:00. A
token goes only to the registered site: redirects are not followed, and the next page of a list cannot be elsewhere.
Only ``put`` writes there.
"""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
import requests
from canvasapi.exceptions import CanvasException, Forbidden, RateLimitExceeded, ResourceDoesNotExist, Unauthorized
from canvasapi.paginated_list import PaginatedList
from canvasapi.requester import Requester
from canvasapi.util import combine_kwargs

from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.verdict import CourseError
from viva_lti import key
from viva_lti.members import Member, parted
from viva_lti.registration import require_address
from viva_lti.transport import ATTEMPTS, BROKEN, LARGEST, PAGES, Limits, PlatformError, decoded, trouble

NAME = "canvas.json"
VARIABLE = "VIVA_CANVAS_TOKEN"
TOKEN = re.compile(r"[\x21-\x7e]{8,500}")
COURSE = re.compile(
    r"""
    (?P<url> https?://[^/?\#\s]+ )
    /courses/
    (?P<course> [0-9]{1,30} )
    (?: [/?\#].* )?
    """,
    re.VERBOSE,
)
STUDENT = "StudentEnrollment"
ENROLLED = ["active", "invited"]
PAUSE = 1.0
"""Seconds before a request that was throttled is sent again; twice as long each time."""
WHOLE = 4 * LARGEST
"""Bytes of all pages of one list."""
Form = TypeVar("Form")

# It would write names and the last letters of the token into logs.
logging.getLogger("canvasapi.requester").addFilter(lambda record: False)


class Registration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The course in Canvas. It holds no secret."""

    url: str
    course: str

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc


def registration_of(address: str) -> Registration:
    """The course with a page's address, as a browser shows it. Raises CourseError."""
    match = COURSE.fullmatch(address.strip())
    if not match:
        raise CourseError(
            f"{plaintext.quoted(address)} is not the address of a course in Canvas. Copy it from the browser, as in: "
            "viva canvas register https://canvas.example.edu/courses/12"
        )
    require_address(match["url"])
    return Registration(match["url"], match["course"])


def registration(root: Path) -> Registration:
    """The course's registration. Raises CourseError where there is none, or it cannot be read."""
    path = root / NAME
    if not path.exists():
        raise CourseError(
            "The course is not registered with Canvas. Begin with: viva canvas register "
            "https://canvas.example.edu/courses/12"
        )
    try:
        place = msgspec.json.decode(path.read_bytes(), type=Registration)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CourseError(f"{path} is damaged: {error}. Restore it, or run 'viva canvas register' again.") from error
    return registration_of(f"{place.url}/courses/{place.course}")


def write_registration(root: Path, place: Registration) -> None:
    leftovers.write(root / NAME, msgspec.json.format(msgspec.json.encode(place), indent=1).decode() + "\n")


def require_token(text: str) -> str:
    """The token in a text, which no sentence shows. Raises CourseError."""
    token = text.strip()
    if not TOKEN.fullmatch(token):
        raise CourseError(
            "This is not an access token: a token is one word of letters and digits. In Canvas, open Account, "
            "Settings, and create one under Approved Integrations."
        )
    return token


def path_of(place: Registration, folder: Path, root: Path) -> Path:
    """The file of the token. Raises CourseError for a folder in the course."""
    return key.path_of(place.url, folder, root, ".token")


def token(path: Path) -> str:
    """The token of the environment, else in its file. Raises CourseError where there is none, or others can read it."""
    if typed := os.environ.get(VARIABLE):
        return require_token(typed)
    if not path.exists():
        raise CourseError(
            f"The access token {path} does not exist. Run 'viva canvas register' on this machine, or put the token "
            f"into the environment variable {VARIABLE}."
        )
    key.require_private(path)
    return require_token(path.read_text(encoding="utf-8", errors="replace"))


class CanvasLimits(Limits):
    """Limits that also know how Canvas says that it has too many requests: with 403, and a sentence.

    A change is sent again only where Canvas says that it had too many requests, so that it did nothing. An error of a
    server in between does not say that: the change, and a comment with it, would be there twice.
    """

    def __init__(self) -> None:
        super().__init__(lambda request: request.method == "GET")
        self.strict = self.strict.new(status_forcelist=(429,), connect=0, respect_retry_after_header=False)

    def sent(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        for attempt in range(ATTEMPTS):
            response = super().sent(request, **options)
            if response.status_code != 403 or b"rate limit exceeded" not in response.content[:1000].lower():
                break
            response.status_code = 429
            if PAUSE * 2**attempt > self.left:
                break
            time.sleep(PAUSE * 2**attempt)
        return response


class Elsewhere(requests.RequestException):
    """The next page of a list is not on the same site."""


class Endless(requests.RequestException):
    """The pages of a list lead back, or are too many."""


class OneSite(Requester):
    """canvasapi's requests: to one site, and with limits."""

    def __init__(self, place: Registration, token: str) -> None:
        super().__init__(place.url, token)
        self.begin()
        self._session = requests.Session()
        self._session.max_redirects = 0
        self._session.auth = lambda request: request  # else the user's .netrc may replace the token
        for start in ("https://", "http://"):
            self._session.mount(start, CanvasLimits())

    def begin(self) -> None:
        """A new list begins."""
        self.seen: set[str] = set()
        self.size = 0

    def _get_request(self, url: str, headers: dict, params: Any = None, **named: Any) -> requests.Response:
        """Raises RequestException and CanvasException, in which nothing of the answer is."""
        response = _required(super()._get_request(url, headers, params, **named))
        if not response.ok:
            return response
        decoded(response.content)  # canvasapi reads it again with Python's own reader, which takes NaN for a number
        following = response.links.get("next", {}).get("url", "")
        if following and not urljoin(response.url, following).startswith(self.base_url):
            raise Elsewhere
        self.size += len(response.content)
        if following in self.seen or len(self.seen) > PAGES or self.size > WHOLE:
            raise Endless
        self.seen |= {following} - {""}
        return response

    def _put_request(self, url: str, headers: dict, data: Any = None, **named: Any) -> requests.Response:
        """Raises as ``_get_request``."""
        return _required(super()._put_request(url, headers, data, **named))

    def close(self) -> None:
        self._session.close()


def _required(response: requests.Response) -> requests.Response:
    if response.is_redirect:
        raise requests.TooManyRedirects
    if response.status_code == 401:
        raise Unauthorized("")  # canvasapi asks for a reason in JSON
    return response


class _Enrollment(msgspec.Struct, frozen=True):
    course_section_id: int | str = ""
    type: str = ""


class _Grouped(msgspec.Struct, frozen=True):
    group_ids: list[int | str] = []


class _Enrolled(msgspec.Struct, frozen=True):
    user_id: int | str
    user: _Grouped = _Grouped()


class _User(msgspec.Struct, frozen=True):
    id: int | str
    name: str | None = None
    sortable_name: str | None = None
    email: str | None = None
    sis_user_id: str | int | None = None
    login_id: str | int | None = None
    enrollments: list[_Enrollment] = []


class _Course(msgspec.Struct, frozen=True):
    id: int | str
    name: str | None = None


class _Section(msgspec.Struct, frozen=True):
    id: int | str
    name: str | None = None


class _Group(msgspec.Struct, frozen=True):
    id: int | str
    name: str | None = None
    group_category_id: int | str | None = None


class Assignment(msgspec.Struct, frozen=True):
    id: int | str
    name: str | None = None
    points_possible: float | None = None
    grading_type: str | None = "points"
    published: bool = True
    post_manually: bool | None = None
    moderated_grading: bool | None = None
    anonymous_grading: bool | None = None
    anonymize_students: bool | None = None
    group_category_id: int | str | None = None
    grade_group_students_individually: bool | None = None


class _Submission(msgspec.Struct, frozen=True):
    user_id: int | str
    submitted_at: datetime | None = None


class Canvas:
    """A course in Canvas."""

    def __init__(self, place: Registration, requester: OneSite) -> None:
        self.place, self.requester = place, requester

    def title(self) -> str:
        """The course's name. Raises PlatformError."""
        return plaintext.line(self.read("the course", _Course, "").name or "")

    def members(self, sections: dict[str, str] | None = None, groups: dict[str, str] | None = None) -> list[Member]:
        """The students. Raises PlatformError, and CourseError where there are none.

        ``sections`` has names by number, ``groups`` has the group's name by the number of a student.
        """
        users = self.listed(
            "members", _User, "users", enrollment_type=["student"], enrollment_state=ENROLLED,
            include=["email", "enrollments"],
        )  # fmt: skip
        students = {str(user.id): user for user in users if _is_student(user)}
        if not students:
            raise CourseError(
                f"{self.place.host} lists no students of course {self.place.course}. Check the course's number, and "
                "whether students are enrolled there."
            )
        return [_member(user, sections or {}, groups or {}) for user in students.values()]

    def sections(self) -> dict[str, str]:
        """The names of sections, by number. Raises PlatformError."""
        return {str(one.id): one.name or "" for one in self.listed("sections", _Section, "sections")}

    def groups(self, group_set: str = "") -> tuple[dict[str, str] | None, int]:
        """By the number of a student, the group's name; and how many sets of groups there are.

        None where nothing says which of several sets counts. Raises PlatformError, and CourseError for a set that is
        not there.
        """
        listed = self.listed("groups", _Group, "groups")
        sets = {str(group.group_category_id) for group in listed}
        if group_set and group_set not in sets:
            raise CourseError(
                f"{self.place.host} has no groups of the group set {plaintext.quoted(group_set)}, which "
                f"c.Canvas.group_set names. The sets with groups are: {plaintext.some(sorted(sets), 20) or 'none'}."
            )
        if not listed or (len(sets) > 1 and not group_set):
            return None, len(sets)
        names = {str(group.id): group.name or "" for group in listed if group_set in ("", str(group.group_category_id))}
        enrolled = self.listed(
            "groups", _Enrolled, "enrollments", type=[STUDENT], state=ENROLLED, include=["group_ids"]
        )  # fmt: skip
        grouped = {}
        for one in enrolled:
            numbers = dict.fromkeys(str(number) for number in one.user.group_ids)
            grouped[str(one.user_id)] = "; ".join(names[number] for number in numbers if number in names)
        return grouped, len(sets)

    def assignment(self, name: str, number: str = "", earlier: Collection[str] = ()) -> Assignment:
        """The assignment with this number, else one that got scores ``earlier``, else the one that is called so.

        Raises PlatformError, and CourseError where it is not exactly one.
        """
        listed = self.listed("assignments", Assignment, "assignments")
        wanted = name.strip().casefold()
        choices = (
            [one for one in listed if str(one.id) == number]
            if number
            else [one for one in listed if str(one.id) in earlier]
            or [one for one in listed if (one.name or "").strip().casefold() == wanted]
        )
        if len(choices) == 1:
            return choices[0]
        which = f"with the number {plaintext.quoted(number)}" if number else f"called {plaintext.quoted(name)}"
        count = f"{len(choices)} assignments" if choices else "no assignment"
        raise CourseError(
            f"{self.place.host} has {count} {which}. Name the right one in nbgrader_config.py, as in: "
            f"c.Canvas.assignments = {{'{plaintext.line(name)}': 4711}}. The number is in the address of its page."
        )

    def times(self, assignment: str) -> dict[str, datetime]:
        """By the number of a student, when they submitted last. Raises PlatformError."""
        listed = self.listed("submissions", _Submission, f"assignments/{assignment}/submissions")
        times = {str(one.user_id): one.submitted_at for one in listed if one.submitted_at}
        if any(when.tzinfo is None for when in times.values()):
            raise PlatformError(f"{self.place.host} sent a time without a time zone, so the time is unclear.")
        with self._sentences("submissions"):
            return {user: when.astimezone(UTC) for user, when in times.items()}

    def listed(self, subject: str, form: type[Form], path: str, **parameters: Any) -> list[Form]:
        """All of a list of the course, over its pages. Raises PlatformError."""
        self.requester.begin()
        with self._sentences(subject):
            pages = PaginatedList(
                lambda requester, element: element, self.requester, "GET", f"courses/{self.place.course}/{path}",
                _kwargs=combine_kwargs(**parameters),
            )  # fmt: skip
            return [self._formed(subject, one, form) for one in pages]

    def read(self, subject: str, form: type[Form], path: str, **parameters: Any) -> Form:
        """One thing of the course. Raises PlatformError."""
        return self._asked("GET", subject, form, path, parameters)

    def put(self, subject: str, form: type[Form], path: str, body: dict[str, Any]) -> Form:
        """Change one thing of the course; what it is then. Raises PlatformError, also where the answer is lost."""
        return self._asked("PUT", subject, form, path, body)

    def _asked(self, method: str, subject: str, form: type[Form], path: str, parameters: dict[str, Any]) -> Form:
        self.requester.begin()
        with self._sentences(subject):
            place = f"courses/{self.place.course}/{path}".rstrip("/")
            answer = self.requester.request(method, place, _kwargs=combine_kwargs(**parameters))
            return self._formed(subject, decoded(answer.content), form)

    def _formed(self, subject: str, value: object, form: type[Form]) -> Form:
        try:
            return msgspec.convert(value, form, strict=False)
        except msgspec.ValidationError as error:
            problem = f"{self._wrong(subject)}: {plaintext.line(str(error), 200)}."
        raise PlatformError(problem)

    def _wrong(self, subject: str) -> str:
        return f"The answer of {self.place.host} about {subject} does not have the form that Canvas describes"

    @contextmanager
    def _sentences(self, subject: str) -> Iterator[None]:
        """Raises PlatformError for each problem; other errors may hold parts of an answer, so none is chained."""
        host = self.place.host
        try:
            yield
            return
        except CourseError:
            raise
        except CanvasException as error:
            problem = self._refusal(subject, error)
        except requests.TooManyRedirects:
            problem = PlatformError(
                f"{host} sends requests to another address. Nothing was sent there. Open the course in a browser, "
                "and register the address that the browser then shows."
            )
        except Elsewhere:
            problem = PlatformError(
                f"{host} has the next page of {subject} at another address. Nothing was sent there. Open the course "
                "in a browser, and register the address that the browser then shows."
            )
        except Endless:
            problem = PlatformError(f"The list of {subject} of {host} does not end, so it was not used.")
        except (msgspec.DecodeError, UnicodeDecodeError):
            problem = PlatformError(
                f"The answer of {host} about {subject} is not JSON. Open its address in a browser. If you see a "
                "login page, the address is wrong."
            )
        except requests.RequestException as error:
            problem = trouble(self.place.url, error)
        except BROKEN:
            problem = PlatformError(f"{self._wrong(subject)}.")
        raise problem

    def _refusal(self, subject: str, error: CanvasException) -> PlatformError:
        status = _status(error)
        refused = f"{self.place.host} refused the request about {subject}, with status {status}."
        advice = {
            401: "The access token is wrong or expired. Create a new one in Canvas, and run 'viva canvas register' "
            "again.",
            403: "The owner of the access token may not read this in the course.",
            404: "Check the course's number, and whether the owner of the access token teaches the course.",
            429: "It has too many requests. Run the same command again later.",
        }
        problem = "Its server has an error. Try again later." if status >= 500 else "It does not say why."
        return PlatformError(f"{refused} {advice.get(status, problem)}", status)


def _status(error: CanvasException) -> int:
    """The status of the answer behind an error of canvasapi."""
    for form, status in ((RateLimitExceeded, 429), (Unauthorized, 401), (Forbidden, 403), (ResourceDoesNotExist, 404)):
        if isinstance(error, form):
            return status
    number = re.fullmatch(r"Encountered an error: status code (\d{3})", str(error))
    return int(number[1]) if number else 400


def _is_student(user: _User) -> bool:
    """Canvas's test student has an enrolment of another type."""
    return not user.enrollments or any(one.type == STUDENT for one in user.enrollments)


def _member(user: _User, sections: dict[str, str], groups: dict[str, str]) -> Member:
    last, comma, first = (user.sortable_name or "").partition(",")
    if not comma:
        first, last = parted((user.name or user.sortable_name or "").strip())
    names = dict.fromkeys(
        sections.get(str(one.course_section_id), "") for one in user.enrollments if one.type == STUDENT
    )
    cells = (first, last, user.email, user.sis_user_id, user.login_id)
    first, last, email, sis, login = (str(cell if cell is not None else "").strip() for cell in cells)
    return Member(
        str(user.id), first, last, email, sis, login, "; ".join(filter(None, names)), groups.get(str(user.id), "")
    )


@contextmanager
def connected(place: Registration, token: str) -> Iterator[Canvas]:
    """A course in Canvas, for a while."""
    requester = OneSite(place, token)
    try:
        yield Canvas(place, requester)
    finally:
        requester.close()
