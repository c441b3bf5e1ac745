"""What a package index, conda, Read the Docs and those who cite the project read, tried without them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile

import pytest
import yaml

import viva
from setup import with_absolute_links
from tests.conftest import PROJECT
from tests.test_wheel import run, wheel  # noqa: F401

pytestmark = pytest.mark.usefixtures("processes")

ABOUT = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = PROJECT / "deploy" / "conda" / "recipe.yaml"
OTHER_NAMES = {"matplotlib": "matplotlib-base", "msgpack": "msgpack-python"}
"""Libraries that conda-forge has under another name than the index."""


@pytest.mark.parametrize(
    ("schema", "file", "slip"),
    [
        ("vendor.citation-file-format", "CITATION.cff", ("authors:", "author:")),
        ("vendor.github-workflows", ".github/workflows/publish.yml", ("runs-on:", "run-on:")),
        (
            "custom.github-workflows-require-timeout",
            ".github/workflows/publish.yml",
            ("timeout-minutes: 30", ""),
        ),
        ("vendor.readthedocs", ".readthedocs.yaml", ("version: 2", "version: 1")),
    ],
)
def test_a_file_for_others_fits_its_schema_and_one_with_a_slip_does_not(schema, file, slip, tmp_path):
    def check(path) -> int:
        command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, path]
        return subprocess.run(command, capture_output=True).returncode

    text = (PROJECT / file).read_text(encoding="utf-8")
    assert check(PROJECT / file) == 0
    changed = tmp_path / (PROJECT / file).name
    changed.write_text(text.replace(*slip, 1), encoding="utf-8")
    assert check(changed) == 1


def test_links_of_the_readme_become_absolute_and_others_stay():
    text = "[a](docs/a.md) ![b](docs/b.png) [c](https://example.org/c) [d](#part) [e](docs/e.md#part)"
    assert with_absolute_links(text, "https://host/p") == (
        "[a](https://host/p/blob/main/docs/a.md) ![b](https://host/p/raw/main/docs/b.png) "
        "[c](https://example.org/c) [d](#part) [e](https://host/p/blob/main/docs/e.md#part)"
    )


def test_the_files_that_the_readme_links_to_exist():
    readme = (PROJECT / "README.md").read_text(encoding="utf-8")
    targets = re.findall(r"\]\(((?![a-z]+:|#)[^)\s#]+)", readme)
    assert len(targets) > 10
    assert [target for target in targets if not (PROJECT / target).exists()] == []


def test_all_files_have_one_version_and_one_address():
    address = ABOUT["urls"]["Repository"]
    citation = yaml.safe_load((PROJECT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (citation["version"], citation["repository-code"]) == (viva.__version__, address)
    recipe = yaml.safe_load(RECIPE.read_text(encoding="utf-8"))
    assert (recipe["context"]["version"], recipe["about"]["homepage"]) == (viva.__version__, address)
    assert recipe["source"]["url"].startswith(address)
    plugins = [tomllib.loads(path.read_text(encoding="utf-8")) for path in PROJECT.glob("plugins/*/pyproject.toml")]
    assert {plugin["project"]["version"] for plugin in plugins} == {viva.__version__}
    (button,) = PROJECT.glob("student/share/jupyter/labextensions/*/package.json")
    about = json.loads(button.read_text(encoding="utf-8"))
    assert about["version"] == viva.__version__
    assert about["jupyterlab"]["_build"]["load"].endswith(f"?version={viva.__version__}"), (
        "or browsers keep the old file"
    )


@pytest.mark.extra("publish")
def test_the_recipe_for_conda_is_rendered_and_asks_for_what_the_wheel_asks_for():
    from rattler_build import Stage0Recipe, VariantConfig

    (rendered,) = Stage0Recipe.from_yaml(RECIPE.read_text(encoding="utf-8")).render(VariantConfig())
    assert (rendered.recipe.package.name, rendered.recipe.package.version) == ("nbviva", viva.__version__)
    spelled = {re.sub(r"[-_.]+", "-", name): name for name in OTHER_NAMES}
    wanted = {"python": ABOUT["requires-python"]}
    for requirement in ABOUT["dependencies"]:
        name, bound = re.fullmatch(r"([\w-]+)(.*)", requirement).groups()
        wanted[OTHER_NAMES.get(spelled.get(name, name), name)] = bound
    asked = {}
    for line in rendered.recipe.to_dict()["requirements"]["run"]:
        name, _, bound = line.partition(" ")
        asked[name.replace("jupyter_", "jupyter-")] = bound
    assert asked == wanted


@pytest.mark.extra("publish")
@pytest.mark.xdist_group("wheel")
@pytest.mark.timeout(600)
def test_an_index_shows_the_wheels_page_without_errors(wheel):  # noqa: F811
    assert "PASSED" in run(sys.executable, "-m", "twine", "check", "--strict", wheel, cwd=wheel.parent)
    with zipfile.ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        page = archive.read(name).decode("utf-8")
    assert f"]({ABOUT['urls']['Repository']}/blob/main/docs/students.md)" in page
    assert "](docs/" not in page
