"""Where a loaded shared library keeps the address of a function it calls: its slots in the global offset table.

ELF of 64 bits, little endian (the only ones rocksdbjni is built for); sources: the System V ABI, its AArch64
supplement, elf.h. The file says each slot's place, /proc/self/maps where the file was loaded.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PT_LOAD, PT_DYNAMIC = 1, 2
DT_PLTRELSZ, DT_STRTAB, DT_SYMTAB, DT_RELA, DT_RELASZ, DT_JMPREL = 2, 5, 6, 7, 8, 23
# Machine -> the relocations that put a function's address into a slot: R_…_GLOB_DAT and R_…_JUMP_SLOT.
SLOT_RELOCATIONS = {62: (6, 7), 183: (1025, 1026)}
HEADER = struct.Struct("<4sBB10x HHIQQQIHHHHHH")
PROGRAM_HEADER = struct.Struct("<IIQQQQQQ")
DYNAMIC = struct.Struct("<qQ")
RELOCATION = struct.Struct("<QQq")
SYMBOL = struct.Struct("<IBBHQQ")


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
