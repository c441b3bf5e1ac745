"""What a class is, whatever its metaclass says."""

from __future__ import annotations

from types import FunctionType, MethodDescriptorType, WrapperDescriptorType

METHODS = (FunctionType, property, staticmethod, classmethod, MethodDescriptorType, WrapperDescriptorType)
GENERATED = frozenset(
    "__new__ __repr__ __replace__ __getnewargs__ _make _replace _asdict __annotate__ __annotate_func__".split()
)
"""The methods that every namedtuple has, and every class with annotations."""

mro_of, bases_of, namespace_of = (type.__dict__[name].__get__ for name in ("__mro__", "__bases__", "__dict__"))


def name_of(cls: type) -> str:
    """The name of a class."""
    return str.__str__(type.__dict__["__name__"].__get__(cls))


def module_of(cls: type) -> str:
    """The name of the module of a class; empty where a student has put something else in its place."""
    module = type.__dict__["__module__"].__get__(cls)
    return module if type(module) is str else ""


def qualname_of(cls: type) -> str:
    """The name of a class with those of the classes around it."""
    return str.__str__(type.__dict__["__qualname__"].__get__(cls))


def own_namespaces(cls: type) -> list:
    """What a class has that is not the library's, from itself and from those it derives from."""
    return [own for base in mro_of(cls) if (own := namespace_of(base)).get("__module__") == "__main__"]


def has_methods(cls: type) -> bool:
    """Whether a class that is not the library's can do more than the plain type that it derives from."""
    return any(
        isinstance(value, METHODS) and name not in GENERATED
        for namespace in own_namespaces(cls)
        for name, value in namespace.items()
    )
