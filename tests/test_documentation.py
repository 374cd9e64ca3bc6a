"""The manual: its commands are commands that there are, its reference is what the code says, its site is whole."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from lsmlens.analyzer.metrics import METRICS
from lsmlens.cli.commands import SUMMARIES
from lsmlens.cli.manual import TABLES, pages
from lsmlens.reports.json_form import DOCUMENTS as DOCUMENT_SCHEMAS
from typer import TyperException

from tests.command_lines import parse

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "docs" / "measured").glob("*.md")),
]
CONTINUED = re.compile(r"\\\n\s*")
# Commands that stand for others: what a reader puts in place of `…`.
SKETCHED = re.compile("…")


def commands_in(text: str) -> list[str]:
    """Those on lines of their own, and in steps of a workflow; not words in a sentence."""
    found = re.findall(
        r"^ *(?:- |\w+: |for .*; do )?(lsmlens (?:'[^'\n]*'|[^\n;|#>])*)", CONTINUED.sub(" ", text), re.MULTILINE
    )
    return [command.strip() for command in found if not SKETCHED.search(command)]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_every_command_parses(document: Path) -> None:
    commands = [shlex.split(command) for command in commands_in(document.read_text())]
    for _, *arguments in commands:
        if arguments not in (["--version"], ["--install-completion"]):
            parse(arguments)


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
    (compared,) = (step["run"] for step in steps if "lsmlens" in step.get("run", ""))
    assert commands_in(compared)
    assert all("run" in step or "uses" in step for step in steps)
    (action,) = (step for step in steps if step.get("uses") == "./lsmlens")
    parse(shlex.split(action["with"]["arguments"]))
    assert action["with"].keys() <= yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].keys()


@pytest.mark.parametrize(("arguments", "status"), [("explain 'R05'", 0), ("analyze 'no such path'", 2)])
def test_the_action_runs_what_it_is_given(arguments: str, status: int) -> None:
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    (step,) = (one for one in steps if "ARGUMENTS" in one.get("env", {}))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [step["shell"], "-e", "-c", step["run"]],
        env={**os.environ, "PATH": path, "ARGUMENTS": arguments},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == status
    assert "R05" in done.stdout or "no such path" in done.stderr


def test_pages_made_of_the_code_are_current() -> None:
    """Made anew by: uv run python -m lsmlens.cli.manual."""
    made = dict(pages())
    assert {path: (ROOT / "docs" / path).read_text() for path in made} == made
    kept = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs" / "findings").iterdir()}
    assert kept == {path for path in made if path.startswith("findings/")}


def test_the_reference_leaves_nothing_out() -> None:
    made = dict(pages())
    for name in SUMMARIES:
        assert f"## lsmlens {name}\n" in made["reference/commands.md"]
        assert f".SS lsmlens {name}\n" in made["lsmlens.1"]
    for metric in METRICS:
        assert f"| `{metric.name}` |" in made["reference/metrics.md"]
    for table, (row, _) in TABLES.items():
        assert f"## {table}\n" in made["reference/columns.md"]
        assert all(f"| `{column}` |" in made["reference/columns.md"] for column in row.__struct_fields__)
    for document in DOCUMENT_SCHEMAS:
        assert f"## {document.removeprefix('lsmlens.').replace('/', '-')}\n" in made["reference/json.md"]


def test_the_man_page_is_one() -> None:
    if shutil.which("groff") is None:
        pytest.skip("needs groff")
    told = subprocess.run(
        ["groff", "-man", "-Tutf8", "-wall", "-z", ROOT / "docs" / "lsmlens.1"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stderr == ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manual, built; a link that leads nowhere fails it."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [Path(sys.executable).with_name("mkdocs"), "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        check=True,
    )
    return folder


def test_no_page_of_the_site_needs_a_network(site: Path) -> None:
    built = list(site.rglob("*.html"))
    assert len(built) > 60
    for page in built:
        loaded = re.findall(r"<(?:script|img|iframe|link)[^>]*?(?:src|href)=\"?([^\" >]+)", page.read_text())
        assert loaded
        assert not [one for one in loaded if re.match(r"(?:\w+:)?//", one)], page


def test_first_screens_stand_on_the_pages(site: Path) -> None:
    text = (site / "reading.html").read_text()
    assert "write amplification" in text
    assert "--8&lt;--" not in text
    assert "--8<--" not in text


def test_what_contributors_are_pointed_at_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`((?:analyzer|tuners|reports|cli|tests)/[\w/.-]+\.(?:py|json))`", text))
    assert len(named) > 20
    lacking = {name for name in named if not (ROOT / name).exists()}
    assert lacking == {"analyzer/rules/NAME.py", "tests/analyzer/rules/test_my_rule.py"}  # what the reader writes
    style = text[text.index("## Where to look for a style") :]
    assert [name in style for name in ("memray", "Pebble", "optuna", "sqlfluff")] == [True] * 4
    tables = (ROOT / "reports" / "run_tables.py").read_text()
    assert re.search(r"^_FAMILIES: .*\n    Column\(.*lambda one: .*\),\n", tables, re.MULTILINE)
