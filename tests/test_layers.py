"""Arrows run one way: cli -> reports -> tuners -> analyzer; and what is on disk is what is packaged."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
LAYERS = ["analyzer", "tuners", "reports", "cli"]
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]


def imported_layers(file: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    assert not {name.split(".")[0] for name in names} & set(LAYERS), f"{file} imports a bare folder"
    return {name.split(".")[1] for name in names if name.startswith("lsmlens.")}


@pytest.mark.parametrize("layer", LAYERS)
def test_no_arrow_goes_up(layer: str) -> None:
    below = set(LAYERS[: LAYERS.index(layer) + 1])
    files = list((ROOT / layer).rglob("*.py"))
    assert files
    for file in files:
        assert imported_layers(file) <= below, file


def test_an_arrow_up_would_be_seen(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text("def f():\n    from lsmlens.reports.text import render\n")
    assert imported_layers(file) == {"reports"}


def test_every_package_on_disk_is_listed() -> None:
    on_disk = {
        ".".join((name, *init.parent.relative_to(ROOT / folder).parts))
        for name, folder in CONFIG["package-dir"].items()
        for init in (ROOT / folder).rglob("__init__.py")
    }
    assert on_disk == set(CONFIG["packages"])


def test_every_package_is_typed() -> None:
    for package in CONFIG["packages"]:
        assert (ROOT / package.removeprefix("lsmlens.").replace(".", "/") / "py.typed").exists(), package
