"""From a workload and several option sets to the trials they come to."""

from dataclasses import replace
from pathlib import Path

import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.reading import read_options
from lsmlens.tuners.replays.plan import Plan
from lsmlens.tuners.replays.replayer import Replayer
from lsmlens.tuners.workloads.generator import DeclaredStream
from lsmlens.tuners.workloads.presets import load_preset

REPLAYER = Replayer(EngineChoice("rocksdict", "9.8.4"))


@pytest.fixture
def plan() -> Plan:
    stream = DeclaredStream(load_preset("rbd-4k-randwrite"))
    return Plan(stream, (preset("ceph:quincy"), preset("ceph:reef")), seeds=(1, 2, 3))


def test_the_options_take_turns(plan: Plan) -> None:
    trials = replace(plan, keep_log=Path("logs")).trials(REPLAYER)
    assert [(one.options.name, one.seed) for one in trials] == [
        (name, seed) for seed in (1, 2, 3) for name in ("ceph:quincy", "ceph:reef")
    ]
    assert [str(one.keep_log) for one in trials[:3]] == ["logs/1-1", "logs/2-1", "logs/1-2"]


def test_sizes_are_divided_by_the_scale(plan: Plan) -> None:
    whole, small = (replace(plan, scale=scale).trials(REPLAYER)[0] for scale in (1.0, 16.0))
    assert small.scale == 16.0
    assert int(small.options.families["P"]["write_buffer_size"]) * 16 == 256 << 20
    assert int(whole.options.families["P"]["write_buffer_size"]) == 256 << 20
    assert (whole.step_bytes, small.step_bytes) == (1 << 20, 1 << 16)


def test_a_step_never_fills_two_memtables(plan: Plan) -> None:
    tiny = read_options("tiny=write_buffer_size=65536")
    (one,) = replace(plan, options=(tiny,), seeds=(1,)).trials(REPLAYER)
    assert one.step_bytes == 65536 // 4


def test_keys_go_to_the_families_the_options_speak_of(plan: Plan) -> None:
    sets = preset("ceph:reef"), preset("ceph:luminous"), preset("rocksdb:default")
    reef, luminous, rocksdb = replace(plan, options=sets, seeds=(1,)).trials(REPLAYER)
    assert {"m-0", "p-2", "O-0", "O-2", "L", "P"} < set(reef.stream.families)
    assert luminous.stream.families == ("default",)
    assert set(rocksdb.stream.families) == {"default", "O-0", "O-1", "O-2", "L", "P"}
    for one in (reef, luminous, rocksdb):
        assert tuple(one.options.families) == one.stream.families


def test_options_that_cannot_be_are_refused_before_anything_runs(plan: Plan) -> None:
    wrong = preset("ceph:reef").changed("level0_file_num_compaction_trigger", "30")
    with pytest.raises(InputError, match="level0"):
        replace(plan, options=(preset("ceph:reef"), wrong)).trials(REPLAYER)
