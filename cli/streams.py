"""The standard streams: results go to standard output; notes, warnings and gates that failed to standard error."""

import os
import sys
from typing import IO


def standard_output() -> IO[str]:
    """Standard output, where what it cannot encode does not end the program."""
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    return sys.stdout


def has_colour() -> bool:
    """Whether standard output is shown in colour: on a terminal, unless NO_COLOR is set (https://no-color.org)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def terminal_width() -> int | None:
    """How wide the terminal is that standard output is shown on; None where it is not one."""
    return os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else None


def note(text: str) -> None:
    """Say what was done unasked."""
    _say("note", text)


def warn(text: str) -> None:
    """Say what is likely not as it was meant, and does not end the command."""
    _say("warning", text)


def tell_failed(text: str) -> None:
    """Say why a gate that was asked for failed."""
    _say("failed", text)


def _say(kind: str, text: str) -> None:
    print(f"{kind}: {text}", file=sys.stderr, flush=True)
