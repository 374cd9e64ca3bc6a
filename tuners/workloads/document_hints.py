"""The way out of what is wrong in a workload document, from the document's own types."""

import re
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

from lsmlens.tuners.workloads.document import Workload
from msgspec import inspect

ANEW = "`lsmlens workload LOG -o FILE.yaml` writes a document to compare with"
UNITS = "numbers stand without a unit: seconds, bytes, puts per second, lifetimes in puts"

_STEP = re.compile(r"\.(?P<field>\w+)|\[(?P<item>\d+|\.\.\.)\]")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`")
_VALUE = re.compile(r"Invalid (?:enum )?value '?(.*?)'?", re.DOTALL)
_WRONG_TYPE = re.compile(r"Expected `(?P<wanted>.*)`, got `(?P<found>.*)`")
_AS_NUMBER = re.compile(r"\b(?:int|float)\b")


def hint(place: str, what: str, document: Any) -> str:
    """What to do about `what` msgspec says of `place` (`$.column_families[0].values`) in a document."""
    steps = [(match["field"], match["item"]) for match in _STEP.finditer(place)]
    if unknown := _UNKNOWN.fullmatch(what):
        return _one_of(unknown[1], _fields(_at(steps, document)))
    if missing := _MISSING.fullmatch(what):
        if missing[1] == "kind":
            return f"give its `kind`: {', '.join(_tags(_at(steps, document)))}"
        return f"give it `{missing[1]}`; {ANEW}"
    if value := _VALUE.fullmatch(what):
        around = _at(steps[:-1], document)
        return _one_of(value[1], _tags(around) if steps[-1:] == [("kind", None)] else _literals(_at(steps, document)))
    wrong = _WRONG_TYPE.fullmatch(what)
    return UNITS if wrong and wrong["found"] == "str" and _AS_NUMBER.search(wrong["wanted"]) else ANEW


def _one_of(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, 1)
    if close:
        return f"did you mean `{close[0]}`?"
    return f"there are {', '.join(known)}" if len(known) > 1 else f"it is `{known[0]}`" if known else ANEW


def _at(steps: Sequence[tuple[str | None, str | None]], document: Any) -> list[inspect.Type]:
    """The types that may stand at a place; of structs that a `kind` tells apart, the one that the document says."""
    types, value = _alternatives(inspect.type_info(Workload), document), document
    for field, item in steps:
        if field is not None:
            inside = [one.type for kind in types for one in _struct_fields(kind) if one.encode_name == field]
            value = value.get(field) if isinstance(value, dict) else None
        else:
            inside = [kind.item_type for kind in types if isinstance(kind, inspect.VarTupleType)]
            is_there = isinstance(value, list) and item is not None and item.isdigit() and int(item) < len(value)
            value = value[int(item or 0)] if is_there else None
        types = [one for kind in inside for one in _alternatives(kind, value)]
    return types


def _alternatives(kind: inspect.Type, value: Any) -> list[inspect.Type]:
    if isinstance(kind, inspect.Metadata):
        return _alternatives(kind.type, value)
    if not isinstance(kind, inspect.UnionType):
        return [kind]
    several = [one for member in kind.types for one in _alternatives(member, value)]
    tag = value.get("kind") if isinstance(value, dict) else None
    return [one for one in several if isinstance(one, inspect.StructType) and one.tag == tag is not None] or several


def _struct_fields(kind: inspect.Type) -> Sequence[inspect.Field]:
    return kind.fields if isinstance(kind, inspect.StructType) else ()


def _fields(types: Sequence[inspect.Type]) -> list[str]:
    return list(dict.fromkeys(field.encode_name for kind in types for field in _struct_fields(kind)))


def _tags(types: Sequence[inspect.Type]) -> list[str]:
    return [str(kind.tag) for kind in types if isinstance(kind, inspect.StructType) and kind.tag is not None]


def _literals(types: Sequence[inspect.Type]) -> list[str]:
    return [str(value) for kind in types if isinstance(kind, inspect.LiteralType) for value in kind.values]
