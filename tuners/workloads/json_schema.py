"""The JSON Schema of workload documents; the package ships it as reports/schemas/workload-1.json."""

import inspect
from typing import Any

import msgspec
from lsmlens.tuners.workloads.document import SCHEMA, Workload


def json_schema() -> dict[str, Any]:
    """The schema, draft 2020-12, of a workload document once its YAML is read."""
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA,
        "title": "workload document",
        **_cleaned(msgspec.json.schema(Workload)),
    }
    workload = schema["$defs"]["Workload"]
    workload["required"] = ["schema", *workload["required"]]
    return schema


def _cleaned(said: Any) -> Any:
    """The same with descriptions as running text."""
    if isinstance(said, list):
        return [_cleaned(one) for one in said]
    if not isinstance(said, dict):
        return said
    cleaned = {name: _cleaned(one) for name, one in said.items()}
    if isinstance(cleaned.get("description"), str):
        cleaned["description"] = " ".join(inspect.cleandoc(cleaned["description"]).split())
    return cleaned
