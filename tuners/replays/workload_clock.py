"""The workload's time as the replayed database sees it: for options that compact files for their age.

Where the engine has a clock to set, it shows the workload's time. Otherwise the ages a workload reaches (`ttl`,
`periodic_compaction_seconds`) are multiplied by what the replay takes per time of the workload.
"""

import time
from collections.abc import Iterator

from lsmlens.tuners.engines.engine import Database
from lsmlens.tuners.options.resolved_options import ResolvedOptions
from lsmlens.tuners.replays.measurement import Mode
from lsmlens.tuners.replays.replay_options import ages_below
from lsmlens.tuners.replays.writing import write_settled
from lsmlens.tuners.workloads.stream import Batches, Stream

# The share of a workload that is written to learn how long the whole will take.
PROBED_SHARE = 0.05


def probed_factor(database: Database, stream: Stream, seed: int, scale: float, step_bytes: int) -> float:
    """Seconds that settled writing takes per second of the workload, over the workload's first part."""
    until = stream.seconds * PROBED_SHARE
    begin = time.perf_counter()
    reached = 0.0

    def first_part() -> Iterator[Batches]:
        nonlocal reached
        for batches in stream.batches(seed, scale):
            yield batches
            reached = float(batches.seconds[-1]) if len(batches.seconds) else reached
            if reached >= until:
                return

    write_settled(database, first_part(), step_bytes, lambda _: None, lambda _: None)
    return (time.perf_counter() - begin) / reached if reached else 1.0


def aged_note(options: ResolvedOptions, mode: Mode, workload_seconds: float, factor: float, wall_seconds: float) -> str:
    """What was done to ages, and how well it was met."""
    ages = ages_below(options, workload_seconds)
    named = ", ".join(sorted({f"{name} {age} s" for reached in ages.values() for name, age in reached.items()}))
    if mode is Mode.PACED:
        return f"{named} multiplied by {factor:.3g}, for the workload went {1 / factor:g} times as fast as its clock"
    return (
        f"the engine has no clock to set: {named} multiplied by {factor:.3g}; the replay took"
        f" {wall_seconds / workload_seconds:.3g} of the workload's time"
    )
