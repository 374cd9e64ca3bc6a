"""The stages of an OSD operation: the times between two events, grouped by what the operation waited for.

An interval belongs to what ended it, unless its first event says what is waited for:

| group       | intervals that end with                                   | what it is                               |
|-------------|-----------------------------------------------------------|------------------------------------------|
| receive     | header_read, throttled, all_read, dispatched,             | the message comes in; `throttled` waits  |
|             | queued_for_pg                                             | for osd_client_message_cap and the like  |
| queue       | reached_pg                                                | the op queue (WPQ, mClock) and then the  |
|             |                                                           | PG's lock: events do not part the two    |
| pg          | started, waiting for subops                               | work under the PG's lock: onode look-up, |
|             |                                                           | preparing the transaction                |
| blocked     | anything, after `waiting for …` (not subops), `delayed …` | a degraded object, rw locks, scrub, maps |
| kv commit   | op_commit, sub_op_commit(ted), commit_sent after started  | BlueStore: the data's write, kv queue,   |
|             |                                                           | kv commit, which events do not part      |
| device      | FileStore's journal and apply; done after started         | a disk; for reads, reading the object    |
| replication | sub_op_commit_rec, sub_op_applied_rec                     | replicas, beyond what is local           |
| reply       | commit_sent, done                                         | the answer, and clearing up              |

After the last event of an operation in flight, it is the group its next event would most likely end.
"""

from enum import StrEnum
from typing import NamedTuple

DONE = "done"
IN_FLIGHT = "(in flight)"
STARTED = "started"
SUBOPS = "waiting for subops"
MESSENGER_EVENTS = ("initiated", "header_read", "throttled", "all_read", "dispatched")


class StageGroup(StrEnum):
    """What an operation waited for."""

    RECEIVE = "receive"
    QUEUE = "queue"
    PG = "pg"
    BLOCKED = "blocked"
    KV_COMMIT = "kv commit"
    DEVICE = "device"
    REPLICATION = "replication"
    REPLY = "reply"
    OTHER = "other"


class Stage(NamedTuple):
    """The time from one event to the next; `start_seconds` is since the operation's first event."""

    since: str
    until: str
    group: StageGroup
    start_seconds: float
    seconds: float


_ENDED_BY = {
    **dict.fromkeys((*MESSENGER_EVENTS, "queued_for_pg"), StageGroup.RECEIVE),
    "reached_pg": StageGroup.QUEUE,
    STARTED: StageGroup.PG,
    SUBOPS: StageGroup.PG,
    **dict.fromkeys(("op_commit", "sub_op_commit", "sub_op_committed"), StageGroup.KV_COMMIT),
    "commit_queued_for_journal_write": StageGroup.DEVICE,
    "write_thread_in_journal_buffer": StageGroup.DEVICE,
    "journaled_completion_queued": StageGroup.DEVICE,
    **dict.fromkeys(("op_applied", "sub_op_applied"), StageGroup.DEVICE),
    **dict.fromkeys(("sub_op_commit_rec", "sub_op_applied_rec"), StageGroup.REPLICATION),
    **dict.fromkeys(("commit_sent", DONE), StageGroup.REPLY),
}
_AFTER_STARTED = {"commit_sent": StageGroup.KV_COMMIT, DONE: StageGroup.DEVICE}
_IN_FLIGHT_SINCE = {
    **dict.fromkeys(MESSENGER_EVENTS, StageGroup.RECEIVE),
    "queued_for_pg": StageGroup.QUEUE,
    "reached_pg": StageGroup.PG,
    STARTED: StageGroup.KV_COMMIT,
    **dict.fromkeys((SUBOPS, "op_commit", "op_applied", "sub_op_commit_rec"), StageGroup.REPLICATION),
    "commit_sent": StageGroup.REPLY,
}


def stage_group(since: str, until: str, *, reads: bool = False) -> StageGroup:
    """The group of the interval between two events, as the table above has it; `reads` for one that only reads."""
    if since.startswith(("waiting for", "waiting_for", "delayed")) and since != SUBOPS:
        return StageGroup.BLOCKED
    if since == STARTED and until in _AFTER_STARTED:
        return _AFTER_STARTED[until]
    if until == IN_FLIGHT and since == STARTED and reads:
        return StageGroup.DEVICE
    if until == IN_FLIGHT:
        return _IN_FLIGHT_SINCE.get(since, StageGroup.OTHER)
    if until.startswith(("waiting for", "waiting_for", "delayed")) and until != SUBOPS:
        return StageGroup.PG
    return _ENDED_BY.get(until, StageGroup.OTHER)
