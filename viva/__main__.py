"""The program `viva`: Ctrl-C is answered from the first moment, before anything large is loaded."""

import sys

from viva import stopping


def main() -> None:
    stopping.at_once()
    if sys.argv[1:2] == ["check"]:
        from viva.commands.check import CheckCommand

        CheckCommand.launch_instance(sys.argv[2:])
        return
    from viva import cli

    try:
        cli.main()
    finally:
        stopping.ignored()


if __name__ == "__main__":
    main()
