"""Whether arms did the same work: if not, totals are not comparable, and what is per unit of work is."""

from dataclasses import dataclass

from lsmlens.analyzer.comparison.arms import Arm

# More than this apart, two amounts of work are not the same.
TOLERANCE = 0.05

# What stands for the work, best first: the first that both arms tell of is asked. Counters count only where they are of
# the log's time.
MEASURES = {
    "client_write_bytes": "client bytes written",
    "flushed_records": "records into flushes",
    "user_bytes": "bytes users wrote",
    "log_duration_seconds": "the logs' duration",
}


@dataclass(frozen=True, slots=True)
class Work:
    """One arm's work against the baseline's. `measure` is a metric's name; None where nothing tells of the work."""

    arm: str
    measure: str | None
    ratio: float | None
    daemons: tuple[int, int]
    """How many of them are added up, in the baseline and here."""

    @property
    def is_by_time(self) -> bool:
        """Whether nothing but the logs' durations tells of the work."""
        return self.measure == "log_duration_seconds"

    @property
    def is_equal(self) -> bool:
        """Whether totals may be compared: same number of daemons, and the same work as far as anything tells."""
        if self.daemons[0] != self.daemons[1]:
            return False
        return self.ratio is None or abs(self.ratio - 1) <= TOLERANCE

    @property
    def reason(self) -> str:
        """Why totals may not be compared, in words."""
        if self.daemons[0] != self.daemons[1]:
            return f"{self.daemons[1]} daemons against {self.daemons[0]}"
        assert self.measure is not None
        assert self.ratio is not None
        what = "unequal time" if self.is_by_time else "unequal work"
        return f"{what}: {MEASURES[self.measure]} {change(self.ratio)}"


def work_of(baseline: Arm, arm: Arm) -> Work:
    """How an arm's work compares, by the best measure that both tell of."""
    daemons = (_daemons(baseline), _daemons(arm))
    for measure in MEASURES:
        if measure.startswith("client") and not (_counters_fit(baseline) and _counters_fit(arm)):
            continue
        amounts = [_mean(one, measure) for one in (baseline, arm)]
        if amounts[0] and amounts[1]:
            return Work(arm.name, measure, amounts[1] / amounts[0], daemons)
    return Work(arm.name, None, None, daemons)


def work_notices(baseline: Arm, arm: Arm, work: Work) -> list[str]:
    """What to say of an arm's work and duration before any verdict."""
    said = []
    if not work.is_equal:
        said.append(
            f"{work.reason} to {baseline.name}'s: totals are not compared; what is per unit of work or of time is"
        )
    elif work.is_by_time:
        said.append("nothing but the logs' durations tells of the work done: totals are compared as of the same work")
    elif work.measure == "client_write_bytes":
        records = [_mean(one, "flushed_records") for one in (baseline, arm)]
        if records[0] and records[1] and abs(records[1] / records[0] - 1) > TOLERANCE:
            said.append(
                f"records into flushes {change(records[1] / records[0])} for the same client bytes:"
                " the daemon itself wrote more or less"
            )
    if work.is_by_time:
        return said
    seconds = [_mean(one, "log_duration_seconds") for one in (baseline, arm)]
    if seconds[0] and seconds[1] and abs(seconds[1] / seconds[0] - 1) > TOLERANCE:
        took = "its log covers" if not work.is_equal else "the same work took"
        said.append(
            f"{took} {seconds[1]:.4g} s, {change(seconds[1] / seconds[0])} to {baseline.name}'s {seconds[0]:.4g} s"
        )
    return said


def change(ratio: float) -> str:
    """A ratio as a change in per cent: `+5.8 %`; as a factor from three times on: `x4.2`."""
    if ratio >= 3:
        return f"x{ratio:.3g}" if ratio < 1000 else ">x1000"
    percent = 100 * (ratio - 1)
    if percent < -99.95:
        return "-100 %"
    return f"{percent:+.1f} %" if abs(percent) >= 0.05 else "±0.0 %"


def _mean(arm: Arm, measure: str) -> float | None:
    values = [one.values.get(measure) for one in arm.observations]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _daemons(arm: Arm) -> int:
    return max((len(one.daemons) for one in arm.observations), default=0) or 1


def _counters_fit(arm: Arm) -> bool:
    return all(one.daemons and all(daemon.covers_counters for daemon in one.daemons) for one in arm.observations)
