"""Commands in the documentation are commands that there are."""

import re
import shlex
from pathlib import Path

import pytest
import yaml
from lsmlens.cli.parser import parser

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
        parser().parse_args(arguments)


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
