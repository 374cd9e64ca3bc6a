"""Client jobs: parts that ran at once, repeats, and how jobs of several arms are matched."""

import json
from pathlib import Path
from typing import Any

import pytest
from lsmlens.analyzer.clients.cbt import place_of
from lsmlens.analyzer.comparison.client_jobs import Samples, client_samples, incomplete_notes
from lsmlens.analyzer.comparison.observations import observe_bundle


def fio(fixtures: Path, factor: float = 1.0) -> dict[str, Any]:
    """A real result, its operations made `factor` times as many."""
    document: dict[str, Any] = json.loads((fixtures / "osd-stock/fio_B.json").read_text())
    for job in document["jobs"]:
        for name in ("iops", "bw_bytes"):
            job["write"][name] *= factor
        job["write"]["total_ios"] = round(job["write"]["total_ios"] * factor)
        job["write"]["clat_ns"]["mean"] /= factor
    return document


def samples(*paths: Path) -> list[Samples]:
    return [one[0] for one in client_samples([[observe_bundle(str(path))] for path in paths])]


def test_jobs_are_named_by_file_job_and_direction(fixtures: Path) -> None:
    (found,) = samples(fixtures / "osd-stock")
    assert list(found) == ["A_radosbench.write", "fio_B.randw.write", "fio_E.randw.write"]
    (sample,) = found["fio_B.randw.write"]
    write = fio(fixtures)["jobs"][0]["write"]
    assert sample["client_iops"] == write["iops"]
    assert sample["client_bandwidth"] == write["bw_bytes"]
    assert sample["client_latency_mean"] == pytest.approx(write["clat_ns"]["mean"] / 1e9)
    assert sample["client_latency_p99_9"] == pytest.approx(write["clat_ns"]["percentile"]["99.900000"] / 1e9)


def test_files_of_unlike_names_match_by_what_they_did(fixtures: Path, tmp_path: Path) -> None:
    for name in ("before.json", "after.json"):
        (tmp_path / name).write_text(json.dumps(fio(fixtures)))
    before, after = samples(tmp_path / "before.json", tmp_path / "after.json")
    assert list(before) == list(after) == ["fio.write.4k.qd32"]


def test_files_of_unlike_names_that_do_the_same_twice_do_not_match(fixtures: Path, tmp_path: Path) -> None:
    for folder, names in (("before", ("a", "b")), ("after", ("c", "d"))):
        (tmp_path / folder).mkdir()
        for name in names:
            (tmp_path / folder / f"{name}.json").write_text(json.dumps(fio(fixtures)))
    before, after = samples(tmp_path / "before", tmp_path / "after")
    assert list(before) == ["a.randw.write", "b.randw.write"]
    assert list(after) == ["c.randw.write", "d.randw.write"]


def test_clones_of_a_job_are_added_up(fixtures: Path, tmp_path: Path) -> None:
    document = fio(fixtures)
    document["jobs"] = [document["jobs"][0], fio(fixtures, 3.0)["jobs"][0]]
    (tmp_path / "run.json").write_text(json.dumps(document))
    (found,) = samples(tmp_path / "run.json")
    ((name, (sample,)),) = found.items()
    write = fio(fixtures)["jobs"][0]["write"]
    assert name == "run.randw.write"
    assert sample["client_iops"] == pytest.approx(4 * write["iops"])
    mean = write["clat_ns"]["mean"] / 1e9
    assert sample["client_latency_mean"] == pytest.approx((mean * 1 + mean / 3 * 3) / 4, rel=1e-5)


def test_a_result_that_was_cut_is_left_out_and_said(fixtures: Path, tmp_path: Path) -> None:
    text = (fixtures / "osd-stock/A_radosbench.out").read_text()
    (tmp_path / "bench.out").write_text(text[: text.index("Total time run")])
    found = observe_bundle(str(tmp_path))
    assert samples(tmp_path) == [{}]
    assert incomplete_notes(found.client_results) == ["bench.out: cut before its summary; left out"]


def test_rados_bench_as_json_is_read(tmp_path: Path) -> None:
    figures = {"total_time_run": "21.4", "total_writes_made": "60000", "write_size": "4096", "bandwidth": "10.9416"}
    more = {"average_iops": "2801", "average_latency": "0.00571014", "concurrent_ios": "16", "datas": []}
    (tmp_path / "bench.json").write_text(json.dumps(figures | more))
    assert samples(tmp_path) == [
        {
            "bench.write": [
                {
                    "client_iops": 2801.0,
                    "client_bandwidth": pytest.approx(10.9416 * 2**20),
                    "client_latency_mean": 0.00571014,
                }
            ]
        }
    ]


# ---- the Ceph Benchmarking Tool's folders


def summary_of(text: str) -> dict[str, str]:
    """What CBT makes of rados bench's output."""
    lines = text[text.index("Total time run") :].splitlines()
    return {name.strip(): value.strip() for name, value in (line.split(":") for line in lines if ":" in line)}


@pytest.fixture
def cbt(fixtures: Path, tmp_path: Path) -> Path:
    """Three iterations of a test of two volumes at two depths, and of one of two processes, as CBT lays them out."""
    results = tmp_path / "results"
    bench = (fixtures / "osd-stock/A_radosbench.out").read_text()
    for iteration in range(3):
        for depth in (16, 64):
            folder = results / f"{iteration:08}/id-2689e691/4krandomwrite.host1.lab/numjobs-001/total_iodepth-{depth}"
            for volume in range(2):
                part = folder / f"iodepth-{depth // 2:06}"
                part.mkdir(parents=True, exist_ok=True)
                text = json.dumps(fio(fixtures, (1 + 0.1 * volume + 0.01 * iteration) * depth / 16))
                (part / f"json_output.{volume}").write_text(text)
                (part / f"output.{volume}").write_text(text)
        test = results / f"{iteration:08}/id-af9a471{iteration}"
        for mode in ("prefill", "write"):
            (test / mode).mkdir(parents=True)
            for process in range(2):
                (test / mode / f"output.{process}.host1").write_text(bench)
                (test / mode / f"json_output.{process}.host1").write_text(json.dumps(summary_of(bench)))
        (test / "benchmark_config.yaml").write_text("cluster:\n  concurrent_ops: 32\n  op_size: 4096\n  iteration: 0\n")
    return tmp_path


def test_volumes_are_added_up_and_iterations_are_samples(cbt: Path, fixtures: Path) -> None:
    (found,) = samples(cbt)
    assert list(found) == ["4krandomwrite.write.4k.total_qd16", "4krandomwrite.write.4k.total_qd64", "write.4k.t32"]
    iops = fio(fixtures)["jobs"][0]["write"]["iops"]
    repeats = [one["client_iops"] for one in found["4krandomwrite.write.4k.total_qd16"]]
    assert repeats == pytest.approx([iops * (2.1 + 0.02 * iteration) for iteration in range(3)])
    assert [one["client_iops"] for one in found["write.4k.t32"]] == pytest.approx([2 * 2801.0] * 3)
    assert {len(one) for one in found["write.4k.t32"]} == {3}  # rados bench tells no percentiles


@pytest.mark.parametrize(
    ("path", "test", "parameters", "part"),
    [
        ("a/results/00000001/id-af9a4715/write/json_output.0.host", "write", {}, 0),
        ("results/00000000/id-1/randwrite/iodepth-048/json_output.3", "randwrite", {"iodepth": "48"}, 3),
        (
            "x.tar!results/00000000/id-ab/1280kread.h.lab/numjobs-001/total_iodepth-12/iodepth-000001/json_output.11",
            "1280kread",
            {"numjobs": "1", "total_iodepth": "12"},
            11,
        ),
    ],
)
def test_places(path: str, test: str, parameters: dict[str, str], part: int) -> None:
    place = place_of(path)
    assert place is not None
    assert (place.test, dict(place.parameters), place.part) == (test, parameters, part)
    assert not place.is_preparation


@pytest.mark.parametrize("path", ["json_output.0", "results/id-1/json_output.0", "fio_B.json", "00000000/x/output.0"])
def test_what_is_no_place(path: str) -> None:
    assert place_of(path) is None


def test_volumes_of_unlike_depth_are_one_test() -> None:
    folder = "results/00000000/id-ab/read.h/numjobs-001/total_iodepth-3"
    places = [place_of(f"{folder}/iodepth-00000{depth}/json_output.{depth}") for depth in (1, 2)]
    assert len({place.folder for place in places if place is not None}) == 1
