"""What is asked of a search."""

from dataclasses import dataclass

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.search.scores import Objective


@dataclass(frozen=True, slots=True)
class TuningRequest:
    """What was asked for. `weight` is what the log that is searched around, `log`, counts beside others.

    `trials` ends the screening after so many candidates with scores, and the budget then ends nothing: so the end is
    the same however often it was interrupted. `batch` is how many candidates are screened at once. `finalists` go into
    the finals, which replay `draws` workloads each, the best fit one of them.
    """

    objective: Objective = Objective.BALANCED
    budget_seconds: float = 600.0
    trials: int | None = None
    frozen: tuple[str, ...] = ()
    memory_bytes: int | None = None
    candidates: tuple[OptionSet, ...] = ()
    batch: int = 2
    seed: int = 1
    finalists: int = 3
    draws: int = 4
    log: str | None = None
    weight: float = 1.0


class Budget:
    """The time a search may take, over all its sittings. With `trials`, its end is not by time."""

    def __init__(self, request: TuningRequest, spent_seconds: float, now: float) -> None:
        self._limit = None if request.trials is not None else request.budget_seconds
        self._spent = spent_seconds
        self._started = now

    def spent(self, now: float) -> float:
        """Seconds so far, those of earlier sittings included."""
        return self._spent + now - self._started

    def has(self, share: float, now: float) -> bool:
        """Whether less than this share of the budget is spent."""
        return self._limit is None or self.spent(now) < share * self._limit

    def left(self, now: float) -> float | None:
        """Seconds that are left, 0 at the least; None where time is no limit."""
        return None if self._limit is None else max(0.0, self._limit - self.spent(now))
