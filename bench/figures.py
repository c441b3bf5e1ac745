"""How large the package is, and how far a check goes: ``python -m bench.figures``.

Printed are modules and lines of each package, the modules that have a single importer, and through how many modules
and functions of the engine ``assert double(2) == 4`` goes in the candidate and the examiner together.
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent / "viva"
ANSWER, TEST = "def double(x):\n    return 2 * x", "assert double(2) == 4"


def sizes(package: Path = PACKAGE) -> dict[str, tuple[int, int]]:
    """By package of the first level, how many modules and lines it has; the modules beside them are under ``.``."""
    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for path in package.rglob("*.py"):
        parts = path.relative_to(package).parts
        count = found[parts[0] if len(parts) > 1 else "."]
        count[0] += 1
        count[1] += len(path.read_text(encoding="utf-8").splitlines())
    return {name: (modules, lines) for name, (modules, lines) in sorted(found.items())}


def importers(package: Path = PACKAGE) -> dict[str, set[str]]:
    """By module, the modules of the package that import it; imports for type hints count too."""
    names = {_name(path, package): path for path in package.rglob("*.py")}
    found: dict[str, set[str]] = {name: set() for name in names}
    for name, path in names.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            wanted = []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                wanted = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                wanted = [alias.name for alias in node.names]
            for module in set(wanted) & names.keys() - {name}:
                found[module].add(name)
    return found


def _name(path: Path, package: Path) -> str:
    parts = (package.name, *path.relative_to(package).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def single_importers(package: Path = PACKAGE) -> list[str]:
    """The modules that exactly one other imports, without those that make up a package."""
    folders = {_name(path, package) for path in package.rglob("__init__.py")}
    return sorted(name for name, known in importers(package).items() if len(known) == 1 and name not in folders)


def trace() -> dict[str, set[tuple[str, str, int]]]:
    """By process, the functions of the engine that an answer and a check go through: file, name, line."""
    from viva.engine import pipe, wire
    from viva.engine.candidate import Candidate
    from viva.engine.dialogue.integrity import Snapshot
    from viva.engine.dialogue.shell import make_shell
    from viva.engine.examiner import Examiner

    shell = make_shell()
    question, answer, request, reply = (os.pipe() for _ in range(4))
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "candidate": (lambda: Candidate(shell, Snapshot(shell)), [question[0], answer[1]]),
            "examiner": (Examiner, [request[0], reply[1], question[1], answer[0]]),
        }
        children = [_start(make, fds, Path(folder, name)) for name, (make, fds) in ways.items()]

        def say(to: int, back: int, **words: object) -> dict:
            pipe.write(to, wire.encode(words))
            return wire.decode(pipe.read(back, timeout=60))

        say(question[1], answer[0], do="run", source=ANSWER)
        say(request[1], reply[0], do="prepare", kinds={"double": "", "double()": "plain"}, recording=False)
        say(request[1], reply[0], do="own", names=["double"])
        say(request[1], reply[0], do="begin", cell="test", prelude="", visible=[], used=["double"])
        told = say(request[1], reply[0], do="check", title="test", source=TEST)
        assert told["report"]["verdict"] == "passed", told
        for descriptor in (*question, *answer, *request, *reply):
            os.close(descriptor)
        for child in children:
            os.waitpid(child, 0)
        return {name: set(map(tuple, json.loads(Path(folder, name).read_text()))) for name in ways}


def _start(make: Callable, descriptors: list[int], path: Path) -> int:
    """A process with these descriptors from 3 on that serves, and then writes down the functions that were called."""
    child = os.fork()
    if child:
        return child
    for place, descriptor in enumerate([os.dup2(one, 100 + place) for place, one in enumerate(descriptors)]):
        os.dup2(descriptor, 3 + place)
    os.closerange(3 + len(descriptors), 200)
    seen: set[tuple[str, str, int]] = set()
    ends = os._exit

    def note(frame, event: str, _: object) -> None:
        code = frame.f_code
        named = event == "call" and code.co_name[0] != "<"  # what stands in a line of another is not a step of its own
        if named and code.co_filename.startswith(f"{PACKAGE}/engine"):
            seen.add((code.co_filename, code.co_qualname, code.co_firstlineno))

    def end(status: int) -> None:
        sys.setprofile(None)
        path.write_text(json.dumps(sorted(seen)))
        ends(status)

    os._exit = end
    made = make()
    sys.setprofile(note)
    made.serve()
    end(1)
    return 0


def main() -> None:
    """Print the figures."""
    rows = sizes()
    for name, (modules, lines) in rows.items():
        print(f"{name:12} {modules:4} modules {lines:6} lines")
    total = [sum(column) for column in zip(*rows.values(), strict=True)]
    print(f"{'together':12} {total[0]:4} modules {total[1]:6} lines")
    alone = single_importers()
    print(f"{len(alone)} modules have a single importer: {Counter(name.split('.')[1] for name in alone)}")
    seen = set().union(*trace().values())
    files = {file for file, _, _ in seen}
    print(f"`{TEST}` goes through {len(files)} modules and {len(seen)} functions of the engine.")


if __name__ == "__main__":
    main()
