"""The commands and their options."""

import argparse
import sys
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """Says a usage error in one line and its way out in another."""

    def error(self, message: str) -> NoReturn:
        """Print the error and leave with status 2."""
        print(f"error: {message}", file=sys.stderr)
        print(f"hint: {self.prog} --help lists what can be given", file=sys.stderr)
        raise SystemExit(2)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: object, **__: object) -> NoReturn:
        from importlib.metadata import version

        print(f"lsmlens {version('lsmlens')}")
        parser.exit()


def parser() -> Parser:
    """The parser of the whole command line; each command sets `command` to the function that runs it."""
    from lsmlens.cli import analyze, compare, engine, explain, predict, qos, replay, tune, workload

    top = Parser(
        prog="lsmlens",
        description="Reads the logs RocksDB writes, inside a Ceph OSD or anywhere else,"
        " and says what compaction really costs.",
        epilog="Results go to standard output, everything else to standard error."
        " Exit status: 0 fine, 1 a gate that was asked for failed, 2 bad input or usage.",
    )
    top.add_argument("--version", action=_Version, nargs=0, help="print the version and leave")
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    analyze.add_to(commands)
    compare.add_to(commands)
    engine.add_to(commands)
    explain.add_to(commands)
    qos.add_to(commands)
    predict.add_to(commands)
    replay.add_to(commands)
    tune.add_to(commands)
    workload.add_to(commands)
    return top
