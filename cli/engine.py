"""`lsmlens engine`: the RocksDB versions that replays can run on."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from lsmlens.analyzer.errors import LsmlensError
from lsmlens.cli import completion
from lsmlens.cli.arguments import Quiet
from lsmlens.cli.commands import examples, show_help_alone
from lsmlens.cli.streams import print_result

if TYPE_CHECKING:
    from lsmlens.tuners.engines.library import Library

app = typer.Typer(
    add_completion=False,
    invoke_without_command=True,
    epilog=examples("lsmlens engine list", "lsmlens engine install 7.9.2", "lsmlens engine path 7.9.2"),
)


@app.callback()
def engine(context: typer.Context) -> None:
    """Replays run on a real RocksDB, best on the very version that wrote a log.

    Its official builds are fetched when they are first needed, or beforehand with `install`; they are kept in the
    user's cache.
    """
    show_help_alone(context)


@app.command(
    "list",
    short_help="List the versions that are installed.",
    epilog=examples("lsmlens engine list", "lsmlens engine list | grep 7.9", "lsmlens engine install 7.9.2"),
)
def list_engines() -> None:
    """Lists every RocksDB that a replay can take."""
    from lsmlens.tuners.engines.rocksdict import RocksdictEngine

    rows = [("ENGINE", "VERSION", "FROM", "PATH")]
    rows += [("capi", one.version, one.source, str(one.path)) for one in _libraries()]
    rows.append(("rocksdict", RocksdictEngine().version, "rocksdict's", "in the Python package"))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        print_result("  ".join([*cells, row[3]]) + "\n")


@app.command(
    short_help="Install a version.",
    epilog=examples(
        "lsmlens engine install 7.9.2",
        "lsmlens engine install ./rocksdbjni-7.9.2-linux64.jar",
        "lsmlens engine install /usr/lib/librocksdb.so",
    ),
)
def install(
    what: Annotated[
        str,
        typer.Argument(
            metavar="VERSION|FILE",
            help="Such as 7.9.2, or ./rocksdbjni-7.9.2-linux64.jar.",
            autocompletion=completion.engine_versions,
        ),
    ],
    *,
    quiet: Quiet = False,
) -> None:
    """Fetches the official build of a version and compares its checksum; or takes a file that was brought here.

    Such a file is a rocksdbjni jar, or a shared library with RocksDB's C API. It needs no network.
    """
    from lsmlens.cli.progress import Progress
    from lsmlens.tuners.engines.installing import install_file, install_version

    path = Path(what).expanduser()
    if path.exists() or path.suffix in (".jar", ".so", ".dylib", ".jnilib") or "/" in what:
        installed = install_file(path)
    else:
        with Progress(quiet) as progress:
            installed = install_version(what, progress.fetching(f"RocksDB {what}"))
    print_result(f"RocksDB {installed.version}  {installed.path}\n")


@app.command(
    short_help="Print where a version is installed.",
    epilog=examples(
        "lsmlens engine path 7.9.2", "ldd $(lsmlens engine path 7.9.2)", "LSMLENS_ROCKSDB=$(lsmlens engine path 7.9.2)"
    ),
)
def path(
    version: Annotated[
        str, typer.Argument(metavar="VERSION", help="Such as 7.9.2.", autocompletion=completion.installed_versions)
    ],
) -> None:
    """Prints the path of a version's library."""
    here = _libraries()
    found = next((one for one in here if one.version == version), None)
    if found is None:
        raise LsmlensError(
            f"RocksDB {version} is not installed; installed are {', '.join(one.version for one in here) or 'none'}",
            f"lsmlens engine install {version}",
        )
    print_result(f"{found.path}\n")


def _libraries() -> "list[Library]":
    from lsmlens.tuners.engines.library import installed_libraries, system_libraries

    return [*installed_libraries(), *system_libraries()]
