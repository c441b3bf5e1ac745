"""The command that prints a script for the shell: completion."""

from __future__ import annotations

from traitlets.config import Application
from traitlets.utils.importstring import import_item

import viva
from viva.commands.terminal import BAD_REQUEST, ShortHelp, console

SHELLS = ("bash", "zsh")
FILES = ("check", "adopt")
"""Commands whose arguments are notebooks; those of the others are assignments."""
SCRIPT = r"""_viva() {{
  local word="${{COMP_WORDS[COMP_CWORD]}}" words
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="{commands}"
  else
    case "${{COMP_WORDS[1]}}:$word" in
{options}
      {files}) COMPREPLY=($(compgen -f -X '!*.ipynb' -- "$word") $(compgen -d -S / -- "$word")); return;;
      completion:*) words="{shells}";;
      *) words="$(cd source 2>/dev/null && ls -d -- */ 2>/dev/null | tr -d /)";;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  case "${{COMPREPLY[0]}}" in *=) compopt -o nospace 2>/dev/null;; esac
}}
complete -o bashdefault -F _viva viva
"""
FOR_ZSH = "autoload -Uz compinit bashcompinit && compinit && bashcompinit\n"


class CompletionCommand(ShortHelp, Application):
    name = "viva-completion"
    description = "Print what completes viva's commands in bash or zsh."
    version = viva.__version__
    arguments = "bash|zsh"
    aliases, flags = {}, {}
    examples = """
        viva completion bash >~/.viva-completion && echo '. ~/.viva-completion' >>~/.bashrc
        viva completion zsh >~/.viva-completion && echo '. ~/.viva-completion' >>~/.zshrc
    """

    def start(self) -> None:
        if len(self.extra_args) != 1 or self.extra_args[0] not in SHELLS:
            sentence = "Name your shell, as in: viva completion bash"
            console(errors=True).print(sentence, style="bold red", highlight=False)
            self.exit(BAD_REQUEST)
        print(FOR_ZSH * (self.extra_args == ["zsh"]) + script(), end="")


def script() -> str:
    """Completes commands, their options, and assignments or notebooks; asks no Python, so that it answers at once."""
    from viva.cli import Viva

    options = []
    for name, (place, _) in Viva.subcommands.items():
        command = import_item(place)
        flags = [f"--{flag}" for flag in command.flags if len(flag) > 1]
        words = " ".join([*flags, *(f"--{alias}=" for alias in command.aliases), "--help"])
        options.append(f'      {name}:-*) words="{words}";;')
    return SCRIPT.format(
        commands=" ".join(Viva.subcommands),
        options="\n".join(options),
        files="|".join(f"{name}:*" for name in FILES),
        shells=" ".join(SHELLS),
    )
