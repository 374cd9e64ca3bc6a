"""Equal input makes equal bytes in any process: nothing may hang on the order in which a set gives its members."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = ("a.html", "a.md", "a.json", "a.junit.xml", "a.benchmark.json", "a.csv", "a.parquet")
OF_COMPARE = (*FILES, "families.svg", "timeline.png")
OF_ANALYZE = (*(name for name in FILES if name != "a.csv"), "levels.svg", "timeline.png")


def outputs(command: list[str], files: tuple[str, ...], folder: Path, hash_seed: str) -> dict[str, bytes]:
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from lsmlens.cli import main; sys.exit(main())", *command]
        + [argument for name in files for argument in ("-o", name)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    return {name: (folder / name).read_bytes() for name in files} | {"stdout": done.stdout}


@pytest.mark.parametrize(
    ("command", "bundles", "files"),
    [("compare", ("osd-stock", "osd-slow"), OF_COMPARE), ("analyze", ("osd-slow",), OF_ANALYZE)],
)
def test_two_processes_write_the_same(
    command: str, bundles: tuple[str, ...], files: tuple[str, ...], fixtures: Path, tmp_path: Path
) -> None:
    arguments = [command, *(str(fixtures / name) for name in bundles)]
    first, second = (outputs(arguments, files, tmp_path / seed, seed) for seed in ("1", "2"))
    assert [name for name in first if first[name] != second[name]] == []
