"""`lsmlens engine`: the RocksDB versions that replays can run on."""

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import arguments

if TYPE_CHECKING:
    from lsmlens.cli.parser import Parser
    from lsmlens.tuners.engines.library import Library

DESCRIPTION = """\
Replays run on a real RocksDB, best on the very version that wrote a log. Its official builds are fetched when they are
first needed, or beforehand with `install`; they are kept in the user's cache.
"""
INSTALL_DESCRIPTION = """\
Fetches the official build of a version and compares its checksum; or takes a file that was brought here: a rocksdbjni
jar, or a shared library with RocksDB's C API. Needs no network for a file.
"""


def add_to(commands: "argparse._SubParsersAction[Parser]") -> None:
    """Add the command to the command line."""
    command = commands.add_parser("engine", help="the RocksDB versions replays can run on", description=DESCRIPTION)
    actions = command.add_subparsers(metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="what is here", description="Lists every RocksDB a replay can take.")
    listing.set_defaults(command=run_list)
    install = actions.add_parser("install", help="bring a version", description=INSTALL_DESCRIPTION)
    install.add_argument("what", metavar="VERSION|FILE", help="such as 7.9.2, or ./rocksdbjni-7.9.2-linux64.jar")
    arguments.add_quiet(install)
    install.set_defaults(command=run_install)
    path = actions.add_parser("path", help="where a version is", description="Prints the path of a version's library.")
    path.add_argument("version", metavar="VERSION", help="such as 7.9.2")
    path.set_defaults(command=run_path)


def run_list(_: argparse.Namespace) -> int:
    """Print the engines that are here, one a line."""
    from lsmlens.tuners.engines.library import installed_libraries, system_libraries
    from lsmlens.tuners.engines.rocksdict import RocksdictEngine

    rows = [("capi", one.version, one.source, str(one.path)) for one in (*installed_libraries(), *system_libraries())]
    rows.append(("rocksdict", RocksdictEngine().version, "rocksdict's", "in the Python package"))
    rows.insert(0, ("ENGINE", "VERSION", "FROM", "PATH"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        print("  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]]))
    return 0


def run_install(options: argparse.Namespace) -> int:
    """Install a version, or a file."""
    from lsmlens.cli.download_progress import DownloadProgress
    from lsmlens.tuners.engines.installing import install_file, install_version

    what = Path(options.what).expanduser()
    if what.exists() or what.suffix in (".jar", ".so", ".dylib", ".jnilib") or "/" in options.what:
        installed = install_file(what)
    else:
        with DownloadProgress(f"RocksDB {options.what}", quiet=options.quiet) as progress:
            installed = install_version(options.what, progress.advance)
    print(f"RocksDB {installed.version}  {installed.path}")
    return 0


def run_path(options: argparse.Namespace) -> int:
    """Print where the library of a version is."""
    print(_found(options.version).path)
    return 0


def _found(version: str) -> "Library":
    from lsmlens.tuners.engines.library import installed_libraries, system_libraries

    here = [*installed_libraries(), *system_libraries()]
    found = next((one for one in here if one.version == version), None)
    if found is None:
        raise LsmlensError(
            f"RocksDB {version} is not here; there are {', '.join(one.version for one in here) or 'none'}",
            f"lsmlens engine install {version}",
        )
    return found
