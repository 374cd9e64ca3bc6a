"""Every option of every command with values that nobody means: refused in two lines, whatever they are."""

from pathlib import Path
from typing import Any

import pytest
from lsmlens.cli import main
from lsmlens.tuners.replays import cluster
from typer.core import TyperCommand

from tests.command_lines import commands

ODD = ("-5", "0", "1e999", "99999999999999999999999", "nan", "abc", "", "x,y=;:", "ü\u202e\x1b[31m", None)
NO_NUMBERS = ("abc", "", "nan", "1e999")
COMMANDS = dict(commands())
OPTIONS = [
    pytest.param(words, parameter.opts[-1], id=" ".join((*words, parameter.opts[-1])))
    for words, command in COMMANDS.items()
    for parameter in command.params
    if parameter.param_type_name == "option" and not getattr(parameter, "is_flag", False)
]


@pytest.fixture(autouse=True)
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.1)
    return tmp_path


def given(command: TyperCommand) -> list[str]:
    """A file that is not there for every argument; what would wait for it writes where no folder is."""
    files = ["missing.log" for parameter in command.params if parameter.param_type_name == "argument"]
    return [*files, "-o", "nowhere/x.prom"] if command.name == "watch" else files


def refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """The error of a command line that has one, which is all that is said."""
    status = main(arguments)
    said = capsys.readouterr()
    assert (status, said.out) == (2, ""), arguments
    lines = said.err.split("\n")
    assert len(lines) == 3, said.err
    assert lines[0].startswith("error: ")
    assert lines[1].startswith("hint: ")
    assert all(line.isprintable() for line in lines)
    return lines[0]


def test_there_are_commands_and_options() -> None:
    assert {("analyze",), ("engine", "install"), ("fleet", "add")} <= set(COMMANDS)
    assert len(OPTIONS) > 60


@pytest.mark.parametrize(("words", "option"), OPTIONS)
def test_an_odd_value(words: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]) -> None:
    for value in ODD:
        refused([*words, *given(COMMANDS[words]), option, *([] if value is None else [value])], capsys)


@pytest.mark.parametrize(("words", "option"), OPTIONS)
def test_what_is_no_number(words: tuple[str, ...], option: str, capsys: pytest.CaptureFixture[str]) -> None:
    parameter: Any = next(one for one in COMMANDS[words].params if option in one.opts)
    kind = parameter.type_descriptor.annotation
    values = NO_NUMBERS if kind is float else (*NO_NUMBERS, "99999999999999999999999") if kind is int else ()
    for value in values:
        assert option in refused([*words, *given(COMMANDS[words]), option, value], capsys)


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_an_option_that_is_none(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert "no such option: --nonsense" in refused([*words, *given(COMMANDS[words]), "--nonsense"], capsys)


@pytest.mark.parametrize(
    "words", [one for one in COMMANDS if given(COMMANDS[one]) and one[0] != "explain"], ids=" ".join
)
def test_nothing_at_all_and_what_is_not_there(words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert "missing argument" in refused([*words], capsys)
    refused([*words, *given(COMMANDS[words])], capsys)
