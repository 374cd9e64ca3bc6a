"""Which class a message falls in, by release."""

import pytest
from lsmlens.analyzer.qos.service_classes import ServiceClass, message_classes, recovery_class


@pytest.mark.parametrize(
    ("priority", "release", "expected"),
    [
        (5, (18, 2, 7), ServiceClass.BEST_EFFORT),
        (10, (18, 2, 7), ServiceClass.RECOVERY),
        (20, None, ServiceClass.RECOVERY),
        (196, (18, 2, 7), ServiceClass.IMMEDIATE),
        (5, (16, 2, 15), ServiceClass.RECOVERY),
        (3, (17, 2, 6), ServiceClass.RECOVERY),
    ],
)
def test_recovery_by_priority(priority: int, release: tuple[int, int, int] | None, expected: ServiceClass) -> None:
    assert recovery_class(priority, release) is expected


def test_messages_of_both_eras() -> None:
    new = {one.message: one.service_class for one in message_classes((19, 2, 3))}
    old = {one.message: one.service_class for one in message_classes((16, 2, 15))}
    assert new["recovery: only misplaced"] is ServiceClass.BEST_EFFORT
    assert old["recovery and backfill"] is ServiceClass.RECOVERY
    for said in (new, old):
        assert said["replica writes, all replies"] is ServiceClass.IMMEDIATE
        assert said["client operations, backoffs"] is ServiceClass.CLIENT
