"""What is asked of a cluster and of each OSD: commands that only read, for the collector and the printed script."""

from typing import Final, NamedTuple


class Request(NamedTuple):
    """A command of Ceph by its words, and the file of the bundle that its answer goes to."""

    file: str
    words: tuple[str, ...]


def _request(file: str, words: str) -> Request:
    return Request(file, tuple(words.split()))


CLUSTER: Final = (
    _request("versions.json", "versions -f json"),
    _request("osd_tree.json", "osd tree -f json"),
    _request("osd_df.json", "osd df -f json"),
    _request("health_detail.json", "health detail -f json"),
    _request("config_dump.json", "config dump -f json"),
    _request("pg_dump.json", "pg dump -f json"),
)
DAEMON: Final = (
    _request("config_show.json", "config show"),
    _request("config_diff.json", "config diff"),
    _request("dump_historic_ops.json", "dump_historic_ops"),
    _request("dump_historic_slow_ops.json", "dump_historic_slow_ops"),
    _request("perf_histogram_dump.json", "perf histogram dump"),
    _request("bluefs_stats.txt", "bluefs stats"),
)
METADATA: Final = _request("osd_metadata.json", "osd metadata -f json")
PERF_DUMP: Final = _request("perf_dump.json", "perf dump")
# What is raised for a while, only if asked: RocksDB's events are of level 4, the commit thread's lines of level 5.
DEBUG_LEVELS: Final = {"debug_rocksdb": "5/5", "debug_bluestore": "5/5"}
