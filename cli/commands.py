"""The commands of `lsmlens`: each is a module of its own, imported once it is asked for."""

import os
from importlib import import_module
from inspect import cleandoc
from typing import Annotated, Any

import typer
from lsmlens.cli import completion
from lsmlens.cli.streams import is_rich
from lsmlens.cli.values import Coercion
from typer.core import TyperCommand, TyperGroup

SUMMARIES = {
    "analyze": "What compaction did in a log bundle.",
    "compare": "What is better and worse in one arm than in another.",
    "workload": "The workload that a log shows.",
    "replay": "A workload against a real RocksDB, under any options.",
    "predict": "What a log would have shown under other options.",
    "tune": "Recommended settings, with the trade-off and the commands to paste.",
    "qos": "The op scheduler: in force, allocation, findings, simulation.",
    "collect": "A bundle of a live cluster's OSDs, or of a database.",
    "watch": "Live logs: what happens in them, and metrics for Prometheus.",
    "fleet": "Many OSDs in one data set, and a look over them.",
    "engine": "The RocksDB versions that replays can run on.",
    "explain": "What a finding or a metric means, by its code or name.",
}


class LazyCommands(TyperGroup):
    """The commands by name: to list them none is imported, to run one only that."""

    def __init__(self, **attributes: Any) -> None:
        listed = [TyperCommand(name, short_help=summary) for name, summary in SUMMARIES.items()]
        super().__init__(**attributes | {"commands": listed})

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that the arguments begin with, imported, and its arguments."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, None if listed is None else made(import_module(f"lsmlens.cli.{name}").app), rest


def command_line() -> TyperGroup:
    """All of it."""
    group = made(app)
    assert isinstance(group, TyperGroup)
    if completion.ASKED_FOR in os.environ:
        completion.know_words_of_bash()
    return group


def examples(*lines: str) -> str:
    """The end of a command's help: lines to try, as they are."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def made(app: typer.Typer) -> TyperCommand | TyperGroup:
    """What Typer makes of it: a command, or several; help is in panels on a terminal, in plain text elsewhere."""
    command = typer.main.get_command(app)
    assert isinstance(command, TyperCommand | TyperGroup)
    commands = command.commands.values() if isinstance(command, TyperGroup) else ()
    for one in (command, *commands):
        assert isinstance(one, TyperCommand | TyperGroup)
        one.help = _unfolded(one.help)
        one.rich_markup_mode = "rich" if is_rich() else None
        for parameter in one.get_params(typer.Context(one, help_option_names=["-h", "--help"])):
            parameter._runtime_param = Coercion()  # type: ignore[attr-defined]  # see there
    return command


def _unfolded(text: str | None) -> str | None:
    """Help with a line a paragraph, for the terminal to fold."""
    return text and "\n\n".join(paragraphs(text))


def paragraphs(text: str) -> list[str]:
    """A docstring's paragraphs, each on a line of its own."""
    return [" ".join(part.split()) for part in cleandoc(text).split("\n\n")]


def _show_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"lsmlens {version('lsmlens')}")
        raise typer.Exit


app = typer.Typer(
    cls=LazyCommands,
    invoke_without_command=True,
    epilog=examples(
        "lsmlens analyze ceph-osd.0.log.gz -o report.html",
        "lsmlens compare before/ after/",
        "lsmlens tune ceph-osd.0.log.gz --budget 10m",
    ),
)


@app.callback()
def lsmlens(
    context: typer.Context,
    _: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_show_version, help="Print the version and exit."),
    ] = False,
) -> None:
    """Reads the logs RocksDB writes, inside a Ceph OSD or anywhere else, and says what compaction really costs.

    Results go to standard output, everything else to standard error. Exit status: 0 fine, 1 a gate that was asked for
    failed, 2 bad input or usage.
    """
    show_help_alone(context)


def show_help_alone(context: typer.Context) -> None:
    """Print the help of a group of commands that was called without one, and leave with status 2."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)
