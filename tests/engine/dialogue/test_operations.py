"""Objects of students' classes are described, whatever their attributes do."""

from __future__ import annotations

import pytest

from tests.oral import Exam

ATTRIBUTES_OF_ITEMS = {
    "those of a dict are its items": """
--- answer
def settings(): return {"size": 3}
default = {"size": 1}
--- test
assert settings()["size"] == 3 and default == {"size": 1}
--- right
class Settings(dict):
    __getattr__ = dict.__getitem__
    __setattr__ = dict.__setitem__
def settings(): return Settings(size=3)
default = Settings(size=1)
--- wrong
class Settings(dict):
    __getattr__ = dict.__getitem__
def settings(): return Settings(size=2)
default = Settings(size=1)
""",
    "those of an object are looked up in a dict": """
--- answer
class Settings:
    def __init__(self, **known): self.__dict__ |= known
--- test
settings = Settings(size=3)
assert settings.size == 3
--- right
class Settings:
    def __init__(self, **known): self.known = known
    def __getattr__(self, name): return self.known[name]
--- right
class Settings:
    def __init__(self, **known): self.known = known
    def __getattr__(self, name): return self.known.get(name)
--- wrong
class Settings:
    def __init__(self, **known): self.known = known
    def __getattr__(self, name): return self.known["no " + name]
""",
}


@pytest.mark.parametrize("text", ATTRIBUTES_OF_ITEMS.values(), ids=ATTRIBUTES_OF_ITEMS)
def test_an_object_may_have_no_attribute_that_python_asks_for(grader, tmp_path, text):
    Exam(text, grader, tmp_path).prove()
