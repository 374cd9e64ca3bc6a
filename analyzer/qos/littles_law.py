"""Little's law as a check of what a load program printed: IOPS * mean latency = operations on their way.

A closed loop keeps `depth` operations on their way in each of its processes. A result that says otherwise is of
another length of time than it claims, of a rate-limited load, or of something else altogether, and no figure of it
should be built on. fio's completion latency leaves submission out, so a result may fall a little short.
"""

from dataclasses import dataclass

from lsmlens.analyzer.clients.client_results import ClientResult

# Ours: the published study's rows agree within 3 %; submission and warm-up may take some per cent more.
TOLERANCE = 0.10


@dataclass(frozen=True, slots=True)
class LittleCheck:
    """A result's operations on their way, as it says (`depth`) and as its figures come to (`in_flight`)."""

    source: str
    operation: str | None
    depth: int
    in_flight: float

    @property
    def deviation(self) -> float:
        """By what share the figures are off."""
        return self.in_flight / self.depth - 1

    @property
    def holds(self) -> bool:
        """Whether the figures agree with the depth."""
        return abs(self.deviation) <= TOLERANCE


def check_littles_law(result: ClientResult) -> LittleCheck | None:
    """The check of one result; None where it lacks a figure, or was cut."""
    if not result.is_complete or not result.depth or not result.iops or not result.latency_mean_seconds:
        return None
    depth = result.depth * (result.processes or 1)
    return LittleCheck(result.source, result.operation, depth, result.iops * result.latency_mean_seconds)
