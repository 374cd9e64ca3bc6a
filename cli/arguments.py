"""The arguments and options that several commands take: one wording and one form of each."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from lsmlens.cli import completion
from lsmlens.cli.values import one_of

if TYPE_CHECKING:
    from lsmlens.reports.outputs import Subject

OPTIONS_HELP = """\
a preset (ceph:quincy, ceph:reef, rocksdb:default …), a file (ceph.conf, config show, OPTIONS), a log bundle (the
options it ran with), or an options string"""
ENGINE, MACHINE = "Engine", "Machine"  # headings in the help


def files(subject: "Subject[Any]", more: str = "") -> Any:
    """The option `-o` of a command that writes this subject."""
    charts = subject.charts.names if subject.charts is not None else ()
    drawn = f"; or a chart as .svg or .png, called after it or after CHART=: {', '.join(charts)}" if charts else ""
    forms = ", ".join(subject.forms)
    return typer.Option(
        "-o",
        "--output",
        metavar="FILE",
        default_factory=list,
        show_default=False,
        help=f"Also write FILE, in the form that its suffix says: {forms}{drawn}{more}. May be given more than once.",
    )


def formats(subject: "Subject[Any]") -> Any:
    """The option `--format` of a command that prints this subject."""
    github = " (annotations of a workflow, and its step's summary)" if "github" in subject.formats else ""
    return typer.Option(
        "--format",
        metavar="FORMAT",
        parser=one_of(subject.formats),
        autocompletion=completion.words(subject.formats),
        help=f"What to print: {', '.join(subject.formats)}{github}.",
    )


# What is read
Bundles = Annotated[
    list[str],
    typer.Argument(
        metavar="PATH",
        help="A log, a folder, or an archive (tar, zip, gzip, zstd, xz, bzip2, also inside one another);"
        " - is standard input.",
    ),
]
Logs = Annotated[list[str], typer.Argument(metavar="PATH", help="A log, a folder or an archive.")]
Run = Annotated[
    str | None,
    typer.Option("--run", metavar="NAME", help="Which run of the bundle, where there are several, such as osd.3."),
]

# How it is shown
Colour = Annotated[
    Literal["auto", "always", "never"],
    typer.Option(
        "--color", help="Print in colour; auto: on a terminal, unless NO_COLOR or FORCE_COLOR says otherwise."
    ),
]
Full = Annotated[bool, typer.Option("--full", help="Print all tables and details, not only the first screen.")]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="No progress on standard error.")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Replace all names by tokens: only figures and words of RocksDB and Ceph stay.",
    ),
]
FailOn = Annotated[
    Literal["info", "warning", "critical"] | None,
    typer.Option(
        "--fail-on", help="Exit with status 1 if there is a finding of this severity or above.", show_default=False
    ),
]

# What replays run on
Engine = Annotated[
    Literal["capi", "rocksdict"] | None,
    typer.Option("--engine", help="How RocksDB is embedded (default: the best).", rich_help_panel=ENGINE),
]
EngineLib = Annotated[
    Path | None,
    typer.Option(
        "--engine-lib",
        metavar="PATH",
        help="A shared library of RocksDB, or a jar that holds one.",
        rich_help_panel=ENGINE,
    ),
]
RocksdbVersion = Annotated[
    str | None,
    typer.Option(
        "--rocksdb-version",
        metavar="VERSION",
        help="RocksDB's version, such as 7.9.2 (default: the one that wrote the log).",
        autocompletion=completion.engine_versions,
        rich_help_panel=ENGINE,
    ),
]
NoDownload = Annotated[
    bool, typer.Option("--no-download", help="Use only an engine that is already installed.", rich_help_panel=ENGINE)
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", metavar="N", min=1, help="Replays at once (default: one a processor).", rich_help_panel=MACHINE
    ),
]
WorkDir = Annotated[
    Path | None,
    typer.Option(
        "--work-dir",
        metavar="DIR",
        help="Where databases live while they run (default: in memory where there is room).",
        rich_help_panel=MACHINE,
    ),
]
