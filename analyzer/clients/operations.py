"""Single operations of an OSD and where their time went: `dump_historic_ops` and its kin, of any release.

Also `dump_historic_slow_ops`, `dump_historic_ops_by_duration` and `dump_ops_in_flight`. Stages are made of the
events' stamps, which are to the microsecond; an event's printed `duration` is not used: in 16 it is the time to
the next event (the whole for the last one, and 4294967296 for a little less than 0), in 18 from the one before.

    "type_data": ["started", {"client": …, "tid": 869}, [{"time": "2016-04-26 08:54:38.938585", "event": …}, …]]   10
    "type_data": {"flag_point": …, "client_info": {…}, "events": [{"event": …, "time": …, "duration": …}, …]}      12 on
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from lsmlens.analyzer.clients.stages import DONE, IN_FLIGHT, MESSENGER_EVENTS, Stage, stage_group
from lsmlens.analyzer.counters.json_numbers import as_amount
from lsmlens.analyzer.units import MICROS

# 2026-11-20T22:57:01.826894+0000       Octopus and later
# 2016-04-26 08:54:38.938585            before; an event whose stamp was never set prints 0.000000
_MOMENT = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?\s*(?:Z|([+-])(\d\d):?(\d\d))?", re.ASCII
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# osd_op(client.4126.0:15352 2.1a 2:59446de1:::rbd_data.1015…:head [write 3104768~4096] snapc 0=[] ondisk+write+… e12)
# osd_op(client.4508.0:869 2.797e510b 2598/object_0 [] snapc 0=[] ack+read+known_if_redirected e213)
_FLAGS = re.compile(r" ([a-z_+]+) e\d+\)\s*$", re.ASCII)
_SUBOPS = ("osd_repop", "osd_sub_op", "MOSDECSubOp")
# waiting for subops from 41,95        sub_op_commit_rec from 41
_FROM_WHOM = re.compile(r" from \S+$")

# waiting for subops from [610]                              to 0.80
_ASKED = re.compile(r"waiting for subops from \[?(\d+(?:,\d+)*)", re.ASCII)
_ANSWERED = re.compile(
    r"(?:sub_op_commit_rec|sub_op_applied_rec|op_commit from|subop reply).*?from (?:osd\.)?(\d+)", re.ASCII
)

# Threads stamp an operation's events and may overtake each other; a step back above this is a clock that was set.
STEP_MICROS = 1000


class OperationClass(StrEnum):
    """What an operation is for. One that reads and writes counts as a write."""

    CLIENT_WRITE = "client write"
    CLIENT_READ = "client read"
    SUBOP = "subop"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Operation:
    """One operation. `stages` are in the order of time and leave no gap between the first event and the last.

    `initiated_micros` is since 1970 UTC; of a release that logs no zone (before 15) it is the OSD's local time,
    and `has_zone` is false. `age_seconds` is from the start to the dump. `waited` are the OSDs that the operation sent
    to ("waiting for subops from 6,11") and the seconds until each one's last answer; to the end for one that gave none.
    """

    description: str
    operation_class: OperationClass
    initiated_micros: int | None
    has_zone: bool
    age_seconds: float | None
    duration_seconds: float | None
    is_in_flight: bool
    flag_point: str
    stages: tuple[Stage, ...]
    source: str = ""
    waited: tuple[tuple[int, float], ...] = ()


class OperationsDump(NamedTuple):
    """What one dump holds, and how much of it was not understood.

    `clock_steps` counts operations during which the clock went back: their stages are not to be trusted.
    """

    operations: tuple[Operation, ...] = ()
    operations_left_out: int = 0
    events_left_out: int = 0
    clock_steps: int = 0


def read_operations(document: object, source: str = "") -> OperationsDump:
    """The operations of a parsed dump, whatever it is."""
    entries = document.get("ops", document.get("Ops")) if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return OperationsDump(operations_left_out=1)
    operations: list[Operation] = []
    events_left_out = clock_steps = 0
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("description"), str):
            continue
        flag_point, listed = _type_data(entry.get("type_data"))
        events = [event for event in map(_event, listed) if event]
        events_left_out += len(listed) - len(events)
        clock_steps += _steps_back(events)
        operations.append(_operation(entry, flag_point, events, source))
    return OperationsDump(tuple(operations), len(entries) - len(operations), events_left_out, clock_steps)


def unique(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """Each operation once, the most finished account of it: several dumps of an OSD may hold the same one."""
    found: dict[tuple[str, int | None], Operation] = {}
    for operation in operations:
        key = operation.description, operation.initiated_micros
        known = found.get(key)
        if known is None or _completeness(operation) > _completeness(known):
            found[key] = operation
    return tuple(found.values())


def slowest(operations: Iterable[Operation], most: int) -> tuple[Operation, ...]:
    """The `most` longest operations, longest first; their stages are the steps of a waterfall."""
    timed = [operation for operation in operations if operation.duration_seconds is not None]
    return tuple(sorted(timed, key=lambda one: -(one.duration_seconds or 0.0))[: max(0, most)])


def peers_in(state: str) -> tuple[int, ...]:
    """The OSDs that an operation still waits for, by what it is at; none where that names none."""
    match = _ASKED.match(state)
    return tuple(map(int, match[1].split(","))) if match else ()


def classify(description: str) -> OperationClass:
    """The class a description tells, by its message type and flags."""
    if description.startswith(_SUBOPS):
        return OperationClass.SUBOP
    flags = _FLAGS.search(description)
    if description.startswith("osd_op(") and flags:
        named = flags[1].split("+")
        if "write" in named:
            return OperationClass.CLIENT_WRITE
        if "read" in named:
            return OperationClass.CLIENT_READ
    return OperationClass.OTHER


def _operation(entry: dict[str, object], flag_point: str, events: Sequence[tuple[int, str]], source: str) -> Operation:
    description = str(entry["description"])
    operation_class = classify(description)
    reads = operation_class is OperationClass.CLIENT_READ
    initiated = _moment(entry.get("initiated_at"))
    ordered = sorted(events, key=lambda event: event[0])
    duration, age = as_amount(entry.get("duration")), as_amount(entry.get("age"))
    start = ordered[0][0] if ordered else 0
    took = (ordered[-1][0] - start) / MICROS if ordered else None
    seconds = took if duration is None else float(duration)
    is_done = any(name == DONE for _, name in ordered)
    stages = [
        Stage(since, until, stage_group(since, until, reads=reads), (begin - start) / MICROS, (end - begin) / MICROS)
        for (begin, since), (end, until) in pairwise(ordered)
    ]
    if ordered and not is_done and took is not None and seconds is not None and seconds > took:
        last = ordered[-1][1]
        stages.append(Stage(last, IN_FLIGHT, stage_group(last, IN_FLIGHT, reads=reads), took, seconds - took))
    return Operation(
        description=description,
        operation_class=operation_class,
        initiated_micros=initiated[0] if initiated else None,
        has_zone=bool(initiated and initiated[1]),
        age_seconds=None if age is None else float(age),
        duration_seconds=seconds,
        is_in_flight=not is_done,
        flag_point=flag_point,
        stages=tuple(stages),
        source=source,
        waited=_waited(entry, seconds),
    )


def _waited(entry: dict[str, object], seconds: float | None) -> tuple[tuple[int, float], ...]:
    """Who was waited for, and how long, by the events that name them."""
    _, listed = _type_data(entry.get("type_data"))
    asked: dict[int, int] = {}
    answered: dict[int, int] = {}
    for event in listed:
        moment = _moment(event.get("time")) if isinstance(event, dict) else None
        if moment is None or not isinstance(event, dict):
            continue
        said = str(event.get("event"))
        if match := _ASKED.match(said):
            asked.update(dict.fromkeys(map(int, match[1].split(",")), moment[0]))
        elif match := _ANSWERED.match(said):
            answered[int(match[1])] = moment[0]
    begin = min(asked.values(), default=0)
    end = begin + round((seconds or 0.0) * MICROS)
    return tuple((osd, (answered.get(osd, end) - since) / MICROS) for osd, since in sorted(asked.items()))


def _type_data(type_data: object) -> tuple[str, list[object]]:
    """Flag point and events of either form; before 12 they stand in a list, not under names."""
    if isinstance(type_data, dict):
        flag_point, events = type_data.get("flag_point"), type_data.get("events")
    else:
        parts = type_data if isinstance(type_data, list) else []
        flag_point = next((part for part in parts if isinstance(part, str)), "")
        events = next((part for part in parts if isinstance(part, list)), None)
    return flag_point if isinstance(flag_point, str) else "", events if isinstance(events, list) else []


def _event(event: object) -> tuple[int, str] | None:
    """Moment and normalised name of an event; None without either."""
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return None
    moment = _moment(event.get("time"))
    return (moment[0], _FROM_WHOM.sub("", event["event"])) if moment else None


def _steps_back(events: Sequence[tuple[int, str]]) -> bool:
    """Whether a later event has an earlier stamp; the messenger's are listed after the fact, in no strict order."""
    stamps = [micros for micros, name in events if name not in MESSENGER_EVENTS]
    return any(earlier - later > STEP_MICROS for earlier, later in pairwise(stamps))


def _moment(text: object) -> tuple[int, bool] | None:
    """Microseconds since 1970 and whether the zone was given; None for what is no moment."""
    match = _MOMENT.fullmatch(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        moment = datetime(year, month, day, hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None
    micros = (moment - _EPOCH) // timedelta(microseconds=1) + int((match[7] or "").ljust(6, "0")[:6])
    if match[8]:
        ahead = (int(match[9]) * 3600 + int(match[10]) * 60) * MICROS
        micros += -ahead if match[8] == "+" else ahead
    return micros, match[8] is not None or match[0].endswith("Z")


def _completeness(operation: Operation) -> tuple[bool, int, float]:
    return not operation.is_in_flight, len(operation.stages), operation.age_seconds or 0.0
