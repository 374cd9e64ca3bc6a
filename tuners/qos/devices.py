"""What a simulated OSD keeps busy: the host's processors, a device that does one thing after the other, a disk.

Up to 17.2.3 the first worker of a queue whose classes are all at their limits does not sleep until one of them is
due: it asks again and again (tracker 56530, fixed by PR 47216). Each such worker takes a hardware thread from all else
that runs on the host, which on a host with few to spare makes everything slower, and clients most.
"""

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from lsmlens.analyzer.qos.settings import Release
from simpy import Environment
from simpy.events import Timeout

# What is left to everything else, however many workers ask.
LEAST_SHARE = 0.1
SLEEPS_AT_LIMIT: Release = (17, 2, 4)


def after(environment: Environment, seconds: float, callback: Callable[[], None]) -> None:
    """Call something so many seconds from now; without a process of its own, for there are millions of these."""
    timeout = Timeout(environment, seconds)
    assert timeout.callbacks is not None
    timeout.callbacks.append(lambda _: callback())


def spins_at_limit(release: Release | None) -> bool:
    """Whether a release's workers keep a processor busy while their queue is at its limits."""
    return release is not None and release < SLEEPS_AT_LIMIT


class Processors:
    """Hardware threads of the simulated OSDs' hosts, taken as one."""

    def __init__(self, threads: float) -> None:
        self._threads = threads
        self._spinning = 0
        self._stretch = 1.0

    def spin(self, change: int) -> None:
        """One worker more, or less, asks its queue again and again."""
        self._spinning += change
        self._stretch = 1 / max(LEAST_SHARE, 1 - self._spinning / self._threads)

    def seconds(self, seconds: float) -> float:
        """How long something takes now that takes so long on processors of its own."""
        return seconds * self._stretch


class Device(Protocol):
    """What serves reads and writes."""

    def serve(self, seconds: float, then: Callable[[], None]) -> None:
        """Do what takes so many seconds, and call `then` when it is done."""


class Server:
    """Something that does one thing after the other."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._free_at = 0.0

    def occupy(self, seconds: float) -> float:
        """Take it for so long; returns the seconds from now until that is done."""
        now = self._environment.now
        self._free_at = max(now, self._free_at) + seconds
        return self._free_at - now

    def serve(self, seconds: float, then: Callable[[], None]) -> None:
        """Do it after everything that came before."""
        after(self._environment, self.occupy(seconds), then)


class Disk:
    """A disk whose elevator serves what waits in the order of its place, sweep after sweep; places are by chance."""

    def __init__(self, environment: Environment, random: Random) -> None:
        self._environment = environment
        self._random = random
        self._sweep: list[tuple[float, int, float, Callable[[], None]]] = []
        self._next_sweep: list[tuple[float, int, float, Callable[[], None]]] = []
        self._head = 0.0
        self._count = 0
        self._is_busy = False

    def serve(self, seconds: float, then: Callable[[], None]) -> None:
        """Put it in this sweep if its place is still to come, else in the next."""
        place = self._random.random()
        self._count += 1
        heappush(self._sweep if place >= self._head else self._next_sweep, (place, self._count, seconds, then))
        if not self._is_busy:
            self._next()

    def _next(self) -> None:
        if not self._sweep:
            self._sweep, self._next_sweep = self._next_sweep, self._sweep
        self._is_busy = bool(self._sweep)
        if self._sweep:
            self._head, _, seconds, then = heappop(self._sweep)
            after(self._environment, seconds, partial(self._done, then))

    def _done(self, then: Callable[[], None]) -> None:
        self._next()
        then()
