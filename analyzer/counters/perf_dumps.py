"""What a daemon counted: its `perf dump`, in any release, with one name for what releases call differently.

A dump carries no time. Nearly all counters start at 0 when the daemon starts and never go down; gauges
(`…_used_bytes`, queue lengths) say how things are. The dump itself does not tell the two apart.

    "kv_sync_lat": {"avgcount": 50039, "sum": 242.836747673, "avgtime": 0.004852949}     12 and later
    "op_r_latency": {"avgcount": 1001, "sum": 5.321547421}                               10
    "osd_map_cache_miss_low_avg": {"avgcount": 0, "sum": 0}                              an average, not of time
    "op_w": 859708
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lsmlens.analyzer.counters.json_numbers import as_count, as_number

# What stands for a counter here is its name in the newest releases; BlueStore's lost their prefix in 17.
BLUESTORE_PREFIX = "bluestore_"
BLUESTORE_NAMES: Mapping[str, str] = {
    "kv_lat": "kv_sync_lat",  # 12
    "submit_lat": "txc_submit_lat",  # to 16
    "throttle_lat": "txc_throttle_lat",
    "commit_lat": "txc_commit_lat",
    "txc": "txc_count",
    "state_kv_committing_lat": "state_kv_commiting_lat",  # sic, in all releases so far
    "deferred_write_ops": "submitted_deferred_writes",
    "deferred_write_bytes": "submitted_deferred_write_bytes",
    "write_deferred": "issued_deferred_writes",
    "write_deferred_bytes": "issued_deferred_write_bytes",
    "pinned_onodes": "onodes_pinned",
    "extents": "onode_extents",
    "blobs": "onode_blobs",
}
_TIME_ENDINGS = ("lat", "latency", "time")


@dataclass(frozen=True, slots=True)
class LongRunAverage:
    """How often something was done and how long that took in sum, in seconds."""

    count: int
    sum_seconds: float

    @property
    def mean_seconds(self) -> float | None:
        """Sum / count; None where nothing was done."""
        return self.sum_seconds / self.count if self.count > 0 else None


Counter = int | float | LongRunAverage


class PerfDump(NamedTuple):
    """One dump: counters by `section.name`. `source` is where it was read, such as a file name.

    An average of something other than time is kept as two numbers, `….count` and `….sum`. `left_out` counts what
    is no counter.
    """

    counters: Mapping[str, Counter]
    source: str = ""
    left_out: int = 0

    def number(self, name: str) -> int | float | None:
        """A plain counter; None where it is absent."""
        counter = self.counters.get(name)
        return None if isinstance(counter, LongRunAverage) else counter

    def average(self, name: str) -> LongRunAverage | None:
        """An average of times; None where it is absent."""
        counter = self.counters.get(name)
        return counter if isinstance(counter, LongRunAverage) else None

    def mean_seconds(self, name: str) -> float | None:
        """Sum / count since the daemon started, in seconds; None where absent or nothing was done."""
        average = self.average(name)
        return average.mean_seconds if average else None


def read_perf_dump(document: object, source: str = "") -> PerfDump:
    """The counters of a parsed `perf dump` or `counter dump`, whatever it is."""
    if not isinstance(document, dict):
        return PerfDump({}, source, left_out=1)
    counters: dict[str, Counter] = {}
    left_out = 0
    for section, printed_section in document.items():
        entries = unlabelled(printed_section)
        if not isinstance(section, str) or not isinstance(entries, dict):
            left_out += 1
            continue
        for printed, value in entries.items():
            read = _read(f"{section}.{normalise(section, str(printed))}", value)
            left_out += not read
            is_old_name = f"{section}.{printed}" not in read
            for name, counter in read.items():
                if not is_old_name or name not in counters:  # the newest name wins should both be there
                    counters[name] = counter
    return PerfDump(counters, source, left_out)


def unlabelled(section: object) -> object:
    """A section as `perf dump` prints it, whichever command printed it.

    `counter dump` (17.2.6 and later) has `{"labels": {}, "counters": {...}}` in its place, or a list of these, one for
    each set of labels; what has labels (clients, threads) is another's share and no part of the daemon's own counters.
    """
    alternatives = section if isinstance(section, list) else [section]
    for one in alternatives:
        if isinstance(one, dict) and isinstance(one.get("counters"), dict) and not one.get("labels"):
            return one["counters"]
    return section


def normalise(section: str, name: str) -> str:
    """The one name here of what a release calls `name` in `section`."""
    if section != "bluestore":
        return name
    name = name.removeprefix(BLUESTORE_PREFIX)
    return BLUESTORE_NAMES.get(name, name)


def _read(name: str, value: object) -> dict[str, Counter]:
    """The counters one entry comes to; none if it is not understood."""
    if not isinstance(value, dict):
        number = as_number(value)
        return {} if number is None else {name: number}
    count, total = as_count(value.get("avgcount")), as_number(value.get("sum"))
    if count is None or total is None:
        return {}
    # Ceph prints times with a decimal point; a tool in between may have made `0` of `0.0`.
    if isinstance(total, float) or "avgtime" in value or name.endswith(_TIME_ENDINGS):
        return {name: LongRunAverage(count, float(total))}
    return {f"{name}.count": count, f"{name}.sum": total}
