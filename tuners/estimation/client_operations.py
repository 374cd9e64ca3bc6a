"""What clients did, by the operations that an OSD remembers: `dump_historic_ops` and its kin.

osd_op(client.4126.0:242520 2.7 2:e467…:::rbd_data.1015….05ce:head [write 2433024~4096] snapc 0=[] ondisk+write+… e11)
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from lsmlens.analyzer.clients.operations import Operation, OperationClass

# The operations of one message stand in brackets, with `offset~length` behind those on data.
_LIST = re.compile(r" \[([a-z][^\]]{0,2000})\] ")
_ONE = re.compile(r"([a-z][a-z0-9-]{1,40})\b(?:[^~]* \d{1,20}~(\d{1,20}))?")


class ClientOperations(NamedTuple):
    """Writes by what they did, such as `write` or `omap-set-vals`: how many, and their mean bytes where they say."""

    messages: int
    counts: Counter[str]
    mean_bytes: dict[str, float]


def client_operations(operations: Iterable[Operation]) -> ClientOperations | None:
    """What the remembered client writes did; None where there are none."""
    messages = 0
    counts: Counter[str] = Counter()
    sizes: dict[str, list[int]] = {}
    for one in operations:
        said = _LIST.search(one.description) if one.operation_class is OperationClass.CLIENT_WRITE else None
        if said is None:
            continue
        messages += 1
        for operation in filter(None, map(_ONE.match, said[1].split(","))):
            name, length = operation.groups()
            counts[name] += 1
            if length:
                sizes.setdefault(name, []).append(int(length))
    if not counts:
        return None
    return ClientOperations(messages, counts, {name: sum(each) / len(each) for name, each in sizes.items()})
