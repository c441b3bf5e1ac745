"""The libraries that the fork servers load before the first submission comes.

Those that nobody's code speaks of would only make every fork larger. One that is not loaded here is
imported by the code that wants it, as anywhere, and costs each submission its time.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import itertools
import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from viva.folder import walk
from viva.notebook.syntax import imports_of_text, needed_imports

PUT_OFF = ("testing", "fft", "polynomial")
"""The parts of NumPy that are loaded at their first use, without an import."""
COMMON = (
    "numpy",
    *(f"numpy.{part}" for part in PUT_OFF),
    "scipy.special",
    "scipy.stats",
    "scipy.linalg",
    "pandas",
    "matplotlib.pyplot",
)
"""Libraries that courses in numerical Python use, and students without being asked."""
FAMILIAR = (
    "numpy scipy pandas matplotlib seaborn sympy statsmodels networkx plotly h5py tqdm numba requests torch "
    "torchvision tensorflow keras jax nltk ipywidgets sklearn skimage PIL cv2 IPython"
).split()
"""Libraries that students may be told to install, whoever imports them."""
WORDS = {f"numpy.{part}": tuple(f"{word}{part}".encode() for word in ("np.", "numpy.", "import ")) for part in PUT_OFF}
"""One of which a text says that may use the library, where its own name says too little or too much."""
# A text may plot if only by ``frame.plot()``; in the sandbox the fonts cannot be listed for good.
WORDS["matplotlib.pyplot"] = (b"matplotlib", b"pylab", b"pandas", b"seaborn")
MOST_BYTES = 20_000_000
"""Bytes of a file that are looked at; what follows are outputs."""
MOST_FILES = 20
"""Files of a submission that are looked at: five thousand would hold up the batch."""
LONGEST = 300
"""Characters that are kept of what a library said."""
THREADS = "threads: "
"""The head of the reason why a library that starts threads is not loaded; their names follow."""
CODECS = "codecs: "
"""The head of the reason why values of a library that was loaded do not cross as its codecs say."""
PASSING = 0.2
"""Seconds after which a thread that a library started is one that stays."""


def wanted(notebooks: Iterable[Path], files: Iterable[Path] = ()) -> tuple[str, ...]:
    """The libraries that the instructor's notebooks import, and the common ones that any file mentions."""
    texts = list(_read(notebooks))
    common = mentioned(itertools.chain(texts, _read(files)))
    return tuple(dict.fromkeys((*common, *imported(cell for text in texts for cell in _cells(text)))))


def looked_at(folder: Path) -> Iterator[Path]:
    """The files of a submission that may say what it imports."""
    return itertools.islice(walk(folder), MOST_FILES)


def _cells(text: bytes) -> list[str]:
    import nbformat  # fork servers, which are here for load, do without

    with contextlib.suppress(ValueError, AttributeError, nbformat.ValidationError):  # told where the notebook is needed
        notebook = nbformat.reads(text.decode(), as_version=4)
        return [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return []


def mentioned(texts: Iterable[bytes]) -> tuple[str, ...]:
    """Those of the common libraries that any of the texts may import."""
    missing = dict.fromkeys(COMMON)
    for text in texts:
        for name in [name for name in missing if _speaks_of(text, name)]:
            del missing[name]
        if not missing:
            break
    return tuple(name for name in COMMON if name not in missing)


def _speaks_of(text: bytes, name: str) -> bool:
    if name in WORDS:
        return any(word in text for word in WORDS[name])
    return all(part.encode() in text for part in name.split("."))


def _read(paths: Iterable[Path]) -> Iterator[bytes]:
    """The beginnings of files; nothing of those that cannot be read, nor through links."""
    for path in paths:
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)  # a pipe holds nobody up
            with os.fdopen(descriptor, "rb") as file:
                yield file.read(MOST_BYTES)


def imported(cells: Iterable[str]) -> tuple[str, ...]:
    """The installed modules beside Python's own that code cells import, in alphabetical order."""
    names = {name for source in cells for name in _imports(source)}
    return tuple(sorted(name for name in names if is_library(name.partition(".")[0])))


def _imports(source: str) -> Iterator[str]:
    found = (one for one in imports_of_text(source) if not one.level and one.attribute != "*")
    yield from (one.path for one in found)


def named(texts: Iterable[str]) -> set[str]:
    """The packages and modules that code imports, installed or not, without what is below them."""
    return {name.partition(".")[0] for text in texts for name in _imports(text)}


def required(texts: Iterable[str]) -> set[str]:
    """Those of the named ones without which code stops: an ``import`` in a ``try`` may fail."""
    found = (one for text in texts for one in needed_imports(text))
    return {one.library for one in found if one.library and one.attribute != "*"}


def sources(notebooks: Iterable[Path]) -> list[str]:
    """The texts of the code cells of notebooks."""
    return [cell for text in _read(notebooks) for cell in _cells(text)]


def is_library(package: str) -> bool:
    """Whether it is a library: neither Python's own nor a file beside the notebook."""
    if package in sys.stdlib_module_names:
        return False
    with contextlib.suppress(ImportError, ValueError):
        spec = importlib.util.find_spec(package)
        return bool(spec and spec.origin and "site-packages" in Path(spec.origin).parts)
    return False


def can_be_imported(name: str) -> bool:
    """Whether this process finds a module or a package, Python's own too."""
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):
        return False


def load(name: str) -> tuple[list[str], str]:
    """Import a module, or what of the name is one: the threads that it started, by name, and why it is not there.

    A library that cannot be loaded says so again where it is used.
    """
    before, why, wanted = threads(), "", name
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        while name:
            try:
                module = importlib.import_module(name)
                break
            except ImportError as error:
                why, name = why or _said(error), name.rpartition(".")[0]
            except Exception as error:  # a library's own fault, whatever it is
                why, name = why or _said(error), ""
    if name and (name == wanted or hasattr(module, wanted[len(name) + 1 :].partition(".")[0])):
        why = ""
    return _new_threads(before), why


def module_of(name: str) -> str:
    """The module that was loaded for a name, which may be that of something in it."""
    while name and name not in sys.modules:
        name = name.rpartition(".")[0]
    return name


def _said(error: Exception) -> str:
    """The error of a library that could not be loaded, in one line."""
    lines = f"{type(error).__name__}: {error}".split("\n")
    return lines[0][:LONGEST]


def threads() -> dict[str, str]:
    """The threads of this process by number, with their names, those that C code started too.

    None survives a fork but the one that forks.
    """
    names = {}
    for number in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            names[number] = Path(f"/proc/self/task/{number}/comm").read_text().strip()
    return names


def _new_threads(before: dict[str, str]) -> list[str]:
    """The names of the threads that are here to stay."""
    end = time.monotonic() + PASSING
    while (new := threads().keys() - before.keys()) and time.monotonic() < end:
        time.sleep(PASSING / 10)
    return sorted(name for number, name in threads().items() if number in new)
