"""Several streams of operations, each in order of time, as one."""

from collections.abc import Iterator, Sequence

import numpy as np
from lsmlens.tuners.workloads.operations import Operations


def merged(streams: Sequence[Iterator[Operations]]) -> Iterator[Operations]:
    """All operations of `streams` in order of time, as many at a time as one of the streams gives."""
    waiting: dict[int, Operations] = {}
    for place, stream in enumerate(streams):
        _refill(waiting, place, stream)
    while waiting:
        # Up to here, no stream can give anything more.
        horizon = min(one.seconds[-1] for one in waiting.values())
        ready: list[Operations] = []
        for place, one in waiting.items():
            count = int(np.searchsorted(one.seconds, horizon))
            if count:
                ready.append(one[:count])
                waiting[place] = one[count:]
        for place in list(waiting):
            while waiting[place].seconds[-1] == horizon:
                if not _refill(waiting, place, streams[place]):
                    ready.append(waiting.pop(place))
                    break
        if ready:
            yield _in_order(ready)


def _refill(waiting: dict[int, Operations], place: int, stream: Iterator[Operations]) -> bool:
    """Append the stream's next operations to what waits of it; False if there are no more."""
    for more in stream:
        if len(more):
            waiting[place] = _joined((waiting[place], more)) if place in waiting else more
            return True
    return False


def _joined(parts: Sequence[Operations]) -> Operations:
    return Operations(*(np.concatenate([getattr(part, name) for part in parts]) for name in Operations.__slots__))


def _in_order(parts: Sequence[Operations]) -> Operations:
    if len(parts) == 1:
        return parts[0]
    joined = _joined(parts)
    return joined[np.argsort(joined.seconds, kind="stable")]
