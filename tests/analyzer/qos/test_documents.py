"""Documents are told by content, as JSON and as text."""

import json
from pathlib import Path

import pytest
from lsmlens.analyzer.qos.documents import (
    QosDocument,
    QueueState,
    StoredOption,
    read_cluster,
    read_config_dump,
    read_osd_metadata,
    read_queue_states,
    recognise,
    recognise_text,
)

DUMP_TEXT = """\
WHO     MASK       LEVEL     OPTION                                VALUE         RO
global             advanced  osd_pool_default_size                 3
osd     class:hdd  advanced  osd_max_backfills                     8
osd.3              basic     osd_mclock_max_capacity_iops_hdd      41.235678
osd                dev       osd_op_queue                          wpq           *
"""
DUMP = [
    {"section": "osd", "name": "osd_max_backfills", "value": "8", "level": "advanced", "mask": "class:hdd"},
    {"section": "osd.3", "name": "osd_mclock_max_capacity_iops_hdd", "value": "41.2", "level": "basic", "mask": ""},
]
METADATA = [
    {"id": 0, "osd_data": "/x", "device_ids": "nvme0n1=INTEL_SSDPE2KX040T8_PHLJ1234", "rotational": "0"},
    {"id": 1, "osd_data": "/x", "device_ids": "", "devices": "sda", "rotational": "1", "bluefs_dedicated_db": "1"},
]
# Of a public report on PR 52809, shortened.
MCLOCK = {
    "OSD:ShardedOpWQ:1": {
        "queue_sizes": {"high_priority_queue": 3, "scheduler": 2},
        "mClockClients": {
            "client_count": 3,
            "clients": "{ PriorityQueue::  { client:{ class_id: 0 client_id: 0 profile_id: 0 }, record:{ ClientRec:: "
            "client:{ class_id: 0 client_id: 0 profile_id: 0 } req_count:0 top_req:none } }  { client:{ class_id: 3 "
            "client_id: 4153 profile_id: 0 }, record:{ … } } { client:{ class_id: 3 client_id: 4160 profile_id: 0 } }",
        },
        "mClockQueues": {"queues": "RESER:{ … }"},
        "HighPriorityQueue": {"priority": 196, "queue_size": 3},
    },
    "OSD:ShardedOpWQ:0": {"queue_sizes": {"immediate": 1, "scheduler": 0}},
}
WPQ = {
    "OSD:ShardedOpWQ:0": {
        "high_queues": [],
        "queues": [66, 20971520, {"priority": 3, "num_keys": 1, "first_item_cost": 20971520}, 66, 20971520,
                   {"priority": 63, "num_keys": 4, "first_item_cost": 4096}],
    },
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("config_show.json", QosDocument.CONFIG_SHOW),
        ("config_diff.json", QosDocument.CONFIG_DIFF),
        ("osd_metadata.json", QosDocument.OSD_METADATA),
        ("ceph_versions.json", QosDocument.VERSIONS),
        ("perf_dump.end.json", None),
        ("fio_B.json", None),
    ],
)
def test_real_documents(fixtures: Path, name: str, kind: QosDocument | None) -> None:
    assert recognise(json.loads((fixtures / "osd-mclock" / name).read_text())) is kind


def test_built_documents() -> None:
    assert recognise(DUMP) is QosDocument.CONFIG_DUMP
    assert recognise(METADATA) is QosDocument.OSD_METADATA
    assert recognise({"osdmap": {}, "pgmap": {}}) is QosDocument.STATUS
    assert recognise({"pools": [], "osds": []}) is QosDocument.OSD_DUMP
    nothing: tuple[object, ...] = ([], {}, 3, None, "text", [1])
    assert [recognise(one) for one in nothing] == [None] * len(nothing)


def test_texts(fixtures: Path) -> None:
    status = (fixtures / "osd-mclock" / "ceph_s.txt").read_text()
    assert recognise_text(status) is QosDocument.STATUS
    assert recognise_text(DUMP_TEXT) is QosDocument.CONFIG_DUMP
    assert recognise_text("anything") is None
    assert read_cluster([(QosDocument.STATUS, "s", status)]).osds == 1


def test_the_store_as_text_and_json() -> None:
    assert read_config_dump(DUMP_TEXT)[1:] == (
        StoredOption("osd", "class:hdd", "osd_max_backfills", "8"),
        StoredOption("osd.3", "", "osd_mclock_max_capacity_iops_hdd", "41.235678"),
        StoredOption("osd", "", "osd_op_queue", "wpq"),
    )
    assert read_config_dump(DUMP)[0].section == "osd/class:hdd"
    assert read_config_dump({"no": "list"}) == ()


def test_metadata_of_several_osds() -> None:
    nvme, hdd = read_osd_metadata(METADATA)
    assert (nvme.osd, nvme.model, nvme.rotational) == ("0", "INTEL_SSDPE2KX040T8", False)
    assert (hdd.model, hdd.rotational, hdd.has_own_db, hdd.devices) == (None, True, True, "sda")


def test_the_cluster() -> None:
    pools = [{"pool": 1, "type": 1, "size": 3}, {"pool": 2, "type": 3, "size": 6}, {"pool": 3, "type": 1, "size": 3}]
    cluster = read_cluster(
        [
            (QosDocument.OSD_DUMP, "osd_dump.json", {"pools": pools, "osds": [{}, {}, {}]}),
            (QosDocument.VERSIONS, "v.json", {"osd": {"ceph version 17.2.5 (…) quincy (stable)": 12}, "mon": {}}),
        ]
    )
    assert (cluster.osds, cluster.size, cluster.erasure_coded) == (12, 3, (2,))
    assert cluster.release == "ceph version 17.2.5 (…) quincy (stable)"


def test_mclock_by_shard_in_order() -> None:
    assert read_queue_states(MCLOCK) == (
        QueueState(0, "mclock_scheduler", 1, 0, 0),
        QueueState(1, "mclock_scheduler", 3, 2, 2),
    )


def test_wpq() -> None:
    assert read_queue_states(WPQ) == (QueueState(0, "wpq", 0, 5),)


def test_others_are_none() -> None:
    assert read_queue_states({"OSD": {}}) is None
    assert read_queue_states([]) is None
    assert read_queue_states({"OSD:ShardedOpWQ:0": 3}) is None
