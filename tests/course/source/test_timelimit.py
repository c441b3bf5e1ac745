from __future__ import annotations

import nbformat
import pytest
from nbclient import NotebookClient
from traitlets.config import Config

from viva.course.source import timelimit
from viva.course.source.timelimit import LONGEST, is_unlimited, seconds_of


@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [(None, LONGEST), (0, LONGEST), (-1, LONGEST), (-30, LONGEST), (1, 1.0), (30, 30.0), (7200, 7200.0)],
)
def test_a_time_limit_means_what_it_means_for_nbclient(timeout, seconds):
    stock = NotebookClient(nbformat.v4.new_notebook(), timeout=timeout)._get_timeout(None)
    assert is_unlimited(timeout) == (stock is None)
    for section in ("Execute", "ExecutePreprocessor", "NotebookClient"):
        config = Config({section: {"timeout": timeout}})
        assert seconds_of(config) == seconds
        assert bool([*timelimit.remarks(config)]) == is_unlimited(timeout)
    assert seconds_of(None) == 30 and not [*timelimit.remarks(None)], "nbgrader's own default"


def test_a_function_for_time_limits_is_said_not_to_be_used():
    (sentence,) = timelimit.remarks(Config(Execute={"timeout_func": lambda _: 60}))
    assert "c.Execute.timeout_func is not used" in sentence and "30 s" in sentence
