"""How many compactions a database runs at once, and the option that gives it more."""

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import OptionChange
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of

JOBS, COMPACTIONS, FLUSHES = "max_background_jobs", "max_background_compactions", "max_background_flushes"


def compaction_threads(run: RunAnalysis) -> int | None:
    """How many compactions may run at once, as RocksDB reckons it; None where options are not known."""
    jobs, compactions, flushes = _numbers(run)
    if (compactions or -1) != -1 or (flushes or -1) != -1:  # the older options, if either is set
        return max(1, compactions or 1)
    return None if jobs is None else max(1, jobs - max(1, jobs // 4))


def more_threads(run: RunAnalysis) -> tuple[OptionChange, ...]:
    """The option that gives compaction twice the threads: the older one where older ones are set, for it counts then.

    Nothing where options are not known.
    """
    jobs, *older = _numbers(run)
    if any((number or -1) != -1 for number in older):
        return (OptionChange(COMPACTIONS, str(2 * max(1, older[0] or 1))),)
    return () if jobs is None else (OptionChange(JOBS, str(2 * jobs)),)


def _numbers(run: RunAnalysis) -> list[int | None]:
    return [parse_size(value_of(run.options, None, name) or "") for name in (JOBS, COMPACTIONS, FLUSHES)]
