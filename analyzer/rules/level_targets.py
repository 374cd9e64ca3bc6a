"""R10: the next level does not fit the database's device."""

from collections.abc import Iterator, Sequence
from typing import ClassVar

from lsmlens.analyzer.analysis import RunAnalysis
from lsmlens.analyzer.findings import Confidence, Evidence, Finding, NotAssessed, Severity
from lsmlens.analyzer.numbers import size
from lsmlens.analyzer.options.option_strings import parse_size
from lsmlens.analyzer.options.options_in_force import value_of
from lsmlens.analyzer.options.sharding import DEFAULT_FAMILY
from lsmlens.analyzer.options.volume_selector import (
    DEFAULT_FACTOR,
    DEFAULT_POLICY,
    FACTOR_FIXED_IN,
    OLD_LEVEL0_BYTES,
    USABLE_PERCENT,
    LevelShape,
    VolumeSelection,
    select,
)
from lsmlens.analyzer.runs.osds import ceph_release, is_osd, osd_number, store_path, while_stopped

# Extra at which nothing of the next level may use the device (RocksDBBlueFSVolumeSelector).
NO_EXTRA_BYTES = 0


class LevelTargets:
    """The next level's target does not fit the database's device, so its files go to the slow one.

    Evidence: max_bytes_for_level_base and …_multiplier in force, db_total_bytes of the perf dumps, and the levels
    the log's jobs wrote to. RocksDB gives a level to the device by the targets of a family alone: what is in the
    levels does not matter, nor what the device has free.

    Threshold: a warning if such a level is in use and BlueFS's volume selector has no extra room for it; a note if
    there is no extra room but the level is not in use yet, or if it is and has some. Ceph, RocksDBBlueFSVolumeSelector.

    Advice: a larger block.db, or a base with which the levels that hold data fit. Without either, plan with the sum of
    the targets that fit as the device's size.

    Risk: another base rewrites levels at the next compactions. Expanding needs the OSD stopped.

    Check: slow_used_bytes of a perf dump stays 0; after a change of options, those the OSD logs at its start.
    """

    code: ClassVar[str] = "R10"
    title: ClassVar[str] = "Next level does not fit the database device"

    def check(self, run: RunAnalysis, peers: Sequence[RunAnalysis]) -> Iterator[Finding | NotAssessed]:  # noqa: ARG002
        """At most one finding; none where the database has no device of its own."""
        if not is_osd(run.run):
            return
        if run.counters is None or run.counters.slow_total_bytes is None or run.counters.db_total_bytes is None:
            yield NotAssessed(self.code, self.title, "perf dump or bluefs stats")
            return
        if not run.counters.slow_total_bytes:
            return
        shape = level_shape(run)
        if shape is None:
            yield NotAssessed(self.code, self.title, "an OSD log that goes back to an open, or config show")
            return
        selection = selection_of(run, int(run.counters.db_total_bytes), shape)
        deepest = max((one.level for one in run.levels), default=0)
        is_used = deepest > selection.last_level
        if is_used or selection.extra_bytes <= NO_EXTRA_BYTES:
            yield self._finding(run, shape, selection, is_used)

    def _finding(self, run: RunAnalysis, shape: LevelShape, selection: VolumeSelection, is_used: bool) -> Finding:
        level = selection.last_level + 1
        has_extra = selection.extra_bytes > NO_EXTRA_BYTES
        rest = f"but for {size(selection.extra_bytes)}" if has_extra else "all of it"
        needed = (selection.fitting_bytes + selection.next_bytes) * 100 // USABLE_PERCENT
        counters = run.counters
        device = 0 if counters is None else int(counters.db_total_bytes or 0)
        return Finding(
            code=self.code,
            title=self.title,
            severity=Severity.WARNING if is_used and not has_extra else Severity.INFO,
            confidence=Confidence.HIGH if is_used else Confidence.MEDIUM,
            meaning=f"level {level} {'is in use and belongs' if is_used else 'will belong'} to the slow device, {rest}",
            value=f"levels up to {selection.last_level} ask for {size(selection.fitting_bytes)}, level {level} for"
            f" {size(selection.next_bytes)} more; extra {size(selection.extra_bytes)}",
            threshold=f"{size(selection.usable_bytes)}, {USABLE_PERCENT} % of the device",
            threshold_source="Ceph, RocksDBBlueFSVolumeSelector; RocksDB, LevelCompactionBuilder::GetPathId",
            evidence=(
                Evidence("perf dump", f"bluefs.db_total_bytes {size(device)}"),
                Evidence(
                    "options in force",
                    f"max_bytes_for_level_base {size(shape.base_bytes)},"
                    f" max_bytes_for_level_multiplier {shape.multiplier}",
                ),
            ),
            advice=f"a block.db of {size(needed)} would hold level {level} of one family;"
            " or choose a base whose levels fill the device",
            commands=while_stopped(
                run.run,
                f"ceph-bluestore-tool bluefs-bdev-expand --path {store_path(run.run)}"
                "    # after the partition or volume was enlarged",
            ),
            risk="expanding needs the OSD stopped; another base rewrites levels",
            check=f"ceph tell osd.{osd_number(run.run)} perf dump bluefs: slow_used_bytes stays 0",
        )


def level_shape(run: RunAnalysis) -> LevelShape | None:
    """The level sizes of the options in force; None where they are not known."""
    base = _size(run, "max_bytes_for_level_base")
    multiplier = _size(run, "max_bytes_for_level_multiplier")
    buffer, buffers = _size(run, "write_buffer_size"), _size(run, "max_write_buffer_number")
    if base is None or multiplier is None or buffer is None or buffers is None:
        return None
    return LevelShape(buffer * buffers if _has_fixed_factor(run) else OLD_LEVEL0_BYTES, base, multiplier)


def selection_of(run: RunAnalysis, device_bytes: int, shape: LevelShape) -> VolumeSelection:
    """What the run's release makes of a device and a shape, with its own volume selection options."""
    name = "bluestore_volume_selection"
    factor = value_of(run.ceph_options, None, f"{name}_reserved_factor")
    return select(
        device_bytes,
        shape,
        factor=_real(factor) or DEFAULT_FACTOR,
        reserved_bytes=parse_size(value_of(run.ceph_options, None, f"{name}_reserved") or "") or 0,
        policy=value_of(run.ceph_options, None, f"{name}_policy") or DEFAULT_POLICY,
        has_fixed_factor=_has_fixed_factor(run),
    )


def _has_fixed_factor(run: RunAnalysis) -> bool:
    release = ceph_release(run.run)
    return release is None or release >= FACTOR_FIXED_IN


def _size(run: RunAnalysis, name: str) -> int | None:
    """A whole option of the default family; RocksDB prints the multiplier as 10.000000."""
    value = value_of(run.options, DEFAULT_FAMILY, name)
    return None if value is None else parse_size(value.partition(".")[0])


def _real(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None
