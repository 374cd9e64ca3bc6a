"""Events out of payloads that are not what RocksDB means to write.

They were cut, or escaped by another host; hold values that cannot be; are of kinds or have fields that are not known.
A value that cannot be is left out and named; the event stands without it if it can.
"""

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, Final, NamedTuple, get_type_hints

import msgspec
from lsmlens.analyzer.logs.events import (
    INT64_MAX,
    KNOWN,
    AnyEvent,
    CompactionStarted,
    Event,
    EventError,
    Id,
    OtherEvent,
    TableProperties,
    decoder,
    with_one_name,
)

_DECODER: Final = decoder()
_FIELD = re.compile(r'"(\w+)": (?:(-?\d+)|(-?[\d.]+(?:e[+-]?\d+)?)|"([^"]*)"|\[([\d, -]*)\])(?=[,}])')
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_NOT_A_NUMBER = re.compile(r'(": )-?(?:inf|nan)(?=[,}\s])')
_KIND = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_INPUT_FILES = re.compile(r"files_L(\d{1,4})")
LONGEST_NUMBER = 40  # no log writes longer ones, and converting thousands of digits is refused


class Repaired(NamedTuple):
    """An event, whether the log had cut it, its fields that are not known, and those whose values cannot be."""

    event: AnyEvent
    cut: bool = False
    unknown: Mapping[str, Any] = MappingProxyType({})
    impossible: tuple[str, ...] = ()


def repaired(payload: bytes) -> Repaired:
    """The event that a payload holds, as far as it can be read.

    Raises EventError, saying why, for what is not a usable event: broken JSON, or a field missing, of another type or
    out of range without which the event says nothing.
    """
    try:
        return Repaired(_DECODER.decode(with_one_name(payload)))
    except (msgspec.MsgspecError, ValueError, RecursionError):
        pass
    fields, cut = _fields(payload)
    if type(fields) is not dict:
        raise EventError("not a JSON object")
    kind = fields.pop("event", None)
    if type(kind) is not str or not _KIND.fullmatch(kind):
        raise EventError("no event kind")
    known = KNOWN.get(kind)
    if known is None:
        return Repaired(_other(kind, fields), cut)
    return _known(kind, known, {_one_name(name): value for name, value in fields.items()}, cut)


def _known(kind: str, known: type[Event], fields: dict[str, Any], cut: bool) -> Repaired:
    hints = _hints(known)
    required = [one.name for one in msgspec.structs.fields(known) if one.required]
    values: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    impossible: list[str] = []
    for name, value in fields.items():
        if name not in hints or name == "deeper":
            if known is CompactionStarted and (level := _INPUT_FILES.fullmatch(name)) and isinstance(value, list):
                if int(level[1]) <= 127:
                    values.setdefault("deeper", {})[int(level[1])] = [one for one in value if _can_be(one, Id)]
            else:
                unknown[name] = value
        elif name == "table_properties" and isinstance(value, dict):
            values[name] = _properties(value, impossible)
        elif name.startswith("files_L") and isinstance(value, list):
            values[name] = [one for one in value if _can_be(one, Id)]
        elif _can_be(value, hints[name]):
            values[name] = value
        elif name not in required and value is not None:
            impossible.append(name)
    for name in ("time_micros", *(name for name in required if name != "time_micros")):
        if name not in values:
            raise EventError(f"{kind}: {name} {_problem(fields.get(name))}")
    event = msgspec.convert({"event": kind, **values}, known)
    return Repaired(event, cut, unknown, tuple(impossible))  # type: ignore[arg-type]


def _one_name(name: str) -> str:
    return with_one_name(f'"{name}":'.encode("utf-8", "replace"))[1:-2].decode("utf-8", "replace")


def _other(kind: str, fields: dict[str, Any]) -> OtherEvent:
    hints = _hints(OtherEvent)
    micros = fields.get("time_micros")
    if not _can_be(micros, hints["time_micros"]):
        raise EventError(f"{kind}: time_micros {_problem(micros)}")
    said = {name: fields.get(name) for name in ("cf_name", "status", "job", "file_number")}
    kept = {name: value for name, value in said.items() if _can_be(value, hints[name])}
    rest = {name: value for name, value in fields.items() if name != "time_micros" and name not in kept}
    return OtherEvent(named=kind, time_micros=micros, fields=as_json(rest), **kept)  # type: ignore[arg-type]


def as_json(fields: Mapping[str, Any]) -> str:
    """Fields no class knows, as text. Raises EventError where they are nested too deep."""
    try:
        return json.dumps(dict(fields), allow_nan=False)
    except RecursionError:
        raise EventError("nested too deep") from None


def _properties(said: dict[str, Any], impossible: list[str]) -> TableProperties:
    hints = _hints(TableProperties)
    impossible += [
        f"table_properties.{name}"
        for name, value in said.items()
        if name in hints and value is not None and not _can_be(value, hints[name])
    ]
    return TableProperties(**{name: said[name] for name in hints if name in said and _can_be(said[name], hints[name])})


@cache
def _hints(struct: type[msgspec.Struct]) -> dict[str, Any]:
    return get_type_hints(struct, include_extras=True)


def _can_be(value: object, kind: Any) -> bool:
    try:
        msgspec.convert(value, kind)
    except (msgspec.MsgspecError, ValueError, RecursionError, OverflowError):
        return False
    return True


def _problem(value: object) -> str:
    if value is None:
        return "is missing"
    if type(value) in (int, float):
        if abs(value) > INT64_MAX:  # type: ignore[arg-type]
            return "is over 64 bits"
        if type(value) is int:
            return f"is {value}"
    return f"is {value!r:.40}, not an integer"


def _fields(payload: bytes) -> tuple[object, bool]:
    """What the payload holds as far as it can be read, and whether the log had cut it."""
    text = payload.decode("utf-8", "replace").rstrip("\r\n\x00 ")
    if text.startswith('{\\"'):  # a JSON string inside another host's log
        text = text.replace('\\"', '"').replace("\\\\", "\\")
    elif text.startswith("{&quot;"):  # an XML attribute
        text = html.unescape(text)
    text = _LONE_SURROGATE.sub(r"\\ufffd", _NOT_A_NUMBER.sub(r"\1null", text))
    try:
        found, _ = _JSON.raw_decode(text)
    except ValueError as error:
        found = _scan_fields(text)
        if "event" not in found:
            raise EventError(f"broken JSON: {error}") from None
        return found, True
    except RecursionError:
        raise EventError("nested too deep") from None
    return found, False


def _integer(digits: str) -> int:
    return int(digits) if len(digits) < LONGEST_NUMBER else 10**LONGEST_NUMBER


def _nothing(_: str) -> None:
    """What stands for NaN and infinity."""


def _float(text: str) -> float | None:
    number = float(text)
    return number if abs(number) != float("inf") else None


# a number that cannot be is read as one that no field takes, or as none
_JSON = json.JSONDecoder(strict=False, parse_int=_integer, parse_float=_float, parse_constant=_nothing)


def _scan_fields(text: str) -> dict[str, Any]:
    """The whole fields at the front of a cut or unescaped payload; nothing of what it nests."""
    fields: dict[str, Any] = {}
    position = 1
    while match := _FIELD.match(text, position):
        name, integer, number, string, items = match.groups()
        if integer is not None:
            fields[name] = _integer(integer)
        elif number is not None:
            try:
                fields[name] = _float(number)
            except ValueError:
                break
        elif string is not None:
            fields[name] = string
        else:
            fields[name] = [_integer(item) for item in items.split(",") if item.strip("- ").isdigit()]
        position = match.end() + 1
        if text[position : position + 1] == " ":
            position += 1
    return fields
