"""What can be told of a text without running it: code or words, which names it gives and which it uses."""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
import re
import textwrap
import warnings

from rapidfuzz import fuzz

from viva.engine.names import Names, names_within

LONGEST = 10_000
"""Characters of a cell that are compared."""
_MAGIC = re.compile(r"^(\s*)(?:[%!?].*|[^\W\d][\w.]*\?\??[ \t]*)$", re.MULTILINE)
_OUTPUT_OF = re.compile(r"^([ \t]*\w[\w, \t]*=[ \t]*)[%!](?!=).*$", re.MULTILINE)
"""What a name is given of a magic or a command."""
NAME = re.compile(r"[^\W\d]\w*")
DEFINITION = re.compile(r"(?:async\s+def|def|class)\s+(\w+)")
_BINDING = re.compile(
    r"""
    \s* (
        [^=\#'"()<>!]+?
        (?: \( [^=\#'"()]* \) [^=\#'"()<>!]* )?      # names in brackets
    )
    \s* (?: [-+*/@|&^%] | // | \*\* | << | >> )? = (?!=)
    """,
    re.VERBOSE,
)
_UNPACKING = re.compile(r"^\(([^()=]{1,2000})\)\s*=(?!=)", re.MULTILINE)
_GOES_ON = re.compile(r"(?:elif|else|except|finally)\b")
_IMPORT = re.compile(r"\s*(?:from\s+\S+\s+)?import\s+(.+)")
QUIET = re.compile(
    r"""
    \#[^\n]*                                                                 # a comment
    | (?: (?<!\w) [rbfu]{1,2} )?
      (?: '{3} .*? '{3} | "{3} .*? "{3} | '[^'\n]*' | "[^"\n]*" )            # a string
    """,
    re.DOTALL | re.VERBOSE,
)
_STATEMENT = re.compile(
    r"""
    ^\s* (?:assert|def|class|import|return|print) \b
    | ^\s* [\w.]+ \s* [-+*/@]?=(?!=)           # an assignment
    | [\[({=] \s*$ | \w\([^()\n]*\):? \s*$     # a line that goes on below, a call
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A line that is hardly one of a text."""
_FRONT = re.compile(r"---\n(?:\w[\w-]*:.*\n|(?:[ \t]|- ).*\n)*---")
_FENCES = ("```", "~~~")
PYTHON = {*dir(builtins), *keyword.kwlist, "np", "plt", "pd", "self"}


def squeezed(source: str) -> str:
    """A text without white space: Colab and others change it, and nobody means anything by it."""
    return "".join(source.split())


def bound_names(source: str) -> set[str]:
    """The names that code gives outside of functions, by assigning or defining, and those that it changes in place.

    Of code that is broken somewhere each statement is read on its own; of one that is broken itself, what its lines
    seem to say.
    """
    return set(_bound_names(source[:LONGEST]))


@functools.lru_cache(maxsize=2048)
def _bound_names(source: str) -> frozenset[str]:
    found = set()
    whole = names_read(source)
    for part in [source] if whole else _statements(source):
        names = whole or names_read(part)
        found |= names.assigned | names.changed if names else _seeming_names(part)
    return frozenset(found - PYTHON)


def _statements(source: str) -> list[str]:
    """Broken code, cut before each line that can begin a statement."""
    found = [""]
    for line in source.splitlines(keepends=True):
        begins = line[:1] not in (" ", "\t", ")", "]", "}", "\n", "#") and not _GOES_ON.match(line)
        if begins:
            found.append("")
        found[-1] += line
    return found


def _seeming_names(source: str) -> set[str]:
    """The names that lines which are no Python seem to give."""
    names = {name for several in _UNPACKING.findall(source) for name in NAME.findall(several)}
    inside = False
    for line in source.splitlines():
        indented = line[:1] in (" ", "\t", ")", "]", "}")
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if definition := DEFINITION.match(line):
            names.add(definition[1])
            inside = True
            continue
        inside = inside and indented
        if inside or "=" not in line or len(line) > 500:
            continue
        if binding := _BINDING.match(line):
            names.update(NAME.findall(re.sub(r"\[[^\]]*\]|:.*|\.\w+", "", binding[1])))
    return names


def words(source: str) -> set[str]:
    """The names in code, without those of Python and those in strings and comments."""
    return set(NAME.findall(QUIET.sub("", source[:LONGEST]))) - PYTHON


def tree_of(source: str) -> ast.Module | None:
    """The syntax tree of code, with magics and shell lines as ``pass``; None when it is not whole.

    It is not to be changed: one of a short text is kept for the next who asks.
    """
    if len(source) > 200_000:
        return None
    return _short_tree(source) if len(source) <= LONGEST else _tree(source)


def _tree(source: str) -> ast.Module | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(_OUTPUT_OF.sub(r"\1None", _MAGIC.sub(r"\1pass", source)))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None


_short_tree = functools.lru_cache(maxsize=64)(_tree)


def undone_functions(source: str) -> set[str]:
    """The functions that raise NotImplementedError where they are defined last, as a stub does."""
    tree, found = tree_of(source), {}
    for node in tree.body if tree else ():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            found[node.name] = any(map(raises_as_stub, node.body))
    return {name for name, undone in found.items() if undone}


def raises_as_stub(node: ast.stmt) -> bool:
    """Whether a statement is the line of the stub, or a loop around it."""
    if isinstance(node, ast.For | ast.While | ast.With):
        return any(map(raises_as_stub, node.body))
    return isinstance(node, ast.Raise) and bool(node.exc) and ast.unparse(node.exc).startswith("NotImplementedError")


@functools.lru_cache(maxsize=512)
def parses(source: str) -> bool:
    """Whether code is whole."""
    return len(source) > 200_000 or tree_of(source) is not None


def looks_like_code(source: str) -> bool:
    """Whether a text can only be Python: it is whole and binds, imports or calls something.

    What reads like a magic is none in a text: ``![a picture](of.png)``; and ``[a link](to.png)`` calls nothing.
    """
    tree = tree_of(source)
    bare = (ast.Expr, ast.AnnAssign, ast.Pass)
    values = [node.value for node in tree.body if isinstance(node, ast.Expr)] if tree else []
    called = any(isinstance(value, ast.Call) and isinstance(value.func, ast.Name | ast.Attribute) for value in values)
    return bool(tree) and (called or not all(isinstance(node, bare) for node in tree.body))


def blocks(source: str) -> list[tuple[bool, str]]:
    """A text as words and code by turns, where code stands in it in fences or indented; whether each is code."""
    found: list[tuple[bool, list[str]]] = [(False, [])]
    mark = ""
    for line in source.splitlines():
        if mark and line.strip() == mark:
            mark = ""
            found.append((False, []))
        elif not mark and line[:3] in _FENCES:
            mark = line[:3]
            found.append((True, []))
        else:
            indented = not mark and line.startswith("    ")
            begins = indented and not found[-1][0] and not (found[-1][1] and found[-1][1][-1].strip())
            ends = not mark and found[-1][0] and bool(line.strip()) and not indented
            if begins or ends:
                found.append((begins, []))
            found[-1][1].append(line)
    texts = [(code, textwrap.dedent("\n".join(lines)) if code else "\n".join(lines)) for code, lines in found]
    return [(code and looks_like_code(text), text.strip("\n")) for code, text in texts if text.strip()]


def code_parts(cell_type: str, source: str) -> list[str]:
    """The code of a cell: all of it, or the blocks of it that its text shows."""
    if cell_type == "code" or looks_like_code(source):
        return [source]
    return [text for code, text in blocks(source) if code]


_SIGN_OF_CODE = re.compile(r"[][={}@#<>*_\\]|\w\(|[^\W\d]\.[^\W\d]")


def is_prose(source: str) -> bool:
    """Whether a text can only be words: no code, mostly letters, and hardly a sign of code among many words."""
    source = source[:LONGEST]
    words = len(re.findall(r"[^\W\d_]{2,}", source))
    if words < 5 or _STATEMENT.search(source) or parses(source):
        return False
    share = sum(letter.isalpha() or letter.isspace() for letter in source) / len(source)
    return share > 0.75 or (share > 0.6 and len(_SIGN_OF_CODE.findall(source)) <= words / 8)


def is_front_matter(source: str) -> bool:
    """Whether a text is what Quarto and others write on top: lines of ``key: value`` between dashes."""
    return bool(_FRONT.fullmatch(source.strip()))


def is_definition(source: str) -> bool:
    """Whether code begins with a function or a class."""
    first = next((line for line in source.splitlines() if line.strip() and not line.startswith(("#", "@"))), "")
    return bool(DEFINITION.match(first))


def given_names(source: str) -> set[str]:
    """The names that code binds or imports."""
    imports = [match[1] for line in source.splitlines() if (match := _IMPORT.match(line))]
    return bound_names(source) | {name for line in imports for name in NAME.findall(line)}


def used_names(source: str) -> set[str]:
    """The names that code uses and does not give itself; none when it is not whole."""
    names = names_read(source)
    return names.needed - names.given - PYTHON if names else set()


@functools.lru_cache(maxsize=2048)
def names_read(source: str) -> Names | None:
    """All names of code, None when it is not whole; not to be changed, they are kept for the next who asks."""
    return names_within(tree_of(source))


def likeness(one: str, other: str) -> float:
    return fuzz.ratio(one[:LONGEST], other[:LONGEST]) / 100
