"""RocksDB's wall clock, set by hand: files grow old (ttl, periodic compaction) as fast as a replay wants.

RocksDB asks the C library's `time()` how old a file is, and nothing else with it. The slot through which its library
calls that function is pointed at a few instructions that give a number kept in memory: no compiler, no preloading, and
no Python in RocksDB's threads. The time in the LOG's lines is another function's, and stays true.
"""

import platform
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

from lsmlens.tuners.engines.machine_code import Code, slots, write_address

PAGE = 1 << 16  # the largest there is on AArch64
# time_t time(time_t *into): the number one page behind the code, also put into `into` if that is not null.
CODE = {
    "x86_64": bytes.fromhex("f30f1efa")  # endbr64
    + bytes.fromhex("488b05") + struct.pack("<i", PAGE - 11)  # mov rax, [number]
    + bytes.fromhex("4885ff 7403 488907 c3"),  # test rdi, rdi; jz +3; mov [rdi], rax; ret
    "aarch64": struct.pack(
        "<6I",
        0xD503245F,  # bti c
        0x58000001 | (PAGE - 4) // 4 << 5,  # ldr x1, number
        0xB4000040,  # cbz x0, +8
        0xF9000001,  # str x1, [x0]
        0xAA0103E0,  # mov x0, x1
        0xD65F03C0,  # ret
    ),
}  # fmt: skip


class Clock:
    """The wall clock of one loaded library, for all databases it has open."""

    def __init__(self, library: Path) -> None:
        self._library = library
        self._true: dict[int, int] = {}  # slot -> the address that was in it
        self._number: Any = None

    def set(self, seconds: float) -> bool:
        """Let it show `seconds` since 1970 until it is set again; False where it cannot be set."""
        if self._number is None and not self._take_over():
            return False
        self._number[0] = int(seconds)
        return True

    def restore(self) -> None:
        """Let it show the true time again."""
        for slot, address in self._true.items():
            write_address(slot, address)
        self._true.clear()
        self._number = None

    def _take_over(self) -> bool:
        try:
            made = _time_function()
            found = slots(self._library, "time") if made is not None else []
            if made is None or not found:
                return False
            for slot in found:
                self._true[slot] = write_address(slot, made.address)
        except OSError:
            self.restore()
            return False
        self._number = made.number
        return True


@cache
def clock_of(library: Path) -> Clock:
    """The clock of a loaded library, the same one each time."""
    return Clock(library)


def _time_function() -> Code | None:
    """A new `time()`; None where there is none for this machine, or it does not do what it should."""
    code = CODE.get(platform.machine()) if sys.platform == "linux" else None
    if code is None:
        return None
    made = Code(code, PAGE)
    made.number[0] = 86400
    return made if made() == 86400 else None
