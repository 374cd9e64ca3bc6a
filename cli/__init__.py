"""The command line: thin commands, one file each; heavy imports stay inside the command that needs them."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 fine, 1 a gate that was asked for failed, 2 bad input or usage."""
    from lsmlens.cli.parser import parser

    options = parser().parse_args(arguments)
    from lsmlens.analyzer.errors import LsmlensError
    from lsmlens.analyzer.printable import printable

    try:
        status: int = options.command(options)
        sys.stdout.flush()
        return status
    except LsmlensError as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        if error.hint:
            print(f"hint: {printable(error.hint)}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # `lsmlens … | head`
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        return 130
