"""dump_op_pq_state of both schedulers; built from the sources' `dump`, one from a public report."""

from lsmlens.analyzer.qos.queue_states import QueueState, read_queue_states

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
