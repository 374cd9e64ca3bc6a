import csv
import dataclasses
import json
import math
import re

import pytest
from jsonschema import Draft202012Validator
from lsmlens.reports.json_form import json_schema
from lsmlens.reports.outputs import DUEL
from lsmlens.reports.recommendation_json import duel_to_json as to_json
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.estimation.fit import FittedWorkload
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.search.duel import Duel, duel_of

SCHEMA = json_schema("lsmlens.duel/1")


@pytest.fixture(scope="module")
def duel(
    fitted: FittedWorkload, present: OptionSet, engine: EngineChoice, tmp_path_factory: pytest.TempPathFactory
) -> Duel:
    other = present.changed("max_bytes_for_level_base", "4194304").named("larger")
    folder = tmp_path_factory.mktemp("duel")
    return duel_of(fitted, present, present.named("now"), other, Replayer(engine, work_dir=folder), seeds=1)


def test_the_larger_level_writes_less_and_the_flushes_are_the_same(duel: Duel) -> None:
    ratios = {(one.family, one.metric): one for one in duel.ratios}
    whole = ratios[None, "output_bytes"]
    assert whole.ratio < 0.9
    assert whole.low < whole.ratio < whole.high
    assert whole.is_different
    assert ratios["default", "output_bytes"].ratio == pytest.approx(whole.ratio)
    assert not ratios[None, "flush_bytes"].is_different
    ((difference),) = duel.differences
    assert (difference.option, difference.other, difference.value) == ("max_bytes_for_level_base", "524288", "4194304")


def test_the_reports_say_both_names_and_the_verdict(duel: Duel) -> None:
    for text in (DUEL.screen(duel, width=80), DUEL.printed(duel, "markdown"), DUEL.printed(duel, "html")):
        assert "larger against now" in text
        assert "B less" in text
    first = " ".join(DUEL.screen(duel, width=80).split())
    assert re.search(r"larger: -\d+\.\d % compaction output \(90 % interval -\d", first)
    assert "max_bytes_for_level_base" in first
    said = json.loads(to_json(duel))
    assert said["schema"] == "lsmlens.duel/1"
    assert said["a"]["options"] == "now"
    assert all(one["low"] is None or one["low"] <= one["high"] for one in said["ratios"])


def test_its_ratios_are_a_table(duel: Duel) -> None:
    rows = list(csv.DictReader(DUEL.printed(duel, "csv").splitlines()))
    assert len(rows) == len(duel.ratios)
    assert [float(row["a"]) for row in rows] == [one.a for one in duel.ratios]
    assert rows[0]["column_family"] == ""
    unknown = dataclasses.replace(duel.ratios[0], a=0.0, ratio=math.nan, low=math.nan, high=math.nan)
    assert DUEL.printed(dataclasses.replace(duel, ratios=(unknown,)), "csv").endswith(",,,\n")


def test_the_document_is_as_its_schema_says(duel: Duel) -> None:
    Draft202012Validator.check_schema(SCHEMA)
    unknown = dataclasses.replace(duel.ratios[0], a=0.0, ratio=math.nan, low=math.nan, high=math.nan)
    for one in (duel, dataclasses.replace(duel, ratios=(unknown,)), dataclasses.replace(duel, ratios=())):
        Draft202012Validator(SCHEMA).validate(json.loads(to_json(one)))
    wrong = {**json.loads(to_json(duel)), "surprise": 1}
    assert not Draft202012Validator(SCHEMA).is_valid(wrong)
