"""Which addresses are taken, and which way hidden tests may travel."""

from __future__ import annotations

import json

import pytest

from viva.verdict import CourseError
from viva_scale.clusteraddress import Cluster, is_here


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("tcp://127.0.0.1:8786", "tcp://127.0.0.1:8786"),
        ("localhost:8786", "tcp://localhost:8786"),
        ("[::1]:8786", "tcp://[::1]:8786"),
        ("tls://grader.example:8786", "tls://grader.example:8786"),
        ("grader.example:8786", "tls://grader.example:8786"),
        ("192.0.2.7:1", "tls://192.0.2.7:1"),
    ],
)
def test_an_address_says_tls_wherever_it_is_not_this_machine(address, url):
    assert Cluster(address=address).url() == url


@pytest.mark.parametrize("address", ["tcp://192.0.2.7:8786", "tcp://grader.example:8786", "tcp://127.example.org:8786"])
def test_hidden_tests_do_not_travel_in_the_clear_unless_told(address):
    with pytest.raises(
        CourseError, match=r"others could read hidden tests.*--cluster=tls://.*--insecure.*Nothing was sent"
    ):
        Cluster(address=address).url()
    assert Cluster(address=address, insecure=True).url() == address


@pytest.mark.parametrize(
    "address",
    ["", "grader", "grader:", "grader:0", "grader:99999", "http://grader:80", "tls://a b:1", "local:x", "tls://a:1/x"],
)
def test_what_is_no_address_is_said_to_be_none(address):
    with pytest.raises(CourseError, match=r"is not the address of a cluster\. Write --cluster=tls://"):
        Cluster(address=address).url()


def test_a_scheduler_file_tells_the_address(tmp_path):
    file = tmp_path / "scheduler.json"
    with pytest.raises(CourseError, match="cannot be read: No such file"):
        Cluster(address=str(file)).url()
    file.write_text(json.dumps({"address": "tcp://127.0.0.1:4321"}))
    assert Cluster(address=str(file)).url() == "tcp://127.0.0.1:4321"
    file.write_text(json.dumps({"address": "tcp://192.0.2.7:4321"}))
    with pytest.raises(CourseError, match="Without TLS others could read hidden tests"):
        Cluster(address=str(file)).url()
    file.write_text("[]")
    with pytest.raises(CourseError, match="is not a scheduler file of 'dask scheduler --scheduler-file'"):
        Cluster(address=str(file)).url()


def test_local_is_so_many_processes_of_this_machine():
    assert Cluster(address="local:4").processes == 4
    assert Cluster(address="local").processes >= 1
    assert Cluster(address="tls://grader:8786").processes == 0


@pytest.mark.parametrize(
    ("host", "here"),
    [("localhost", True), ("127.3.2.1", True), ("[::1]", True), ("192.0.2.7", False), ("localhost.example", False)],
)
def test_only_the_loopback_is_this_machine_for_sure(host, here):
    assert is_here(host) is here


def test_tls_needs_files_that_are_there(tmp_path):
    with pytest.raises(CourseError, match=r"uses TLS and needs certificates\. Use --tls-ca=ca\.pem"):
        Cluster(address="tls://grader:1").security("tls://grader:1")
    with pytest.raises(CourseError, match=r"The file .*ca\.pem, .* does not exist"):
        Cluster(address="tls://grader:1", tls_ca=str(tmp_path / "ca.pem")).security("tls://grader:1")
    assert Cluster().security("tcp://127.0.0.1:1") is None


def test_without_dask_a_sentence_says_what_to_install(monkeypatch):
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CourseError, match=r"needs Dask: python -m pip install nbviva_scale-[\d.]+-py3-none-any\.whl"):
        Cluster(address="local:2").check()
    Cluster().check()
