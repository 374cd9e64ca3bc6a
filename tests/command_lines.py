"""Command lines: whether one can be read, and all commands with what they take."""

from collections.abc import Iterator
from typing import Any

import typer
from lsmlens.cli.commands import command_line
from typer.core import TyperCommand, TyperGroup


def parse(arguments: list[str]) -> None:
    """Raises TyperException where a command line is none."""
    context = command_line().make_context("lsmlens", arguments)
    while isinstance(context.command, TyperGroup):
        name, command, rest = context.command.resolve_command(context, [*context._protected_args, *context.args])
        assert command is not None
        context = command.make_context(name, rest, parent=context)


def commands() -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    """Every command that does something, by the words that call it."""
    root = command_line()
    yield from _below(root, (), typer.Context(root, info_name="lsmlens"))


def _below(command: Any, words: tuple[str, ...], context: Any) -> Iterator[tuple[tuple[str, ...], TyperCommand]]:
    if not isinstance(command, TyperGroup):
        yield words, command
        return
    for name in command.list_commands(context):
        _, found, _ = command.resolve_command(context, [name])
        assert found is not None
        yield from _below(found, (*words, name), typer.Context(found, parent=context, info_name=name))
