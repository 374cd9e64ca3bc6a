"""What can go wrong in an engine."""

from lsmlens.analyzer.errors import LsmlensError


class EngineError(LsmlensError):
    """An embedded RocksDB could not be had, or refused what it was asked for; the message has its own words."""


class OptionMismatch(EngineError):
    """RocksDB runs with other options than it was given. `differences` says which, one line each."""

    def __init__(self, message: str, differences: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint)
        self.differences = differences


class NotPublished(EngineError):
    """There is no official build of a version; `nearest` is the version nearest to it that has one."""

    def __init__(self, version: str, nearest: str | None) -> None:
        super().__init__(
            f"RocksDB {version} is not published",
            "give the path of a librocksdb" if nearest is None else f"the nearest that is: {nearest}",
        )
        self.nearest = nearest
