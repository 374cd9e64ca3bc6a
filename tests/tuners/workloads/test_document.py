"""Workload documents: what is wrong is said with its file and place; what is written is read back the same."""

import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.components import Keys, Overwrite, OverwriteRow, WorkingSet
from lsmlens.tuners.workloads.document import ColumnFamily, Origin, Workload
from lsmlens.tuners.workloads.presets import load_preset, preset_names
from lsmlens.tuners.workloads.yaml_form import parse_workload, read_workload, to_yaml

GOOD = """\
schema: lsmlens.workload/1
name: good
seconds: 60
column_families:
- name: O-0
  keys: {length: 40, front: 12, order: scattered}
  values: {kind: mixture, classes: [{share: 3, size: 100}, {share: 1, size: {kind: uniform, low: 1, high: 9}}]}
  components:
  - {kind: overwrite, rate: 1e3, working_sets: [{keys: 3000, zipf: .8}], ridge: [{"working_sets[0].keys": 4000}]}
  - kind: queue
    values: 17.5
    schedule:
    - [0, 10, 100, 50]
    - [12.5, 60, 100, 50]
- name: P
  keys: {length: 8, order: grouped, groups: 3}
  values: 20
  components:
  - {kind: queue, rate: [[0, 10], [30, 20]], lifetime_puts: 100, trim: 10}
  - {kind: growth, rate: 10, range_deletes_per_put: 0.1, range_width: 5, keys: {length: 9}}
  - {kind: clustered, rate: 10, objects: 5, keys_per_object: 100}
  - {kind: merges, rate: 10, working_sets: [{keys: 5}]}
"""


def test_a_good_document_is_read() -> None:
    workload = parse_workload(GOOD, "good.yaml")
    assert [one.name for one in workload.column_families] == ["O-0", "P"]
    overwrite = workload.column_families[0].components[0]
    assert isinstance(overwrite, Overwrite)
    assert overwrite.rate == 1000  # YAML 1.1 takes 1e3 for text
    assert overwrite.working_sets == (WorkingSet(3000, 0.8),)


@pytest.mark.parametrize(
    ("old", "new", "place", "what"),
    [
        ("rate: 1e3", "rate: -1", "$.column_families[0].components[0].rate", "Expected `float` >= 0.0"),
        ("rate: 1e3", "rate: .inf", "$.column_families[0].components[0].rate", "<= 1000000000.0"),
        ("rate: 1e3", "rate: .nan", "$.column_families[0].components[0].rate", ">= 0.0"),
        ("seconds: 60", "seconds: 1e10", "$", "`O-0`, `components[0]`: over 2^42 puts"),
        ("rate: 1e3", "rate: fast", "$.column_families[0].components[0].rate", "Expected `float | array | null`"),
        ("rate: 1e3, ", "", "$.column_families[0].components[0]", "needs either `rate` or `schedule`"),
        ("trim: 10", "trim: 0", "$.column_families[1].components[0].trim", "Expected `int` >= 1"),
        ("100, 50]\n    - [12", "100, -50]\n    - [12", "$.column_families[0].components[1].schedule[0][3]", ">= 0"),
        ("[12.5, 60", "[9.5, 60", "$.column_families[0].components[1]", "`schedule[1]` starts at 9.5 s, before"),
        ("[12.5, 60", "[12.5, 12", "$.column_families[0].components[1].schedule[1]", "before it starts at 12.5 s"),
        ("[12.5, 60", "[12.5, 61", "$", "`O-0`, `components[1]`: the schedule ends at 61.0 s, the workload at 60.0 s"),
        ("length: 40", "lenth: 40", "$.column_families[0].keys", "unknown field `lenth`"),
        ("seconds: 60\n", "", "$", "missing required field `seconds`"),
        ("kind: growth", "kind: grow", "$.column_families[1].components[1].kind", "Invalid value 'grow'"),
        ("[30, 20]", "[0, 20]", "$.column_families[1].components[0]", "the starts of `rate` do not rise"),
        (", keys: {length: 9}", "", "$.column_families[1]", "range deletes need keys in sequential order"),
        (", range_width: 5", "", "$.column_families[1].components[1]", "range deletes need a `range_width`"),
        ("lifetime_puts: 100, ", "", "$.column_families[1].components[0]", "needs `lifetime_puts`"),
        ("order: scattered", "order: scattered, groups: 2", "$.column_families[0].keys", "no meaning with order"),
        ("name: P", "name: O-0", "$", "two column families `O-0`"),
        ("low: 1, high: 9", "low: 10, high: 9", "$.column_families[0].values.classes[1].size", "below `low` 10"),
        ("share: 3", "share: 0", "$.column_families[0].values.classes[0].share", "> 0.0"),
        ("keys_per_object: 100", "keys_per_object: 10000000000", "$.column_families[1].components[2]", "over 2^31"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(old: str, new: str, place: str, what: str) -> None:
    assert GOOD.count(old) == 1
    with pytest.raises(InputError) as raised:
        parse_workload(GOOD.replace(old, new), "bad.yaml")
    message = str(raised.value)
    assert message.startswith(f"bad.yaml: {place}: ")
    assert what in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "no workload document"),
        ("- 1", "no workload document"),
        ("name: x", "no `schema`"),
        (GOOD.replace("workload/1", "workload/2"), "schema `lsmlens.workload/2`"),
        ("schema: [1", "no YAML: line 2, column 1: did not find"),
        (GOOD.replace("seconds: 60", "seconds: 60\nx: {{1}"), "no YAML: line 5, column 1: did not find"),
        ("a: 2026-99-99", "no YAML"),
        ("schema: !!python/object:os.system x", "no YAML"),
        ("\x00", "no YAML"),
        (b"\xff\xfe\x00", "no YAML"),
        ("[" * 100_000, "no YAML: nested too deeply"),
        ("{a: " * 100_000, "no YAML: nested too deeply"),
    ],
)
def test_other_files_are_refused_in_one_line(text: str | bytes, what: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_workload(text, "other.yaml")
    assert what in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.yaml: No such file"):
        read_workload(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="Is a directory"):
        read_workload(tmp_path)


@pytest.mark.parametrize("name", ["good", *preset_names()])
def test_what_is_written_is_read_back(name: str, tmp_path: Path) -> None:
    workload = parse_workload(GOOD, "good.yaml") if name == "good" else load_preset(name)
    (tmp_path / "w.yaml").write_text(to_yaml(workload), encoding="utf-8")
    assert read_workload(tmp_path / "w.yaml") == workload


def test_rows_are_one_to_a_line_and_fast() -> None:
    rows = tuple(OverwriteRow(i * 1.25, i * 1.25 + 1, 1000 + i, 3, 0) for i in range(5000))
    component = Overwrite(working_sets=(WorkingSet(300),), schedule=rows)
    family = ColumnFamily("O", Keys(40.0), 300.0, (component,))
    fitted = Workload(name="fit", origin=Origin("fitted"), seconds=1e4, column_families=(family,))
    start = time.process_time()
    text = to_yaml(fitted)
    assert parse_workload(text, "fit.yaml") == fitted
    assert time.process_time() - start < 20  # a quarter of a second, where YAML's C code is there
    assert "\n    - [1.25, 2.25, 1001, 3, 0]\n" in text
    assert "\n    - [5, 6, 1004, 3, 0]\n" in text
    assert len(text.splitlines()) < 5000 + 20
    assert "units: {time: seconds, size: bytes, rate: puts/second, lifetime: puts}" in text


def test_texts_have_a_line_each() -> None:
    origin = Origin("fitted", "osd.0.log", defaults={"reads": "none: not logged", "key order": "x"}, notes=("a b", "c"))
    text = to_yaml(msgspec.structs.replace(parse_workload(GOOD, "good.yaml"), origin=origin))
    assert "  defaults:\n    reads: 'none: not logged'\n    key order: x\n  notes:\n  - a b\n  - c\n" in text


def test_documents_made_in_code_are_checked_too(family: Callable[..., Workload]) -> None:
    with pytest.raises(ValueError, match="not both"):
        Overwrite(working_sets=(WorkingSet(300),), rate=1.0, schedule=())
    with pytest.raises(ValueError, match="names working set 1; there are 1"):
        Overwrite(working_sets=(WorkingSet(300),), schedule=(OverwriteRow(0, 1, 1, 0, 1),))
    one = ColumnFamily("O-1", Keys(9), 9, (Overwrite(working_sets=(WorkingSet(300),), rate=1.0),))
    with pytest.raises(ValueError, match="two column families `O-1`"):
        Workload(name="x", seconds=1, column_families=(one, msgspec.structs.replace(one, name="O", shards=2)))
    with pytest.raises(InputError, match="delete_order: oldest"):
        family("{kind: growth, rate: 1, delete_order: random, range_deletes_per_put: .1, range_width: 3}")
