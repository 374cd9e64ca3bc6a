"""Commands in the documentation are commands that there are."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from lsmlens.cli.commands import command_line
from typer import TyperException
from typer.core import TyperGroup

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = sorted((ROOT / "docs").glob("*.md"))
CONTINUED = re.compile(r"\\\n\s*")
# Commands that stand for others: what a reader puts in place of `…`.
SKETCHED = re.compile("…")


def commands_in(text: str) -> list[str]:
    """Those on lines of their own, and in steps of a workflow; not words in a sentence."""
    found = re.findall(r"^ *(?:- |\w+: |for .*; do )?(lsmlens [^\n;|#>]*)", CONTINUED.sub(" ", text), re.MULTILINE)
    return [command.strip() for command in found if not SKETCHED.search(command)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_parses(document: Path) -> None:
    commands = [shlex.split(command) for command in commands_in(document.read_text())]
    for _, *arguments in commands:
        parse(arguments)


def parse(arguments: list[str]) -> None:
    """Raises TyperException where a command line is none."""
    context = command_line().make_context("lsmlens", arguments)
    while isinstance(context.command, TyperGroup):
        rest = [*context._protected_args, *context.args]
        name, command, rest = context.command.resolve_command(context, rest)
        assert command is not None
        context = command.make_context(name, rest, parent=context)


@pytest.mark.parametrize("line", ["analyse LOG", "analyze", "analyze LOG --levl 3", "engine fetch 7.9.2"])
def test_one_that_is_none_does_not(line: str) -> None:
    with pytest.raises(TyperException):
        parse(line.split())


def test_the_workflow_is_one() -> None:
    text = (ROOT / "docs" / "ci.md").read_text()
    blocks = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    workflow = yaml.safe_load(blocks[0])
    steps = workflow["jobs"]["compaction"]["steps"]
    run = [step["run"] for step in steps if "lsmlens" in step.get("run", "")]
    assert len(run) == 3
    assert commands_in(run[2])
    assert all("run" in step or "uses" in step for step in steps)
