"""Canvas, asked over its REST API with the access token of a person: members, scores and times of submission.

canvasapi builds the requests and reads the pages. Sessions, limits, attempts and sentences are ours (``transport``). A
token goes only to the registered address: redirects are not followed, and no page of a list may be elsewhere.
"""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urljoin, urlsplit

import msgspec
import requests
from canvasapi.assignment import Assignment
from canvasapi.course import Course as CanvasCourse
from canvasapi.exceptions import CanvasException, RateLimitExceeded
from canvasapi.requester import Requester
from canvasapi.submission import Submission

import viva
from viva.cleaning import plaintext
from viva.course.processes import leftovers
from viva.verdict import CourseError
from viva_lti import key
from viva_lti.members import Member, parted
from viva_lti.registration import require_address
from viva_lti.scores import Column, Result, Score
from viva_lti.transport import ATTEMPTS, PAGES, Limits, PlatformError, trouble

NAME = "canvas.json"
ENDING = ".token"
TOKEN = re.compile(r"[\x21-\x7e]{8,500}")
COURSE = re.compile(r"(?P<url>https?://[^/?#]+)/courses/(?P<course>\d+)(?:[/?#].*)?")
STUDENT = "StudentEnrollment"
ENROLLED = ["active", "invited"]
UNGRADED = ("not_graded", "pass_fail")
PAUSE = 1.0
"""Seconds before a request that was throttled is sent again; twice as long each time."""
CENT = Decimal("0.01")
Form = TypeVar("Form")

# It would write names, scores and the last letters of the token into logs.
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
    except msgspec.DecodeError as error:
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


def token(path: Path) -> str:
    """The token in its file. Raises CourseError where there is none, or others may read it."""
    if not path.exists():
        raise CourseError(f"The access token {path} does not exist. Run 'viva canvas register' on this machine.")
    key.require_private(path)
    return require_token(path.read_text(encoding="utf-8", errors="replace"))


class CanvasLimits(Limits):
    """Limits that also know how Canvas says that it has too many requests: with 403, and a sentence."""

    def __init__(self) -> None:
        super().__init__(lambda request: request.method == "GET")  # a comment that is sent twice is there twice

    def send(self, request: requests.PreparedRequest, *rest: Any, **options: Any) -> requests.Response:  # type: ignore[override]
        for attempt in range(ATTEMPTS):
            response = super().send(request, *rest, **options)
            if not _throttled(response):
                return response
            time.sleep(PAUSE * 2**attempt)
        return super().send(request, *rest, **options)


def _throttled(response: requests.Response) -> bool:
    return response.status_code == 403 and b"Rate Limit Exceeded" in response.content


class OneSite(Requester):
    """canvasapi's requests, to one site, with limits; nothing of an answer goes into an error."""

    def __init__(self, place: Registration, token: str) -> None:
        super().__init__(place.url, token)
        self.seen: set[str] = set()
        self._session = requests.Session()
        self._session.max_redirects = 0
        self._session.auth = lambda request: request  # else the user's .netrc may replace the token
        self._session.headers["User-Agent"] = f"viva/{viva.__version__}"
        for start in ("https://", "http://"):
            self._session.mount(start, CanvasLimits())

    def request(self, method: str, endpoint: str | None = None, *rest: Any, **named: Any) -> requests.Response:
        response: requests.Response = super().request(method, endpoint, *rest, **named)
        self._cache.clear()
        if response.is_redirect:
            raise requests.TooManyRedirects
        response.json()  # raises an error of requests for half an answer
        following = response.links.get("next", {}).get("url", "")
        if following and not urljoin(response.url, following).startswith(self.base_url):
            raise Elsewhere
        if following in self.seen or len(self.seen) > PAGES:
            raise Endless
        self.seen |= {following} - {""}
        return response

    def close(self) -> None:
        self._session.close()


class Elsewhere(requests.RequestException):
    """The next page of a list is not on the same site."""


class Endless(requests.RequestException):
    """The pages of a list lead back."""


class _Enrollment(msgspec.Struct, frozen=True):
    course_section_id: int | str = ""
    type: str = ""
    user_id: int | str = ""


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
    login_id: str | None = None
    enrollments: list[_Enrollment] = []


class _Named(msgspec.Struct, frozen=True):
    id: int | str
    name: str = ""


class _Assignment(msgspec.Struct, frozen=True):
    id: int | str
    name: str = ""
    points_possible: float | None = None
    grading_type: str = "points"
    post_manually: bool | None = None
    published: bool = True


class _Comment(msgspec.Struct, frozen=True):
    comment: str | None = None


class _Submitted(msgspec.Struct, frozen=True):
    user_id: int | str
    score: float | None = None
    entered_score: float | None = None
    excused: bool | None = None
    posted_at: str | None = None
    submitted_at: str | None = None
    points_deducted: float | None = None
    submission_comments: list[_Comment] = []

    @property
    def points(self) -> float | None:
        """What was entered, before Canvas's own late policy."""
        return self.score if self.entered_score is None else self.entered_score


class Present(Result, frozen=True):
    """What a student has there."""

    excused: bool = False

    @property
    def status(self) -> str:
        return "excused there" if self.excused else ""


@dataclass
class Canvas:
    """A course in Canvas, for a while."""

    place: Registration
    requester: OneSite
    numbers: dict[str, Any] = field(default_factory=dict)
    """By our name of an assignment, the number of Canvas's, as the settings say."""
    visible: bool = False
    """Whether scores may go where students see them at once."""
    submitted: dict[str, dict[str, _Submitted]] = field(default_factory=dict)
    """By column and student's number, what was read there."""

    def __post_init__(self) -> None:
        self.course = CanvasCourse(self.requester, {"id": self.place.course})

    @property
    def host(self) -> str:
        return self.place.host

    def title(self) -> str:
        """The course's name. Raises PlatformError."""
        with self._sentences("the course"):
            response = self.requester.request("GET", f"courses/{self.place.course}")
            return plaintext.line(self._formed("the course", response.json(), _Named).name)

    def members(self) -> list[Member]:
        """The students, without sections and groups. Raises PlatformError, and CourseError where there are none."""
        members = [_member(user, {}, {}) for user in self._users()]
        if members:
            return members
        raise CourseError(f"{self.host} lists no students of course {self.place.course}. Check the course's number.")

    def roster(self) -> list[Member]:
        """The students with sections and groups. Raises as ``members``."""
        sections = {str(one.id): one.name for one in self._list("sections", _Named, self.course.get_sections)}
        groups = {str(one.id): one.name for one in self._list("groups", _Named, self.course.get_groups)}
        enrolled = self._list(
            "groups", _Enrolled, self.course.get_enrollments, type=[STUDENT], state=ENROLLED, include=["group_ids"]
        ) if groups else []  # fmt: skip
        grouped = {
            str(one.user_id): "; ".join(groups[str(number)] for number in one.user.group_ids if str(number) in groups)
            for one in enrolled
        }
        users = self._users()
        if not users:
            self.members()
        return [_member(user, sections, grouped) for user in users]

    def column(self, assignment: str, earlier: Collection[str] = ()) -> Column | None:
        """Canvas's assignment: the one that a setting names, else that got scores before, else of the same name.

        Raises PlatformError, and CourseError where there is none, or two, or it cannot take drafts of scores.
        """
        number = str(self.numbers.get(assignment, ""))
        listed = self._list("assignments", _Assignment, self.course.get_assignments)
        choices = (
            [one for one in listed if str(one.id) == number]
            if number
            else [one for one in listed if self._id(one) in earlier]
            or [one for one in listed if one.name.strip().casefold() == assignment.casefold()]
        )
        if len(choices) != 1:
            which = (
                f"with the number {plaintext.quoted(number)}" if number else f"called {plaintext.quoted(assignment)}"
            )
            raise CourseError(
                f"{self.host} has {len(choices) or 'no'} assignments {which}. Name the right one in "
                f"nbgrader_config.py, as in: c.Canvas.assignments = {{'{assignment}': 4711}}. The number is in the "
                "address of its page."
            )
        found = choices[0]
        title = plaintext.quoted(found.name)
        if found.grading_type in UNGRADED or not found.points_possible or not found.published:
            raise CourseError(
                f"{title} in Canvas cannot take points: it has to be published, to be graded by points, and to have "
                "more than 0 points. Change that in Canvas."
            )
        if not found.post_manually and not self.visible:
            raise CourseError(
                f"Students would see their scores of {title} at once, as it posts grades automatically. In Canvas's "
                "gradebook, open the menu of the column, Grade Posting Policy, and choose Manually. Or run the command "
                "with --visible."
            )
        return Column(self._id(found), found.name, found.points_possible)

    def make(self, assignment: str, maximum: Decimal) -> Column:
        """Raises CourseError: assignments are made by people there."""
        raise CourseError(f"Create the assignment {plaintext.quoted(assignment)} in Canvas.")

    def results(self, column: Column) -> dict[str, Result]:
        """By user, what is in a column. Raises PlatformError."""
        self.submitted[column.id] = self.submissions(column.id)
        return {
            user: Present(user, None if one.excused else one.points, column.score_maximum, bool(one.excused))
            for user, one in self.submitted[column.id].items()
        }

    def submissions(self, column: str) -> dict[str, _Submitted]:
        """By user, what was submitted. Raises PlatformError."""
        assignment = Assignment(
            self.requester, {"id": column.rpartition("/")[2], "course_id": self.place.course}
        )  # fmt: skip
        listed = self._list("submissions", _Submitted, assignment.get_submissions, include=["submission_comments"])
        return {str(one.user_id): one for one in listed}

    def send(self, column: Column, score: Score) -> None:
        """Send one score, and the comment if it is not there. Raises PlatformError."""
        there = self.submitted.get(column.id, {}).get(score.user)
        points = score.points
        if column.score_maximum is not None:
            scaled = score.points * Decimal(repr(column.score_maximum)) / score.maximum
            points = scaled.quantize(CENT, ROUND_HALF_UP)
        comments = {comment.comment for comment in there.submission_comments} if there else set()
        body: dict[str, Any] = {"submission": {"posted_grade": str(points), "prefer_points_over_scheme": True}}
        if score.comment and score.comment not in comments:
            body["comment"] = {"text_comment": score.comment}
        numbers = {"assignment_id": column.id.rpartition("/")[2], "user_id": score.user, "course_id": self.place.course}
        with self._sentences("a score"):
            answer = Submission(self.requester, numbers).edit(**body)
            seen = self._formed("a score", {"user_id": score.user} | _attributes(answer), _Submitted)
        if seen.points is None or abs(Decimal(repr(seen.points)) - points) > CENT:
            raise PlatformError(f"{self.host} did not keep a score.", 422)

    def _users(self) -> list[_User]:
        include = ["email", "enrollments"]
        users = self._list(
            "members", _User, self.course.get_users, enrollment_type=["student"], enrollment_state=ENROLLED,
            include=include,
        )  # fmt: skip
        students = {str(user.id): user for user in users if _is_student(user)}
        return list(students.values())

    def _id(self, assignment: _Assignment) -> str:
        return f"{self.place.url}/courses/{self.place.course}/assignments/{assignment.id}"

    def _list(self, subject: str, form: type[Form], ask: Callable[..., Any], **named: Any) -> list[Form]:
        """All of a list, over its pages. Raises PlatformError."""
        self.requester.seen.clear()
        with self._sentences(subject):
            return [self._formed(subject, _attributes(one), form) for one in ask(**named)]

    def _formed(self, subject: str, value: object, form: type[Form]) -> Form:
        try:
            return msgspec.convert(value, form, strict=False)
        except msgspec.ValidationError as error:
            raise PlatformError(
                f"The answer of {self.host} about {subject} does not have the form that Canvas describes: "
                f"{plaintext.line(str(error), 200)}."
            ) from error

    @contextmanager
    def _sentences(self, subject: str) -> Iterator[None]:
        """Raises PlatformError for each problem; other errors may hold parts of an answer, so none is chained."""
        try:
            yield
            return
        except CourseError:
            raise
        except CanvasException as error:
            problem = self._refusal(subject, error)
        except requests.TooManyRedirects:
            problem = PlatformError(
                f"{self.host} sends requests to another address, which got nothing. Register its final address, which "
                "a browser shows after it is opened."
            )
        except Elsewhere:
            problem = PlatformError(f"{self.host} has the next page of {subject} on another site, which got nothing.")
        except Endless:
            problem = PlatformError(f"{self.host} never ends its list of {subject}: a page leads back.")
        except requests.JSONDecodeError:
            problem = PlatformError(
                f"The answer of {self.host} about {subject} is not JSON. If its address opens a login page in a "
                "browser, it is wrong."
            )
        except requests.RequestException as error:
            problem = trouble(self.place.url, error)
        except (ValueError, TypeError, AttributeError, KeyError):
            problem = PlatformError(
                f"The answer of {self.host} about {subject} does not have the form that Canvas describes."
            )
        raise problem

    def _refusal(self, subject: str, error: CanvasException) -> PlatformError:
        status = _status(error)
        advice = {
            401: "The access token is wrong or expired, or its owner may not do this. Create a new one in Canvas, and "
            "run 'viva canvas register' again.",
            403: "The owner of the access token may not do this in the course.",
            404: "Check the course's number, and whether the owner of the access token teaches the course.",
            429: "It has too many requests. Run the same command again later.",
        }
        return PlatformError(
            f"{self.host} refused the request about {subject}, with status {status}. "
            + advice.get(status, "It has a problem of its own. Try again later." if status >= 500 else "Try it there."),
            status,
        )


def _status(error: CanvasException) -> int:
    """The status of the answer behind an error of canvasapi."""
    if isinstance(error, RateLimitExceeded):
        return 429
    statuses = {
        "BadRequest": 400, "InvalidAccessToken": 401, "Unauthorized": 401, "Forbidden": 403,
        "ResourceDoesNotExist": 404, "Conflict": 409, "UnprocessableEntity": 422,
    }  # fmt: skip
    number = re.fullmatch(r"Encountered an error: status code (\d{3})", str(error))
    return statuses.get(type(error).__name__, int(number[1]) if number else 0)


def _attributes(found: Any) -> dict[str, Any]:
    """What the answer said, of what canvasapi made of it."""
    return {name: value for name, value in vars(found).items() if not name.startswith("_")}


def _is_student(user: _User) -> bool:
    """Canvas's test student has an enrolment of another type."""
    return not user.enrollments or any(one.type == STUDENT for one in user.enrollments)


def _member(user: _User, sections: dict[str, str], groups: dict[str, str]) -> Member:
    last, comma, first = (user.sortable_name or "").partition(",")
    if not comma:
        first, last = parted((user.name or user.sortable_name or "").strip())
    names = dict.fromkeys(sections.get(str(one.course_section_id), "") for one in user.enrollments)
    cells = (first, last, user.email, user.sis_user_id, user.login_id)
    first, last, email, sis, login = (str(cell if cell is not None else "").strip() for cell in cells)
    return Member(
        str(user.id), first, last, email, sis, login, "; ".join(filter(None, names)), groups.get(str(user.id), "")
    )


@contextmanager
def connected(place: Registration, token: str, **more: Any) -> Iterator[Canvas]:
    """A course in Canvas."""
    requester = OneSite(place, token)
    try:
        yield Canvas(place, requester, **more)
    finally:
        requester.close()
