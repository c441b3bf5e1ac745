"""No bytes make a tensor, module or state of the library that was not paid for, or that C code would stumble over."""

from __future__ import annotations

import struct

import pytest

torch = pytest.importorskip("torch")

from viva.engine.dialogue.references import _is_description  # noqa: E402
from viva.engine.values import librarycodecs  # noqa: E402
from viva.engine.values.streams import Stream  # noqa: E402
from viva.engine.wire import Writer, decode, encode  # noqa: E402
from viva.verdict import WireError  # noqa: E402
from viva_ml.torch import tensors, torchstate  # noqa: E402
from viva_ml.torch.torchsharing import TorchSharing  # noqa: E402

pytestmark = pytest.mark.xdist_group("torch")
WORDS = {"mro": [("torch.nn.modules.linear", "Linear")], "type": "Linear", "class": False, "callable": True}
WORDS |= {"iterator": False, "name": "", "origin": ""}


@pytest.fixture(scope="module", autouse=True)
def learned():
    assert librarycodecs.learn() == {}
    assert _is_description(WORDS)


@pytest.mark.parametrize(
    "value",
    [
        torch.tensor(3.0),
        torch.empty(0, 3),
        torch.arange(6).view(2, 3).t(),
        torch.tensor([True, False]),
        torch.randn(2).bfloat16(),
        torch.randn(2, dtype=torch.complex64).conj(),
        torch.ones(3).expand(4, 3),
        torch.tensor([float("nan"), float("inf")], dtype=torch.float16),
        torch.nn.Parameter(torch.ones(2), requires_grad=False),
    ],
)
def test_a_plain_tensor_crosses_with_its_dtype_and_shape(value):
    crossed = decode(encode([value]))[0]
    assert (type(crossed), crossed.dtype, crossed.shape) == (type(value), value.dtype, value.shape)
    assert tensors.octets(crossed).tolist() == tensors.octets(tensors.bare(value).resolve_conj()).tolist()
    crossed.resize_(7)  # it is a tensor of its own


@pytest.mark.parametrize(
    "value", [torch.Size([2, 3]), torch.float32, torch.device("cuda:1"), torch.max(torch.eye(2), 0)]
)
def test_what_describes_a_tensor_crosses(value):
    crossed = decode(encode(value))
    assert type(crossed) is type(value) and str(crossed) == str(value)


@pytest.mark.parametrize("value", [torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True) * 2])
def test_what_has_a_history_does_not_cross_by_value(value):
    with pytest.raises(WireError, match="cannot be sent"):
        encode(value)


@pytest.mark.parametrize(
    "parts",
    [
        ("float32", b"\0" * 8, 3),
        ("float32", b"\0" * 8, -1, -2),
        ("float32", b"", 2**62, 2**62),
        ("float32", b"", 0, 2**62),
        ("float32", b"\0" * 4, True),
        ("float32", b"\0" * 4, *[1] * 40),
        ("float32", "text", 1),
        ("float32",),
        ("quint8", b"\0", 1),
        ("bool", b"\2", 1),
        ("object", b"\0" * 8, 1),
        ("__class__", b"", 0),
        (b"float32", b"\0" * 4, 1),
    ],
)
@pytest.mark.parametrize("name", ["torch:Tensor", "torch:Parameter"])
def test_a_forged_tensor_is_refused_before_anything_is_allocated(name, parts):
    writer = Writer(None)
    writer.put_parts(librarycodecs.LIBRARY, [name, *parts], torch.Tensor)
    with pytest.raises(WireError):
        decode(writer.message())


@pytest.mark.parametrize("parts", [("torch:Size", -1), ("torch:device", "cpu; import os"), ("torch:dtype", "torch.os")])
def test_a_forged_size_device_or_dtype_is_refused(parts):
    writer = Writer(None)
    writer.put_parts(librarycodecs.LIBRARY, [*parts], torch.Tensor)
    with pytest.raises(WireError):
        decode(writer.message())


def state(**changed) -> bytes:
    torch.manual_seed(3)
    fields = [*torchstate.LAYOUT.unpack(torchstate.get_state()[0])]
    places = {"left": 1, "seeded": 2, "following": 3, "word": 4, "spare": -5, "has_spare": -3, "single": -2}
    for name, value in changed.items():
        fields[places[name]] = value
    if changed.get("word") == 0:
        fields[4 : 4 + torchstate.WORDS] = [0] * torchstate.WORDS
    return torchstate.LAYOUT.pack(*fields)


@pytest.mark.parametrize(
    "changed", [{"left": 0}, {"left": 10**6}, {"following": 10**6}, {"word": 2**40}, {"seeded": 7}]
)
def test_a_state_that_no_generator_ever_had_is_refused(changed):
    torchstate.place_of(state())
    with pytest.raises((WireError, struct.error)):
        torchstate.place_of(state(**changed))


def follows(told: bytes) -> bool:
    """Whether a test takes over a state that is told after one of the seed 4."""
    torch.manual_seed(4)
    stream = Stream(torchstate.of_double, torchstate.of_single)
    stream.at(torchstate.place_of(torchstate.get_state()[0]))
    return stream.follows(torchstate.place_of(told), [torchstate.seeded(torchstate.LAYOUT.unpack(told)[0])])


@pytest.mark.parametrize(
    "changed", [{"word": 0}, {"spare": 0.0, "has_spare": 1}, {"spare": 1e9, "has_spare": 1}, {"single": float("nan")}]
)
def test_a_state_to_which_no_drawing_leads_is_not_taken_over(changed):
    told = state(**changed)
    if "single" in changed:
        told = told[:-4] + b"\1" + told[-3:]
    assert not follows(told)


@pytest.mark.parametrize("seed", [0, 4, 2**40 + 7, -1])
def test_a_state_to_which_drawing_leads_from_its_seed_is_taken_over(seed):
    torch.manual_seed(seed)
    for draw in (
        int,
        lambda: torch.rand(700),
        lambda: torch.randn(3),
        lambda: torch.randperm(5),
        lambda: torch.rand(9),
    ):
        draw()
        assert follows(torchstate.get_state()[0])


class Link:
    examining = True

    def offer(self, value):
        return 0, {}

    def reach(self, number, about, path=None):
        if not _is_description(about):
            raise WireError("an object that is not valid was sent")
        return lambda *args: [torch.ones(5)]


ONES = torch.ones(2)
LEAF = [0, True, True, ONES, None]
MODULE = [2, 0, WORDS, [], True, {"weight": 0}, {}, {}, [], {}]


def test_news_of_the_candidates_are_taken():
    sharing = TorchSharing(Link())
    sharing.take({"leaves": [LEAF], "modules": [MODULE], "histories": [[4, ONES, [0]]]})
    module = sharing.resolve(2, None)
    assert isinstance(module, torch.nn.Linear) and [*module.parameters()] == [sharing.resolve(0, None)]
    assert sharing.resolve(4, None).requires_grad


@pytest.mark.parametrize(
    "news",
    [
        7,
        {"news": []},
        {"leaves": [[0, True, True, [1.0], None]]},
        {"leaves": [[0, 1, True, ONES, None]]},
        {"leaves": [[0, True, True, ONES, torch.ones(3)]]},
        {"leaves": [[0, True, True, ONES.long(), None]]},
        {"leaves": [["0", True, True, ONES, None]]},
        {"leaves": [[3, False, False, torch.ones(3), None]]},
        {"leaves": [[3, False, False, torch.ones(2, dtype=torch.float64), None]]},
        {"modules": [[1, *MODULE[1:]]]},
        {"modules": [[2, 0, {}, *MODULE[3:]]]},
        {"modules": [[2, 0, WORDS, ["__class__", 7], *MODULE[4:]]]},
        {"modules": [[2, 0, WORDS, [], True, {"weight": 77}, {}, {}, [], {}]]},
        {"modules": [[2, 0, WORDS, [], True, {}, {}, {"child": 0}, [], {}]], "leaves": [LEAF]},
        {"histories": [[4, ONES, [77]]]},
        {"histories": [[4, ONES.long(), []]]},
        {"histories": [[5, ONES, []]]},
        {"state": (b"", True, "float32")},
        {"state": (state(), 1, "float32")},
    ],
)
def test_news_that_nobody_tells_are_refused(news):
    sharing = TorchSharing(Link())
    mine = torch.zeros(2, requires_grad=True)
    assert sharing.refer(mine) == 1 and sharing.refer(torch.zeros(2, requires_grad=True)) == 3
    sharing.news()
    with pytest.raises(Exception):  # noqa: B017  Shared makes a WireError of each
        sharing.take(news)
    assert mine.tolist() == [0, 0] and mine.requires_grad


def test_gradients_of_another_shape_are_refused():
    sharing = TorchSharing(Link())
    sharing.take({"leaves": [LEAF], "histories": [[4, ONES, [0]]], "serve": [0, WORDS]})
    with pytest.raises(WireError, match="invalid gradients"):
        sharing.resolve(4, None).sum().backward()


def test_a_module_says_no_more_of_itself_than_a_module_has():
    sharing = TorchSharing(Link())
    lies = {**WORDS, "mro": [("os", "system"), ("torch", "load"), ("__main__", "X")], "type": "__class__ = 1"}
    own = ["__class__", "__eq__", "__init__", "__dict__", "__len__", "parameters"]
    sharing.take({"leaves": [LEAF], "modules": [[2, 0, lies, own, *MODULE[4:]]]})
    cls = type(sharing.resolve(2, None))
    assert cls.__mro__[2] is torch.nn.Module and cls.__name__ == "Module"
    assert vars(cls).keys() & set(own) == {"__len__", "parameters"}


def test_what_nobody_needs_is_dropped_on_the_side_of_its_history():
    sharing = TorchSharing(Link())
    sharing.take({"leaves": [LEAF], "histories": [[4, ONES, [0]]]})
    sharing.take({"leaves": [LEAF]})
    assert sharing.news()["dropped"] == [4]
