"""What both processes share of PyTorch, each object by one number: an even one is the candidate's, an odd one the
examiner's.

Theory of operation. A *leaf* (a weight, a buffer of a module, any tensor at which a gradient is collected) is a tensor
of its own on both sides; its values and its ``grad`` are told when they have changed, whoever changed them. A tensor
with a *history* stays where that is. On the other side stands one with the same values, whose own history is a single
step from the leaves: to go back along it asks the owner for the gradients of these leaves. So ``loss.backward()`` of a
test goes through the student's model and collects gradients at the weights that both sides have, and the other way
round. A *module* is told as its structure, and a likeness stands for it. An optimizer, a data set or a loader of a
test's crosses to the candidate alone; those of students are proxies as any object.
"""

from __future__ import annotations

import copy
import itertools
import sys
import weakref
from collections.abc import Iterable
from types import CodeType
from typing import Any

import torch
from torch import nn
from torch.nn.parameter import is_lazy
from torch.optim import Optimizer
from torch.utils.data import DataLoader, Dataset, IterableDataset

from viva.engine import wire
from viva.engine.dialogue.proxies import PROXIES
from viva.engine.values.codec import BYTES, mro_of, name_of, namespace_of, place_of
from viva.engine.values.sharing import Link, Sharing
from viva.engine.values.streams import Stream
from viva.verdict import WireError
from viva_ml.torch import likenesses, torchstate
from viva_ml.torch.comparisons import Comparisons
from viva_ml.torch.tensors import bare, check_single, is_same, octets, records

MOST_STEPS = 1_000_000
"""Of a history that is gone through for its leaves."""
MOST_NAMES = 10_000
"""Of a module's weights, children and the like."""
ROOM = BYTES - 2**20
"""Bytes of tensors that go into a message; the rest of it is for names and numbers."""
LIBRARIES = frozenset({"torch", "torchvision", "torchaudio", "torchtext"})
HOOKS = frozenset(name for name in vars(nn.Module()) if name.endswith(("hooks", "_with_kwargs", "_always_called")))
NOT_TOLD = HOOKS | {*likenesses.TABLES, "training", "_non_persistent_buffers_set"}
"""Fields of a module that are told in another way, or not."""
DOES = frozenset("train eval to cpu double float half bfloat16 __deepcopy__ __repr__ extra_repr".split())
"""What a student's code may have a test's module do, beside what the classes of the test have."""

IS_LEAF: Any = torch.Tensor.is_leaf

Row = list[Any]


class Token:
    """Lives as long as the history that holds it."""


class Back(torch.autograd.Function):
    """The step from leaves to a tensor whose history is on the other side."""

    @staticmethod
    def forward(ctx: Any, ask: Any, values: torch.Tensor, token: Token, anchor: Any, *leaves: torch.Tensor) -> Any:
        ctx.ask, ctx.token = ask, token
        ctx.shapes = [(leaf.shape, leaf.dtype) for leaf in leaves]
        ctx.save_for_backward(*leaves)
        return values.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        with torch.no_grad():
            found = ctx.ask(bare(gradient))
        if type(found) not in (list, tuple) or len(found) != len(ctx.shapes):
            raise WireError("invalid gradients")
        for one, (shape, dtype) in zip(found, ctx.shapes, strict=True):
            if one is not None and not (type(one) is torch.Tensor and one.shape == shape and one.dtype == dtype):
                raise WireError("invalid gradients")
        if torch.is_grad_enabled():  # create_graph=True
            found = [None if one is None else Last.apply(one, *ctx.saved_tensors) for one in found]
        return None, None, None, None, *found


class Last(torch.autograd.Function):
    """Stands for the derivative of a gradient that the other side has computed."""

    @staticmethod
    def forward(ctx: Any, gradient: torch.Tensor, *leaves: torch.Tensor) -> Any:
        return gradient.clone()

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:
        raise RuntimeError("a second derivative of a function or a model of the test cannot pass between processes")


class TorchSharing(Sharing):
    types = (torch.Tensor, nn.Module, Optimizer, Dataset, DataLoader)

    def __init__(self, link: Link) -> None:
        super().__init__(link)
        self.side = int(link.examining)
        self.count = itertools.count()
        self.objects: dict[int, Any] = {}
        """By number: leaves and modules of both sides; histories and the like of this one."""
        self.numbers: dict[int, int] = {}
        """By id(), the number of what is here."""
        self.fresh: list[int] = []
        """What the other side is to be told of."""
        self.leaves: dict[int, KnownLeaf] = {}
        """By number, what both sides know of a leaf."""
        self.structures: dict[int, list] = {}
        """By number of a module of this side, the marks of what was told of it."""
        self.offers: dict[int, tuple[int, dict]] = {}
        self.origins: dict[int, list[torch.Tensor]] = {}
        """By number of a history of this side, its leaves."""
        self.behind: set[int] = set()
        """The leaves of this side that the other side has met behind a history alone. They were not handed over: the
        examiner takes over their gradients, and no values that the candidate wrote to them."""
        self.echoes: weakref.WeakValueDictionary[int, torch.Tensor] = weakref.WeakValueDictionary()
        """By number, what stands for a history of the other side."""
        self.versions: dict[int, int] = {}
        """By number of a history, the version of the tensor that is known: one changed in place is another."""
        self.recent: list[Any] = []
        """What the last news brought, which the message behind it may name."""
        self.dropped: list[int] = []
        """Histories of the other side that nobody here needs any more."""
        self.anchor = torch.zeros((), requires_grad=True)
        self.comparisons = Comparisons() if link.examining else None
        self.state: torchstate.State | None = None
        self.stream = Stream(torchstate.of_double, torchstate.of_single)
        """The candidate's random numbers, as far as this side knows them."""
        self.stream.at(torchstate.place_of(torchstate.get_state()[0]))
        self.iterators: dict[int, Any] = {}
        self.room = ROOM
        """Bytes that the next news still has room for."""
        self.theirs: Any = None
        """What the other side has for ours to call."""
        self.mine: int | None = None
        """What this one has for it, once it is told."""

    # --- numbers

    def _number_of(self, value: Any) -> int | None:
        """The number that an object has. Its id may be that of another that is gone."""
        number = self.numbers.get(id(value))
        if number is None or (self.objects.get(number) is not value and self.echoes.get(number) is not value):
            return None
        return number

    def refer(self, value: Any) -> int | None:
        if isinstance(value, torch.Tensor):
            check_single(value)
        number = self._number_of(value)
        self.behind.discard(-1 if number is None else number)
        if number is not None and self.versions.get(number, 0) == getattr(value, "_version", 0) * (
            number in self.versions
        ):
            return number
        self._make_room(value)
        return self._number(value)

    def _make_room(self, value: Any) -> None:
        """Raises WireError where what is to be told of an object does not go into a message. Said here it is the reason
        of the check."""
        self.room = self._left(self.room, (one for one in _tensors(value) if self._number_of(one) is None))

    @staticmethod
    def _left(room: int, leaves: Iterable[torch.Tensor]) -> int:
        """What is left of ``room`` bytes behind these leaves and their gradients. Raises WireError."""
        tensors = [one for leaf in leaves for one in (leaf, _gradient(leaf)) if one is not None]
        left = room - sum(one.numel() * one.element_size() for one in tensors)
        if left < 0:
            size = (ROOM - left) // 2**20
            raise WireError(f"{size} MB of new weights and gradients are larger than {BYTES} bytes")
        return left

    def _number(self, value: Any) -> int | None:
        """A new number for something that can be shared, or None."""
        mro = mro_of(type(value))
        if torch.Tensor in mro:
            if not records(value):
                return None
            return self._new(value) if _is_leaf(value) else self._history(value)
        if nn.Module in mro or (self.side and self._can_be_handed(value)):
            return self._new(value)
        return None

    def _new(self, value: Any) -> int:
        number = self.numbers[id(value)] = 2 * next(self.count) + self.side
        self.objects[number] = value
        self.fresh.append(number)
        return number

    def _history(self, value: Any) -> int:
        number = self._new(value)
        self.versions[number] = value._version
        self.origins[number] = [leaf for leaf in _leaves(value) if leaf is not self.anchor]
        for leaf in self.origins[number]:
            self._behind(leaf)
        return number

    def _known(self, leaf: Any) -> int:
        """The number of a leaf, a buffer or a child."""
        number = self._behind(leaf)
        self.behind.discard(number)
        return number

    def _behind(self, leaf: Any) -> int:
        """The number of a leaf of a history."""
        if (number := self._number_of(leaf)) is None:
            number = self._new(leaf)
            self.behind.add(number)
        return number

    def _can_be_handed(self, value: Any) -> bool:
        if isinstance(value, Optimizer):
            return place_of(type(value))[0].startswith("torch.optim") and wire.is_plain(_options(value))
        return True

    def resolve(self, number: int, path: Any) -> object:
        value = self.echoes.get(number)
        if value is None:
            value = self.objects.get(number)
        if value is None:
            raise WireError("an unknown number")
        if path is not None and isinstance(value, likenesses.ModuleLikeness):
            vars(value)["viva_way"].path = vars(value)["viva_way"].path or path
        return value

    # --- news

    def news(self, anew: bool = False) -> Any:
        changed = [number for number, known in self.leaves.items() if known.has_changed()]
        self._left(self.room, (self.leaves[number].leaf for number in changed))
        told: dict[str, Any] = {name: [] for name in ("leaves", "modules", "histories", "handed")}
        for number, marks in [*self.structures.items()]:
            if _marks(self.objects[number]) != marks:
                self._tell(number, told)
        for number in changed:
            self._tell(number, told)
        while self.fresh:
            self._tell(self.fresh.pop(), told)
        state = torchstate.get_state()
        if not self.apart and (anew or state != self.state):
            told["state"] = self.state = state
            if self.side:
                self.stream.at(torchstate.place_of(state[0]))
        if self.dropped:
            told["dropped"], self.dropped = self.dropped, []
        self.room = ROOM
        told = {name: rows for name, rows in told.items() if rows}
        if told and self.mine is None:
            self.mine, about = self.link.offer(self._serve)
            told["serve"] = [self.mine, about]
        return told or None

    def _tell(self, number: int, told: dict[str, Any]) -> None:
        value = self.objects[number]
        if isinstance(value, nn.Module):
            self.structures[number] = _marks(value)
            told["modules"].append(self._structure(number))
        elif number in self.origins:
            numbers = [self._behind(leaf) for leaf in self.origins[number]]
            told["histories"].append([number, _copy(value), numbers])
        elif isinstance(value, torch.Tensor):
            told["leaves"].append(_leaf_row(number, value))
            self.leaves[number] = KnownLeaf(value)
        else:
            told["handed"].append(self._handed_row(number, value))

    def _structure(self, number: int) -> Row:
        module = self.objects[number]
        fields = vars(module)
        parameters, buffers, children = (fields[table] for table in likenesses.TABLES)
        named = [
            {name: None if one is None or is_lazy(one) else self._known(one) for name, one in dict.items(table)}
            for table in (parameters, buffers)
        ]
        named.append({name: None if one is None else self._known(one) for name, one in dict.items(children)})
        hidden = sorted(fields.get("_non_persistent_buffers_set", ()))
        training = bool(fields.get("training", True))
        if self.side:
            local = self._is_local(module)
            attributes = {
                name: value
                for name, value in fields.items()
                if (local or name[0] != "_") and name not in NOT_TOLD and wire.is_plain(value)
            }
            about: dict = {"mro": [place_of(cls) for cls in mro_of(type(module))][:20], "type": name_of(type(module))}
            about["local"] = local
            offered: Any = None
        else:
            attributes = {}
            if number not in self.offers:
                self.offers[number] = self.link.offer(module)
            offered, about = self.offers[number]
        return [number, offered, about, sorted(_own_names(module)), training, *named, hidden, attributes]

    def _is_local(self, module: Any) -> bool:
        """Whether a module and its children are the library's own through and through: then the candidate has them do
        their work by itself."""
        return all(
            _is_of_library(type(one))
            and _class_of(*place_of(type(one))) is type(one)
            and all(
                not value if name in HOOKS else wire.is_plain(value)
                for name, value in vars(one).items()
                if name not in likenesses.TABLES
            )
            for one in module.modules()
        )

    def _handed_row(self, number: int, value: Any) -> Row:
        """An optimizer, a data set or a loader of the test's."""
        if isinstance(value, Optimizer):
            groups = [
                {**options, "params": [self._known(one) for one in group["params"]]}
                for options, group in zip(_options(value), value.param_groups, strict=True)
            ]
            return [number, "optimizer", place_of(type(value)), groups]
        kind = "loader" if isinstance(value, DataLoader) else "stream" if isinstance(value, IterableDataset) else "set"
        return [number, kind, ("", ""), []]

    def take(self, news: Any) -> None:
        if not (type(news) is dict and set(news) <= NEWS):
            raise WireError("invalid news")
        self.recent = []
        if "serve" in news and self.theirs is None:
            number, about = news["serve"]
            self.theirs = self.link.reach(number, about)
        for row in news.get("leaves", ()):
            self._take_leaf(*row)
        rows = news.get("modules", [])
        for row in rows:
            self._take_module(*row[:4])
        for row in rows:
            self._take_structure(row[0], *row[4:])
        for row in news.get("histories", ()):
            self._take_history(*row)
        if not self.side:
            for row in news.get("handed", ()):
                self._take_handed(*row)
        for number in news.get("dropped", ()):
            if number in self.origins and number % 2 == self.side:
                del self.origins[number], self.versions[number]
                self._forget(number, id(self.objects.pop(number)))
        if "state" in news and not self.apart:
            self.follow(news["state"])

    def follow(self, random_state: Any) -> None:
        torchstate.set_state(random_state, with_dtype=not self.side, stream=self.stream if self.side else None)
        self.state = torchstate.get_state()

    def random_state(self) -> Any:
        return torchstate.get_state()

    def _theirs(self, number: Any) -> int:
        if type(number) is not int or number % 2 == self.side or not 0 <= number < 2**40:
            raise WireError("an invalid number")
        return number

    def _put(self, number: int, value: Any) -> Any:
        self.objects[self._theirs(number)] = value
        self.numbers[id(value)] = number
        return value

    def _take_leaf(self, number: Any, parameter: Any, requires: Any, values: Any, gradient: Any) -> None:
        if {type(parameter), type(requires)} != {bool} or type(values) is not torch.Tensor:
            raise WireError("an invalid tensor")
        if self.side and number in self.behind:
            values, requires = bare(self.objects[number]), records(self.objects[number])
        if gradient is not None and not (type(gradient) is torch.Tensor and gradient.shape == values.shape):
            raise WireError("an invalid gradient")
        leaf = self.objects.get(number)
        if leaf is None:
            leaf = self._put(number, nn.Parameter(values.clone(), requires_grad=False) if parameter else values.clone())
        elif not isinstance(leaf, torch.Tensor) or number in self.origins:
            raise WireError("not the number of a tensor")
        elif number % 2 == self.side == 1 and (leaf.shape != values.shape or leaf.dtype != values.dtype):
            raise WireError("a tensor of the test came back with another shape")
        elif not is_same(bare(leaf), values):
            if leaf.shape == values.shape and leaf.dtype == values.dtype:
                leaf.data.copy_(values)
            else:
                leaf.data = values.clone()
        if leaf.is_leaf and leaf.requires_grad != requires:
            leaf.requires_grad_(requires)
        if gradient is None:
            leaf.grad = None
        elif not is_same(None if leaf.grad is None else bare(leaf.grad), gradient):
            leaf.grad = gradient.clone()
        self.leaves[number] = KnownLeaf(leaf)

    def _take_module(self, number: Any, offered: Any, about: Any, own: Any) -> None:
        if self._theirs(number) in self.objects:
            return
        base = next(filter(None, (_class_of(*place) for place in about["mro"])), nn.Module)
        name = about["type"] if about["type"].isidentifier() else base.__name__
        if len(own) > MOST_NAMES or not all(type(one) is str and one.isidentifier() for one in own):
            raise WireError("an invalid module")
        own = frozenset(one for one in own if one[0] != "_" or one in likenesses.OPERATORS)
        way = Asked(self, number, offered, about) if self.side else Called(self, number, own)
        self._put(number, likenesses.module(base, name, own, way, local=not self.side and about["local"]))

    def _take_structure(
        self, number: int, training: Any, parameters: Any, buffers: Any, children: Any, hidden: Any, attributes: Any
    ) -> None:
        module = self.objects[self._theirs(number)]
        fields = vars(module)
        fields["viva_training"] = training is True
        kinds = (nn.Parameter, torch.Tensor, nn.Module)
        for table, named, kind in zip(likenesses.TABLES, (parameters, buffers, children), kinds, strict=True):
            known = fields[table]
            known.clear()
            for name, one in named.items():
                value = None if one is None else self.objects[one]
                if type(name) is not str or not (value is None or isinstance(value, kind)) or len(named) > MOST_NAMES:
                    raise WireError("an invalid module")
                known[name] = value
                if kind is nn.Module and isinstance(value, likenesses.ModuleLikeness):
                    vars(value)["viva_way"].above = vars(value)["viva_way"].above or (module, name)
        fields["_non_persistent_buffers_set"] = {str(one) for one in hidden}
        vars(fields["viva_way"])["attributes"] = attributes
        if not self.side:
            fields |= attributes

    def _take_history(self, number: Any, values: Any, leaves: Any) -> None:
        if type(values) is not torch.Tensor or not (values.is_floating_point() or values.is_complex()):
            raise WireError("an invalid tensor")
        found = [self.objects[one] for one in leaves]
        if not all(isinstance(leaf, torch.Tensor) and leaf.is_leaf and leaf.requires_grad for leaf in found):
            raise WireError("an invalid gradient history")
        token = Token()
        with torch.enable_grad():
            echo = Back.apply(
                lambda gradient: self._ask("gradients", number, gradient), values, token, self.anchor, *found
            )
        weakref.finalize(token, self._drop, self._theirs(number), id(echo))
        self.echoes[number], self.versions[number] = echo, echo._version
        self.numbers[id(echo)] = number
        self.recent.append(echo)

    def _drop(self, number: int, place: int) -> None:
        self.versions.pop(number, None)
        self._forget(number, place)
        self.dropped.append(number)

    def _forget(self, number: int, place: int) -> None:
        if self.numbers.get(place) == number:
            del self.numbers[place]

    def _take_handed(self, number: Any, kind: str, place: Any, groups: Any) -> None:
        if kind == "optimizer":
            cls: Any = getattr(sys.modules[place[0]], place[1])
            groups = [{**group, "params": [self.objects[one] for one in group["params"]]} for group in groups]
            made: Any = cls(groups)
        else:
            made = HANDED[kind](Called(self, number, frozenset()))
        self._put(number, made)

    @staticmethod
    def seed(number: int) -> None:
        torch.manual_seed(number)

    def difference(self, code: CodeType, lines: range) -> str:
        return self.comparisons.told(code, lines) if self.comparisons else ""

    def held(self, own: bool) -> list:
        return [known.leaf for number, known in self.leaves.items() if (number % 2 == self.side) == own]

    # --- to ask, and to be asked

    def _ask(self, what: str, number: int, *args: Any, **kwargs: Any) -> Any:
        return self.theirs(what, number, *args, **kwargs)

    def _serve(self, what: str, number: int, *args: Any, **kwargs: Any) -> Any:
        """What the other side asks; of the candidate's nothing is to be believed."""
        if type(number) is not int or number % 2 != self.side or number not in self.objects:
            raise WireError("an unknown number")
        value = self.objects[number]
        if what == "gradients" and number in self.origins:
            return self._gradients(number, *args)
        if self.side and isinstance(value, nn.Module):
            return self._have_module(value, what, *args, **kwargs)
        if self.side and isinstance(value, (Dataset, DataLoader)):
            return self._have_data(value, what, *args)
        raise WireError("an unknown request")

    def _gradients(self, number: int, gradient: torch.Tensor) -> list:
        value, leaves = self.objects[number], self.origins[number]
        if not leaves:
            return []
        found = torch.autograd.grad(value, leaves, gradient, retain_graph=True, allow_unused=True)
        return [None if one is None else bare(one) for one in found]

    def _have_module(self, module: Any, what: str, *args: Any, **kwargs: Any) -> Any:
        """What the student's code asks of a module of the test's."""
        if what in ("__call__", "forward"):
            return module(*args, **kwargs)
        if what == "set":
            name, value = args
            if not name.isidentifier() or name[0] == "_" or hasattr(type(module), name):
                raise AttributeError(f"{name} of a test's module cannot be set")
            return setattr(module, name, value)
        if what == "__deepcopy__":
            return copy.deepcopy(module)
        if what in DOES or what in _own_names(module):
            return getattr(module, what)(*args, **kwargs)
        raise AttributeError(f"{what} of a test's module cannot be used")

    def _have_data(self, data: Any, what: str, *args: Any) -> Any:
        if what == "__iter__":
            if isinstance(data, DataLoader) and type(data.dataset) in PROXIES:
                options = likenesses.plain_options(data)
                if options is not None:
                    return [data.dataset, options]
            number = len(self.iterators)
            steps: Any = data
            self.iterators[number] = iter(steps)
            return number
        if what == "__next__":
            for item in self.iterators[args[0]]:
                return [item]
            return None
        if what == "__getitem__":
            return data[args[0]]
        if what == "__len__":
            return len(data)
        (name,) = args
        if what != "get" or name[0] == "_":
            raise AttributeError(name)
        return getattr(data, name)


class Asked(likenesses.Way):
    """The way from a likeness in the examiner: by a proxy, so each answer is looked at as any other."""

    def __init__(self, sharing: TorchSharing, number: int, offered: Any, about: Any) -> None:
        self.sharing, self.offered, self.about = sharing, offered, about
        self.path: Any = None
        self.above: Any = None
        self.attributes: dict = {}
        self._proxy: Any = None
        sharing.link.reach(offered, about)  # is refused where that is no description

    def proxy(self) -> Any:
        if self._proxy is None:
            path = self.path or self._below()
            proxy = self.sharing.link.reach(self.offered, self.about, path)
            if path is None:
                return proxy
            self._proxy = proxy
        return self._proxy

    def _below(self) -> Any:
        """The path of a module that is a child of one."""
        if self.above is None:
            return None
        module, name = self.above
        way = vars(module)["viva_way"]
        around = way.path or way._below()
        return around and around.attribute(name)

    def get(self, name: str) -> Any:
        return getattr(self.proxy(), name)

    def set(self, name: str, value: Any) -> None:
        setattr(self.proxy(), name, value)

    def delete(self, name: str) -> None:
        delattr(self.proxy(), name)

    def do(self, name: str, *args: Any, **kwargs: Any) -> Any:
        proxy = self.proxy()
        if name == "__call__":
            return proxy(*args, **kwargs)
        if name == "__repr__":
            return repr(proxy)
        if name in likenesses.OPERATORS:
            return getattr(type(proxy), name)(proxy, *args)
        return getattr(proxy, name)(*args, **kwargs)


class Called(likenesses.Way):
    """The way from a likeness in the candidate: by calls back."""

    def __init__(self, sharing: TorchSharing, number: int, own: frozenset[str]) -> None:
        self.sharing, self.number, self.own = sharing, number, own
        self.path = self.above = None
        self.attributes: dict = {}

    def get(self, name: str) -> Any:
        if name in self.attributes:
            return self.attributes[name]
        if name in self.own:
            return lambda *args, **kwargs: self.do(name, *args, **kwargs)
        if isinstance(self.sharing.objects[self.number], nn.Module):
            raise AttributeError(name)
        return self.do("get", name)

    def set(self, name: str, value: Any) -> None:
        self.do("set", name, value)

    def delete(self, name: str) -> None:
        raise AttributeError(f"{name} of a test's module cannot be deleted")

    def do(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self.sharing._ask(name, self.number, *args, **kwargs)


NEWS = frozenset("leaves modules histories handed state dropped serve".split())
HANDED: dict[str, Any] = {
    "loader": likenesses.LoaderLikeness,
    "stream": likenesses.StreamLikeness,
    "set": likenesses.DatasetLikeness,
}


def _is_leaf(value: Any) -> bool:
    with torch._C.DisableTorchFunctionSubclass():
        return IS_LEAF.__get__(value)


def _copy(value: Any) -> torch.Tensor:
    return bare(value).clone(memory_format=torch.contiguous_format)


def _leaf_row(number: int, value: Any) -> Row:
    gradient = _gradient(value)
    parameter = nn.Parameter in mro_of(type(value))
    return [number, parameter, records(value), bare(value), None if gradient is None else bare(gradient)]


class KnownLeaf:
    """What both sides know of a leaf. It is compared before each message, so by its bytes in memory and no operation
    of the library's."""

    __slots__ = ("gradient", "leaf", "requires", "values")

    def __init__(self, leaf: Any) -> None:
        self.leaf, self.requires = leaf, records(leaf)
        gradient = _gradient(leaf)
        self.values, self.gradient = KnownBytes(leaf), None if gradient is None else KnownBytes(gradient)

    def has_changed(self) -> bool:
        gradient = _gradient(self.leaf)
        if self.requires != records(self.leaf) or (gradient is None) != (self.gradient is None):
            return True
        return self.values.differ(self.leaf) or (self.gradient is not None and self.gradient.differ(gradient))


class KnownBytes:
    """What was in the memory of a tensor; ``now`` shows what is."""

    __slots__ = ("data", "kind", "now", "place")

    def __init__(self, value: Any) -> None:
        self.place, self.kind = value.data_ptr(), (value.shape, value.dtype)
        plain = bare(value)
        self.now = octets(plain).numpy() if plain.is_contiguous() else None
        self.data = octets(plain).numpy().tobytes()

    def differ(self, value: Any) -> bool:
        if value.data_ptr() != self.place or (value.shape, value.dtype) != self.kind:
            return True
        return self.data != (octets(bare(value)).numpy() if self.now is None else self.now).tobytes()


def _gradient(leaf: Any) -> torch.Tensor | None:
    gradient = leaf.grad if _is_leaf(leaf) else None
    return None if gradient is None or gradient.is_sparse else gradient


def _marks(module: Any) -> list:
    """What changes with the structure of a module, or with its fields."""
    fields = vars(module)
    found: list[Any] = [bool(fields.get("training", True))]
    for name, value in fields.items():
        found += [name, *value.items()] if name in likenesses.TABLES else [name, id(value)]
    return [part if type(part) is not tuple else (part[0], id(part[1]), type(part[1])) for part in found]


def _tensors(value: Any) -> list[torch.Tensor]:
    """An object's own tensors: itself, or a module's weights and buffers, and those of its children. Each once."""
    mro = mro_of(type(value))
    if torch.Tensor in mro:
        return [bare(value)] if records(value) else []
    found: dict[int, torch.Tensor] = {}
    seen: set[int] = set()
    ahead = [value] if nn.Module in mro else []
    while ahead:
        fields = vars(ahead.pop())
        for table in likenesses.TABLES:
            for one in dict.values(fields[table]):
                if isinstance(one, nn.Module) and id(one) not in seen:
                    seen.add(id(one))
                    ahead.append(one)
                elif isinstance(one, torch.Tensor) and not is_lazy(one):
                    found[id(one)] = one
    return list(found.values())


def _leaves(value: torch.Tensor) -> list[torch.Tensor]:
    """The leaves of a history, in the order in which they are met."""
    found: dict[int, torch.Tensor] = {}
    seen: set[Any] = set()
    ahead = [value.grad_fn]
    while ahead and len(seen) < MOST_STEPS:
        step: Any = ahead.pop()
        if step is None or step in seen:
            continue
        seen.add(step)
        if (leaf := getattr(step, "variable", None)) is not None and type(step).__name__ == "AccumulateGrad":
            found[id(leaf)] = leaf
        ahead += [before for before, _ in step.next_functions]
    return list(found.values())


def _own_names(module: nn.Module) -> set[str]:
    """What the classes of a module's author have."""
    mro = mro_of(type(module))
    classes = mro[: next(place for place, cls in enumerate(mro) if _is_of_library(cls))]
    return {
        name
        for cls in classes
        for name in namespace_of(cls)
        if type(name) is str and name.isidentifier() and (name[0] != "_" or name in likenesses.OPERATORS)
    }


def _is_of_library(cls: type) -> bool:
    return place_of(cls)[0].partition(".")[0] in LIBRARIES and not issubclass(cls, likenesses.ModuleLikeness)


def _class_of(module: str, name: str) -> type | None:
    """A class of modules of the library's."""
    if module.partition(".")[0] not in LIBRARIES or "." in name:
        return None
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) and issubclass(found, nn.Module) else None


def _options(optimizer: Optimizer) -> list[dict]:
    return [{name: one for name, one in group.items() if name != "params"} for group in optimizer.param_groups]
