"""The package as it is installed here, for a machine that has no index with it; and the versions of what it needs."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
import io
import os
import tomllib
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import viva
from viva.folder import walk

NAME = "nbviva"
EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of every file in a zip, so that the same input gives the same bytes."""
TAGS = "Wheel-Version: 1.0\nGenerator: viva\nRoot-Is-Purelib: true\nTag: py3-none-any\n"


def wheel() -> tuple[str, bytes]:
    """The name of a wheel of the package, and the wheel, made of the files that are installed."""
    here, about = Path(viva.__file__).parent, _installed()
    paths = walk(here, ["__pycache__", "*.pyc"])
    files = {os.path.relpath(path, here.parent): path.read_bytes() for path in paths}
    folder = f"{NAME}-{viva.__version__}.dist-info"
    for name in ("METADATA", "entry_points.txt"):
        files[f"{folder}/{name}"] = (about.read_text(name) or "").encode()
    for path in about.files or ():
        if "licenses" in path.parts:
            files[f"{folder}/licenses/{path.name}"] = Path(path.locate()).read_bytes()
    files[f"{folder}/WHEEL"] = TAGS.encode()
    record = f"{folder}/RECORD"
    files[record] = "".join(f"{name},{_digest(data)},{len(data)}\n" for name, data in sorted(files.items())).encode()
    files[record] += f"{record},,\n".encode()
    return f"{NAME}-{viva.__version__}-py3-none-any.whl", zipped(files)


def _installed() -> importlib.metadata.Distribution:
    """What pip knows of the package; a checkout also has what setuptools left there, which says less."""
    found = list(importlib.metadata.distributions(name=NAME))
    return max(found, key=lambda one: bool(one.read_text("METADATA")))


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def zipped(files: Mapping[str, bytes], programs: Iterable[str] = ()) -> bytes:
    """A zip of files, by name; those that are ``programs`` can be executed when they come out."""
    buffer, programs = io.BytesIO(), set(programs)
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in sorted(files.items()):
            info = zipfile.ZipInfo(name, EPOCH)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o100755 if name in programs else 0o100644) << 16
            archive.writestr(info, data)
    return buffer.getvalue()


def versions() -> str:
    """Every installed distribution but ours with its exact version, as pip takes constraints; pip stays the image's."""
    found: dict[str, str] = {}
    for about in (one.metadata for one in importlib.metadata.distributions()):  # each access parses it anew
        if about and about["Name"] and about["Version"]:  # what was half removed has none
            # The first counts, as for an import: setuptools adds a folder of others to the path's end.
            found.setdefault(about["Name"].lower().replace("_", "-"), about["Version"])
    return "".join(f"{name}=={version}\n" for name, version in sorted(found.items()) if name not in (NAME, "pip"))


def requirements(modules: Iterable[str]) -> str:
    """The distributions that hold these modules, one a line; those that hold none are left out.

    In a checkout also what its pyproject.toml names: what was installed from there may know an older one.
    """
    known = importlib.metadata.packages_distributions()
    names = {name for one in modules for name in known.get(one, [])} - {NAME}
    project = Path(viva.__file__).parents[1] / "pyproject.toml"
    if project.is_file():
        about = tomllib.loads(project.read_text(encoding="utf-8")).get("project", {})
        names |= set(about.get("dependencies", ())) if about.get("name") == NAME else set()
    return "".join(f"{name}\n" for name in sorted(names))
