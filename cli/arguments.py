"""The arguments that several commands take: one wording and one form of each."""

import argparse
from pathlib import Path

BUNDLES_HELP = """\
a log, a folder, or an archive (tar, zip, gzip, zstd, xz, bzip2, also inside one another); - is standard input
"""
LOGS_HELP = "a log, a folder or an archive"
ENGINES = ("capi", "rocksdict")
GITHUB_HELP = "; github: annotations of a workflow, and its step's summary"

Command = argparse._ActionsContainer  # a command's parser, or a group of its arguments


def add_paths(command: Command, text: str) -> None:
    """Add `paths`, one or more; `text` says what they may be."""
    command.add_argument("paths", metavar="PATH", nargs="+", help=text)


def add_output(command: Command, text: str) -> None:
    """Add `output`, the files to write; `text` says in which formats."""
    command.add_argument("-o", "--output", metavar="FILE", action="append", default=[], help=text)


def add_format(command: Command, *others: str) -> None:
    """Add `format`, what to print: text, or one of the others."""
    text = "what to print (default: text)" + (GITHUB_HELP if "github" in others else "")
    command.add_argument("--format", choices=("text", *others), default="text", help=text)


def add_fail_on(command: Command) -> None:
    """Add `fail_on`, the severity from which on a finding fails the command."""
    command.add_argument(
        "--fail-on",
        choices=("info", "warning", "critical"),
        metavar="SEVERITY",
        help="leave with status 1 if there is a finding of this severity (info, warning, critical) or above",
    )


def add_redact(command: Command) -> None:
    """Add `redact`: whether names are replaced in what is printed and written."""
    command.add_argument(
        "--redact",
        action="store_true",
        help="put tokens in place of host names, addresses, paths, cluster ids, object, client and pool names",
    )


def add_quiet(command: Command) -> None:
    """Add `quiet`: whether progress stays unsaid."""
    command.add_argument("-q", "--quiet", action="store_true", help="no progress on standard error")


def add_count(command: Command, option: str, text: str, default: int | None = None) -> None:
    """Add an option that takes a whole number of at least 1."""
    command.add_argument(option, metavar="N", type=_count, default=default, help=text)


def add_engine(command: Command, version_text: str) -> None:
    """Add the group of `engine`, `engine_lib`, `rocksdb_version` and `no_download`: what `chosen_engine` reads.

    `version_text` says what `rocksdb_version` is.
    """
    engine = command.add_argument_group("engine")
    engine.add_argument("--engine", choices=ENGINES, help="how RocksDB is embedded (default: the best)")
    engine.add_argument(
        "--engine-lib", metavar="PATH", type=Path, help="a shared library of RocksDB, or a jar that holds one"
    )
    engine.add_argument("--rocksdb-version", metavar="V", help=version_text)
    engine.add_argument("--no-download", action="store_true", help="take an engine that is here already")


def add_work_dir(command: Command, text: str) -> None:
    """Add `work_dir`, the folder of the replays' databases; `text` says which it is by default."""
    command.add_argument("--work-dir", metavar="DIR", type=Path, help=text)


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value
