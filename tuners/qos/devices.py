"""What an OSD's data lies on: a device that does one thing after the other, and a disk with its elevator."""

from collections.abc import Callable
from functools import partial
from heapq import heappop, heappush
from random import Random
from typing import Protocol

from lsmlens.tuners.qos.timing import after
from simpy import Environment


class Device(Protocol):
    """What serves reads and writes."""

    def serve(self, seconds: float, then: Callable[[], None]) -> None:
        """Do what takes so many seconds, and call `then` when it is done."""


class Line:
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
