"""What was used last, by key: as much as there is room for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")


class Recent(OrderedDict[Any, Value], Generic[Value]):
    """At most so many values by key; the one that was not used for longest is let go for another."""

    def __init__(self, most: int, let_go: Callable[[Value], object] = lambda value: None) -> None:
        super().__init__()
        self.most, self.let_go = most, let_go

    def of(self, key: object, make: Callable[[], Value]) -> Value:
        """The value of a key, made where there is none."""
        if key not in self:
            self._leave(self.most - 1)
            self[key] = make()
        self.move_to_end(key)
        return self[key]

    def close(self) -> None:
        self._leave(0)

    def _leave(self, most: int) -> None:
        while len(self) > most:
            self.let_go(self.popitem(last=False)[1])
