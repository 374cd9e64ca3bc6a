"""Files in level 0 over time, as the finished jobs of a log say."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lsmlens.reports.time_bins import TimeBins


@dataclass(frozen=True, slots=True)
class Level0Span:
    """A stretch of bins, from the first on and before the second, with the same most files in level 0."""

    family: str
    since: int
    until: int
    files: int


class Level0History:
    """Follows `lsm_state`: between two events of a family level 0 is as the first left it, until the next open.

    `lane` is what a family is drawn in; of several in one lane the most files count.
    """

    def __init__(self, bins: TimeBins) -> None:
        self._bins = bins
        self._states: dict[str, dict[str, tuple[int, int, int]]] = defaultdict(dict)
        self._most: dict[tuple[str, int], int] = {}

    def take(self, job: Mapping[str, Any], lane: str) -> None:
        """Take in what a finished job (a row of jobs, its time in microseconds) says level 0 holds from then on."""
        if not job["level_files"]:
            return
        family, session, files = job["column_family"], job["session"], job["level_files"][0]
        index = self._bins.index(job["finished_at"])
        before = self._states[lane].get(family)
        if before is not None and before[0] == session:
            for passed in range(before[1], index + 1):
                self._raise(lane, passed, before[2])
        self._raise(lane, index, files)
        self._states[lane][family] = (session, index, files)

    def spans(self) -> list[Level0Span]:
        """Stretches of equal count, by lane and time; none where level 0 was empty or nothing tells."""
        spans: list[Level0Span] = []
        for (lane, index), files in sorted(self._most.items()):
            last = spans[-1] if spans else None
            if last is not None and (last.family, last.until, last.files) == (lane, index, files):
                spans[-1] = Level0Span(lane, last.since, index + 1, files)
            elif files:
                spans.append(Level0Span(lane, index, index + 1, files))
        return spans

    def _raise(self, lane: str, index: int, files: int) -> None:
        self._most[lane, index] = max(files, self._most.get((lane, index), 0))
