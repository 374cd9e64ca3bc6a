"""Documents' declarations: their schemas are shipped, describe every field, and older documents are still read."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from jsonschema import Draft202012Validator
from lsmlens.analyzer.comparison.arms import PARTS_OF_RUN, observe_document
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.errors import InputError
from lsmlens.analyzer.metrics import LABELS, WRITE_AMPLIFICATION, meaning_of
from lsmlens.reports import json_form
from lsmlens.reports.analysis_json import to_json
from lsmlens.reports.glossary import METRIC_TERMS
from lsmlens.reports.json_form import DOCUMENTS, json_schema, made_of, schemas, to_text
from msgspec import UNSET, Meta, Struct, UnsetType

SHIPPED = Path(json_form.__file__).resolve().parent / "schemas"
ROOT = Path(__file__).resolve().parents[2]


class Part(Struct, kw_only=True):
    """A part."""

    size_bytes: Annotated[int, Meta(ge=0)]
    share: float | None = None
    unknown: int | UnsetType = UNSET


class Source:
    """What a part is made of."""

    size_bytes, share, unknown = 1 << 80, float("inf"), None


def properties(said: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, one in said["$defs"].items():
        yield from ((f"{name}.{field}", value) for field, value in one.get("properties", {}).items())


def test_figures_are_described_as_their_metrics_are_declared() -> None:
    said = json_schema("lsmlens.analysis/1")["$defs"]
    statistics = said["CompactionStatisticsJson"]["properties"]
    assert set(statistics) == set(LABELS)
    for name, one in statistics.items():
        assert one["description"].startswith(meaning_of(name))
    family = said["FamilyJson"]["properties"]
    assert family["write_amplification"]["description"].startswith(WRITE_AMPLIFICATION.meaning)
    figures = json_schema("lsmlens.prediction/1")["$defs"]["FiguresJson"]["properties"]
    assert figures["write_amplification"]["description"].startswith(WRITE_AMPLIFICATION.meaning)


def test_readers_find_metrics_in_the_same_words() -> None:
    terms = " ".join(text for _, text in METRIC_TERMS)
    for name in (
        *("write_amplification_lsm", "write_amplification_total", "flush_bytes", "compaction_output_bytes"),
        *("avg_output_input_ratio", "output_input_ratio_of_sums", "stall_lines", "stall_seconds"),
    ):
        assert meaning_of(name) in terms


@pytest.mark.parametrize("name", [name for name, _ in schemas()])
def test_the_shipped_schemas_are_current(name: str, request: pytest.FixtureRequest) -> None:
    text = dict(schemas())[name]
    if request.config.getoption("--update-golden"):
        (ROOT / "reports" / "schemas" / name).write_text(text, encoding="utf-8")
    shipped = (files("lsmlens.reports.schemas") / name).read_text("utf-8")
    assert shipped == text, "run pytest --update-golden and review it"
    assert json.loads(text)["$schema"].endswith("2020-12/schema")


@pytest.mark.parametrize("schema", DOCUMENTS)
def test_every_field_is_described(schema: str) -> None:
    said = json_schema(schema)
    Draft202012Validator.check_schema(said)
    for path, field in properties(said):
        told = field.get("description") or said["$defs"].get(str(field.get("$ref", "")).rpartition("/")[2], {}).get(
            "description"
        )
        told = told or next((one for one in field.get("anyOf", ()) if "$ref" in one), None)
        assert told, path
    for name, part in said["$defs"].items():
        assert part.get("enum") or len(part["description"]) > 10, name
        assert part.get("enum") or part["additionalProperties"] is False, name


def test_a_part_is_made_of_attributes_and_what_is_said_beside() -> None:
    part = made_of(Part, Source(), share=0.5)
    assert (part.size_bytes, part.share, part.unknown) == (1 << 80, 0.5, UNSET)


def test_odd_numbers_and_names_are_written() -> None:
    assert json.loads(to_text(made_of(Part, Source()))) == {"size_bytes": 1 << 80, "share": None}

    class Name(Struct):
        name: str
        size: float = float("nan")

    assert json.loads(to_text(Name("\udcff"))) == {"name": "\udcff", "size": None}


def test_other_documents_of_the_same_version_are_read(fixtures: Path) -> None:
    said = json.loads(to_json(analyze([str(fixtures / "osd-stock")])))
    whole = observe_document("saved.json", said)
    for run in said["runs"]:
        for name in [name for name in run if name not in PARTS_OF_RUN]:
            del run[name]
        run["weather"] = "fine"
        run["data_quality"] = {"notes": run["data_quality"]["notes"]}
        run["stalls"].pop("counts")
    said["news"] = 1
    del said["window_sums"]
    other = observe_document("saved.json", said)
    assert (other.values, other.daemons) == (whole.values, whole.daemons)
    assert (other.windows, whole.windows is None) == (None, False)


@pytest.mark.parametrize("part", ["compaction_statistics", "column_families", "stalls", "name"])
def test_a_document_without_what_is_needed_is_refused(part: str, fixtures: Path) -> None:
    said = json.loads(to_json(analyze([str(fixtures / "osd-reef")])))
    del said["runs"][0][part]
    with pytest.raises(InputError, match=f"missing required field `{part}`"):
        observe_document("saved.json", said)


def test_what_is_read_is_declared() -> None:
    from lsmlens.analyzer.analysis_document import RunJson

    declared = {one.encode_name: one for one in msgspec.structs.fields(RunJson)}
    assert declared.keys() >= PARTS_OF_RUN
    assert {name for name, one in declared.items() if one.required} <= PARTS_OF_RUN
