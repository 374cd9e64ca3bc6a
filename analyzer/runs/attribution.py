"""Attribution: which column family each flush, compaction and move was of, and how that became known.

RocksDB leaves it out of most events; it is told, in this order, by

1. `cf_name` in the event itself (compaction_started from 10.4.2 on),
2. a line `[cf] [JOB n] …` of the same job and session,
3. the tables the job created, whose events name it,
4. the tables a compaction read, by number, from when they were created,
5. a line next to it that says the same numbers (`[cf] Moved #1 files …`, `[cf] Level summary: files[2 4 0]`).
"""

from lsmlens.analyzer.logs.records import CompactedLine, MovedLine, SummaryLine
from lsmlens.analyzer.runs.jobs import BY_NEIGHBOUR, MOVE, Job
from lsmlens.analyzer.runs.run import Run

WAITING_LIMIT = 1000


class Attribution:
    """Hands jobs on to their run once their family is known, or lets them wait for the line after them."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._waiting: list[Job] = []
        self._compacted_line: CompactedLine | None = None

    def settle(self, job: Job, family: str | None, route: str | None) -> None:
        """Say whose a job is; it waits where nobody knows yet."""
        if family is None:
            self._waiting.append(job)
            if len(self._waiting) > WAITING_LIMIT:
                self.give_up()
            return
        job.column_family, job.attributed_by = family, route
        if route is not None:
            self._run.quality.attributed_by[route] += 1
        self._run.job_rows.append(job)

    def compacted_line(self, line: CompactedLine) -> None:
        """Take in `[family] compacted to: … level L … out(files`, which stands before its compaction's end."""
        self._compacted_line = line

    def family_of_compacted_line(self, level: int, files: int) -> str | None:
        """The family that the line before the end of a compaction names, if it says the same numbers; used once."""
        line, self._compacted_line = self._compacted_line, None
        return line.family if line is not None and (line.level, line.files) == (level, files) else None

    def summary_line(self, line: SummaryLine) -> None:
        """Take in `[family] Level summary: files[…]`, which stands after the end of a job."""
        for index, job in enumerate(self._waiting):
            if tuple(job.level_files or ()) == line.files:
                return self._answer(index, line.family)

    def moved_line(self, line: MovedLine) -> None:
        """Take in `[family] Moved #files files to level-L bytes bytes`, which stands after the move's event."""
        for index, job in enumerate(self._waiting):
            if job.kind == MOVE and (job.input_files, job.output_level, job.moved_bytes) == (
                line.files, line.level, line.bytes
            ):  # fmt: skip
                return self._answer(index, line.family)

    def _answer(self, index: int, family: str) -> None:
        self.settle(self._waiting.pop(index), family, BY_NEIGHBOUR)

    def give_up(self) -> None:
        """Hand on what still waits without a family, and count it."""
        for job in self._waiting:
            self._run.quality.without_column_family[job.kind] += 1
            self._run.job_rows.append(job)
        self._waiting.clear()
