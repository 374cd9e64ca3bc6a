"""A merge operator for the C API whose result is the last operand.

Ceph merges counters and bitmaps, where an operand is as long as the value; so the bytes come out right. Versions that
know RocksDB's `put` operator by name need no Python for it; for the others these callbacks do.
"""

from functools import cache
from typing import Any

from lsmlens.tuners.engines.c_api import CApi
from lsmlens.tuners.engines.c_options import COptions
from lsmlens.tuners.engines.versions import version_numbers

BY_NAME = "merge_operator=put"
SINCE = (7, 0)  # 6.15 takes the name and makes nothing of it


def with_merge_operator(api: CApi, options: COptions, base: Any, version: str) -> Any:
    """New options: those of `base`, with the merge operator."""
    if version_numbers(version) >= SINCE:
        return options.parse(base, BY_NAME)
    made = options.parse(base, "")
    operator = api.lib.rocksdb_mergeoperator_create(api.ffi.NULL, *_callbacks(api.ffi))
    api.lib.rocksdb_options_set_merge_operator(made, operator)
    return made


@cache
def _callbacks(ffi: Any) -> tuple[Any, ...]:
    """Destructor, full merge, partial merge, deletion of a value, name; alive as long as the process.

    What a merge gives is the operand itself, not a copy, so there is nothing to delete.
    """
    name = ffi.new("char[]", b"LastOperand")

    def full_merge(_state: Any, _key: Any, _key_size: int, _value: Any, _value_size: int, *operands: Any) -> Any:
        return partial_merge(_state, _key, _key_size, *operands)

    def partial_merge(_state: Any, _key: Any, _key_size: int, *rest: Any) -> Any:
        operands, sizes, count, success, size = rest
        success[0], size[0] = 1, sizes[count - 1]
        return operands[count - 1]

    operands = "const char* const*, const size_t*, int, unsigned char*, size_t*"
    return (
        ffi.callback("void (*)(void*)", lambda _state: None),
        ffi.callback(f"char* (*)(void*, const char*, size_t, const char*, size_t, {operands})", full_merge),
        ffi.callback(f"char* (*)(void*, const char*, size_t, {operands})", partial_merge),
        ffi.callback("void (*)(void*, const char*, size_t)", lambda _state, _value, _size: None),
        ffi.callback("const char* (*)(void*)", lambda _state: name),
    )
