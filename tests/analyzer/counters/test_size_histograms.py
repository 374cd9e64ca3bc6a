"""Sizes of keys and values by prefix, from a database's own count of them."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.bundles.roles import Role, recognise_json, recognise_text
from lsmlens.analyzer.counters.size_histograms import (
    RequestSizes,
    SizeClass,
    of_prefixes,
    read_request_sizes,
    read_size_histogram,
)
from lsmlens.analyzer.diagnosis import analyze

# `ceph daemon osd.0 calc_objectstore_db_histogram` of 16.2.15, shortened.
PRINTED = """\
{
    "num_onodes": 2877,
    "max_value_size": 1413,
    "total_value_size": 195937984
}
{
    "[0,64)": 40783,
    "[384,448)": 466054
}
{
    "prefix": "B",
    "key_hist": {
        "[0,32)": 373,
        "max_len": 17,
        "value_hist": {
            "[0,64)": 373,
            "max_len": 16
        }
    },
    "prefix": "P",
    "key_hist": {
        "[0,32)": 576,
        "max_len": 18,
        "value_hist": {
            "[0,64)": 384,
            "max_len": 49,
            "[128,192)": 96,
            "max_len": 186
        },
        "[32,64)": 62075,
        "max_len": 44,
        "value_hist": {
            "[0,64)": 39596,
            "max_len": 61
        }
    }
}
"""
CLASSES = {
    "B": (SizeClass(0, 16, 373),),
    "P": (SizeClass(0, 49, 384), SizeClass(128, 186, 96), SizeClass(0, 61, 39596)),
}


def test_names_that_repeat_are_all_read() -> None:
    found = read_size_histogram(PRINTED, "here")
    assert found.values == CLASSES
    assert found.source == "here"
    assert of_prefixes(found, ["P", "Q", "B"]) == CLASSES["P"] + CLASSES["B"]


def test_one_line_and_one_object_are_read_as_well() -> None:
    last = PRINTED[PRINTED.rindex('{\n    "prefix"') :]
    assert read_size_histogram('{"rocksdb_key_value_histogram": ' + last + "}").values == CLASSES
    assert read_size_histogram(" ".join(PRINTED.split())).values == CLASSES


@pytest.mark.parametrize(
    ("text", "prefixes"),
    [
        ("", []),
        ("{", []),
        ('{"prefix": 3, "key_hist": {"[0,32)": 1}}', []),
        ('{"prefix": "P", "key_hist": {"value_hist": {"[0,64": 3, "[9,5)": 3, "[0,64)": "3", "[0,64)": -1}}}', []),
        ('{"prefix": "P", "key_hist": {"value_hist": {"[0,64)": 3, "max_len": 99}}} {"prefix": "B", "key_h', ["P"]),
    ],
)
def test_what_is_not_understood_is_left_out(text: str, prefixes: list[str]) -> None:
    assert list(read_size_histogram(text).values) == prefixes


def test_it_is_known_by_its_content() -> None:
    assert recognise_text(PRINTED.encode(), "x.json") is Role.SIZE_HISTOGRAM
    assert recognise_text(" ".join(PRINTED.split()).encode(), "x") is Role.SIZE_HISTOGRAM
    assert recognise_json(json.loads(PRINTED[PRINTED.rindex('{\n    "prefix"') :])) is None


def test_it_stands_beside_its_osd_s_log(tmp_path: Path) -> None:
    log = Path(__file__).parents[3] / "fixtures" / "osd-slow"
    for path in log.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "sizes.json").write_text(PRINTED)
    found = analyze([str(tmp_path)])
    histogram = found.runs[0].beside.size_histogram
    assert histogram is not None
    assert histogram.values == CLASSES
    assert [one.role for one in found.members if one.path.endswith("sizes.json")] == [Role.SIZE_HISTOGRAM]


def grid(*rows: list[int]) -> dict[str, Any]:
    """As Ceph 18 prints it, with four classes of sizes."""
    latencies = [{"max": -1}, {"min": 0, "max": 99999}, {"min": 100000}]
    sizes = [{"max": -1}, {"min": 0, "max": 511}, {"min": 512, "max": 1023}, {"min": 1024}]
    axes = [
        {"name": "Latency (usec)", "min": 0, "quant_size": 100000, "scale_type": "log2", "ranges": latencies},
        {"name": "Request size (bytes)", "min": 0, "quant_size": 512, "scale_type": "log2", "ranges": sizes},
    ]
    return {"axes": axes, "values": list(rows)}


def dump() -> dict[str, Any]:
    nothing = grid([0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0])
    return {
        "bluefs": {},
        "osd": {
            "op_r_latency_out_bytes_histogram": grid([0, 0, 0, 0], [0, 3, 0, 0], [0, 0, 0, 0]),
            "op_w_latency_in_bytes_histogram": grid([0, 0, 0, 0], [0, 40, 7, 2], [0, 5, 0, 1]),
            "op_rw_latency_in_bytes_histogram": nothing,
        },
        "rocksdb": {},
    }


def test_sizes_are_summed_over_latencies() -> None:
    found = read_request_sizes(dump(), "here")
    classes = (SizeClass(0, 511, 45), SizeClass(512, 1023, 7), SizeClass(1024, 1024, 3))
    assert found == RequestSizes({"write": classes}, "here")


def test_it_is_known_by_its_content_and_no_perf_dump() -> None:
    assert recognise_json(dump()) is Role.REQUEST_SIZES
    assert recognise_json({"osd": {"op_w_latency_in_bytes_histogram": 3}}) is Role.PERF_DUMP
    assert recognise_json({"osd": {}, "rocksdb": {}}) is Role.OTHER


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"axes": []},
        {"axes": [{}, {"ranges": 3}], "values": [[1]]},
        {"axes": [{}, {"ranges": [{"min": 0, "max": 1}]}], "values": [[1], [1, 2]]},
        {"axes": [{}, {"ranges": [{"min": "a"}]}], "values": [["x"]]},
    ],
)
def test_what_is_not_understood_is_left_out_request_sizes(broken: dict[str, Any]) -> None:
    assert read_request_sizes({"osd": {"op_w_latency_in_bytes_histogram": broken}}).classes == {}


def test_it_stands_beside_its_osd_s_log_request_sizes(tmp_path: Path) -> None:

    for path in (Path(__file__).parents[3] / "fixtures" / "osd-slow").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "perf_histogram_dump.json").write_text(json.dumps(dump()))
    sizes = analyze([str(tmp_path)]).runs[0].beside.request_sizes
    assert sizes is not None
    assert sum(one.number for one in sizes.classes["write"]) == 55
