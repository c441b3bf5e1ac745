"""The candidate's IPython: no history, no threads, no terminal; its outputs are those of a notebook."""

from __future__ import annotations

import base64
import inspect
import io
import os
import sys

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from viva.engine.dialogue.exceptions import safe

OUTPUT_CHARACTERS, OUTPUT_ITEMS = 1_000_000, 1_000
"""A cell keeps so much output; the rest is dropped, and a line says so."""
THROW_AWAY_PLOT = r"""
import matplotlib.pyplot as plt
figure, axes = plt.subplots(1, 2, figsize=(2, 1), layout="constrained")
picture = axes[0].imshow([[0.0, 1.0]], cmap="viridis")
figure.colorbar(picture, ax=axes[0])
axes[0].set(title="title", xlabel=r"$x_1^{2} = \frac{1}{2} \mathbf{K}^\top Q$", ylabel="y", xticks=[0, 1])
axes[0].text(0, 0, "0.50", color="w", ha="center")
axes[1].plot([1, 2], [1e-3, 5], "o-", label=r"$\alpha$")
axes[1].bar([1, 2], [1, 2])
axes[1].legend()
figure.suptitle("all", fontweight="bold")
plt.show()
"""
"""Finds the fonts, loads the parser of formulas and fills the caches that every first plot pays for."""
THROW_AWAY_FRAME = "import pandas\npandas.DataFrame({'a': [0.5]})"
THROW_AWAY_CELLS = (
    'def f(x):\n    """Twice."""\n    return [2 * x]',
    *("print(f(1))", "f(1.5)", "f('a')", "(", "1 / 0"),
    "import json\njson.loads('')",
)
"""Fill the caches that every first value and every first traceback pay for; one through a library looks up the file of
each module."""

SETTING_UP = frozenset({"cd", "conda", "config", "load_ext", "mamba", "matplotlib", "pip", "reload_ext"})
"""Magics that only prepare what a notebook runs in: where they fail, as elsewhere another machine was prepared."""


class Outputs:
    """The outputs of one cell, as dictionaries in the form of a notebook's outputs."""

    def __init__(self, characters: int = OUTPUT_CHARACTERS) -> None:
        self.items: list[dict] = []
        self.left = characters
        self.clearing = False
        """Whether the next output is to replace all before it."""

    def text(self, name: str, text: str) -> None:
        if self.left <= 0:
            return
        if len(text) > self.left:
            text = text[: self.left] + "\n[more output was cut here]\n"
            self.left = 0
        self.left -= len(text)
        last = self.items[-1] if self.items and not self.clearing else {}
        if last.get("output_type") == "stream" and last["name"] == name:
            last["text"].append(text)
        else:
            self.add({"output_type": "stream", "name": name, "text": [text]})

    def add(self, item: dict) -> None:
        if self.clearing:
            self.clear()
        if len(self.items) == OUTPUT_ITEMS and item["output_type"] == "error":
            self.items.pop()
        if len(self.items) < OUTPUT_ITEMS:
            self.items.append(item)

    def clear(self, wait: bool = False) -> None:
        self.clearing = wait
        if not wait:
            self.items.clear()

    def add_written(self) -> None:
        """Add what was written to descriptors 1 and 2 directly, and reset them."""
        for name, descriptor in (("stdout", 1), ("stderr", 2)):
            try:
                os.lseek(descriptor, 0, os.SEEK_SET)
                data = os.read(descriptor, OUTPUT_CHARACTERS)
                if data:
                    os.lseek(descriptor, 0, os.SEEK_SET)
                    os.ftruncate(descriptor, 0)
                    self.text(name, data.decode("utf-8", "replace"))
            except OSError:
                continue

    def finished(self) -> list[dict]:
        return [item | {"text": "".join(item["text"])} if "text" in item else item for item in self.items]

    def printed(self) -> list[tuple[str, str]]:
        """The texts that were written, each with its stream."""
        return [(item["name"], item["text"]) for item in self.finished() if "text" in item]


class Stream(io.TextIOBase):
    """sys.stdout or sys.stderr of the student's code."""

    encoding = "utf-8"

    def __init__(self, name: str) -> None:
        self.name = name
        self.descriptor = {"stdout": 1, "stderr": 2}[name]

    def write(self, text: str) -> int:
        Shell.outputs.text(self.name, str(text))
        return len(text)

    def fileno(self) -> int:
        return self.descriptor

    def writable(self) -> bool:
        return True


class Publisher(DisplayPublisher):
    """The output of display()."""

    def publish(self, data, metadata=None, source=None, *, transient=None, update=False, **_) -> None:
        item = {"output_type": "display_data", "data": _mime(data), "metadata": dict(metadata or {})}
        identity = (transient or {}).get("display_id")
        if update:
            for shown in Shell.displays.get(identity, ()):
                shown |= {"data": item["data"], "metadata": item["metadata"]}
            return
        if identity is not None:
            Shell.displays.setdefault(identity, []).append(item)
        Shell.outputs.add(item)

    def clear_output(self, wait: bool = False) -> None:
        Shell.outputs.clear(wait)


class Hook(DisplayHook):
    """The value of a cell's last expression."""

    def write_output_prompt(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        Shell.outputs.add(
            {
                "output_type": "execute_result",
                "data": _mime(format_dict),
                "metadata": dict(md_dict or {}),
                "execution_count": self.prompt_count,
            }
        )

    def finish_displayhook(self) -> None:
        pass


class Compiler(CachingCompiler):
    """Says of each cell that it is not a file of a module; a traceback else asks every module, a dozen times."""

    def get_code_name(self, raw_code: str, transformed_code: str, number: int) -> str:
        name = super().get_code_name(raw_code, transformed_code, number)
        inspect.modulesbyfile.update(dict.fromkeys((name, os.path.abspath(name)), ""))
        return name


class Shell(InteractiveShell):
    """An IPython shell without history, threads or terminal."""

    compiler_class = Compiler
    outputs = Outputs()
    displays: dict = {}

    def init_displayhook(self) -> None:
        self.displayhook_class = Hook
        super().init_displayhook()

    def init_display_pub(self) -> None:
        self.display_pub_class = Publisher
        super().init_display_pub()

    def _showtraceback(self, etype, evalue, stb) -> None:
        Shell.outputs.add(
            {
                "output_type": "error",
                "ename": etype.__name__,
                "evalue": safe(str, evalue),
                "traceback": stb if isinstance(stb, list) else [str(stb)],
            }
        )

    def _format_exception_for_storage(self, exception, filename=None, running_compiled_code=False) -> dict:
        return {}  # for the history, of which there is none: to lay a traceback out takes milliseconds

    def system(self, command: str) -> None:
        print(f"Commands such as !{command.split()[0] if command.split() else ''} are not run in grading.")

    system_raw = system_piped = system

    def run_line_magic(self, magic_name: str, line: str, _stack_depth: int = 1):
        """Run a magic. One that only another program's Jupyter knows does not stop the cell."""
        exists = self.find_line_magic(magic_name) is not None
        try:
            if exists:
                return super().run_line_magic(magic_name, line, _stack_depth=_stack_depth + 1)
        except Exception:
            if magic_name not in SETTING_UP:
                raise
        print(f"%{magic_name} is not run in grading.")
        return None

    def enable_gui(self, gui=None) -> None:
        """``%matplotlib inline`` asks for this; there is no window to draw in."""

    def getoutput(self, command: str, split: bool = True, depth: int = 0):
        self.system(command)
        return [] if split else ""


def make_shell() -> Shell:
    """The shell, warmed up: made once in the fork server, before any fork."""
    # A history has a thread, which would not survive the fork.
    shell = Shell.instance(config=Config(HistoryManager={"enabled": False, "hist_file": ":memory:"}))
    shell.colors = "nocolor"
    shell.set_hook("show_in_pager", lambda *_, **__: None)  # the output of `len?` does not belong to a notebook
    plotting = ("%matplotlib inline", THROW_AWAY_PLOT) if "matplotlib.pyplot" in sys.modules else ()
    frames = (THROW_AWAY_FRAME,) if "pandas" in sys.modules else ()
    for source in (*plotting, *frames, *THROW_AWAY_CELLS):
        shell.run_cell(source)
    shell.reset(new_session=True)
    shell.execution_count = 1
    Shell.outputs, Shell.displays = Outputs(), {}
    return shell


def _mime(data: dict) -> dict:
    return {key: base64.b64encode(value).decode() if isinstance(value, bytes) else value for key, value in data.items()}
