"""The files in deploy/: they are what those who read them take, they agree, and what a worker may do is enough."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

import viva
from plugins.scale.tests.cluster import Dask, filed, grade_there
from plugins.scale.tests.conftest import HERE, graded
from plugins.scale.tests.test_scheduler import certificates
from tests.conftest import BIN, PROJECT
from tests.container import COMPOSE, default_filter, inside
from tests.faults import make_course, timeless
from viva.submission.submission import Status

DEPLOY = PROJECT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
OBJECTS = [
    one for path in sorted((DEPLOY / "kubernetes").glob("*.yaml")) for one in yaml.safe_load_all(path.read_text())
]
PODS = {one["metadata"]["name"]: one["spec"]["template"]["spec"] for one in OBJECTS if one["kind"] == "Deployment"}
OURS = {name: one for name, one in COMPOSE["services"].items() if name != "gradebook"}


@pytest.mark.usefixtures("processes")
def test_the_linter_of_containerfiles_finds_nothing():
    found = subprocess.run([BIN / "hadolint", DEPLOY / "Containerfile"], capture_output=True, text=True)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")


@pytest.mark.usefixtures("processes")
def test_the_compose_file_fits_its_schema_and_one_with_a_slip_does_not(tmp_path):
    def check(path: Path) -> int:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec", path]
        return subprocess.run(command, capture_output=True).returncode

    assert check(DEPLOY / "compose.yaml") == 0
    wrong = (DEPLOY / "compose.yaml").read_text().replace("read_only:", "readonly:")
    (tmp_path / "compose.yaml").write_text(wrong)
    assert check(tmp_path / "compose.yaml") == 1


def test_the_objects_of_kubernetes_fit_its_schemas_and_one_with_a_slip_does_not():
    for one in OBJECTS:
        kubernetes_validate.validate(one, kubernetes_validate.latest_version(), strict=True)
    wrong = yaml.safe_load(yaml.safe_dump(OBJECTS[-1]).replace("policyTypes", "policyType"))
    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(wrong, kubernetes_validate.latest_version(), strict=True)


def test_an_image_is_built_from_what_there_is_and_from_nothing_else():
    lines = [line for line in CONTAINERFILE.splitlines() if line.startswith("COPY ")]
    copied = [word for line in lines if "--from" not in line for word in line.split()[1:-1]]
    assert copied == ["constraints.txt", "dist/nbviva*.whl"]
    assert (PROJECT / "constraints.txt").is_file()
    assert fnmatch.fnmatch(f"dist/nbviva-{viva.__version__}-py3-none-any.whl", copied[1])  # made by `make wheel`
    ignored = (PROJECT / ".dockerignore").read_text().splitlines()
    assert [line for line in ignored if line and line[0] != "#"] == ["*", *(f"!{name}" for name in copied)]


LAPTOP = (PROJECT / "docs" / "laptop.md").read_text(encoding="utf-8")


def test_the_page_for_a_laptop_builds_the_stage_that_there_is_and_every_command_mounts_the_course():
    assert re.search(r"^FROM .* AS course$", CONTAINERFILE, re.MULTILINE)
    assert re.search(r"^WORKDIR /course$", CONTAINERFILE, re.MULTILINE)
    assert f"--target course --tag viva-course:{viva.__version__} ." in LAPTOP and "--target course" in CONTAINERFILE
    lines = [line for line in LAPTOP.splitlines() if line.startswith("docker run")]
    assert len(lines) >= 4
    for line in lines:
        assert f"viva-course:{viva.__version__}" in line
        assert ":/course" in line or "doctor --machine" in line
        assert "privileged" not in line and "unconfined" not in line
        assert "-p" not in line.split() or "-p 127.0.0.1:8888:8888" in line, "nobody else's browser gets in"


def test_versions_are_exact_and_the_same_everywhere():
    images = {one["image"] for one in OURS.values()}
    images |= {one["image"] for pod in PODS.values() for one in [*pod.get("initContainers", []), *pod["containers"]]}
    assert images == {f"viva:{viva.__version__}"}
    assert re.search(r"^ARG PYTHON=3\.\d+\.\d+$", CONTAINERFILE, re.MULTILINE)
    assert re.fullmatch(r"postgres:\d+\.\d+-bookworm", COMPOSE["services"]["gradebook"]["image"])
    assert f"viva:{viva.__version__}" in CONTAINERFILE


def test_no_container_is_root_or_may_become_it_or_writes_into_its_root():
    user = re.search(r"^USER (\d+):(\d+)$", CONTAINERFILE, re.MULTILINE)
    for one in COMPOSE["services"].values():
        assert one["read_only"] and one["cap_drop"] == ["ALL"] and one["security_opt"] == ["no-new-privileges:true"]
        assert one["pids_limit"] and one["mem_limit"]
    assert {one["user"] for one in OURS.values()} == {f"{user[1]}:{user[2]}"}
    for pod in PODS.values():
        about = pod["securityContext"]
        assert about["runAsNonRoot"] and str(about["runAsUser"]) == user[1]
        assert about["seccompProfile"] == {"type": "RuntimeDefault"} and not pod["automountServiceAccountToken"]
        for one in [*pod.get("initContainers", []), *pod["containers"]]:
            assert one["securityContext"] == {
                "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}
            }  # fmt: skip
            assert one["resources"]["limits"].keys() >= {"cpu", "memory"}
        assert all("sizeLimit" in one["emptyDir"] for one in pod["volumes"] if "emptyDir" in one)


def test_workers_reach_the_scheduler_and_nothing_else():
    assert COMPOSE["networks"]["grading"] == {"internal": True}
    assert COMPOSE["services"]["worker"]["networks"] == ["grading"]
    assert set(COMPOSE["services"]["gradebook"]["networks"]).isdisjoint({"grading"})
    policies = {one["metadata"]["name"]: one["spec"] for one in OBJECTS if one["kind"] == "NetworkPolicy"}
    every = policies["viva-nothing"]
    assert every == {"podSelector": {"matchLabels": {"app": "viva"}}, "policyTypes": ["Ingress", "Egress"]}
    for name, other in (("viva-worker", "scheduler"), ("viva-scheduler", "worker")):
        ((come,), (go,)) = policies[name]["ingress"], policies[name]["egress"]
        assert come["from"] == go["to"] == [{"podSelector": {"matchLabels": {"app": "viva", "part": other}}}]
    ports = {one["name"]: one["ports"][0]["containerPort"] for pod in PODS.values() for one in pod["containers"]}
    assert policies["viva-worker"]["egress"][0]["ports"] == [{"port": ports["scheduler"], "protocol": "TCP"}]
    assert policies["viva-scheduler"]["egress"][0]["ports"] == [{"port": ports["worker"], "protocol": "TCP"}]


def test_keys_are_mounted_and_speak_tls():
    every = [*OURS.values(), *(pod["containers"][0] for pod in PODS.values())]
    for command in (one["command"] for one in every):
        assert {"--tls-ca-file", "--tls-cert", "--tls-key"} <= set(command)
        assert "tls" in command or any(part.startswith("tls://") for part in command)
    assert not re.search(r"\.pem|password|secret", CONTAINERFILE)
    assert "deploy/secrets/" in (PROJECT / ".gitignore").read_text().splitlines()


def run(command: list[str], keys: Path) -> subprocess.CompletedProcess:
    """A command in a container as a worker's."""
    program = default_filter()
    try:
        begin = inside("worker", keys, program)
        return subprocess.run([*begin, *command], pass_fds=[program], capture_output=True, text=True, timeout=200)
    finally:
        os.close(program)


@pytest.fixture
def keys(tmp_path) -> Path:
    certificates(tmp_path / "keys")
    return tmp_path / "keys"


PROBE = """
import errno, json, os
def fault(do):
    try:
        do()
    except OSError as error:
        return errno.errorcode[error.errno]
status = dict(line.split(":\\t") for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
print(json.dumps({
    "uid": os.getuid(), "cap": int(status["CapEff"], 16), "new": status["NoNewPrivs"], "seccomp": status["Seccomp"],
    "usr": fault(lambda: open("/usr/x", "w")), "tmp": fault(lambda: open("/tmp/x", "w")),
    "space": fault(lambda: os.unshare(os.CLONE_NEWUSER)) if hasattr(os, "unshare") else "EPERM",
}))
"""


@pytest.mark.slow
def test_in_a_read_only_root_as_an_ordinary_user_the_doctor_says_which_layers_hold(keys):
    found = run([sys.executable, "-c", PROBE.replace("\\\\", "\\")], keys)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout) == {
        "uid": 10001, "cap": 0, "new": "1", "seccomp": "2", "usr": "EROFS", "tmp": None, "space": "EPERM"
    }  # fmt: skip

    found = run(["viva", "doctor", "--machine", "--json"], keys)
    assert found.returncode == 0, found.stdout + found.stderr
    healthy = {one["what"].partition(":")[0]: one["healthy"] for one in json.loads(found.stdout)["diagnoses"]}
    layers = {name.removeprefix("sandbox, "): well for name, well in healthy.items() if name.startswith("sandbox, ")}
    assert layers == {
        "session": True, "limits": True, "root": True, "landlock": True, "seccomp": True, "together": True,
        "namespaces": False, "bubblewrap": False,
    }  # fmt: skip
    assert json.loads(found.stdout)["diagnoses"][-1]["what"] == "protection from student code: full"


MOUNT = "/mnt"
"""A folder that the root of this machine has, in place of the image's ``/course``."""


@pytest.mark.slow
def test_an_instructor_works_in_a_container_with_nothing_but_the_mounted_course(keys, tmp_path):
    course = tmp_path / "course"
    course.mkdir()
    program = default_filter()

    def viva_there(*words: str) -> str:
        begin = [*inside("worker", keys, program), "--bind", str(course), MOUNT, "--chdir", MOUNT]
        os.lseek(program, 0, os.SEEK_SET)  # the one before has read it
        done = subprocess.run([*begin, "viva", *words], pass_fds=[program], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    try:
        viva_there("init", ".")
        assert "passed" in viva_there("audit")
        viva_there("release")
        student = course / "submitted" / "anna" / "ps1"
        student.mkdir(parents=True)
        (student / "ps1.ipynb").write_bytes((course / "release" / "ps1" / "ps1.ipynb").read_bytes())
        viva_there("grade")
        viva_there("feedback")
        viva_there("report")
        viva_there("export")
    finally:
        os.close(program)
    assert "anna" in (course / "grades.csv").read_text()
    assert (course / "feedback" / "anna" / "ps1" / "ps1.html").is_file()


@pytest.mark.slow
def test_a_worker_in_a_read_only_root_as_an_ordinary_user_grades_what_this_machine_does(keys, tmp_path):
    course, here = graded(make_course(tmp_path / "released"), tmp_path, HERE)  # the image lacks the tests' own steps
    files = {f"tls_{name}": str(keys / f"{name}.pem") for name in ("ca", "cert", "key")}
    with Dask(tmp_path / "dask") as dask:
        names = (("--tls-ca-file", "ca"), ("--tls-cert", "cert"), ("--tls-key", "key"))
        dask.security = tuple(part for option, name in names for part in (option, str(keys / f"{name}.pem")))
        address = dask.schedule("--protocol", "tls")
        command = [address if part.startswith("tls://") else part for part in OURS["worker"]["command"]]
        program = default_filter()
        with (tmp_path / "log").open("wb") as log:
            worker = subprocess.Popen(
                [*inside("worker", keys, program), *command, "--host", "127.0.0.1"],
                pass_fds=[program],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        os.close(program)
        try:
            told: list[str] = []
            endings = grade_there(course, address, told, wait=100, **files)
        finally:
            worker.kill()
            worker.wait()
        assert told == [] and {one.status for one in endings} == {Status.DONE}, (tmp_path / "log").read_text()
    assert timeless(course) == timeless(here) and filed(course) == filed(here)
