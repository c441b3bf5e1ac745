"""The program `viva`: Ctrl-C is answered from the first moment, before anything large is loaded."""

import os
import sys

from viva.course.processes import stopping


def main() -> None:
    stopping.at_once()
    # jsonschema would compile a grammar of internationalised addresses for a second; no notebook has any.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: importing it is an ImportError
    if sys.argv[1:2] == ["grade"]:
        from viva.course import unchanged

        if (said := unchanged.told(sys.argv[2:])) is not None and _say(said):
            return
    from viva import cli

    try:
        cli.main()
    except stopping.Stopped as stopped:  # no command has begun
        os.write(2, stopping.EARLY)
        sys.exit(stopped.status)
    finally:
        stopping.ignored()


def _say(text: str) -> bool:
    """Whether standard output took a text. If not, the command says why."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError):  # AttributeError: it was closed
        return False
    return True


if __name__ == "__main__":
    main()
