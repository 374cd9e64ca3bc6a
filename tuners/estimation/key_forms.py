"""What a family's keys look like, as far as tables show it: bytes that neighbours share, and where new keys sort.

RocksDB stores of each key only what differs from the key before it, but for one key in sixteen. So an uncompressed
table's data bytes say how much neighbours share. Where new keys sort shows in what compactions read of the level they
write to: all of it if keys are scattered, next to nothing if they come in order (such tables are moved, not merged).
"""

import math
from collections.abc import Sequence

from lsmlens.tuners.estimation.history import FamilyHistory, Table
from lsmlens.tuners.workloads.components import Keys, Order

RESTART_INTERVAL = 16
IDENTITY_BYTES = 8
FOOTER_BYTES = 8
# Three lengths as varints: shared, not shared, value; the last takes two bytes from 128 on.
LENGTHS_BYTES = 3
# Block trailers and restart points, as a share of data in blocks of 4 KiB.
BLOCK_SHARE = 0.01
# Keys in order share all but the last byte or so of their identity with the key before, scattered ones only the first.
IDENTITY_SHARED_IN_ORDER = 6
UNCOMPRESSED = ("NoCompression", "kNoCompression", None)
# To which share LZ4 brought values that OSDs write of themselves, whatever clients do: onodes 0.44 to 0.52, entries of
# placement group logs 0.21 to 0.25, on four OSDs.
OF_OSDS = {"O": 0.5, "P": 0.22}
# Below this share of the base level read, new keys come in order.
IN_ORDER = 0.35
# Queues of many places, such as placement groups, each in order; the number matters little beyond that of the tables.
GROUPS = 64


def key_order(family: FamilyHistory, is_queue: bool) -> Order:
    """Where new keys sort among those there are."""
    read = total = 0
    for job in family.compactions:
        if 0 not in job.inputs or not job.outputs or job.output_level == 0:
            continue
        in_level = len(job.inputs.get(job.output_level, ()))
        after = job.level_files[job.output_level] if len(job.level_files) > job.output_level else 0
        before = after - len(job.outputs) + in_level
        if before > 1:
            read += in_level
            total += before
    in_order = total > 4 and read < IN_ORDER * total
    if total <= 4:
        in_order = sum(move.files for move in family.moves) > len(family.compactions)
    if in_order:
        return "sequential"
    return "grouped" if is_queue else "scattered"


def key_form(length: float, order: Order, tables: Sequence[Table], groups: int = GROUPS) -> Keys:
    """Keys of mean `length` bytes, with as long a common front as makes neighbours share what they do in `tables`."""
    length = max(length, 1.0)
    shared = shared_bytes(tables)
    if shared is None:
        shared = max(0.0, length - IDENTITY_BYTES)
    entries = max((table.entries for table in tables), default=1)
    of_identity = IDENTITY_SHARED_IN_ORDER if order != "scattered" else math.log(max(entries, 2)) / math.log(256)
    front = round(min(max(0.0, length - IDENTITY_BYTES), max(0.0, shared - of_identity)))
    return Keys(length=round(length, 2), front=front, order=order, groups=groups if order == "grouped" else 1)


def shared_bytes(tables: Sequence[Table]) -> float | None:
    """Bytes a key shares with the one before it, on average; None where all tables are compressed."""
    plain = [table for table in tables if table.compression in UNCOMPRESSED and table.entries and table.data_bytes]
    entries = sum(table.entries for table in plain)
    if not entries:
        return None
    data = sum(table.data_bytes for table in plain) * (1 - BLOCK_SHARE)
    values = sum(table.value_bytes for table in plain)
    lengths = LENGTHS_BYTES + (values / entries >= 1 << 7)
    stored = (data - values) / entries - lengths - FOOTER_BYTES
    key = sum(table.key_bytes for table in plain) / entries
    return max(0.0, (key - stored) * RESTART_INTERVAL / (RESTART_INTERVAL - 1))


def compression_ratio(tables: Sequence[Table]) -> float | None:
    """The share to which values compress, with all that keys share taken off; None where no table is compressed."""
    packed = [table for table in tables if table.compression not in UNCOMPRESSED and table.entries and table.data_bytes]
    values = sum(table.value_bytes for table in packed)
    if not values:
        return None
    keys = sum(table.entries * (LENGTHS_BYTES + FOOTER_BYTES) for table in packed)
    data = sum(table.data_bytes for table in packed)
    return min(1.0, max(0.02, (data - keys) / values))


def usual_ratio(family: str) -> float:
    """The share to which a family's values would compress where its log does not tell: 1 but for an OSD's own."""
    return OF_OSDS.get(family.partition("-")[0], 1.0)
