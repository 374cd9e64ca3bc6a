"""Workloads, replay engines, search and recommendation.

    from lsmlens import tuners

    learned = tuners.learn("bundle/")                                  # the workload that a log shows
    tuners.predict(learned, ["ceph:quincy", "+write_buffer_size=64M"])  # what it would have shown
    tuners.replay("fillrandom", ["rocksdb:default"], scale=64)         # what RocksDB does with a workload
    tuners.duel(learned, "ceph:quincy", "ceph:reef")                   # one set of options beside another
    tuners.tune(learned, "study.db", budget_seconds=600)               # what to run with

What stands in `__all__` is the public interface; it is imported when it is first used.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lsmlens.tuners.api import Machine, duel, learn, predict, replay, separate_logs, tune

__all__ = ["Machine", "duel", "learn", "predict", "replay", "separate_logs", "tune"]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("lsmlens")
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from lsmlens.tuners import api

    return getattr(api, name)
