"""The program `viva`: Ctrl-C is answered from the first moment, before anything large is loaded."""

import os
import sys

from viva.course.processes import stopping


def main() -> None:
    stopping.at_once()
    # jsonschema would compile a grammar of internationalised addresses for a second; no notebook has any.
    sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]  # None: importing it is an ImportError
    from viva import cli

    try:
        cli.main()
    except stopping.Stopped as stopped:  # no command has begun
        os.write(2, stopping.EARLY)
        sys.exit(stopped.status)
    finally:
        stopping.ignored()


if __name__ == "__main__":
    main()
