"""The command that prints a script for the shell: completion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from traitlets.config import Application
from traitlets.utils.importstring import import_item

import viva
from viva.commands.terminal import ShortHelp

KINDS = ("notebooks", "tables", "files", "assignments")
"""The kinds of a command's arguments (``ShortHelp.completes``); tables are CSV files."""
# The space behind a word is added here: zsh has no option for a single word.
SCRIPT = r"""_viva() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words="" one IFS=$' \n'
  local -a found
  found=()
  case "$COMP_CWORD:${{COMP_WORDS[1]}}:$word" in
    1:*) words="{commands}";;
{options}
    {notebooks}) IFS=$'\n'; found=($(compgen -f -X '!*.ipynb' -- "$word") $(compgen -d -S / -- "$word"));;
    {tables}) IFS=$'\n'; found=($(compgen -f -X '!*.csv' -- "$word") $(compgen -d -S / -- "$word"));;
    {files}) IFS=$'\n'; found=($(compgen -f -- "$word"));;
    *:completion:*) words="{shells}";;
    {assignments}) words="$(cd source 2>/dev/null && ls -d -- */ 2>/dev/null | tr -d /)";;
  esac
  [ -z "$words" ] || found=($(compgen -W "$words" -- "$word"))
  COMPREPLY=()
  for one in "${{found[@]}}"; do
    case "$one" in */|*=) ;; *) one="$one ";; esac
    COMPREPLY+=("$one")
  done
}}
complete -o bashdefault -o nospace -F _viva viva
"""
FOR_ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"
FOR_FISH = """complete -c viva -f
complete -c viva -n __fish_use_subcommand -a '{commands}'
{options}
complete -c viva -n '__fish_seen_subcommand_from {notebooks}' -k -a '(__fish_complete_suffix .ipynb)'
complete -c viva -n '__fish_seen_subcommand_from {tables}' -k -a '(__fish_complete_suffix .csv)'
complete -c viva -n '__fish_seen_subcommand_from {files}' -F
complete -c viva -n '__fish_seen_subcommand_from completion' -a '{shells}'
complete -c viva -n '__fish_seen_subcommand_from {assignments}' -a '(path basename source/*/)'
"""


class CompletionCommand(ShortHelp, Application):
    name = "viva-completion"
    description = "Print the script that completes viva's commands in bash, zsh or fish."
    version = viva.__version__
    arguments = "bash|zsh|fish"
    aliases, flags = {}, {}
    examples = """
        viva completion bash >~/.viva-completion && echo '. ~/.viva-completion' >>~/.bashrc
        viva completion zsh >~/.viva-completion && echo '. ~/.viva-completion' >>~/.zshrc
        viva completion fish >~/.config/fish/completions/viva.fish
    """

    def start(self) -> None:
        if len(self.extra_args) != 1 or self.extra_args[0] not in SHELLS:
            self.refuse("Name your shell, as in: viva completion bash")
        print(SHELLS[self.extra_args[0]](), end="")


def _bash() -> str:
    """Completes commands, their options, and assignments or notebooks; asks no Python, so that it answers at once."""
    options = []
    for name, flags, aliases in _options():
        words = " ".join([*(f"--{flag}" for flag in flags), *(f"--{alias}=" for alias in aliases), "--help"])
        options.append(f'    *:{name}:-*) words="{words}";;')
    return _filled(SCRIPT, options, lambda names: "|".join(f"*:{name}:*" for name in names))


def _fish() -> str:
    options = []
    for name, flags, aliases in _options():
        words = [*(f"-l {flag}" for flag in [*flags, "help"]), *(f"-r -l {alias}" for alias in aliases)]
        options += [f"complete -c viva -n '__fish_seen_subcommand_from {name}' {word}" for word in words]
    return _filled(FOR_FISH, options, " ".join)


SHELLS = {"bash": _bash, "zsh": lambda: FOR_ZSH + _bash(), "fish": _fish}


def _filled(script: str, options: list[str], among: Callable[[Iterable[str]], str]) -> str:
    """A script with all commands and options in it; ``among`` writes what holds for some commands."""
    completed = {name: getattr(command, "completes", "") for name, command in _commands()}
    kinds = {kind: among([name for name in completed if completed[name] == kind] or ["-"]) for kind in KINDS}
    commands, shells = " ".join(completed), " ".join(SHELLS)
    return script.format(commands=commands, options="\n".join(options), shells=shells, **kinds)


def _commands() -> Iterator[tuple[str, Any]]:
    """Each command with its class."""
    from viva.cli import subcommands

    for name, (path, _) in subcommands().items():
        yield name, import_item(path)


def _options() -> Iterator[tuple[str, list[str], list[str]]]:
    """Each command with its flags and with its options that take a value."""
    for name, command in _commands():
        yield (
            name,
            [flag for flag in command.flags if len(flag) > 1],
            [*command.aliases],
        )
