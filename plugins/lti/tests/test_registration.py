"""`viva lti register`: a key outside the course, what to enter, and the addresses of each system."""

from __future__ import annotations

import json
import stat

import pytest

from viva_lti.platforms import PLATFORMS

URL = "https://lms.example.edu"


def files(folder) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_key_is_outside_the_course_for_its_owner_alone_and_never_shown(course, viva, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    result = viva("lti", "register", "moodle", f"{URL}/")
    assert (result.status, result.err) == (0, "")
    path = tmp_path / "config" / "viva" / "lti" / "lms.example.edu.pem"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and b"PRIVATE" in path.read_bytes()
    assert "BEGIN PUBLIC KEY" in result.out and "PRIVATE" not in result.out
    assert not [name for name, data in files(course).items() if b"PRIVATE" in data]
    assert "--deployment=ID" in result.out and "Manage tools" in result.out
    before = path.read_bytes()
    assert viva("lti", "register", "moodle", URL).status == 0 and path.read_bytes() == before
    path.chmod(0o640)
    refused = viva("lti", "register", "moodle", URL)
    assert (refused.status, "chmod 600" in refused.err) == (2, True)
    path.chmod(0o600)
    path.write_bytes(before[:200])
    refused = viva("lti", "register", "moodle", URL)
    assert (refused.status, "is not a private key" in refused.err, "Traceback" in refused.err) == (2, True, False)
    assert before[60:120].decode() not in refused.text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "This command needs an action"),
        (["push"], "This command needs an action"),
        (["export"], "is not registered"),
        (["register"], "is not registered"),
        (["register", "ilias", URL], "The systems are: moodle, canvas"),
        (["register", "moodle", "lms.example.edu"], "is not an address"),
        (["register", "moodle", "http://lms.example.edu"], "begins with http:"),
        (["register", "moodle", "https://me:secret@lms.example.edu"], "is not an address"),
        (["register", "moodle", URL, "--client-id=a"], "Moodle needs --platform-course and --deployment too."),
        (["register", "other", URL, "--client-id=a"], "needs --token=URL too"),
        (["register", "moodle", URL, "--keys=."], "is in the course folder"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence_and_nothing_is_written(
    course, viva, keys, words, said, monkeypatch, pair
):
    before = files(course)
    result = viva("lti", *words)
    assert (result.status, said in result.err, result.err.count("\n")) == (2, True, 1), result.err
    assert {name: data for name, data in files(course).items() if not name.endswith(".lock")} == before


def test_each_system_has_its_addresses():
    """As in Moodle's source, and on the vendors' pages."""
    found = {name: platform.addresses(URL, "1 2", "3") for name, platform in PLATFORMS.items()}
    assert found["moodle"]["members"] == f"{URL}/mod/lti/services.php/CourseSection/1%202/bindings/3/memberships"
    assert found["moodle"]["lineitems"] == f"{URL}/mod/lti/services.php/1%202/lineitems?type_id=3"
    assert found["canvas"]["lineitems"] == f"{URL}/api/lti/courses/1%202/line_items"
    assert found["brightspace"]["audience"] == "https://api.brightspace.com/auth/token"
    assert found["blackboard"]["members"] == f"{URL}/learn/api/v1/lti/external/namesandroles/1%202"


def test_registering_tries_both_services(course, viva, keys, system):
    jwks = json.loads(viva("lti", "register", "other", system.url, "--json").out)["jwks"]
    refused = viva("lti", "register", *system.options())
    assert (refused.status, "invalid_client" in refused.err) == (2, True)
    system.tool_keys["keys"] = json.loads(jwks)["keys"]
    done = viva("lti", "register", *system.options())
    assert (done.status, done.err) == (0, "")
    assert "Names and roles: 3 students." in done.out and "Assignments and grades: the service answers." in done.out
    assert json.loads((course / "lti.json").read_text())["client_id"] == "client-7"
    assert viva("lti", "register").status == 0
    again = viva("lti", "register", "other", system.url)
    assert "Then run: viva lti register" in again.out
    assert json.loads((course / "lti.json").read_text())["client_id"] == "client-7"
