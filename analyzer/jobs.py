"""Background jobs under way: what is known of each until the event that ends it."""

from dataclasses import dataclass, field

from lsmlens.analyzer.events import Event


@dataclass(slots=True)
class Output:
    """What a flush or compaction created."""

    files: int = 0
    bytes: int = 0
    records: int = 0
    deletions: int = 0
    blob_bytes: int = 0

    def add(self, event: Event) -> None:
        """Count in the table whose creation this is."""
        self.files += 1
        self.bytes += event["file_size"]
        properties = event.get("table_properties", {})
        entries, deletions = properties.get("num_entries"), properties.get("num_deletions")
        self.records += entries if type(entries) is int else 0
        self.deletions += deletions if type(deletions) is int else 0

    def put_into(self, event: Event) -> None:
        """Write the sums into the event of the job's end."""
        event["created_files"] = self.files
        event["created_bytes"] = self.bytes
        event["created_records"] = self.records
        event["created_deletions"] = self.deletions
        event["created_blob_bytes"] = self.blob_bytes


@dataclass(slots=True)
class FlushUnderWay:
    """A flush that started, and what it created so far."""

    started: Event
    output: Output = field(default_factory=Output)


@dataclass(slots=True)
class Job:
    """What is known of one job of one session so far."""

    family: str | None = None
    route: str = ""
    flush_family: str | None = None
    started: Event | None = None
    flushes: list[FlushUnderWay] = field(default_factory=list)
    output: Output = field(default_factory=Output)
