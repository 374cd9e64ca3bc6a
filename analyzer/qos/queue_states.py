"""The operation queues of an OSD at one moment: what `dump_op_pq_state` prints, of either scheduler.

    {"OSD:ShardedOpWQ:0": {"queue_sizes": {"high_priority_queue": 0, "scheduler": 2}, "mClockClients": {…}, …}, …}
    {"OSD:ShardedOpWQ:0": {"high_queues": [], "queues": [66, 20971520, {"priority": 63, "num_keys": 2, …}]}, …}

17.2 and earlier call the first size `immediate`. Source: `dump` of the two schedulers and of `ShardedOpWQ`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_OUTSIDE = re.compile(r"client:\{ class_id: (?:3|client) client_id: (\d+)")
_SHARD = re.compile(r"OSD:ShardedOpWQ:(\d+)")


@dataclass(frozen=True, slots=True)
class QueueState:
    """One shard's queue: operations above the scheduler (strict), and those that it schedules.

    `clients` are the clients outside that mClock tells apart, None for WPQ.
    """

    shard: int
    scheduler: str
    strict: int
    scheduled: int
    clients: int | None = None


def read_queue_states(document: object) -> tuple[QueueState, ...] | None:
    """The shards' queues in order; None for a document that is no such dump."""
    if not isinstance(document, Mapping):
        return None
    states = []
    for name, shard in document.items():
        match = _SHARD.fullmatch(name) if isinstance(name, str) else None
        if match is not None and isinstance(shard, Mapping):
            states.append(_read(int(match[1]), shard))
    return tuple(sorted(states, key=lambda state: state.shard)) if states else None


def _read(number: int, shard: Mapping[str, object]) -> QueueState:
    sizes = shard.get("queue_sizes")
    if isinstance(sizes, Mapping):
        strict = _count(sizes.get("high_priority_queue", sizes.get("immediate")))
        return QueueState(number, "mclock_scheduler", strict, _count(sizes.get("scheduler")), _clients(shard))
    return QueueState(number, "wpq", _operations(shard.get("high_queues")), _operations(shard.get("queues")))


def _clients(shard: Mapping[str, object]) -> int:
    """Of the clients' text: `{ client:{ class_id: 3 client_id: 4153 profile_id: 0 }, record:…`; 3 are those outside."""
    holder = shard.get("mClockClients")
    text = holder.get("clients") if isinstance(holder, Mapping) else None
    return len(set(_OUTSIDE.findall(text))) if isinstance(text, str) else 0


def _operations(queue: object) -> int:
    """Operations of WPQ's list: of each priority only those of the owner whose turn it is are printed."""
    if not isinstance(queue, list):
        return 0
    return sum(_count(entry.get("num_keys")) for entry in queue if isinstance(entry, Mapping))


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
