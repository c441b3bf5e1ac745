"""Code in another language than Python, read by its words: which names it seems to give, and which it uses.

Comments and texts are known by Pygments' lexer for the language. Nothing says whether such code would run; so none of
it is doubted, or read in another way.
"""

from __future__ import annotations

import functools
import re

from pygments import lex
from pygments.lexers import TextLexer, get_lexer_by_name
from pygments.token import Comment, Keyword, String
from pygments.util import ClassNotFound

LONGEST = 10_000
"""Characters of a cell that are read."""
WORD = re.compile(r"(?<![\w.])[^\W\d](?:[\w.]*\w)?")
_KEYWORDS = (
    "let const var val my our local export readonly declare typeset global static auto def fun fn func function sub"
)
_LEADING = rf"^(?:(?:{'|'.join([*_KEYWORDS.split(), 'function'])})[ \t]+)*"
_BINDS = re.compile(
    rf"""
    {_LEADING} ([^\W\d][\w.]*) [ \t]* (?: <<?-(?!-) | :=(?!=) | [-+*/]?=(?![=>~]) | \(\)[ \t]*\n?[ \t]*\{{ )
    | -> [ \t]* ([^\W\d][\w.]*) [ \t]* $
    """,
    re.MULTILINE | re.VERBOSE,
)
"""A line at the left margin that gives a name a value, or ends in giving one."""
_DEFINES = re.compile(
    r"""
    ^ ([^\W\d][\w.]*) [ \t]* (?: (?:<-|=) [ \t]* (?:function\b|\\\() | \(\)[ \t]*\n?[ \t]*\{ )
    | ^ (?:def|fun|fn|func|function|sub|class|struct) [ \t]+ ([^\W\d][\w.]*)
    """,
    re.MULTILINE | re.VERBOSE,
)


@functools.lru_cache(maxsize=4096)
def code_of(source: str, language: str) -> str:
    """The code without its comments and texts."""
    try:
        lexer = get_lexer_by_name(language.lower(), stripnl=False, stripall=False)
    except ClassNotFound:
        lexer = TextLexer()
    parts = []
    for kind, text in lex(source[:LONGEST], lexer):
        plain = not (kind in Comment or kind in String)
        parts.append(text if plain else "\n" * text.count("\n") or " ")
    return "".join(parts)


@functools.lru_cache(maxsize=4096)
def _keywords(source: str, language: str) -> frozenset[str]:
    """The words of the language in some code."""
    try:
        tokens = lex(source[:LONGEST], get_lexer_by_name(language.lower()))
    except ClassNotFound:
        return frozenset()
    return frozenset(text.strip() for kind, text in tokens if kind in Keyword)


def bound(source: str, language: str) -> set[str]:
    """The names that code seems to give values or functions to."""
    code = code_of(source, language)
    return {name for match in (*_BINDS.findall(code), *_DEFINES.findall(code)) for name in match if name}


def bound_anywhere(source: str, language: str) -> set[str]:
    """The same, also inside of blocks and functions."""
    lines = re.split(r"[;{\n]", code_of(source, language))
    return bound("\n".join(line.strip() for line in lines), language)


def defined(source: str, language: str) -> set[str]:
    """The functions that code seems to define."""
    return {name for match in _DEFINES.findall(code_of(source, language)) for name in match if name}


def used(source: str, language: str) -> set[str]:
    """The words in code that are not the language's own: more than it uses."""
    return set(WORD.findall(code_of(source, language))) - _keywords(source, language)
