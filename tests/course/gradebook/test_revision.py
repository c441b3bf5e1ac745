from __future__ import annotations

import subprocess
import sys

import pytest
from sqlalchemy import text

from tests.conftest import load

ASKED = "from nbgrader.api import get_alembic_version; print(get_alembic_version())"


@pytest.mark.slow
def test_a_new_gradebook_has_the_revision_that_nbgrader_starts_a_process_for(tmp_path, monkeypatch):
    (tmp_path / "nbgrader_config.py").touch()
    with monkeypatch.context() as without:
        without.setenv("PATH", "")  # nor is alembic looked for
        gradebook = load(tmp_path)[0].gradebook()
    with gradebook:
        (revision,) = gradebook.db.execute(text("SELECT version_num FROM alembic_version")).one()
    assert revision == subprocess.run([sys.executable, "-c", ASKED], capture_output=True, text=True).stdout.strip()
