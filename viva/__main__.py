"""The program `viva`: Ctrl-C is answered from the first moment, before anything large is loaded."""

from viva import stopping


def main() -> None:
    stopping.at_once()
    from viva import cli

    try:
        cli.main()
    finally:
        stopping.ignored()


if __name__ == "__main__":
    main()
