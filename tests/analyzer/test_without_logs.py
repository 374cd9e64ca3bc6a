"""Answers without an OSD's log: from any of the commands that people are asked to run, as real OSDs answered them."""

import json
import re
from pathlib import Path

import pytest
from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.collection.requests import CLUSTER, DAEMON, METADATA, PERF_DUMP
from lsmlens.analyzer.diagnosis import analyze
from lsmlens.analyzer.findings import Severity
from lsmlens.analyzer.rules.level_targets import level_shape
from lsmlens.analyzer.rules.memory_split import MemorySplit, memory_split
from lsmlens.reports.run_sections import option_lines

CONFIG = {
    "name": "osd.7",
    "osd_memory_target": "4294967296",
    "osd_memory_base": "805306368",
    "bluestore_cache_autotune": "true",
    "bluestore_cache_kv_ratio": "0.450000",
    "bluestore_cache_meta_ratio": "0.450000",
    "osd_op_queue": "mclock_scheduler",
    "osd_mclock_profile": "balanced",
    "bluestore_rocksdb_cf": "true",
    "bluestore_rocksdb_cfs": "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P",
    "bluestore_rocksdb_options": "max_write_buffer_number=4,write_buffer_size=268435456,max_total_wal_size=1073741824",
}
# Of an OSD of 16.2.15 with a block.db of 2 GiB.
BLUEFS_STATS = """\
1 : device size 0x7fffe000 : using 0x5db00000(1.5 GiB)
2 : device size 0x600000000 : using 0x3c3b9000(964 MiB)
RocksDBBlueFSVolumeSelector Usage Matrix:
DEV/LEV     WAL         DB          SLOW        *           *           REAL        FILES
LOG         0 B         18 MiB      0 B         0 B         0 B         16 MiB      1
WAL         0 B         1.1 GiB     0 B         0 B         0 B         620 MiB     4
DB          0 B         353 MiB     211 MiB     0 B         0 B         354 MiB     19
SLOW        0 B         0 B         0 B         0 B         0 B         0 B         0
TOTAL       0 B         1.5 GiB     211 MiB     0 B         0 B         0 B         24
MAXIMUMS:
LOG         0 B         24 MiB      0 B         0 B         0 B         20 MiB
TOTAL       0 B         2 GiB     1 GiB     0 B         0 B         0 B
>> SIZE <<  0 B         1.9 GiB     23 GiB
"""
ALONE = "1 : device size 0x600000000 : using 0x4b5fe000(1.2 GiB)\nwal_total:0, db_total:24481313587, slow_total:0\n"
SPILLED = """\
HEALTH_WARN 1 OSD(s) experiencing BlueFS spillover
[WRN] BLUEFS_SPILLOVER: 1 OSD(s) experiencing BlueFS spillover
    osd.7 spilled over 11 GiB metadata from 'db' device (1.9 GiB used of 20 GiB) to slow device
"""


def run(folder: Path, **files: object) -> RunAnalysis:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / name.replace("__", ".")).write_text(text)
    (one,) = analyze([str(folder)]).runs
    return one


def codes(one: RunAnalysis) -> set[str]:
    return {finding.code for finding in one.findings}


def test_bluefs_stats_alone(tmp_path: Path) -> None:
    one = run(tmp_path, bluefs_stats__txt=BLUEFS_STATS)
    assert one.name == "osd"
    assert one.counters is not None
    assert (one.counters.db_total_bytes, one.counters.db_used_bytes) == (0x7FFFE000, 0x5DB00000)
    assert (one.counters.slow_used_bytes, one.counters.slow_peak_bytes) == (211 << 20, 1 << 30)
    assert codes(one) == {"R09"}
    assert [rule.needs for rule in one.not_assessed if rule.code == "R10"] == [
        "an OSD log that goes back to an open, or config show"
    ]


def test_bluefs_stats_of_a_single_device(tmp_path: Path) -> None:
    assert codes(run(tmp_path, bluefs_stats__txt=ALONE)) == set()


def test_bluefs_stats_and_config_show(tmp_path: Path) -> None:
    """With the levels' sizes the next one is known not to fit: 95 % of 2 GiB hold 0.5 GiB, and not 2.5 GiB more."""
    metadata = {"id": 7, "osd_objectstore": "bluestore", "ceph_version_short": "16.2.15"}
    one = run(tmp_path, bluefs_stats__txt=BLUEFS_STATS, config_show__json=CONFIG, osd_metadata__json=metadata)
    assert one.name == "osd.7"
    assert codes(one) == {"R09", "R10"}


def test_the_rule_of_3_30_300_for_this_level_base(tmp_path: Path) -> None:
    shape = level_shape(run(tmp_path, config_show__json=CONFIG))
    assert shape is not None
    # (256 + 256 MiB) + 2.5 GiB, + 25 GiB, + 250 GiB, by 0.95
    assert [round(step / 2**30, 1) for step in shape.steps()] == [3.2, 29.5, 292.6]
    small = {
        **CONFIG,
        "bluestore_rocksdb_options": f"{CONFIG['bluestore_rocksdb_options']},max_bytes_for_level_base=64M",
    }
    shape = level_shape(run(tmp_path, config_show__json=small))
    assert shape is not None
    assert [round(step / 2**30, 1) for step in shape.steps()] == [0.8, 7.4, 73.2]


def test_health_beside_config_show_says_which_level_does_not_fit(tmp_path: Path) -> None:
    (tmp_path / "osd.7").mkdir()
    (tmp_path / "osd.7" / "config_show.json").write_text(json.dumps(CONFIG))
    (finding,) = [one for one in run(tmp_path, health__txt=SPILLED).findings if one.code == "R30"]
    steps = "3.2 GiB, 29.5 GiB, 292.6 GiB by level base 256 MiB, multiplier 10, of each of 12 column families"
    assert steps in finding.meaning


def test_config_show_alone_tells_the_memory_and_the_scheduler(tmp_path: Path) -> None:
    one = run(tmp_path, config_show__json=CONFIG)
    assert memory_split(one) == MemorySplit(
        target_bytes=4 << 30,
        cache_bytes=int((4 << 30) * 0.85) - (768 << 20),
        least_cache_bytes=128 << 20,
        ratios={"bluestore_cache_kv_ratio": 0.45, "bluestore_cache_meta_ratio": 0.45},
        families=12,
        buffer_bytes=12 << 30,
        memtable_bytes=1 << 30,
        is_tuned=True,
    )
    assert codes(one) == set()
    said = " ".join(option_lines(one))
    assert "caches have 2.6 GiB of osd_memory_target, 4 GiB: kv 45.0 %, meta 45.0 %, data the rest" in said
    assert "12 GiB if all were full, 1 GiB by max_total_wal_size" in said
    assert "scheduled by mclock_scheduler, profile balanced" in said


@pytest.mark.parametrize(
    ("options", "value"),
    [
        ({"osd_memory_target": "939524096"}, "0 B for caches"),
        ({"osd_memory_target": "2147483648"}, "write buffers of up to 1 GiB, 972.8 MiB for caches"),
        ({"bluestore_cache_kv_ratio": "0.70"}, "ratios of 1.15 together"),
    ],
)
def test_memory_that_does_not_go_round(options: dict[str, str], value: str, tmp_path: Path) -> None:
    (finding,) = run(tmp_path, config_show__json=CONFIG | options).findings
    assert (finding.code, finding.value, finding.severity) == ("R34", value, Severity.WARNING)


def test_what_config_diff_has_stands_in_for_config_show(tmp_path: Path) -> None:
    finals = {name: {"default": "", "final": value} for name, value in CONFIG.items() if name != "name"}
    one = run(tmp_path, config_diff__json={"diff": finals})
    assert one.beside.config_show == {name: value for name, value in CONFIG.items() if name != "name"}


def test_mempools_and_the_allocators_score(tmp_path: Path) -> None:
    pools = {"mempool": {"by_pool": {"osd_pglog": {"items": 5, "bytes": 640}}, "total": {"items": 5, "bytes": 640}}}
    one = run(tmp_path, mempools__json=pools, score__json={"fragmentation_rating": 0.93})
    assert one.beside.perf_dumps[0].number("mempool.osd_pglog_bytes") == 640
    (finding,) = one.findings
    assert (finding.code, finding.severity) == ("R20", Severity.CRITICAL)


def test_a_perf_dump_is_not_replaced(tmp_path: Path) -> None:
    one = run(
        tmp_path, bluefs_stats__txt=BLUEFS_STATS, perf_dump__json={"bluefs": {"db_total_bytes": 9, "db_used_bytes": 1}}
    )
    assert len(one.beside.perf_dumps) == 1
    assert one.counters is not None
    assert one.counters.db_total_bytes == 9


def test_the_release_is_that_of_the_metadata(tmp_path: Path) -> None:
    metadata = {"id": 7, "osd_objectstore": "bluestore", "hostname": "c", "ceph_version_short": "18.2.7"}
    one = run(tmp_path, config_show__json=CONFIG, osd_metadata__json=metadata)
    assert one.ceph_version == "18.2.7"


# What real commands print, in a few lines each; the scheduler's are read by `lsmlens qos`.
PRINTED: dict[str, object] = {
    "perf dump": {"bluefs": {"db_total_bytes": 9}},
    "config show": CONFIG,
    "config diff": {"diff": {"osd_memory_target": {"default": "1", "final": "2"}}},
    "osd metadata": {"id": 7, "osd_objectstore": "bluestore", "hostname": "c"},
    "dump_historic_ops": {"size": 20, "ops": []},
    "dump_historic_slow_ops": {"size": 20, "ops": []},
    "dump_mempools": {"mempool": {"by_pool": {}}},
    "bluestore allocator score": {"fragmentation_rating": 0.1},
    "bluestore allocator fragmentation": {"fragmentation_rating": 0.1},
    "bluefs stats": BLUEFS_STATS,
    "health detail": SPILLED,
    "osd df": "ID  CLASS  WEIGHT   REWEIGHT  SIZE     RAW USE  DATA     OMAP     META     AVAIL    %USE   VAR\n",
    "osd tree": "ID  CLASS  WEIGHT   TYPE NAME      STATUS  REWEIGHT  PRI-AFF\n",
    "show-sharding": "m(3) p(3,0-12) O(3,0-13)=block_cache={type=binned_lru} L P\n",
}
READ_BY_QOS = {"versions", "config dump", "pg dump", "perf histogram dump", "osd bench", "dump_op_pq_state"}


@pytest.mark.parametrize("command", PRINTED)
def test_what_a_command_prints_is_known(command: str, tmp_path: Path) -> None:
    content = PRINTED[command]
    (tmp_path / "output").write_text(content if isinstance(content, str) else json.dumps(content))
    (tmp_path / "config_show.json").write_text(json.dumps(CONFIG))
    members = {member.path.rsplit("/", 1)[-1]: member.role for member in analyze([str(tmp_path)]).members}
    assert members["output"] is not Role.OTHER


def test_every_command_that_is_asked_for_is_known() -> None:
    """Those of docs/collecting.md, and those that `lsmlens collect` runs."""
    text = (Path(__file__).resolve().parents[2] / "docs" / "collecting.md").read_text()
    asked = {re.sub(r" 3$", "", one) for one in re.findall(r"`(?:ceph tell osd\.3|ceph) ([a-z_ ]+(?: 3)?)`", text)}
    asked = {one for one in asked if not one.startswith("config set")}
    asked |= {re.sub(r" -f json$", "", " ".join(one.words)) for one in (*CLUSTER, *DAEMON, METADATA, PERF_DUMP)}
    assert asked >= {"perf dump", "config show", "osd metadata", "health detail", "osd df", "osd tree"}
    assert asked - READ_BY_QOS <= PRINTED.keys()
