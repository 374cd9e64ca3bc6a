"""Gauges that other commands print too: `bluefs stats`, `dump_mempools`, `bluestore allocator score`.

Where there is no perf dump they stand in for one, under the names of its counters.

    1 : device size 0x7fffe000 : using 0x5db00000(1.5 GiB)         0 is the WAL's device, 1 block.db, 2 the main device
    RocksDBBlueFSVolumeSelector Usage Matrix:                      from Octopus on; columns are devices, rows are what
    DEV/LEV     WAL         DB          SLOW        *  …           RocksDB asked for
    TOTAL       0 B         1.5 GiB     211 MiB     0 B  …
    MAXIMUMS:
    TOTAL       0 B         2.0 GiB     1.0 GiB     0 B  …
"""

import re
from collections.abc import Iterable, Iterator

from lsmlens.analyzer.bundles.cluster_status import sizes_in
from lsmlens.analyzer.bundles.roles import Role
from lsmlens.analyzer.counters.perf_dumps import Counter, PerfDump

_DEVICE = re.compile(r"([012]) : device size 0x([0-9a-f]{1,16}) : (?:own .{1,1000} : )?using 0x([0-9a-f]{1,16})")
_DEVICES = {"0": "wal", "1": "db", "2": "slow"}
# Of a row's sizes, that of the slow device.
_SLOW = 2
_MILLION = 1_000_000


def read_gauges(found: Iterable[tuple[Role, object, str]]) -> PerfDump:
    """What these outputs say, each a role, its content and where it was read."""
    counters: dict[str, Counter] = {}
    sources = []
    for role, content, source in found:
        sources.append(source)
        if role is Role.BLUEFS_STATS:
            counters.update(_bluefs(str(content)))
        elif role is Role.MEMPOOLS:
            counters.update(_mempools(content))
        elif isinstance(content, dict) and isinstance(rating := content.get("fragmentation_rating"), int | float):
            if not 0 <= rating <= 1:
                continue
            # in millionths, which tell themselves from thousandths above 0.001
            counters["bluestore.fragmentation_micros"] = round(rating * _MILLION) if rating > 0.001 else 0
    return PerfDump(counters, ", ".join(sources))


def _bluefs(text: str) -> Iterator[tuple[str, Counter]]:
    """Sizes of the devices, what is used of them, and what of RocksDB's files is on the slow one."""
    has_slow = False
    for device, size, used in _DEVICE.findall(text):
        has_slow |= device == "2"
        yield f"bluefs.{_DEVICES[device]}_total_bytes", int(size, 16)
        if device != "2":  # the main device holds objects as well
            yield f"bluefs.{_DEVICES[device]}_used_bytes", int(used, 16)
    if not has_slow:
        yield "bluefs.slow_total_bytes", 0
    name = "bluefs.slow_used_bytes"
    for line in text.splitlines():
        if line.startswith("MAXIMUMS"):
            name = "bluefs.max_bytes_slow"
        elif line.startswith("TOTAL") and len(sizes := sizes_in(line)) > _SLOW:
            yield name, sizes[_SLOW]


def _mempools(document: object) -> Iterator[tuple[str, Counter]]:
    pools = document.get("mempool") if isinstance(document, dict) else None
    by_pool = pools.get("by_pool") if isinstance(pools, dict) else None
    for pool, said in (by_pool if isinstance(by_pool, dict) else {}).items():
        for name in ("items", "bytes"):
            if isinstance(said, dict) and isinstance(amount := said.get(name), int):
                yield f"mempool.{pool}_{name}", amount
