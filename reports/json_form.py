"""Documents as JSON: their text, the JSON Schema that their declarations come to, and the files of the schemas."""

import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, Struct

StructT = TypeVar("StructT", bound=Struct)

# Every document, by the name of its schema, with the command that prints it.
DOCUMENTS = {
    "lsmlens.analysis/1": ("lsmlens.analyzer.analysis_document:AnalysisJson", "analyze"),
    "lsmlens.comparison/1": ("lsmlens.reports.comparison_json:ComparisonJson", "compare"),
    "lsmlens.duel/1": ("lsmlens.reports.recommendation_json:DuelJson", "tune --ab"),
    "lsmlens.fleet/1": ("lsmlens.reports.fleet_json:FleetJson", "fleet report"),
    "lsmlens.prediction/1": ("lsmlens.reports.prediction_json:PredictionJson", "predict"),
    "lsmlens.qos/1": ("lsmlens.reports.qos_json:QosJson", "qos"),
    "lsmlens.recommendation/1": ("lsmlens.reports.recommendation_json:RecommendationJson", "tune"),
    "lsmlens.replay/1": ("lsmlens.reports.replay_json:ReplayJson", "replay"),
}


def to_text(document: Struct) -> str:
    """A document as indented JSON text, ending in a newline; numbers that are infinite or none are null."""
    try:
        return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"
    except UnicodeEncodeError:  # a file's name that is no text
        said = json.dumps(msgspec.to_builtins(document))
        return json.dumps(json.loads(said, parse_constant=lambda _: None), indent=2) + "\n"


def made_of(kind: type[StructT], source: object, /, **others: Any) -> StructT:
    """A part of a document with the attributes of `source` that are called as its fields, and with `others`.

    What is None in a field that may be left out, is.
    """
    values = dict(others)
    for one in msgspec.structs.fields(kind):
        if one.name not in values:
            value = getattr(source, one.name)
            values[one.name] = UNSET if value is None and one.default is UNSET else value
    return kind(**values)


def json_schema(schema: str) -> dict[str, Any]:
    """The JSON Schema, draft 2020-12, of the documents of a name such as `lsmlens.analysis/1`.

    It is closed, other than the reading of documents: a field that is not declared is refused, and all that are always
    written are required.
    """
    declaration, command = DOCUMENTS[schema]
    said = msgspec.json.schema(resolve_name(declaration))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": schema,
        "title": f"lsmlens {command} --format json",
        **_closed(said),
    }


def _closed(said: Any) -> Any:
    if isinstance(said, list):
        return [_closed(one) for one in said]
    if not isinstance(said, dict):
        return said
    made = {name: _closed(one) for name, one in said.items() if name not in ("default", "title")}
    properties = said.get("properties")
    if said.get("type") == "object" and properties is not None:
        made["properties"] = {name: _closed(one) for name, one in properties.items()}
        kept = set(said.get("required", ()))
        made["required"] = [name for name, one in properties.items() if name in kept or "default" in one]
        made["additionalProperties"] = False
    if isinstance(said.get("description"), str):
        made["description"] = " ".join(inspect.cleandoc(said["description"]).split())
    return _with_null(made)


def _with_null(said: dict[str, Any]) -> dict[str, Any]:
    """A value of one type or null in the shorter of the two forms."""
    either = said.get("anyOf", [])
    if len(either) != 2 or "type" not in either[0] or "enum" in either[0] or either[1] != {"type": "null"}:
        return said
    others = {name: one for name, one in said.items() if name != "anyOf"}
    return {**either[0], **others, "type": [either[0]["type"], "null"]}


def schemas() -> Iterator[tuple[str, str]]:
    """The name and the text of each file of the package `lsmlens.reports.schemas`."""
    from lsmlens.tuners.workloads.json_schema import json_schema as workload_schema

    for name in DOCUMENTS:
        yield _file(name), _laid_out(json_schema(name)) + "\n"
    yield "workload-1.json", _laid_out(workload_schema()) + "\n"


def _laid_out(said: dict[str, Any], depth: int = 0) -> str:
    """A schema as JSON with one line for each field."""
    if depth == 4 or not any(isinstance(one, dict) for one in said.values()):
        return json.dumps(said, ensure_ascii=False)
    lines = [
        f"{json.dumps(name)}: "
        + (_laid_out(one, depth + 1) if isinstance(one, dict) else json.dumps(one, ensure_ascii=False))
        for name, one in said.items()
    ]
    indent = "\n" + "  " * depth
    return "{" + ",".join(f"{indent}  {line}" for line in lines) + indent + "}"


def _file(schema: str) -> str:
    return schema.removeprefix("lsmlens.").replace("/", "-") + ".json"


if __name__ == "__main__":  # python -m lsmlens.reports.json_form, in a checkout
    for name, text in schemas():
        Path(__file__).resolve().parent.joinpath("schemas", name).write_text(text, encoding="utf-8")
