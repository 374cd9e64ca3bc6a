"""Events out of payloads that are not plain JSON to their last byte: cut, in another host's escapes, half broken."""

import html
import json
import re

from lsmlens.analyzer.events import Event, EventError

_FIELD = re.compile(r'"(\w+)": (?:(-?\d+)|(-?[\d.]+(?:e[+-]?\d+)?)|"([^"]*)"|\[([\d, -]*)\])(?=[,}])')
_LONE_SURROGATE = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")
_NOT_A_NUMBER = re.compile(r'(": )-?(?:inf|nan)(?=[,}\s])')


def decode_damaged(payload: bytes) -> tuple[object, bool]:
    """What the payload holds as far as it can be read, and whether the log had cut it.

    Raises EventError, saying why, where not even the event's kind can be read.
    """
    text = payload.decode("utf-8", "replace").rstrip("\r\n\x00 ")
    if text.startswith('{\\"'):  # a JSON string inside another host's log
        text = text.replace('\\"', '"').replace("\\\\", "\\")
    elif text.startswith("{&quot;"):  # an XML attribute
        text = html.unescape(text)
    text = _LONE_SURROGATE.sub(r"\\ufffd", _NOT_A_NUMBER.sub(r"\1null", text))
    try:
        event, _ = json.JSONDecoder(strict=False).raw_decode(text)
    except ValueError as error:
        event = _scan_fields(text)
        if "event" not in event:
            raise EventError(f"broken JSON: {error}") from None
        return event, True
    except RecursionError:
        raise EventError("nested too deep") from None
    return event, False


def _scan_fields(text: str) -> Event:
    """The whole fields at the front of a cut or unescaped payload; nothing of what it nests."""
    event: Event = {}
    position = 1
    while match := _FIELD.match(text, position):
        name, integer, number, string, items = match.groups()
        if integer is not None:
            # no log writes longer numbers, and converting thousands of digits is refused
            event[name] = int(integer) if len(integer) < 40 else None
        elif number is not None:
            try:
                event[name] = float(number)
            except ValueError:
                break
        elif string is not None:
            event[name] = string
        else:
            event[name] = [int(item) for item in items.split(",") if item.strip("- ").isdigit() and len(item) < 40]
        position = match.end() + 1
        if text[position : position + 1] == " ":
            position += 1
    return event
