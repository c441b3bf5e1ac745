"""The seconds that a cell may take, as a course's configuration says it in the words of nbclient.

For nbclient ``None``, 0 and any negative number mean that a cell has no time limit (``NotebookClient._get_timeout``).
Grading a class ends only if each cell ends, so such a cell gets LONGEST.
"""

from __future__ import annotations

from collections.abc import Iterator

from nbgrader.preprocessors import Execute
from traitlets.config import Config

LONGEST = 3600.0
"""The seconds of a cell where the course sets no limit."""


def seconds_of(config: Config | None) -> float:
    """The time limit of a cell in seconds, where the notebook itself sets none."""
    timeout = Execute(config=config).timeout
    return LONGEST if is_unlimited(timeout) else float(timeout)


def is_unlimited(timeout: int | None) -> bool:
    """Whether a value of ``c.Execute.timeout`` means for nbclient that a cell has no time limit."""
    return not timeout or timeout < 0


def remarks(config: Config | None) -> Iterator[str]:
    """Sentences about settings of time limits that mean something else here than for nbclient."""
    execute = Execute(config=config)
    if execute.timeout_func is not None:
        yield (
            "c.Execute.timeout_func is not used: each cell may take "
            f"{seconds_of(config):g} s (c.Execute.timeout). To set the limit of one cell, write "
            '{"viva": {"seconds": 60}} into its metadata.'
        )
    if is_unlimited(execute.timeout):
        yield (
            f"c.Execute.timeout is {execute.timeout}, which sets no time limit. Grading stops a cell after "
            f"{LONGEST:g} s. To set another limit, write for example: c.Execute.timeout = 300"
        )
