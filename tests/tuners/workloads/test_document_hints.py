"""Every error of a workload document comes with a way out that fits it."""

from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.workloads.document_hints import ANEW, UNITS
from lsmlens.tuners.workloads.yaml_form import parse_workload, read_workload

GOOD = """\
schema: lsmlens.workload/1
name: good
seconds: 60
column_families:
- name: O
  keys: {length: 50, order: scattered}
  values: {kind: lognormal, median: 400, sigma: 0.5}
  components:
  - {kind: overwrite, rate: 1200, working_sets: [{keys: 10000}]}
"""
KINDS = "queue, overwrite, merges, growth, clustered"


@pytest.mark.parametrize(
    ("right", "wrong", "hint"),
    [
        ("seconds:", "second:", "did you mean `seconds`?"),
        ("rate:", "rte:", "did you mean `rate`?"),
        ("sigma:", "sgma:", "did you mean `sigma`?"),
        ("order: scattered", "spam: 1", "there are length, front, order, groups, first_group"),
        ("scattered", "scatered", "did you mean `scattered`?"),
        ("scattered", "zigzag", "there are grouped, scattered, sequential"),
        ("lognormal", "lognorm", "did you mean `lognormal`?"),
        ("overwrite", "overwrit", "did you mean `overwrite`?"),
        ("overwrite", "zigzag", f"there are {KINDS}"),
        ("kind: overwrite, ", "", f"give its `kind`: {KINDS}"),
        ("  keys: {length: 50, order: scattered}\n", "", f"give it `keys`; {ANEW}"),
        ("name: good", "name: good\nunits: {size: KiB}", "it is `bytes`"),
        ("60", "60s", UNITS),
        ("1200", "1200/s", UNITS),
        ("1200", "[[0, 5/s]]", UNITS),
        ("10000", "10k", UNITS),
        ("1200", "-1", ANEW),
        ("rate: 1200, ", "", ANEW),
        ("- name: O\n", "- O\n- name: O\n", ANEW),
        ("scattered}", "scattered", ANEW),
        ("60", "2026-99-99", ANEW),
        (GOOD, "[1, 2]", "it is a YAML mapping that begins with `schema: lsmlens.workload/1`"),
        ("schema: lsmlens.workload/1\n", "", "it begins with `schema: lsmlens.workload/1`"),
    ],
)
def test_the_way_out(right: str, wrong: str, hint: str) -> None:
    parse_workload(GOOD, "good.yaml")
    assert GOOD.count(right) >= 1
    with pytest.raises(InputError, match=r"^bad\.yaml: ") as raised:
        parse_workload(GOOD.replace(right, wrong, 1), "bad.yaml")
    assert raised.value.hint == hint


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read_workload(tmp_path)
    assert raised.value.hint == "check the path and its permissions"
