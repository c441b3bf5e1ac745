"""A cell's outputs are what a real kernel gives, up to the documented differences.

Those are: no colours in tracebacks, how a traceback names the cell and how much it shows of it, and the order
of streams among each other and of what C code prints among what Python prints.
"""

from __future__ import annotations

import re

import pytest
from jupyter_core.utils import ensure_event_loop
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.preprocessors import Execute

from viva.engine.session import Session
from viva.submission.sanitize import made_output as made

pytestmark = pytest.mark.xdist_group("candidate")

CELLS = {
    "prints in pieces": "print('a', end='')\nprint('b')\nprint()",
    "both streams": "import sys\nprint('out')\nprint('err', file=sys.stderr)\nprint('out again')",
    "a result": "1 + 1",
    "a quiet result": "1 + 1;",
    "nothing": "None",
    "an empty cell": "",
    "a comment": "# nothing here",
    "a str": "'text'",
    "an array and an assignment": "import numpy as np\nx = np.arange(12.0).reshape(3, 4) / 7\nx",
    "the result before": "_",
    "the number of the cell": "Out[3], In[3]",
    "nothing of a cell before the first": "'f' in globals(), In[:2], sorted(Out)",
    "a frame": "import pandas as pd\npd.DataFrame({'a': [1, 2], 'b': ['x', 'y']})",
    "several displays": "from IPython.display import HTML, Markdown\ndisplay(1, 'two')\ndisplay(HTML('<b>x</b>'))",
    "a display as the result": "Markdown('**bold**')",
    "a display that is updated": "shown = display('old', display_id='here')\nshown.update('new')",
    "a display of raw data": "display({'text/plain': 'plain', 'text/html': '<i>x</i>'}, raw=True)",
    "output that is cleared": "from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')",
    "output that is cleared when new comes": "print('old')\nclear_output(wait=True)\nprint('new')",
    "output that is cleared when nothing comes": "print('old')\nclear_output(wait=True)",
    "matplotlib in the notebook": "%matplotlib inline\nimport matplotlib.pyplot as plt",
    "a figure": "plt.figure(figsize=(1, 1))\nplt.plot([1, 2])\nprint('after')",
    "a figure that is shown": "plt.figure(figsize=(1, 1))\nplt.show()\nprint('after')",
    "a figure as the result": "fig, ax = plt.subplots(figsize=(1, 1))\nfig",
    "two figures": "plt.figure(figsize=(1, 1))\nplt.figure(figsize=(1, 1));",
    "a figure that is closed": "plt.figure(figsize=(1, 1))\nplt.close()",
    "the list of lines that plot returns": "plt.figure(figsize=(1, 1))\nplt.title('t')",
    "an error after output": "print('before')\n1 / 0",
    "an error in a function": "def f(x):\n    return g(x)\ndef g(x):\n    return x['k']\nf([])",
    "a chained error": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise ValueError('no') from e",
    "a syntax error": "print('never')\nx = = 1",
    "an exit": "print('before')\nraise SystemExit(3)",
    "an interrupt": "raise KeyboardInterrupt",
    "an error with an odd text": "class Odd(Exception):\n    def __str__(self): return 'odd\\ntext'\nraise Odd",
    "a warning": "import warnings\nwarnings.warn('careful')",
    "a repr that raises": "class Bad:\n    def __repr__(self): raise ValueError('no repr')\nBad()",
    "a rich repr": "class Rich:\n    def _repr_html_(self): return '<p>'\n    __repr__ = lambda self: 'rich'\nRich()",
    "several expressions": "1\n2\nprint(3)\n4",
    "await at the top": "import asyncio\nawait asyncio.sleep(0.001)\nprint('slept')\nawait asyncio.sleep(0, 'value')",
    "an async comprehension": "async def two():\n    yield 1\n    yield 2\n[i async for i in two()]",
    "time": "%%capture kept\nprint('kept')\n5",
    "what was captured": "kept.stdout",
    "a long loop of prints": "for i in range(200):\n    print(i, end=' ')",
    "a carriage return": "print('1%', end='\\r')\nprint('2%')",
    "text that is not ASCII": "print('ä → 😀')\n'ä → 😀'",
    # The kernel reads what C code prints in a thread; without a pause it may come with the next cell.
    "what C code prints": "import os, time\nos.write(1, b'from C\\n')\nprint('from Python')\ntime.sleep(1)",
    "help": "len?",
    "the name of the module": "__name__",
    "a doctest": "import doctest\ndef f():\n    '>>> f()\\n3'\n    return 3\ndoctest.testmod()",
}


@pytest.fixture(scope="module")
def kernels():
    """The outputs of each cell, run one after the other by a kernel under nbgrader."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS.values()])
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # with it a kernel does not catch what C code prints
        Execute(timeout=60).preprocess(notebook, {})
    ensure_event_loop().close()  # its sockets would be noticed in whatever test runs when they are collected
    return {name: (cell.outputs, cell.execution_count) for name, cell in zip(CELLS, notebook.cells, strict=True)}


@pytest.fixture(scope="module")
def candidates(grader):
    with Session(grader.candidates, grader.examiners) as session:
        replies = [session.candidate(60, do="run", source=source) for source in CELLS.values()]
    return {name: (reply["outputs"], reply["count"]) for name, reply in zip(CELLS, replies, strict=True)}


def without_colours(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def comparable(outputs) -> list[dict]:
    """The outputs without what may differ; neighbouring streams as one of each name."""
    kept: list[dict] = []
    streams: dict[str, dict] = {}
    for output in outputs:
        output = dict(made(**output))
        if output["output_type"] == "stream":
            output["text"] = without_place(output["text"])
            if output["name"] in streams:
                streams[output["name"]]["text"] += output["text"]
                continue
            streams[output["name"]] = output
        else:
            streams = {}
        if output["output_type"] == "error":
            lines = without_colours("\n".join(output["traceback"])).splitlines()
            output["traceback"] = [" ".join(line.split()) for line in lines if "-> " in line or line == lines[-1]]
            output["traceback"] = output["traceback"][-2:]
            output["evalue"] = without_place(output["evalue"])
        if output.get("ename") != "NoneType":  # a kernel shows the error of a repr twice, the second time by this name
            kept.append(output)
    return sorted(kept, key=lambda output: output.get("name") == "stderr")


def without_place(text: str) -> str:
    return re.sub(r"(/\S*/ipykernel_\S+?|\d+\.py|<ipython-input\S+?>)(?=[:,])", "FILE", text)


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_gives_what_a_kernel_gives(kernels, candidates, name):
    theirs, ours = comparable(kernels[name][0]), comparable(candidates[name][0])
    if name == "what C code prints":
        for (output,) in (theirs, ours):
            output["text"] = sorted(output["text"])  # a kernel mixes the two character by character
    assert ours == theirs


@pytest.mark.parametrize("name", CELLS)
def test_a_cell_has_the_number_that_a_kernel_gives_it(kernels, candidates, name):
    if CELLS[name]:  # nbclient does not send an empty cell to the kernel
        assert candidates[name][1] == kernels[name][1]


@pytest.mark.parametrize(
    "line",
    [
        "%autosave 60",
        "%cd /content/drive/MyDrive",
        "%conda install numpy",
        "%load_ext google.colab.data_table",
        "%matplotlib widget",
        "%tensorflow_version 2.x",
    ],
)
def test_a_magic_of_another_program_or_machine_does_not_stop_a_cell(grader, line):
    with Session(grader.candidates, grader.examiners) as session:
        reply = session.candidate(60, do="run", source=f"{line}\n'what is below it'")
    kinds = [output["output_type"] for output in reply["outputs"]]
    assert kinds == ["stream", "execute_result"]
    assert reply["outputs"][0]["text"] == f"{line.split()[0]} is not run in grading.\n"


def test_a_magic_that_runs_code_stops_a_cell_as_the_code_does_and_sees_the_names_around_it(grader):
    inside = "def f(y):\n    %timeit -n 1 -r 1 y + 1\n    return y\nf(3)"
    with Session(grader.candidates, grader.examiners) as session:
        replies = [session.candidate(60, do="run", source=source) for source in (inside, "%timeit 1 / 0", "%run no.py")]
    assert [reply["outputs"][-1]["output_type"] for reply in replies] == ["execute_result", "error", "error"]
