"""Service classes: which queue an operation waits in, by the release that runs it.

Source: `OpSchedulerItem.h` of each line. From 17.2.7 on, recovery and its messages are classed by priority, which
says how urgent the placement group's recovery is; before, all of it is one class. What is `immediate` waits in a
strict queue above the scheduler: it takes part in no reservation, weight or limit.
"""

from dataclasses import dataclass
from enum import StrEnum

# Recovery's priorities under mClock (`PeeringState.h`), and the one from which an operation is immediate.
DEGRADED_PRIORITY = 10
MISPLACED_PRIORITY = 5
HIGH_PRIORITY = 196

# The first release whose costs are bytes and whose recovery is classed by priority.
BYTE_COSTS = (17, 2, 7)


class ServiceClass(StrEnum):
    """What mClock tells apart."""

    IMMEDIATE = "immediate"
    CLIENT = "client"
    RECOVERY = "background recovery"
    BEST_EFFORT = "background best effort"


SCHEDULED = (ServiceClass.CLIENT, ServiceClass.RECOVERY, ServiceClass.BEST_EFFORT)


@dataclass(frozen=True, slots=True)
class MessageClass:
    """A kind of message or work item, and the class it falls in."""

    message: str
    service_class: ServiceClass
    note: str = ""


def recovery_class(priority: int, release: tuple[int, int, int] | None) -> ServiceClass:
    """The class of recovery at a priority; for an unknown release as in current ones."""
    if priority >= HIGH_PRIORITY:
        return ServiceClass.IMMEDIATE
    if release is not None and release < BYTE_COSTS:
        return ServiceClass.RECOVERY
    return ServiceClass.RECOVERY if priority >= DEGRADED_PRIORITY else ServiceClass.BEST_EFFORT


def message_classes(release: tuple[int, int, int] | None) -> tuple[MessageClass, ...]:
    """Every kind of message, in the order in which a person asks; for an unknown release as in current ones."""
    if release is not None and release < BYTE_COSTS:
        of_recovery = [MessageClass("recovery and backfill", ServiceClass.RECOVERY, "PGRecovery, push, pull, scans")]
    else:
        urgent, lazy = "PGRecovery, push, pull: priority 10+", "backfill, rebalancing: priority 5"
        of_recovery = [
            MessageClass("recovery: degraded, undersized, forced", ServiceClass.RECOVERY, urgent),
            MessageClass("recovery: only misplaced", ServiceClass.BEST_EFFORT, lazy),
        ]
    return (
        MessageClass("client operations, backoffs", ServiceClass.CLIENT, "MOSDOp"),
        MessageClass("replica writes, all replies", ServiceClass.IMMEDIATE, "MOSDRepOp: 2 of 3 writes at size 3"),
        MessageClass("erasure-code sub-reads and -writes", ServiceClass.IMMEDIATE, "those of recovery too"),
        MessageClass("peering", ServiceClass.IMMEDIATE),
        *of_recovery,
        MessageClass("scrub, snapshot trim, group removal", ServiceClass.BEST_EFFORT),
    )
