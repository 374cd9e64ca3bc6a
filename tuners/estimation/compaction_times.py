"""How long the log's compactions took for what they read, from their start to their end."""

from collections.abc import Mapping, Sequence

from lsmlens.analyzer.events import Event, EventKind
from lsmlens.analyzer.run import Run
from lsmlens.analyzer.units import MICROS
from lsmlens.tuners.replays.timed_compactions import SecondsPerByte

# With fewer compactions a family's are taken to be as fast as all.
LEAST_JOBS = 20


def compaction_seconds(run: Run, families: Sequence[str]) -> Mapping[str, SecondsPerByte]:
    """By family; empty where the log does not tell what compactions read, or shows too few."""
    jobs = [one for one in run.events if one["event"] == EventKind.COMPACTION_FINISHED and one.get("input_data_size")]
    if len(jobs) < LEAST_JOBS:
        return {}
    level0 = [one for one in jobs if 0 in one.get("input_levels", ())]
    deeper = [one for one in jobs if 0 not in one.get("input_levels", ())]
    return {name: SecondsPerByte(_mean(level0 or jobs, name), _mean(deeper or jobs, name)) for name in families}


def _mean(jobs: Sequence[Event], family: str) -> float:
    """Seconds by bytes of a family's jobs, or of all where it has few."""
    own = [one for one in jobs if one["column_family"] == family]
    told = own if len(own) >= LEAST_JOBS else jobs
    return sum(_seconds(one) for one in told) / sum(float(one["input_data_size"]) for one in told)


def _seconds(job: Event) -> float:
    """By the stamps of its two events, for its own count leaves out how it begins and ends."""
    micros = float(job["time_micros"] - job["started_micros"]) if job.get("started_micros") else 0.0
    return max(micros, float(job["compaction_time_micros"])) / MICROS
