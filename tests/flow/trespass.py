"""What a student tries from their own server: to read, change and reach what is not theirs, until it is enough.

Run as `python trespass.py` where ``trespass.json`` names what to look for; ``trespassed.json`` says what it came to.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
import urllib.error
import urllib.request
from pathlib import Path

HOME = Path.home()
LARGEST = 10 << 20


def readable(places: list[str]) -> list[str]:
    """Every file there that can be opened, but for one's own."""
    found = []
    for place in places:
        for folder, folders, names in os.walk(place):
            if Path(folder) == HOME:
                folders.clear()
            else:
                found += [f"{folder}/{name}" for name in names if opens(f"{folder}/{name}")]
    return found


def processes() -> list[str]:
    """What other users' processes show beside their names: environments, memory, folders, descriptors."""
    mine = str(os.getuid())
    places = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if f"Uid:\t{mine}\t" not in (process / "status").read_text():
                places.append(process)
    secret = ("environ", "mem", "cwd", "root/etc/passwd", "fd", "cmdline")
    return [str(process / name) for process in places for name in secret if opens(process / name)]


def opens(path: str | Path) -> bool:
    """Whether a file can be read or a folder listed."""
    try:
        if os.path.isdir(path):
            os.listdir(path)
        else:
            with Path(path).open("rb") as file:
                file.read(1)
    except OSError:
        return False
    return True


def holds(path: str, words: list[bytes]) -> bool:
    """Whether one of the words stands in a file."""
    with contextlib.suppress(OSError), Path(path).open("rb") as file:
        content = file.read(LARGEST)
        return any(word in content for word in words)
    return False


def changed(path: Path) -> bool:
    """Whether a file or folder could be moved away, opened to others, written to, or have a file put into it."""
    attempts = (
        lambda: path.rename(f"{path}.away"),
        lambda: path.chmod(0o777),
        lambda: (path / "mine" if path.is_dir() else path).open("a").close(),
    )
    for attempt in attempts:
        with contextlib.suppress(OSError):
            attempt()
            return True
    return False


def answer(address: str) -> int:
    """The status that an address answers one's own token with."""
    token = os.environ["JUPYTERHUB_API_TOKEN"]
    request = urllib.request.Request(address, headers={"Authorization": f"token {token}"})
    try:
        with urllib.request.urlopen(request, timeout=20) as found:
            return found.status
    except urllib.error.HTTPError as error:
        return error.code


def main() -> None:
    asked = json.loads((HOME / "trespass.json").read_text())
    words = [bytes.fromhex(word) for word in asked["words"]]
    rounds, leaks, shown = 0, set(), set()
    while not (HOME / "enough.txt").exists() or not rounds:
        start = time.monotonic()
        leaks |= {path for path in readable(asked["searched"]) if holds(path, words)}
        shown |= {path for path in processes() if not path.endswith("cmdline") or holds(path, words)}
        rounds += 1
        (HOME / "trespassing.txt").write_text(str(rounds))
        time.sleep(max(0.5, 3 * (time.monotonic() - start)))  # most of the machine is left to those who work
    asked |= json.loads((HOME / "enough.txt").read_text())
    result = {
        "rounds": rounds,
        "leaks": sorted(leaks),
        "shown": sorted(shown),
        "readable": sorted(readable(asked["listed"])),
        "opened": [path for path in asked["guesses"] if opens(path)],
        "changed": [path for path in asked["guesses"] if changed(Path(path))],
        "answers": {address: answer(address) for address in asked["addresses"]},
    }
    part = HOME / "trespassed.part"
    part.write_text(json.dumps(result))
    part.rename(HOME / "trespassed.json")


if __name__ == "__main__":
    main()
