"""Sizes of clients' requests, from `perf histogram dump`."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.bundles.roles import Role, recognise_json
from lsmlens.analyzer.counters.size_histograms import RequestSizes, SizeClass, read_request_sizes
from lsmlens.analyzer.diagnosis import analyze


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
def test_what_is_not_understood_is_left_out(broken: dict[str, Any]) -> None:
    assert read_request_sizes({"osd": {"op_w_latency_in_bytes_histogram": broken}}).classes == {}


def test_it_stands_beside_its_osd_s_log(tmp_path: Path) -> None:

    for path in (Path(__file__).parents[3] / "fixtures" / "osd-slow").iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "perf_histogram_dump.json").write_text(json.dumps(dump()))
    sizes = analyze([str(tmp_path)]).runs[0].beside.request_sizes
    assert sizes is not None
    assert sum(one.number for one in sizes.classes["write"]) == 55
