"""What a student tries from their own server: to read, change and reach what is not theirs, until they are told to stop.

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
                continue
            for path in (os.path.join(folder, name) for name in names):
                with contextlib.suppress(OSError), open(path, "rb"):
                    found.append(path)
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
            with open(path, "rb") as file:
                file.read(1)
    except OSError:
        return False
    return True


def holds(path: str, words: list[bytes]) -> bool:
    with contextlib.suppress(OSError), open(path, "rb") as file:
        content = file.read(LARGEST)
        return any(word in content for word in words)
    return False


def changed(paths: list[str]) -> list[str]:
    """The files and folders that could be moved away, written to, or have a file put into them."""
    done = []
    for path in paths:
        attempts = (
            lambda: os.rename(path, f"{path}.away"),
            lambda: os.chmod(path, 0o777),
            lambda: open(os.path.join(path, "mine") if os.path.isdir(path) else path, "a").close(),
        )
        for attempt in attempts:
            with contextlib.suppress(OSError):
                attempt()
                done.append(path)
    return done


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
        leaks |= {path for path in readable(asked["searched"]) if holds(path, words)}
        shown |= {path for path in processes() if not path.endswith("cmdline") or holds(path, words)}
        rounds += 1
        (HOME / "trespassing.txt").write_text(str(rounds))
        time.sleep(0.5)
    asked |= json.loads((HOME / "enough.txt").read_text())
    result = {
        "rounds": rounds,
        "leaks": sorted(leaks),
        "shown": sorted(shown),
        "readable": sorted(readable(asked["listed"])),
        "opened": [path for path in asked["guesses"] if opens(path)],
        "changed": changed(asked["guesses"]),
        "answers": {address: answer(address) for address in asked["addresses"]},
    }
    part = HOME / "trespassed.part"
    part.write_text(json.dumps(result))
    part.rename(HOME / "trespassed.json")


if __name__ == "__main__":
    main()
