"""The command line: thin commands, one file each; heavy imports stay inside the command that needs them."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status: 0 fine, 1 a gate that was asked for failed, 2 bad input or usage."""
    from lsmlens.analyzer.errors import LsmlensError
    from lsmlens.cli.commands import command_line
    from lsmlens.cli.streams import INTERRUPTED, tell_error, tell_interrupted
    from typer import TyperException

    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by the shell that started us
            setattr(sys, name, Path(os.devnull).open("w"))  # noqa: SIM115
    given = None if arguments is None else list(arguments)
    try:
        status: int | None = command_line().main(given, prog_name="lsmlens", standalone_mode=False)
    except (LsmlensError, TyperException, OSError) as error:
        return tell_error(error)
    if status == INTERRUPTED:
        tell_interrupted()
    return status or 0
