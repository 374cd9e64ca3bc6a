"""Attribution: which column family each flush, compaction and move was of, and how that became known.

RocksDB leaves it out of most events; it is told, in this order, by

1. `cf_name` in the event itself (compaction_started from 10.4.2 on),
2. a line `[cf] [JOB n] …` of the same job and session,
3. the tables the job created, whose events name it,
4. the tables a compaction read, by number, from when they were created,
5. a line next to it that says the same numbers (`[cf] Moved #1 files …`, `[cf] Level summary: files[2 4 0]`).
"""

from lsmlens.analyzer.events import Event, EventKind
from lsmlens.analyzer.job_rows import job_row
from lsmlens.analyzer.jobs import BY_NEIGHBOUR
from lsmlens.analyzer.run import Run

WAITING_LIMIT = 1000


class Attribution:
    """Hands events on to their run once their family is known, or lets them wait for the line after them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._waiting: list[Event] = []
        self._compacted_line: tuple[str, int, int] | None = None

    def settle(self, event: Event, family: str | None, route: str) -> None:
        """Say whose an event is; it waits where nobody knows yet."""
        if family is None:
            self._waiting.append(event)
            if len(self._waiting) > WAITING_LIMIT:
                self.give_up()
            return
        event["column_family"] = family
        event["attributed_by"] = route
        self._run.quality.attributed_by[route] += 1
        self._hand_on(event)

    def compacted_line(self, family: str, level: int, files: int) -> None:
        """Take in `[family] compacted to: … level L … out(files`, which stands before its compaction's end."""
        self._compacted_line = (family, level, files)

    def family_of_compacted_line(self, event: Event) -> str | None:
        """The family that the line before the end of a compaction names, if it says the same numbers; used once."""
        line, self._compacted_line = self._compacted_line, None
        if line is not None and line[1:] == (event["output_level"], event["num_output_files"]):
            return line[0]
        return None

    def summary_line(self, family: str, files: tuple[int, ...]) -> None:
        """Take in `[family] Level summary: files[…]`, which stands after the end of a job."""
        for index, event in enumerate(self._waiting):
            if tuple(event.get("lsm_state", ())) == files:
                return self._answer(index, family)

    def moved_line(self, family: str, numbers: tuple[int, ...]) -> None:
        """Take in `[family] Moved #files files to level-L bytes bytes`, which stands after the move's event."""
        for index, event in enumerate(self._waiting):
            if (event.get("files"), event.get("destination_level"), event.get("total_files_size")) == numbers:
                return self._answer(index, family)

    def _answer(self, index: int, family: str) -> None:
        self.settle(self._waiting.pop(index), family, BY_NEIGHBOUR)

    def give_up(self) -> None:
        """Hand on what still waits without a family, and count it."""
        for event in self._waiting:
            event["column_family"] = None
            self._run.quality.without_column_family[_JOB_KINDS.get(event["event"], "compaction")] += 1
            self._hand_on(event)
        self._waiting.clear()

    def _hand_on(self, event: Event) -> None:
        self._run.job_rows.append(job_row(event))
        event.pop("inputs", None)
        self._run.events.append(event)


_JOB_KINDS = {EventKind.TRIVIAL_MOVE.value: "move", EventKind.FLUSH_FINISHED.value: "flush"}
