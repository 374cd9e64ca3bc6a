"""What a simulation measured."""

from array import array
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ClientFigures:
    """What clients got in a stretch of time; latencies in seconds."""

    iops: float
    mean_seconds: float
    p95_seconds: float


@dataclass(slots=True)
class Outcome:
    """Writes that were done and objects that were recovered, each with its moment in seconds.

    `contended_share` is the part of the queues' turns in which the scheduler had something to order.
    """

    seconds: float
    contended_share: float = 0.0
    write_moments: "array[float]" = field(default_factory=lambda: array("d"))
    write_seconds: "array[float]" = field(default_factory=lambda: array("d"))
    object_moments: "array[float]" = field(default_factory=lambda: array("d"))

    def add_write(self, moment: float, seconds: float) -> None:
        """Note a client's write."""
        self.write_moments.append(moment)
        self.write_seconds.append(seconds)

    def add_object(self, moment: float) -> None:
        """Note a recovered object."""
        self.object_moments.append(moment)

    def client(self, begin: float = 0.0, end: float | None = None) -> ClientFigures | None:
        """What clients got from `begin` to `end`, the end of the run by default; None if nothing was done."""
        end = self.seconds if end is None else end
        latencies = sorted(
            seconds
            for moment, seconds in zip(self.write_moments, self.write_seconds, strict=True)
            if begin <= moment < end
        )
        if not latencies:
            return None
        p95 = latencies[min(len(latencies) - 1, int(0.95 * len(latencies)))]
        return ClientFigures(len(latencies) / (end - begin), sum(latencies) / len(latencies), p95)

    def objects_per_second(self, begin: float = 0.0, end: float | None = None) -> float:
        """The rate of recovery from `begin` to `end`, the end of the run by default."""
        end = self.seconds if end is None else end
        return sum(begin <= moment < end for moment in self.object_moments) / (end - begin)
