"""Keys of a dict or a set that were made up to share a hash, so that to tell them apart costs quadratic time."""

from __future__ import annotations

from collections import defaultdict

from viva.verdict import WireError

TWINS = 64  # keys of one dict or set that share a hash, and comparisons for each item in them


def check_keys(keys: list) -> None:
    """Refuse keys that were made up to share a hash: to tell them apart can cost quadratic time."""
    if len(set(map(hash, keys))) == len(keys):
        return
    for twins in _twins(keys):
        sizes, costs = zip(*map(_effort, twins), strict=True)
        if len(twins) * sum(costs) > TWINS * sum(sizes):
            raise WireError(f"a message holds more than {TWINS} keys of one hash, or sets of such keys")


def _twins(keys) -> list[list]:
    """The keys by their hash."""
    groups = defaultdict(list)
    for key in keys:
        groups[hash(key)].append(key)
    return list(groups.values())


def _effort(key) -> tuple[int, int]:
    """How many items a key holds, and how many comparisons it may take to tell it from a twin.

    A frozenset seeks each of its items in the other one, among all that share its hash, and so on:
    two megabytes of such sets, eight levels deep, kept a core busy for 80 seconds.
    """
    if type(key) is frozenset:
        groups = [(len(twins), _effort(twin)) for twins in _twins(key) for twin in twins]
        return 1 + sum(size for _, (size, _) in groups), 1 + sum(count * cost for count, (_, cost) in groups)
    if isinstance(key, tuple):
        efforts = [*map(_effort, key)]
        return 1 + sum(size for size, _ in efforts), 1 + sum(cost for _, cost in efforts)
    return 1, 1
