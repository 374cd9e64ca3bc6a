"""What to know before believing a prediction, in words."""

from collections.abc import Iterator, Sequence

from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.predictions.anchor import Anchor
from lsmlens.tuners.predictions.replays import Replayed
from lsmlens.tuners.predictions.self_consistency import warnings
from lsmlens.tuners.predictions.windows_needed import WindowNeed
from lsmlens.tuners.replays.measurement import TrialFailure

# Windows longer than the log's by less than this factor need no word, nor do families with less of all bytes.
BEYOND = 1.2
LEAST_SHARE = 0.02
COMPRESSION = ("compression", "bottommost_compression", "compression_per_level")
AGES = ("ttl", "periodic_compaction_seconds")


def quality(
    anchor: Anchor,
    options: OptionSet,
    found: Sequence[Replayed],
    failures: Sequence[TrialFailure],
    needs: Sequence[WindowNeed],
) -> tuple[str, ...]:
    """The notes of one prediction, the gravest first."""
    said = [
        *_failures(found, failures),
        *warnings(anchor.checks),
        *_beyond(needs),
        *_options(anchor, options),
        *_pace(anchor),
        *anchor.engine.notes,
        *anchor.fitted.notes,
        *(note for one in found[:1] for note in one.notes),
    ]
    return tuple(dict.fromkeys(said))


def _failures(found: Sequence[Replayed], failures: Sequence[TrialFailure]) -> Iterator[str]:
    for one in failures:
        which = "one of the replays" if found else "no replay finished: this one"
        yield f"{which} failed ({one.kind}): {one.reason}"


def _pace(anchor: Anchor) -> Iterator[str]:
    if anchor.fitted.compaction_seconds:
        yield "in the replays compactions last as long as the log's did"


def _beyond(needs: Sequence[WindowNeed]) -> Iterator[str]:
    for one in needs:
        if one.beyond > BEYOND and one.share >= LEAST_SHARE:
            yield (
                f"{one.family}: these options merge about {one.needed_puts:.0f} puts at once, the log shows survivors"
                f" of {one.shown_puts:.0f} at most: how many overwrite or delete each other beyond that is a guess"
            )


def _options(anchor: Anchor, options: OptionSet) -> Iterator[str]:
    version = anchor.engine.version
    changed = {one.option for one in anchor.options.differences(options, version)}
    if changed & set(COMPRESSION):
        yield (
            "the options compress otherwise than the log's: how far values compress is"
            " what the log's own tables show, or nothing where they are uncompressed"
        )
    ages = sorted(changed & set(AGES))
    if ages:
        yield f"{', '.join(ages)} acts by the log's own time: another pace of the same work changes what it compacts"
