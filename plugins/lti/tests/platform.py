"""A learning system on the loopback: real HTTP, signed requests for tokens, members, columns, results and scores.

What it understands is lti1p3platform's: the checks of keys, tokens and scopes, and the two services. Ours are the HTTP
around it, the places where things are stored, pages with links, and the faults that a test asks for.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import jwt
from joserfc.jwk import RSAKey
from lti1p3platform.exceptions import LineItemNotFoundException
from lti1p3platform.ltiplatform import LTI1P3PlatformConfAbstract
from lti1p3platform.membership import Context
from lti1p3platform.registration import Registration
from lti1p3platform.request import Request
from lti1p3platform.response import generate_next_link
from lti1p3platform.score import UpdateScoreStatus
from lti1p3platform.service_connector import AssignmentsGradesService, NamesRoleProvisioningService

CLIENT = "client-7"
LEARNER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Learner"
TEACHER = "http://purl.imsglobal.org/vocab/lis/v2/membership#Instructor"


@dataclass
class Fault:
    """What happens to some requests instead of the right answer."""

    path: str
    act: Callable[[Handler], bool]
    """Whether the request is answered with it."""
    after: int = 0
    """The number of requests that succeed before it."""
    times: int = 10**6


@dataclass
class System:
    """What the learning system holds."""

    members: list[dict] = field(default_factory=list)
    columns: dict[str, dict] = field(default_factory=dict)
    results: dict[str, dict[str, dict]] = field(default_factory=lambda: defaultdict(dict))
    scores: list[dict] = field(default_factory=list)
    """Every score that came, in order."""
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    tool_keys: dict = field(default_factory=lambda: {"keys": []})
    limit: int = 50
    revoked: set[str] = field(default_factory=set)
    granted: list[str] = field(default_factory=list)
    """Every token that was given."""
    assertions: list[str] = field(default_factory=list)
    forgets: bool = False
    """Whether a column loses what the tool calls it."""
    refuses: set[str] = field(default_factory=set)
    """Members who cannot be graded."""
    url: str = ""

    def __post_init__(self) -> None:
        self.key = RSAKey.generate_key(2048)
        registration = Registration().set_iss(self.url).set_client_id(CLIENT)
        registration.set_platform_private_key(self.key.as_pem(private=True).decode())
        registration.set_platform_public_key(self.key.as_pem(private=False).decode())
        self.registration = registration

    def fault(self, path: str, act: Callable[[Handler], bool], after: int = 0, times: int = 10**6) -> None:
        self.faults.append(Fault(path, act, after, times))

    def enter(self, user: str, points: float | None, column: str = "1") -> None:
        """What a teacher does by hand."""
        if points is None:
            self.results[column].pop(user, None)
        else:
            self.results[column][user] = {"userId": user, "resultScore": points, "resultMaximum": 25}

    def points(self, column: str = "1") -> dict[str, float]:
        return {user: result["resultScore"] for user, result in self.results[column].items()}

    def count(self, path: str) -> int:
        return sum(path in request for request in self.requests)

    def another(self, token: str) -> str:
        """The token, which is no other's; two of one second would be the same."""
        claims = jwt.decode(token, options={"verify_signature": False}) | {"jti": str(len(self.granted))}
        return Registration.encode_and_sign(claims, self.registration.get_platform_private_key())

    def options(self) -> list[str]:
        """What registers a course here."""
        return [
            f"--client-id={CLIENT}",
            f"--token={self.url}/token",
            f"--lineitems={self.url}/courses/1/items?type_id=3",
            f"--members={self.url}/courses/1/members",
        ]


class Conf(LTI1P3PlatformConfAbstract):
    def init_platform_config(self, system: System) -> None:
        self._registration = system.registration
        system.registration.set_tool_key_set(system.tool_keys)

    def get_registration_by_params(self, **named: object) -> Registration:
        return self._registration


class Asked(Request):
    def build_metadata(self, request: Handler) -> dict:
        query = dict(parse_qsl(urlsplit(request.path).query))
        query.pop("type_id", None)
        data = {name: int(value) if value.isdigit() else value for name, value in query.items()}
        return {
            "method": request.command,
            "form_data": {},
            "get_data": {"page": 1, "limit": request.system.limit} | data,
            "headers": request.headers,
            "content_type": request.headers.get("Content-Type"),
            "path": request.path,
            "json": json.loads(request.body) if request.body else None,
        }


def cut(things: list, page: int, limit: int) -> dict:
    start = (page - 1) * limit
    return {"content": things[start : start + limit], "has_next": start + limit < len(things), "next": None}


class Names(NamesRoleProvisioningService):
    system: System

    def get_member_data_page(self, page=1, limit=None, role=None, since=None):
        return cut([dict(member) for member in self.system.members], page, limit)

    def get_context_by_id(self):
        return Context("1", "Course", "A course")


class Grades(AssignmentsGradesService):
    system: System

    def find_lineitems(self, page=1, limit=None, line_item_id=None, resource_link_id=None, resource_id=None, tag=None):
        columns = [one for one in self.system.columns.values() if resource_id in (None, one.get("resourceId"))]
        return cut(list(self.system.columns.values()) if self.system.forgets else columns, page, limit)

    def find_lineitem(self, line_item_id):
        return self.system.columns[line_item_id]

    def create_lineitem(self, creation_data):
        number = str(len(self.system.columns) + 1)
        address = f"{self.system.url}/courses/1/items/{number}/item?type_id=3"
        self.system.columns[number] = dict(creation_data) | {"id": address}
        if self.system.forgets:
            del self.system.columns[number]["resourceId"]
        return self.system.columns[number]

    def update_lineitem(self, update_data):
        raise NotImplementedError

    def delete_lineitem(self, line_item_id):
        raise NotImplementedError

    def update_score(self, line_item_id, score):
        if line_item_id not in self.system.columns:
            raise LineItemNotFoundException
        if score["userId"] in self.system.refuses:
            return UpdateScoreStatus.NOTAPPLIED
        before = self.system.results[line_item_id].get(score["userId"], {})
        if before.get("timestamp", "") >= score["timestamp"]:
            return UpdateScoreStatus.OLD_TIMESTAMP
        self.system.scores.append(score)
        self.system.results[line_item_id][score["userId"]] = {
            "userId": score["userId"],
            "resultScore": score["scoreGiven"],
            "resultMaximum": score["scoreMaximum"],
            "timestamp": score["timestamp"],
        }
        return UpdateScoreStatus.SUCCESS

    def get_results(self, line_item_id, page=1, limit=None, user_id=None):
        results = self.system.results[line_item_id]
        return cut([result for user, result in results.items() if user_id in (None, user)], page, limit)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    system: System
    body = b""

    def log_message(self, *words: object) -> None:
        pass

    def answer(self, status: int, document: object = None, raw: bytes | None = None, **headers: str) -> bool:
        data = raw if raw is not None else b"" if document is None else json.dumps(document).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data))}.items():
            self.send_header(name, headers.pop(name.replace("-", "_"), value))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)
        return True

    def do_POST(self) -> None:
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.handle_all()

    def do_GET(self) -> None:
        self.body = b""
        self.handle_all()

    def handle_all(self) -> None:
        path = urlsplit(self.path).path
        self.system.requests.append(f"{self.command} {path}")
        for fault in self.system.faults:
            if path.endswith(fault.path) and self.command == ("GET" if fault.path == "/items" else self.command):
                fault.after -= 1
                if fault.after < 0 < fault.times:
                    fault.times -= 1
                    if fault.act(self):
                        return
        try:
            self.grant() if path == "/token" else self.serve(path)
        except (jwt.PyJWTError, AssertionError):
            self.answer(401)

    def grant(self) -> None:
        form = dict(parse_qsl(self.body.decode()))
        self.system.assertions.append(form["client_assertion"])
        try:
            granted = Conf(system=self.system).get_access_token(form)
            granted["access_token"] = self.system.another(granted["access_token"])
            claims = jwt.decode(form["client_assertion"], options={"verify_signature": False})
            assert claims["iss"] == claims["sub"] == CLIENT and claims["aud"] == f"{self.system.url}/token"
            assert claims["jti"] and form["client_assertion_type"].endswith("jwt-bearer")
        except Exception as error:  # it has a class for each, and none above them
            self.answer(401, {"error": "invalid_client", "error_description": f"{error} {self.body.decode()}"})
            return
        self.system.granted.append(granted["access_token"])
        self.answer(200, granted)

    def serve(self, path: str) -> None:
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        assert token not in self.system.revoked
        _, _, _, kind, *rest = path.split("/")
        conf, asked = Conf(system=self.system), Asked(self)
        if kind == "members":
            names = Names(asked, conf, f"{self.system.url}/courses/1/members")
            names.system = self.system
            response = names.handle_resp(names.handle_get_members)
        else:
            column = f"{self.system.url}/courses/1/items/{rest[0]}/item" if rest else None
            grades = Grades(asked, conf, f"{self.system.url}/courses/1/items", column)
            grades.system = self.system
            if len(rest) == 2 and rest[-1] == "item" and self.command == "GET":
                found = self.system.columns.get(rest[0])
                self.answer(200, found) if found else self.answer(404)
                return
            if not rest:
                act = grades.handle_get_lineitems if self.command == "GET" else grades.handle_create_lineitem
                response = grades.handle_resp(act)
            else:
                act = grades.handle_get_results if rest[-1] == "results" else grades.handle_update_score
                response = grades.handle_resp(act, line_item_id=rest[0])
        result, headers = response.result, {"Content_Type": response.media_type}
        if isinstance(result, dict) and result.get("next"):
            headers["Link"] = generate_next_link(result.pop("next"))
        if isinstance(result, dict) and "content" in result:
            result = result["content"]
        self.answer(422 if response.message == "notapplied" else response.code, result, **headers)


def slow(seconds: float) -> Callable[[Handler], bool]:
    def act(handler: Handler) -> bool:
        time.sleep(seconds)
        return False

    return act


def status(code: int, **headers: str) -> Callable[[Handler], bool]:
    return lambda handler: handler.answer(code, **headers)


class Server(ThreadingHTTPServer):
    """A server that is quiet about clients that go away, as those of a slow platform do."""

    def handle_error(self, request, client_address) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def serving(system, handler: type[Handler]) -> Iterator:
    """A server on the loopback that answers out of ``system``, whose address it sets."""
    server = Server(("127.0.0.1", 0), type("Ours", (handler,), {"system": system}))
    server.daemon_threads = True
    system.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield system
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def running() -> Iterator[System]:
    """A learning system that runs."""
    with serving(System(), Handler) as system:
        system.registration.set_iss(system.url)
        yield system
