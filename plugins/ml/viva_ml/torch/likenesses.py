"""Stand-ins for objects of the other process: a real ``nn.Module``, ``Dataset`` or ``DataLoader`` of the library.

Theory of operation. A likeness of a module has the module's own weights, buffers and children, as far as they are here,
so all that goes through them is the library's own work: ``parameters()``, ``state_dict()``, ``zero_grad()``, an
optimizer, a helper that fills weights in place. What a module *does* is asked of its owner: to call it, its mode, and
each method or attribute that its author's classes have. Its class derives from the nearest one of the library's.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    Dataset,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    default_collate,
)

ASKED = frozenset(
    "__call__ forward train eval to cpu cuda double float half bfloat16 type register_forward_hook add_module "
    "register_forward_pre_hook register_full_backward_hook register_module register_buffer register_parameter "
    "__repr__ __deepcopy__ extra_repr".split()
)
"""Methods of every module that its owner does."""
CALLED = frozenset({"__call__", "forward"})
OPERATORS = frozenset("__len__ __getitem__ __setitem__ __delitem__ __iter__ __contains__".split())
"""Methods that Python calls, and that a module's author may have written."""
TABLES = ("_parameters", "_buffers", "_modules")
SHUFFLING: dict[type, bool] = {RandomSampler: True, SequentialSampler: False}
"""Whether a loader shuffles, by the type of its sampler."""


class Way:
    """How a likeness asks its owner."""

    def get(self, name: str) -> Any:
        """An attribute. Raises AttributeError."""
        raise NotImplementedError

    def set(self, name: str, value: Any) -> None:
        raise NotImplementedError

    def delete(self, name: str) -> None:
        raise NotImplementedError

    def do(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What a method gives."""
        raise NotImplementedError

    def proxy(self) -> Any:
        """What stands for the object itself in the examiner; None in the candidate."""
        return None


class ModuleLikeness:
    """What a likeness of a module has before its class of the library."""

    viva_way: Way
    viva_training: bool

    @staticmethod
    def viva_proxy(value: Any) -> Any:
        return vars(value)["viva_way"].proxy()

    def __getattr__(self, name: str) -> Any:
        for table in TABLES:
            if name in (known := vars(self)[table]):
                return known[name]
        if name.startswith("__"):
            raise AttributeError(name)
        return vars(self)["viva_way"].get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        vars(self)["viva_way"].set(name, value)

    def __delattr__(self, name: str) -> None:
        vars(self)["viva_way"].delete(name)

    @property
    def training(self) -> bool:
        return vars(self)["viva_training"]

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise TypeError("an object in another process cannot be copied")


def _method(name: str) -> Callable:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return vars(self)["viva_way"].do(name, *args, **kwargs)

    method.__name__ = name
    return method


def _attribute(name: str) -> property:
    return property(lambda self: vars(self)["viva_way"].get(name))


@functools.lru_cache(1000)
def _class(base: type, name: str, own: frozenset[str], local: bool) -> type:
    space: dict[str, Any] = {one: _method(one) for one in (ASKED - CALLED if local else ASKED) | (OPERATORS & own)}
    space |= {one: _attribute(one) for one in own if one not in space and one[:2] != "__" and one != "training"}
    return type(name, (ModuleLikeness, base), space)


def module(base: type, name: str, own: frozenset[str], way: Way, local: bool) -> Any:
    """A likeness without weights or children; ``own`` are the names that its author's classes have. A ``local`` one
    does its own work, as the library's class does."""
    made: Any = object.__new__(_class(base, name, own, local))
    vars(made).update({"viva_way": way, "viva_training": True})
    fields = vars(nn.Module())
    vars(made).update({key: value for key, value in fields.items() if key != "training"})
    return made


class DatasetLikeness(Dataset):
    """A data set of the test's."""

    def __init__(self, way: Way) -> None:
        self.viva_way = way

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return vars(self)["viva_way"].get(name)

    def __getitem__(self, place: Any) -> Any:
        return self.viva_way.do("__getitem__", place)

    def __len__(self) -> int:
        return self.viva_way.do("__len__")


class StreamLikeness(IterableDataset):
    """A data set of the test's that can only be gone through."""

    def __init__(self, way: Way) -> None:
        self.viva_way = way

    def __iter__(self) -> Any:
        return _through(self.viva_way)


class LoaderLikeness(DataLoader):
    """A loader of the test's."""

    def __init__(self, way: Way) -> None:
        object.__setattr__(self, "viva_way", way)  # a loader refuses new attributes

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return vars(self)["viva_way"].get(name)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"the {name} of a test's loader cannot be set")

    def __iter__(self) -> Any:
        return _through(vars(self)["viva_way"])

    def __len__(self) -> int:
        return vars(self)["viva_way"].do("__len__")


def _through(way: Way) -> Any:
    begun = way.do("__iter__")
    if type(begun) is list:  # the data set is of this process: each example would take two questions
        dataset, options = begun
        yield from DataLoader(dataset, **options)
        return
    while (item := way.do("__next__", begun)) is not None:
        yield item[0]


def plain_options(loader: Any) -> dict | None:
    """The options by which a loader of a plain data set can be made again; None where it has others."""
    batches: Any = loader.batch_sampler
    shuffled = SHUFFLING.get(type(loader.sampler))
    if type(loader) is not DataLoader or type(batches) is not BatchSampler or shuffled is None:
        return None
    if loader.collate_fn is not default_collate or loader.generator is not None or loader.pin_memory:
        return None
    if vars(batches)["sampler"] is not loader.sampler or (shuffled and not _is_plain(loader.sampler)):
        return None
    return {"batch_size": batches.batch_size, "shuffle": shuffled, "drop_last": batches.drop_last}


def _is_plain(sampler: Any) -> bool:
    """Whether it draws each example once, by the global random numbers."""
    return not sampler.replacement and sampler.generator is None and sampler._num_samples is None
