"""The tests of a library that starts threads run in processes of their own."""

from __future__ import annotations

import contextlib
import multiprocessing
import traceback

import pytest

with contextlib.suppress(ImportError):
    import torch._dynamo  # noqa: F401  # after TensorFlow its import ends the process (triton 3.8, TensorFlow 2.21)

THREADED = ("jax", "tensorflow")
"""Libraries that start threads with their first value. A process with threads must not fork, and JAX warns of it in
all tests that this process runs later."""


@pytest.fixture(scope="module")
def torch_grader(processes):
    """The processes of PyTorch's exams."""
    from viva.engine.grading import Grader
    from viva.sandbox.confinement import Sandbox

    grader = Grader(60.0, (Sandbox.for_candidate(), Sandbox.for_examiner()), ("numpy", "torch"))
    yield grader
    grader.close()


def run(item: pytest.Function, faults: multiprocessing.SimpleQueue) -> None:
    """Run one test and report what it raised."""
    try:
        item.obj(**{name: item.funcargs[name] for name in item._fixtureinfo.argnames})
    except BaseException:  # the test's own failure, and that of an assertion
        faults.put(traceback.format_exc())
    else:
        faults.put("")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test of such a library in a process that ends with it."""
    if pyfuncitem.module.__name__.rpartition(".test_")[2] not in THREADED:
        return None
    context = multiprocessing.get_context("fork")
    faults = context.SimpleQueue()
    process = context.Process(target=run, args=(pyfuncitem, faults))
    process.start()
    process.join()
    if faults.empty():
        pytest.fail(f"The process of the test ended with {process.exitcode} and reported nothing.")
    if fault := faults.get():
        pytest.fail(fault, pytrace=False)
    return True
