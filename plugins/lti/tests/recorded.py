"""Canvas on the loopback, as recordings: real HTTP that answers with the JSON of Canvas's documentation.

No real Canvas is behind this. Names of fields, parameters and headers, pages by Link, and ways of refusing are those of
https://developerdocs.instructure.com: users, enrollments, sections, groups, assignments, submissions, throttling.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlencode, urlsplit

from plugins.lti.tests import platform

TOKEN = "7~Qm4vKx9TbW2rLp8ZsYc5NdHf3GjAe6U"


def user(number: int, first: str, section: int = 31, **more: object) -> dict:
    return {
        "id": number,
        "name": f"{first.title()} Lee",
        "created_at": "2025-08-20T08:15:30Z",
        "sortable_name": f"Lee, {first.title()}",
        "short_name": first.title(),
        "sis_user_id": f"S{number}",
        "integration_id": None,
        "login_id": first,
        "email": f"{first}@x.edu",
        "enrollments": [
            {
                "id": number * 10,
                "user_id": number,
                "course_id": 12,
                "type": "StudentEnrollment",
                "course_section_id": section,
                "enrollment_state": "active",
                "role": "StudentEnrollment",
                "grades": {"html_url": f"https://canvas.example.edu/courses/12/grades/{number}", "current_score": None},
            }
        ],
    } | more


def group(number: int, name: str, group_set: int = 99) -> dict:
    return {
        "id": number, "name": name, "group_category_id": group_set, "course_id": 12, "context_type": "Course",
        "members_count": 2, "join_level": "invitation_only", "concluded": False,
    }  # fmt: skip


def enrollment(number: int, *groups: int) -> dict:
    return {
        "id": number * 10, "course_id": 12, "user_id": number, "type": "StudentEnrollment", "course_section_id": 31,
        "enrollment_state": "active", "user": {"id": number, "name": "A name", "group_ids": list(groups)},
    }  # fmt: skip


def assignment(number: int, name: str, **more: object) -> dict:
    return {
        "id": number, "name": name, "course_id": 12, "points_possible": 25.0, "grading_type": "points",
        "due_at": "2026-09-14T12:00:00Z", "published": True, "submission_types": ["online_upload"],
        "post_manually": True, "moderated_grading": False, "anonymous_grading": False, "anonymize_students": False,
        "group_category_id": None, "grade_group_students_individually": False,
    } | more  # fmt: skip


def submission(number: int, when: str | None, **more: object) -> dict:
    return {
        "id": number * 100, "user_id": number, "assignment_id": 4711, "submitted_at": when, "attempt": when and 1,
        "workflow_state": "submitted" if when else "unsubmitted", "late": False, "missing": False, "excused": None,
        "score": None, "grade": None, "posted_at": None, "submission_type": when and "online_upload",
        "entered_score": None, "entered_grade": None, "points_deducted": None, "submission_comments": [],
    } | more  # fmt: skip


@dataclass
class Recordings:
    """What Canvas answers, by the path within /api/v1."""

    lists: dict[str, list] = field(default_factory=dict)
    policy: dict | None = None
    puts: list[tuple[str, str, str | None]] = field(default_factory=list)
    """By every change that came: the student's number, the grade, the comment."""
    limit: int = 100
    requests: list[str] = field(default_factory=list)
    queries: list[dict] = field(default_factory=list)
    faults: list[platform.Fault] = field(default_factory=list)
    url: str = ""

    def fault(self, path: str, act: Callable[[Handler], bool], after: int = 0, times: int = 10**6) -> None:
        self.faults.append(platform.Fault(path, act, after, times))

    def submitted(self, user: int) -> dict:
        return next(one for one in self.lists["assignments/4711/submissions"] if one["user_id"] == user)

    def enter(self, user: int, points: float | None) -> None:
        """What a teacher does by hand."""
        self.submitted(user).update(score=points, entered_score=points)

    def points(self) -> dict[int, float]:
        listed = self.lists["assignments/4711/submissions"]
        return {one["user_id"]: one["entered_score"] for one in listed if one["entered_score"] is not None}

    def put(self, user: int, body: str) -> dict:
        """Take a grade, as a column does whose grades are posted by hand."""
        form = {name: values[0] for name, values in parse_qs(body).items()}
        grade, comment, one = form["submission[posted_grade]"], form.get("comment[text_comment]"), self.submitted(user)
        self.puts.append((str(user), grade, comment))
        deducted = 2.5 if one["late"] and self.policy else 0.0
        one.update(entered_score=float(grade), score=float(grade) - deducted, points_deducted=deducted, excused=False)
        one["submission_comments"] += [{"id": 1, "author_id": 9, "comment": comment}] * (comment is not None)
        return one

    def count(self, path: str) -> int:
        return sum(request.endswith(path) for request in self.requests)


class Handler(platform.Handler):
    system: Recordings  # type: ignore[assignment]

    def __getattr__(self, name: str) -> object:
        if name == "do_PUT":
            return self.do_POST
        raise AttributeError(name)

    def serve(self, path: str) -> None:
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            document = {"errors": [{"message": "Invalid access token."}]}
            self.answer(401, document, WWW_Authenticate='Bearer realm="canvas-lms"')
            return
        name = path.removeprefix("/api/v1/courses/12").strip("/")
        if name == "" and path.startswith("/api/v1"):
            self.answer(200, {"id": 12, "name": "Attention", "course_code": "ATT", "workflow_state": "available"})
        elif name == "late_policy" and self.system.policy:
            self.answer(200, {"late_policy": self.system.policy})
        elif name.startswith("assignments/4711/submissions/"):
            user = int(name.rpartition("/")[2])
            if user not in {one["user_id"] for one in self.system.lists["assignments/4711/submissions"]}:
                self.answer(404, {"errors": [{"message": "The specified resource does not exist."}]})
            else:
                put = self.command == "PUT"
                self.answer(200, self.system.put(user, self.body.decode()) if put else self.system.submitted(user))
        elif name in self.system.lists:
            self.page(self.system.lists[name])
        else:
            self.answer(404, {"errors": [{"message": "The specified resource does not exist."}]})

    def page(self, listed: list) -> None:
        parts = urlsplit(self.path)
        query = parse_qs(parts.query)
        self.system.queries.append(query)
        size, number = min(int(query["per_page"][0]), self.system.limit), int(query.get("page", ["1"])[0])
        last = max(1, -(-len(listed) // size))
        pages = {"current": number, "next": number + 1, "first": 1, "last": last}
        links = [
            f'<{self.system.url}{parts.path}?{urlencode(query | {"page": page}, doseq=True)}>; rel="{name}"'
            for name, page in pages.items()
            if page <= last
        ]
        self.answer(
            200, listed[(number - 1) * size : number * size], Link=",".join(links), X_Rate_Limit_Remaining="699.9"
        )


def running() -> AbstractContextManager[Recordings]:
    """A Canvas that answers."""
    return platform.serving(Recordings(), Handler)
