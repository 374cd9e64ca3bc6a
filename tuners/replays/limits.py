"""How much of the machine a replay must leave free."""

from dataclasses import dataclass
from pathlib import Path

import psutil
from lsmlens.analyzer.units import MIB


@dataclass(frozen=True, slots=True)
class Limits:
    """What must stay free while a replay runs, in bytes; a replay that would take it is stopped."""

    least_free_disk_bytes: int = 1024 * MIB
    least_free_memory_bytes: int = 512 * MIB

    def exceeded(self, folder: Path, wanted_memory_bytes: int = 0) -> str | None:
        """Why a replay in `folder` may not run, or not go on, in one sentence; None while there is room.

        `wanted_memory_bytes` is what it is yet to take.
        """
        free = psutil.disk_usage(str(folder)).free
        if free < self.least_free_disk_bytes:
            return f"{_mib(free)} free on the disk of {folder}, {_mib(self.least_free_disk_bytes)} must stay free"
        available = psutil.virtual_memory().available
        if available - wanted_memory_bytes < self.least_free_memory_bytes:
            wants = f", {_mib(wanted_memory_bytes)} wanted" if wanted_memory_bytes else ""
            return f"{_mib(available)} of memory available{wants}, {_mib(self.least_free_memory_bytes)} must stay free"
        return None


def _mib(count: int) -> str:
    return f"{count / MIB:,.0f} MiB".replace(",", " ")
