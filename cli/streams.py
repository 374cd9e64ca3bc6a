"""The standard streams: results go to standard output; notes, warnings, errors and failed gates to standard error."""

import errno
import os
import sys
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.analyzer.numbers import counted
from lsmlens.analyzer.printable import printable
from typer import TyperException

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lsmlens.analyzer.findings import Finding, Severity
    from lsmlens.reports.outputs import Output, Subject

T = TypeVar("T")
ReportT = TypeVar("ReportT")

INTERRUPTED = 130  # the status of a command that was interrupted, as shells have it
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def is_coloured(when: str) -> bool:
    """Whether standard output is shown in colour: `always`, `never`, or `auto`.

    That is on a terminal, unless NO_COLOR is set (https://no-color.org), and elsewhere if FORCE_COLOR is.
    """
    return when == "always" or (when == "auto" and not os.environ.get("NO_COLOR") and is_rich())


def is_rich() -> bool:
    """Whether standard output is a terminal, or to be treated as one."""
    return bool(os.environ.get("FORCE_COLOR")) or sys.stdout.isatty()


def print_result(text: str) -> None:
    """Write what a command came to to standard output; where its reader has left, to nobody.

    What the stream cannot encode is replaced. Raises LsmlensError where it cannot be written.
    """
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        reconfigure(errors="replace")
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:  # `lsmlens … | head`
        _abandon_output()
    except OSError as error:
        raise _unwritable(error) from error


def publish(
    subject: "Subject[ReportT]",
    report: ReportT,
    outputs: "Sequence[Output]",
    form: str,
    full: bool = False,
    colour: str = "auto",
) -> None:
    """Write a report to the files asked for, then print it in the form asked for; text as wide as the terminal."""
    for one in outputs:
        subject.write(one, report)
    if form == "text":
        print_result(subject.screen(report, full, terminal_width(), is_coloured(colour)))
    else:
        print_result(subject.printed(report, form))


def hiding(redact: bool, kept: "Iterable[str]" = ()) -> "Callable[[T], T]":
    """What takes names out of a report, or of what it is made of, if that was asked for; those in `kept` stay."""
    if not redact:
        return lambda value: value
    from lsmlens.reports.redaction import Redaction

    return Redaction(kept).redacted


def given_names(texts: "Iterable[str]") -> list[str]:
    """The names that a person gave: of `NAME=OPTIONS`, but no path."""
    return [name for name, _, rest in (text.partition("=") for text in texts) if rest and "/" not in name]


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


def is_gate_failed(findings: "Iterable[Finding]", severity: "Severity | None") -> bool:
    """Whether `--fail-on` asked for a severity and a finding reaches it; says so."""
    reached = 0 if severity is None else sum(finding.severity.rank >= severity.rank for finding in findings)
    if reached:
        tell_failed(f"{counted(reached, 'finding')} of severity {severity} or above")
    return reached > 0


def tell_interrupted() -> None:
    """Say that a person ended the command."""
    _say("error", "interrupted")


def tell_error(error: LsmlensError | TyperException | OSError) -> int:
    """Say in one line what went wrong and in another the way out; returns the exit status."""
    if isinstance(error, TyperException):
        what, hint = _usage(error)
    else:
        known = error if isinstance(error, LsmlensError) else _unwritable(error)
        what, hint = str(known), known.hint or "lsmlens --help lists what can be done"
    _say("error", what)
    _say("hint", hint)
    return 2


def _say(kind: str, text: str) -> None:
    print(f"{kind}: {printable(text)}", file=sys.stderr, flush=True)


def _unwritable(error: OSError) -> LsmlensError:
    """A failure of the system as one of ours; that of standard output has no file's name."""
    reason = (error.strerror or str(error)).lower()
    if error.filename is not None:
        return LsmlensError(f"{os.fsdecode(error.filename)}: {reason}", "check that it is there and may be used")
    _abandon_output()
    way = "make room there" if error.errno in FULL else "check where it goes"
    return LsmlensError(f"cannot write to standard output: {reason}", f"{way}, or write to a file with -o")


def _abandon_output() -> None:
    """Send what standard output still holds to nobody, or the interpreter would fail on it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: TyperException) -> tuple[str, str]:
    """What was wrong on the command line, and the way out.

    Typer says `No such command 'analize'. Did you mean 'analyze'?`, `No such option: --lvl (Possible options:
    --level)`, `Missing argument 'PATH'.`, `Invalid value for '--level': …`.
    """
    said = " ".join(error.format_message().replace("'", "").split())
    what, _, meant = said.replace(" (Possible options: ", " Did you mean ").partition(" Did you mean ")
    what = what.removeprefix("Invalid value for ").rstrip(".")
    guesses = get_close_matches(what.split()[-1], meant.strip("?)").split(", "), 1, cutoff=0)
    context = getattr(error, "ctx", None)
    way = f"{'lsmlens' if context is None else context.command_path} --help lists what can be given"
    return what[:1].lower() + what[1:], f"did you mean {guesses[0]}? {way}" if meant else way
