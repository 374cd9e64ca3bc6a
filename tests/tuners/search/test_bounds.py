from dataclasses import replace

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.search.bounds import Bounds, bounds_of, memtable_bytes

FAMILIES = ("default", "m-0", "m-1", "m-2", "p-0", "p-1", "p-2", "O-0", "O-1", "O-2", "L", "P")


def bounds(run: RunAnalysis, **changes: object) -> Bounds:
    found = Bounds(run, FAMILIES, 2 << 30, "test", None, 0)
    return replace(found, **changes)  # type: ignore[arg-type]


def test_memtables_are_bounded_by_the_wal() -> None:
    assert memtable_bytes(preset("ceph:pacific"), FAMILIES) == 1 << 30
    assert memtable_bytes(preset("ceph:nautilus"), FAMILIES) == 12 * 4 * (256 << 20)
    assert memtable_bytes(preset("ceph:reef"), FAMILIES) == 1 << 30


def test_more_memory_than_allowed_is_out(small_run: RunAnalysis) -> None:
    allowed = bounds(small_run, memory_bytes=1 << 30)
    assert allowed.problem(preset("ceph:pacific")) is None
    said = allowed.problem(preset("ceph:pacific").changed("max_total_wal_size", str(2 << 30)))
    assert said is not None
    assert "memtables of up to 2 GiB, allowed are 1 GiB (test)" in said


def test_options_that_rocksdb_refuses_are_out(small_run: RunAnalysis) -> None:
    bad = preset("ceph:pacific").changed("min_write_buffer_number_to_merge", "32")
    said = bounds(small_run).problem(bad)
    assert said is not None
    assert "min_write_buffer_number_to_merge" in said


def test_a_spill_to_the_slow_device_is_out(small_run: RunAnalysis) -> None:
    device = bounds(small_run, device_bytes=40 << 30, data_bytes=10 << 30)
    fits = preset("ceph:pacific").changed("max_bytes_for_level_base", str(1 << 30))
    spills = fits.changed("max_bytes_for_level_base", str(64 << 30))
    assert device.problem(fits) is None
    said = device.problem(spills)
    assert said is not None
    assert "slow device" in said


def test_a_wal_larger_than_its_device_is_out(small_run: RunAnalysis) -> None:
    said = bounds(small_run, wal_device_bytes=1 << 30).problem(preset("ceph:pacific"))
    assert said is not None
    assert "WAL's device" in said
    assert bounds(small_run, wal_device_bytes=2 << 30).problem(preset("ceph:pacific")) is None


def test_the_limit_is_what_was_given_or_as_now(small_run: RunAnalysis, present: OptionSet) -> None:
    now = bounds_of(small_run, present, ["default"])
    assert (now.memory_bytes, now.memory_source) == (4 * 524288, "as much as now")
    given = bounds_of(small_run, present, ["default"], 12345)
    assert (given.memory_bytes, given.memory_source) == (12345, "--memory")
