"""What serves reads and writes, and who keeps a processor busy: line, elevator, the store's throttle, workers."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

import pytest
from lsmlens.analyzer.qos.service_classes import ServiceClass
from lsmlens.tuners.qos.devices import Disk, Processors, Server, spins_at_limit
from lsmlens.tuners.qos.dmclock import DmClockQueue, Share
from lsmlens.tuners.qos.hardware import HDD, NVME, Hardware
from lsmlens.tuners.qos.operations import QueuedOperation, Release
from lsmlens.tuners.qos.osd import Shard, Store
from lsmlens.tuners.qos.scenario import Scenario
from lsmlens.tuners.qos.simulation import simulate
from simpy import Environment

Study = Callable[..., Scenario]


def nothing(release: Release) -> None:
    release()


def test_a_line_serves_in_the_order_of_arrival() -> None:
    environment, done = Environment(), list[tuple[int, float]]()
    line = Server(environment)
    for number, seconds in enumerate((3.0, 1.0, 2.0)):
        line.serve(seconds, lambda number=number: done.append((number, environment.now)))  # type: ignore[misc]
    environment.run()
    assert done == [(0, 3.0), (1, 4.0), (2, 6.0)]


def test_a_disk_serves_all_in_sweeps() -> None:
    """The disk is never idle while something waits, and does not go by the order of arrival."""
    environment, done = Environment(), dict[int, float]()
    disk = Disk(environment, Random(3))
    for number in range(50):
        disk.serve(1.0, lambda number=number: done.update({number: environment.now}))  # type: ignore[misc]
    environment.run()
    assert sorted(done.values()) == [float(moment) for moment in range(1, 51)]
    assert list(done) != sorted(done)


def test_a_disk_starves_nobody() -> None:
    environment, waits, random = Environment(), list[float](), Random(4)
    disk = Disk(environment, random)

    def again() -> None:
        began = environment.now

        def done() -> None:
            waits.append(environment.now - began)
            again()

        disk.serve(1.0, done)

    for _ in range(20):
        again()
    environment.run(until=5000)
    assert sum(waits) / len(waits) == pytest.approx(20, rel=0.02)
    assert max(waits) < 100  # an order by chance alone would come to twice that


def writes(hardware: Hardware, throttle_bytes: int, *sizes: int) -> tuple[list[float], list[float]]:
    """When writes that come at once are let in, and when they are safe."""
    environment, admitted, safe = Environment(), list[float](), list[float]()
    store = Store(environment, hardware, throttle_bytes, Random(1), Processors(4))
    for size in sizes:
        store.write(size, lambda: admitted.append(environment.now), lambda: safe.append(environment.now))
    environment.run()
    return admitted, safe


def test_the_throttle_is_released_before_the_batch_is_synced() -> None:
    sync = 0.5
    hardware = replace(NVME, kv_batch_seconds=sync)
    admitted, safe = writes(hardware, 256 << 10, 4 << 20, 4096)
    push = (4 << 20) / hardware.write_bytes_per_second + hardware.device_delay_seconds
    assert admitted == pytest.approx([0.0, push + hardware.kv_transaction_seconds])
    assert safe[0] == pytest.approx(admitted[1] + sync)


def test_the_throttle_counts_blobs_and_no_deferred_write() -> None:
    per_io = HDD.throttle_cost_per_io
    object_cost, small_cost = (4 << 20) + 65 * per_io, 4096 + per_io
    fits = object_cost + small_cost
    assert writes(HDD, fits, 4 << 20, 4096)[0] == [0.0, 0.0]
    assert writes(HDD, fits - 1, 4 << 20, 4096)[0][1] > 0


@pytest.mark.parametrize(
    ("release", "spins"), [((16, 2, 15), True), ((17, 2, 3), True), ((17, 2, 4), False), ((18, 2, 7), False)]
)
def test_releases_that_spin(release: tuple[int, int, int], spins: bool) -> None:
    assert spins_at_limit(release) is spins


def test_of_an_unknown_release_it_is_not_said() -> None:
    assert not spins_at_limit(None)


@pytest.mark.parametrize(("spins", "stretched"), [(True, 4 / 3), (False, 1.0)])
def test_a_queue_at_its_limit_takes_a_processor(spins: bool, stretched: float) -> None:
    environment, processors = Environment(), Processors(4)
    queue = DmClockQueue({ServiceClass.RECOVERY: Share(0, 1, 1)})
    shard = Shard(environment, queue, 2, processors, spins)
    for _ in range(3):
        shard.add(QueuedOperation(ServiceClass.RECOVERY, 3, 0, 10, 0, 0.0, nothing))
    environment.run(until=1.0)  # one is through, two wait for the limit
    assert processors.seconds(1.0) == pytest.approx(stretched)
    environment.run(until=40.0)  # nothing waits any more
    assert processors.seconds(1.0) == 1.0


def test_workers_that_spin_cost_clients_not_the_recovery(study: Study) -> None:
    scenario = study("nvme", "high_client_ops", 200)
    scenario = replace(scenario, seconds=0.35, recovery=replace(scenario.recovery, start_seconds=0.05))
    calm = replace(scenario, scheduler=replace(scenario.scheduler, spins=False))
    spinning, sleeping = simulate(scenario), simulate(calm)
    clients = [outcome.client(0.1) for outcome in (spinning, sleeping)]
    assert clients[0] is not None
    assert clients[1] is not None
    assert clients[0].iops < 0.9 * clients[1].iops
    assert spinning.objects_per_second(0.1) == pytest.approx(sleeping.objects_per_second(0.1), rel=0.15)
