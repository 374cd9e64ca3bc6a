"""The JSON Schema of workload documents: current, and as strict as the reading of them."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from lsmlens.tuners.workloads.json_schema import json_schema
from lsmlens.tuners.workloads.presets import load_preset, preset_names


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    schema = json_schema()
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


@pytest.mark.parametrize("name", preset_names())
def test_presets_are_as_the_schema_says(name: str, validator: Draft202012Validator) -> None:
    said = json.loads(msgspec.json.encode(load_preset(name)))
    assert [error.message for error in validator.iter_errors(said)] == []


SPOILERS: list[Callable[[dict[str, Any]], object]] = [
    lambda said: said.update(schema="lsmlens.workload/2"),
    lambda said: said.pop("schema"),
    lambda said: said.update(more=1),
    lambda said: said.update(seconds=0),
    lambda said: said["column_families"].clear(),
    lambda said: said["units"].update(time="hours"),
    lambda said: said["column_families"][1]["components"][0].update(kind="queeu"),
    lambda said: said["column_families"][1]["components"][0].update(rate=-1),
]


@pytest.mark.parametrize("spoil", SPOILERS)
def test_the_schema_refuses_other_documents(
    spoil: Callable[[dict[str, Any]], object], validator: Draft202012Validator
) -> None:
    said = json.loads(msgspec.json.encode(load_preset("rbd-4k-randwrite")))
    assert not list(validator.iter_errors(said))
    spoil(said)
    assert list(validator.iter_errors(said))


def test_every_part_is_described() -> None:
    for name, part in json_schema()["$defs"].items():
        assert len(part["description"]) > 20, name
        assert "\n" not in part["description"]
