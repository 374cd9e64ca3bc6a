"""A few instructions of machine code and a number they use; and addresses put where a library looks for them."""

import contextlib
import mmap
import os
from functools import cache
from typing import Any

import cffi
from lsmlens.tuners.engines.relocations import mappings

READ, WRITE, EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC


class Code:
    """A function `long f(long *)` in memory of its own; `number` is a `long` right behind its page.

    It is never freed: threads of a library may be in it. Raises OSError where the system allows no such memory.
    """

    def __init__(self, code: bytes, page: int) -> None:
        ffi, _ = _libc()
        memory = mmap.mmap(-1, 3 * page)
        self._kept = (memory, ffi.from_buffer(memory))
        _forever.append(self._kept)
        start = -(-int(ffi.cast("intptr_t", self._kept[1])) // page) * page
        ffi.memmove(ffi.cast("char*", start), code, len(code))
        _protect(start, page, READ | EXECUTE)
        _clear_instruction_cache(start, len(code))
        self.address = start
        self.number: Any = ffi.cast("long*", start + page)

    def __call__(self) -> int:
        """What the function gives for no argument."""
        ffi, _ = _libc()
        return int(ffi.cast("long (*)(long*)", self.address)(ffi.NULL))


_forever: list[Any] = []


def write_address(slot: int, address: int) -> int:
    """Put an address into a slot, be it in pages that are read only by now; returns the one that was there."""
    ffi, _ = _libc()
    page = slot & -mmap.PAGESIZE
    is_writable = any(one.start <= slot < one.stop and "w" in one.permissions for one in mappings())
    if not is_writable:
        _protect(page, mmap.PAGESIZE, READ | WRITE)
    place = ffi.cast("uintptr_t*", slot)
    before, place[0] = int(place[0]), address
    if not is_writable:
        _protect(page, mmap.PAGESIZE, READ)
    return before


@cache
def _libc() -> tuple[cffi.FFI, Any]:
    ffi = cffi.FFI()
    ffi.cdef("int mprotect(void *, size_t, int); void __clear_cache(char *, char *);")
    return ffi, ffi.dlopen(None)


def _protect(start: int, size: int, protection: int) -> None:
    ffi, libc = _libc()
    if libc.mprotect(ffi.cast("void*", start), size, protection):
        raise OSError(ffi.errno, os.strerror(ffi.errno))


def _clear_instruction_cache(start: int, size: int) -> None:
    """Let the processor see new code; x86 does by itself, and its libgcc has no such function."""
    ffi, _ = _libc()
    with contextlib.suppress(OSError, AttributeError):
        clear = getattr(ffi.dlopen("libgcc_s.so.1"), "__clear_cache")
        clear(ffi.cast("char*", start), ffi.cast("char*", start + size))
