"""A few instructions of machine code in place of a function that a loaded library calls.

The library keeps the address of each function it calls in a slot of its global offset table. The file says each slot's
place, /proc/self/maps where the file was loaded. ELF of 64 bits, little endian (the only ones rocksdbjni is built for);
sources: the System V ABI, its AArch64 supplement, elf.h. docs/engines.md says what is replaced, and why.
"""

import contextlib
import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import cffi

READ, WRITE, EXECUTE = mmap.PROT_READ, mmap.PROT_WRITE, mmap.PROT_EXEC
_forever: list[Any] = []
PT_LOAD, PT_DYNAMIC = 1, 2
DT_PLTRELSZ, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 2, 5, 6, 7, 8, 23
# Machine -> the relocations that put a function's address into a slot: R_…_GLOB_DAT and R_…_JUMP_SLOT.
SLOT_RELOCATIONS = {62: (6, 7), 183: (1025, 1026)}
HEADER = struct.Struct("<4sBB10x HHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
SYMBOL = struct.Struct("<IBBHQQ")


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


@dataclass(frozen=True, slots=True)
class Mapping:
    """One stretch of addresses, `start` up to but not including `stop`; `offset` is its place in the file `path`."""

    start: int
    stop: int
    permissions: str
    offset: int
    path: str


def mappings() -> Iterator[Mapping]:
    """All of this process, by address. Raises OSError where the system shows none.

    7f2a1c200000-7f2a1c94c000 r-xp 00000000 fe:01 393248     /usr/lib/x86_64-linux-gnu/librocksdb.so.7.8.3
    """
    for line in Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split(maxsplit=5)
        start, _, stop = fields[0].partition("-")
        path = fields[5] if len(fields) > 5 else ""
        yield Mapping(int(start, 16), int(stop, 16), fields[1], int(fields[2], 16), path)


def load_address(library: Path) -> int | None:
    """Where the first byte of a loaded library's file is; None if it is not loaded."""
    path = str(library.resolve())
    return next((one.start for one in mappings() if one.path == path and one.offset == 0), None)


def slots(library: Path, function: str) -> list[int]:
    """Addresses of the slots through which a loaded library calls a function; empty where there are none to be found.

    Raises OSError where the file or the process's map cannot be read.
    """
    base = load_address(library)
    if base is None:
        return []
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as image:
        try:
            return [base + offset for offset in _offsets(image, function.encode() + b"\0")]
        except (struct.error, KeyError):
            return []


def _offsets(image: mmap.mmap, name: bytes) -> Iterator[int]:
    magic, bits, order, _, machine, _, _, table, *_, size, count, _, _, _ = HEADER.unpack_from(image)
    if (magic, bits, order) != (b"\x7fELF", 2, 1):
        return
    wanted = SLOT_RELOCATIONS[machine]
    headers = [PROGRAM_HEADER.unpack_from(image, table + at * size) for at in range(count)]
    loads = [(header[3], header[3] + header[5], header[2]) for header in headers if header[0] == PT_LOAD]

    def place(address: int) -> int:
        """Where in the file what is loaded at an address stands."""
        for low, high, offset in loads:
            if low <= address < high:
                return int(address - low + offset)
        raise KeyError(address)

    dynamic = {header[0]: header for header in headers}[PT_DYNAMIC]
    tags = dict(DYNAMIC.iter_unpack(image[dynamic[2] : dynamic[2] + dynamic[5] // 16 * 16]))
    symbols, names = place(tags[DT_SYMTAB]), place(tags[DT_STRTAB])
    for start, length in ((DT_JMPREL, DT_PLTRELSZ), (DT_RELA, DT_RELASZ)):
        if start in tags:
            first = place(tags[start])
            for offset, info, _ in RELOCATION.iter_unpack(image[first : first + tags[length]]):
                if info & 0xFFFFFFFF in wanted:
                    text = names + SYMBOL.unpack_from(image, symbols + (info >> 32) * SYMBOL.size)[0]
                    if image[text : text + len(name)] == name:
                        yield offset
