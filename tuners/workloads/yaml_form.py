"""Workload documents as YAML text and files: read with the place of what is wrong, written with a row on a line."""

import re
from pathlib import Path
from typing import Any

import msgspec
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.document import SCHEMA, Workload
from lsmlens.tuners.workloads.document_hints import ANEW, hint

_PLACE = re.compile(r"(?P<what>.*) - at `(?P<place>[^`]*)`", re.DOTALL)
MOST_BYTES = 1 << 28
DEEPEST = 100
WIDEST_LINE = 1 << 16  # a row, a ridge point or a key's description stays on its line


def read_workload(path: Path) -> Workload:
    """The workload of a YAML file. Raises InputError that names the file and the place in the document."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(str(path), f"over {MOST_BYTES >> 20} MiB", "is this a workload document?")
        data = path.read_bytes()
    except OSError as error:
        raise InputError(str(path), error.strerror or str(error), "check the path and its permissions") from error
    return parse_workload(data, str(path))


def parse_workload(text: bytes | str, name: str) -> Workload:
    """The workload of YAML text; `name` stands for its file in errors. Raises InputError."""
    said = _parse_yaml(text, name)
    if not isinstance(said, dict):
        raise InputError(name, "no workload document", f"it is a YAML mapping that begins with `schema: {SCHEMA}`")
    if said.get("schema") != SCHEMA:
        found = f"schema `{said['schema']}`" if "schema" in said else "no `schema`"
        raise InputError(name, f"no workload document: {found}", f"it begins with `schema: {SCHEMA}`")
    try:
        # not strict: YAML 1.1 takes 1e3 for text
        return msgspec.convert(said, Workload, strict=False)
    except msgspec.ValidationError as error:
        match = _PLACE.fullmatch(str(error))
        place, what = (match["place"], match["what"]) if match else ("$", str(error))
        raise InputError(name, f"{place}: {what}", hint(place, what, said)) from error


def _parse_yaml(text: bytes | str, name: str) -> Any:
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        depth = 0
        for event in yaml.parse(text, loader):  # composing nests as the document does, and deep enough breaks the stack
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:
                raise RecursionError("nested too deeply")
        return yaml.load(text, loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: dates such as 2026-99-99
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        what = getattr(error, "problem", None) or str(error).split("\n", 1)[0] or "nested too deeply"
        raise InputError(name, f"no YAML: {where}{what}", ANEW) from error


def to_yaml(workload: Workload) -> str:
    """The workload as YAML text; what stands at its default is left out, and each row is on a line of its own."""
    import yaml

    class Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
        def number(self, value: float) -> Any:
            return self.represent_int(int(value)) if value.is_integer() else self.represent_float(value)

        def fields(self, value: dict[str, Any]) -> Any:
            node = self.represent_dict(value)
            if any(isinstance(one, str) and " " in one for one in value.values()):
                node.flow_style = False  # texts have a line each
            return node

        def items(self, value: tuple[Any, ...]) -> Any:
            node = self.represent_list(value)
            if value and isinstance(value[0], str):
                node.flow_style = False
            return node

    Dumper.add_representer(float, Dumper.number)
    Dumper.add_representer(dict, Dumper.fields)
    Dumper.add_representer(tuple, Dumper.items)
    text: str = yaml.dump(
        msgspec.to_builtins(workload),
        Dumper=Dumper,
        default_flow_style=None,
        sort_keys=False,
        width=WIDEST_LINE,
        allow_unicode=True,
    )
    return text
