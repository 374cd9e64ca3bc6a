"""What presses on a column family over time: its files in level 0 and its full memtables that wait for a flush.

Level 0 is as finished jobs leave it (`lsm_state`), memtables as flushes leave them (`immutable_memtables`) and as lines
tell of a switch to a new one; between two such moments both are as the first left them, until the next open.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from heapq import merge

from lsmlens.analyzer.events import EventKind
from lsmlens.analyzer.run import Run

STEPS = 120


@dataclass(slots=True)
class Course:
    """One number over time: its peak, its mean by time, and peak and mean in each step; None where it is not known.

    The mean is over the time the number is known; without a length of time, it is of none.
    """

    steps: int
    peak: int | None = None
    known_micros: int = 0
    weighted: float = 0.0
    most: list[int | None] = field(default_factory=list)
    step_weighted: list[float] = field(default_factory=list)
    step_micros: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.most = [None] * self.steps
        self.step_weighted = [0.0] * self.steps
        self.step_micros = [0] * self.steps

    @property
    def mean(self) -> float | None:
        """Mean by time."""
        return self.weighted / self.known_micros if self.known_micros else None

    @property
    def means(self) -> list[float | None]:
        """Mean by time in each step."""
        return [
            weighted / micros if micros else None
            for weighted, micros in zip(self.step_weighted, self.step_micros, strict=True)
        ]

    def see(self, step: int, value: int) -> None:
        """The number is so much at a moment in that step."""
        self.peak = max(value, self.peak or 0)
        self.most[step] = max(value, self.most[step] or 0)

    def hold(self, step: int, value: int, micros: int) -> None:
        """It stays so for a time within that step."""
        self.see(step, value)
        self.known_micros += micros
        self.weighted += value * micros
        self.step_micros[step] += micros
        self.step_weighted[step] += value * micros


@dataclass(frozen=True, slots=True)
class PressureSeries:
    """Courses by column family, over equal steps from `start_micros` (UTC) on."""

    start_micros: int
    step_micros: int
    level0_files: dict[str, Course]
    immutable_memtables: dict[str, Course]


def measure_pressure_series(run: Run) -> PressureSeries | None:
    """The series over all of a run; None where nothing tells when it was."""
    first, last = run.stamps.first, run.stamps.last
    if first is None or last is None:
        return None
    offset = 1000 * (run.utc_offset_seconds or 0)
    start, end = (first - offset) * 1000, (last - offset + 1) * 1000
    length = max(1, -(-(end - start) // STEPS))
    found: tuple[dict[str, Course], dict[str, Course]] = {}, {}
    states: tuple[dict[str, tuple[int, int]], dict[str, tuple[int, int]]] = {}, {}
    for micros, what, family, value in merge(_opens(run, offset), _finished(run), _switched(run, offset)):
        if what == _OPEN:
            for before in states:
                before.clear()
            continue
        course = found[what].get(family) or found[what].setdefault(family, Course(STEPS))
        known = states[what].get(family)
        if known is not None:
            _hold(course, known, micros, start, length)
        course.see(min(STEPS - 1, max(0, (micros - start) // length)), value)
        states[what][family] = micros, value
    return PressureSeries(start, length, *found)


def _hold(course: Course, known: tuple[int, int], until: int, start: int, length: int) -> None:
    """Spread what was known over the steps between then and now."""
    since, value = max(known[0], start), known[1]
    until = min(until, start + length * STEPS)
    while since < until:
        step = (since - start) // length
        stop = min(until, start + (step + 1) * length)
        course.hold(step, value, stop - since)
        since = stop


_Point = tuple[int, int, str, int]
_OPEN, _LEVEL0, _MEMTABLES = -1, 0, 1


def _opens(run: Run, offset: int) -> Iterator[_Point]:
    for session in run.sessions:
        if session.opened_at_millis is not None:
            yield (session.opened_at_millis - offset) * 1000, _OPEN, "", 0


def _finished(run: Run) -> Iterator[_Point]:
    for event in run.events:
        family = event.get("column_family")
        if family is None or event["event"] not in _FINISHED:
            continue
        if state := event.get("lsm_state"):
            yield event["time_micros"], _LEVEL0, family, state[0]
        immutable = event.get("immutable_memtables")
        if immutable is not None:
            yield event["time_micros"], _MEMTABLES, family, immutable


def _switched(run: Run, offset: int) -> Iterator[_Point]:
    for millis, family, immutable in run.memtable_switches:
        yield (millis - offset) * 1000, _MEMTABLES, family, immutable


_FINISHED = frozenset({EventKind.FLUSH_FINISHED.value, EventKind.COMPACTION_FINISHED.value})
