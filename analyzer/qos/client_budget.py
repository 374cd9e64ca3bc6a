"""What is left for clients of an HDD's time: each recovered object takes so much of it.

IOPS = base * (1 - objects per second * seconds per object), `base` without recovery. Rates are of the cluster; the
seconds are those of the OSD that gets the objects, for it is in most writes and its device is the first without time.
Fitted on one row of the published study (WPQ without limits, HDD with WAL and database on NVMe: 146 of 340 IOPS at
14.4 objects/s): 39.6 ms, of which 26.7 ms are 4 MiB at 150 MiB/s.
"""

from dataclasses import dataclass

OBJECT_BYTES = 4 << 20
# Beyond copying its bytes, what an object costs a device: seeks, and the transaction's small writes.
OVERHEAD_SECONDS = 12.9e-3
# Without a fast device for WAL and database, as the same row on plain HDDs has it.
OVERHEAD_SECONDS_ON_ONE_DEVICE = 79.3e-3


@dataclass(frozen=True, slots=True)
class ClientBudget:
    """Clients' IOPS during recovery, and the share of the device's time that recovery takes."""

    iops: float
    recovery_share: float


def seconds_per_object(bytes_per_second: float, has_own_db: bool, object_bytes: float = OBJECT_BYTES) -> float:
    """The device's seconds for one recovered object."""
    overhead = OVERHEAD_SECONDS if has_own_db else OVERHEAD_SECONDS_ON_ONE_DEVICE
    return object_bytes / bytes_per_second + overhead


def client_budget(base_iops: float, objects_per_second: float, object_seconds: float) -> ClientBudget:
    """What is left for clients at a rate of recovery; nothing once recovery takes all the time."""
    share = min(1.0, objects_per_second * object_seconds)
    return ClientBudget(base_iops * (1 - share), share)
