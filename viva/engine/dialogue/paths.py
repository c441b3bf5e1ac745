"""How a value was come by: a name of the notebook, and the steps from it, as in ``model.fit().coef_``."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

STEPS = 60
"""So many steps has a path at most."""


class Step(NamedTuple):
    """How one value is got out of another: by a ``call``, by an ``attribute`` or an ``operation`` of this name, by an
    ``item`` or as ``each`` of a loop."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        return {"call": "()", "item": "[]", "each": "[*]"}.get(self.kind) or {"attribute": "."}.get(
            self.kind, " "
        ) + self.name


CALL, ITEM, EACH = Step("call"), Step("item"), Step("each")
CHANGED, HANDED, ITERATED = Step("operation", "changed"), Step("operation", "handed"), Step("operation", "iter")
"""What the arguments have become, what a function of the test's was handed, and what ``iter`` gave."""
WRITTEN = re.compile(r"(\(\))|(\[\])|(\[\*\])|\.([^.()\[\] ]+)| ([^.()\[\] ]+)")


class Path(NamedTuple):
    """A name of the notebook, and the steps from it to a value."""

    root: str
    steps: tuple[Step, ...] = ()

    def then(self, step: Step) -> Path:
        """The path to what a step leads to; of a long one the middle is left out, as of a chain of a hundred nodes."""
        steps = (*self.steps, step)
        return Path(self.root, steps if len(steps) <= STEPS else steps[: STEPS // 2] + steps[-STEPS // 2 :])

    def __str__(self) -> str:
        return self.root + "".join(map(str, self.steps))

    @property
    def readable(self) -> str:
        """A path as students would write it."""
        return readable(str(self))


def readable(path: str) -> str:
    """The text of a path as students would write it."""
    return path.replace("()", "(...)").replace("[]", "[...]")


def root_of(text: str) -> str:
    """The name that the text of a path begins with."""
    return re.split(r"\W", text, maxsplit=1)[0]


@functools.lru_cache(4096)
def path_of(text: str) -> Path:
    """The path that a text says."""
    root = root_of(text)
    steps = []
    for call, item, each, attribute, operation in WRITTEN.findall(text[len(root) :]):
        if call or item or each:
            steps.append(CALL if call else ITEM if item else EACH)
        else:
            steps.append(Step("attribute", attribute) if attribute else Step("operation", operation))
    return Path(root, tuple(steps))
