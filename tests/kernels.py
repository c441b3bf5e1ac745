"""Kernels of other languages for tests: bash, which the test extra brings, and R where it is installed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel

from tests.conftest import lacking

BASH = {"kernelspec": {"name": "bash", "display_name": "Bash", "language": "bash"}}
R = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}, "language_info": {"name": "R"}}


def install(folder: Path, patch: pytest.MonkeyPatch, name: str, language: str, *words: str) -> None:
    """A kernel in a folder of a test's own."""
    place = folder / "kernels" / name
    place.mkdir(parents=True)
    about = {"argv": [*words, "-f", "{connection_file}"], "display_name": language, "language": language}
    (place / "kernel.json").write_text(json.dumps(about))
    patch.setenv("JUPYTER_PATH", str(folder))


def install_bash(folder: Path, patch: pytest.MonkeyPatch) -> None:
    """With the first word that many packages write: Jupyter takes it for the Python that starts the kernel."""
    install(folder, patch, "bash", "bash", "python3", "-m", "bash_kernel")


def require_r() -> None:
    """Skip a test where R or its kernel is not installed."""
    try:
        KernelSpecManager().get_kernel_spec("ir")
    except NoSuchKernel:
        lacking("R's kernel is not installed. Install it: sudo apt-get install r-cran-irkernel r-cran-testthat")
