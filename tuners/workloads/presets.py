"""Workloads that come with the package, by name."""

from importlib.resources import files

from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.document import Workload
from lsmlens.tuners.workloads.yaml_form import parse_workload

_FOLDER = files("lsmlens.tuners.workloads")


def preset_names() -> tuple[str, ...]:
    """The names of all presets, in alphabetical order."""
    names = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".yaml") for name in names if name.endswith(".yaml")))


def load_preset(name: str) -> Workload:
    """The preset of that name. Raises InputError, with the names there are, if there is none."""
    if name not in preset_names():
        raise InputError(name, "no preset of this name", f"there are {', '.join(preset_names())}")
    return parse_workload((_FOLDER / f"{name}.yaml").read_bytes(), f"{name}.yaml")
