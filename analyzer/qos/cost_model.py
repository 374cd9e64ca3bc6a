"""What mClock charges an operation: the cost models of Ceph's releases.

16.2 and 17.2.0 to 17.2.6 count in units of one small operation: `max(1, round(per_io + per_byte * bytes))`, the
constants in milliseconds for SSDs and in seconds for HDDs. 17.2.7 and later count bytes:
`max(1, bytes, floor(bandwidth / IOPS))`. Source: `mClockScheduler.cc` of each line.
"""

from dataclasses import dataclass
from enum import StrEnum
from math import floor

from lsmlens.analyzer.qos.service_classes import BYTE_COSTS

# Constants of 16.2 and 17.2.0 to 17.2.6 in microseconds, where config show does not have them.
USEC_PER_IO = {"ssd": 50.0, "hdd": 25_000.0}
USEC_PER_BYTE = {"ssd": 0.011, "hdd": 5.2}
# By what the two kinds of device divide their microseconds.
_MICROS_PER_UNIT = {"ssd": 1e3, "hdd": 1e6}

RECOVERY_COST_BYTES = 20 << 20  # osd_recovery_cost
PUSH_PER_OBJECT_BYTES = 1000  # osd_push_per_object_cost
RECOVERY_CHUNK_BYTES = 8 << 20  # osd_recovery_max_chunk


class CostUnit(StrEnum):
    """What a cost model counts in."""

    OPERATIONS = "operations"
    BYTES = "bytes"


@dataclass(frozen=True, slots=True)
class CostModel:
    """Charges of one OSD's scheduler, in `unit`.

    `per_io` is the charge of an operation without data, `per_byte` what each byte adds (operations) or the floor's
    counterpart (bytes).
    """

    unit: CostUnit
    per_io: float
    per_byte: float

    def cost(self, byte_count: float) -> int:
        """The charge of an operation that carries so many bytes."""
        if self.unit is CostUnit.BYTES:
            return max(1, int(byte_count), int(self.per_io))
        return max(1, floor(self.per_io + self.per_byte * byte_count + 0.5))

    @property
    def crossover_bytes(self) -> float:
        """Operations above this size are charged by size, those below as one small operation."""
        if self.unit is CostUnit.BYTES:
            return self.per_io
        return max(0.0, (1.5 - self.per_io) / self.per_byte) if self.per_byte else 0.0


def unit_costs(kind: str, per_io_usec: float | None = None, per_byte_usec: float | None = None) -> CostModel:
    """The model of 16.2 and 17.2.0 to 17.2.6 for a `kind` of device, `ssd` or `hdd`."""
    per_unit = _MICROS_PER_UNIT[kind]
    return CostModel(
        CostUnit.OPERATIONS,
        (USEC_PER_IO[kind] if per_io_usec is None else per_io_usec) / per_unit,
        (USEC_PER_BYTE[kind] if per_byte_usec is None else per_byte_usec) / per_unit,
    )


def byte_costs(bytes_per_second: float, iops: float) -> CostModel:
    """The model of 17.2.7 and later for an OSD's sequential bandwidth and capacity."""
    return CostModel(CostUnit.BYTES, max(1.0, bytes_per_second) / max(1.0, iops), 1.0)


def counts_bytes(release: tuple[int, int, int] | None) -> bool:
    """Whether a release charges bytes; so does one that is not known."""
    return release is None or release >= BYTE_COSTS


@dataclass(frozen=True, slots=True)
class RecoveryCharges:
    """What one recovered object is charged, in the model's unit.

    `start` and `reply` are charged to the placement group's queue on its primary, `push` to its queue on the OSD
    that gets the object.
    """

    start: int
    reply: int
    push: int

    @property
    def at_primary(self) -> int:
        """What bounds recovery: both items that wait in the primary's queue."""
        return self.start + self.reply


def recovery_charges(
    model: CostModel,
    object_bytes: float,
    recovery_cost_bytes: float = RECOVERY_COST_BYTES,
    reply_bytes: float = PUSH_PER_OBJECT_BYTES + RECOVERY_CHUNK_BYTES,
) -> RecoveryCharges:
    """Charges of an object: constants in units of operations, the object's size in bytes.

    Up to 17.2.6 an object costs its primary osd_recovery_cost, and for the reply osd_push_per_object_cost and
    osd_recovery_max_chunk, whatever its size; from 17.2.7 on the mean object size, and next to nothing for the reply.
    """
    if model.unit is CostUnit.OPERATIONS:
        return RecoveryCharges(model.cost(recovery_cost_bytes), model.cost(reply_bytes), model.cost(object_bytes))
    return RecoveryCharges(model.cost(object_bytes), model.cost(1), model.cost(object_bytes))
