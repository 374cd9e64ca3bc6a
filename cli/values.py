"""What was typed for an option, as the command takes it.

Typer leaves this to pydantic, whose import takes as long as a small log's analysis may, and whose messages are for
programmers. So each parameter is given its own way of coercion beforehand.
"""

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from typing import Any, get_args

import typer

KINDS = {int: "whole number", float: "number"}
LARGEST = (1 << 31) - 1  # beyond it the system refuses processes, ports and seeds alike
# Units in seconds; one stands before those it ends in.
_SECONDS = {"ms": 0.001, "min": 60.0, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}


class Coercion:
    """The way of one parameter: a list, a tuple or one of text, path, number or choice, or what its parser makes."""

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value as the parameter's type has it; a default is as it is. Raises BadParameter where it cannot be."""
        described = param.type_descriptor
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        try:
            if described.is_list or described.is_tuple:
                kinds = get_args(described.annotation) * len(value)
                return tuple(_one(item, kind, described) for item, kind in zip(value, kinds, strict=False))
            return _one(value, described.annotation, described)
        except ValueError as error:
            raise typer.BadParameter(str(error), ctx=ctx, param=param) from error


def _one(text: Any, kind: Any, described: Any) -> Any:
    if not isinstance(text, str):
        return text
    info = described.parameter_info
    if info.parser is not None:
        return info.parser(text)
    if described.choices is not None:
        return one_of(described.choices)(text)
    try:
        value = kind(text)
    except ValueError:
        raise ValueError(f"{text} is not a {KINDS[kind]}") from None
    if info.min is not None and value < info.min:
        raise ValueError(f"{text} is below {info.min}")
    if kind is int and value > LARGEST:
        raise ValueError(f"{text} is too large")
    return value


def one_of(choices: Sequence[str]) -> Callable[[str], str]:
    """What takes one of these texts. It raises ValueError for another, with the nearest."""

    def chosen(text: str) -> str:
        if text in choices:
            return text
        guess = "".join(f" Did you mean {one}?" for one in get_close_matches(text, choices, 1))
        raise ValueError(f"{text} is not one of {', '.join(choices)}.{guess}")

    return chosen


def above_zero(text: str) -> float:
    """A number above zero. Raises ValueError for another."""
    value = _number(text)
    if not 0 < value < float("inf"):
        raise ValueError(f"{text} is not a number above 0")
    return value


def from_one_on(text: str) -> float:
    """A number from 1 on. Raises ValueError for another."""
    value = _number(text)
    if not 1 <= value < float("inf"):
        raise ValueError(f"{text} is below 1" if value < 1 else f"{text} is not a number")
    return value


def seconds(text: str) -> float:
    """Seconds of a duration that a person typed: `90`, `90s`, `10m`, `1.5h`, `1 D`.

    Raises ValueError, which says why, for one that is no number and unit, or not above 0 and finite.
    """
    typed = text.strip().lower()
    unit = next(one for one in _SECONDS if typed.endswith(one))
    try:
        length = float(typed.removesuffix(unit)) * _SECONDS[unit]
    except ValueError:
        raise ValueError(f"{text} is not a time such as 90s, 10m or 2h") from None
    if not 0 < length < float("inf"):
        raise ValueError(f"{text} is not above 0")
    return length


def size(text: str) -> int:
    """Bytes, such as 512M or 1G, also 1GiB. Raises ValueError for another text."""
    from lsmlens.analyzer.options.option_strings import parse_size

    found = parse_size(text.upper().removesuffix("IB").removesuffix("B"))
    if found is None or found <= 0:
        raise ValueError(f"{text} is not a size such as 512M or 1G")
    return found


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{text} is not a number") from None
