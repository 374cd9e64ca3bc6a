"""The colours of pages and charts, for light and for dark, by what they stand for.

A chart names a colour as CSS does, `var(--flush)`: what it looks like is the page's matter, so that a page changes
its theme, and prints, without drawing anew. Pictures have no page around them and take the light colours.
Series are from the Okabe-Ito set and ramps change in lightness, so both can be told apart without colour vision.
"""

import re

LIGHT_AND_DARK: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#14171c"),
    "panel": ("#f5f6f8", "#1c2027"),
    "ink": ("#1a1d23", "#e8eaee"),
    "faint-ink": ("#565d69", "#a3abb8"),
    "rule": ("#d8dce3", "#343a45"),
    "grid": ("#e9ecf0", "#262b33"),
    "link": ("#0b57a4", "#7db8f0"),
    "focus": ("#0b57a4", "#9ccaf7"),
    "flush": ("#0072b2", "#56b4e9"),
    "compaction": ("#d98200", "#f0a93c"),
    "slowdown": ("#cc79a7", "#e39cc3"),
    "stop": ("#a8003b", "#ff6f91"),
    "critical": ("#a8003b", "#ff7d9c"),
    "warning": ("#8a5300", "#f0b45a"),
    "info": ("#2a5d8f", "#86bdf0"),
    "good": ("#00694b", "#4cc9a0"),
    "shade": ("#f6d9a8", "#5a4420"),
    "series-1": ("#0072b2", "#56b4e9"),
    "series-2": ("#d55e00", "#ff8a3d"),
    "series-3": ("#009e73", "#2fc79b"),
    "series-4": ("#cc79a7", "#e39cc3"),
    "series-5": ("#7a6a00", "#d9c64a"),
    "series-6": ("#5b4a9e", "#a998f0"),
    "series-7": ("#5e6672", "#a3abb8"),
    "level-0": ("#9ecae1", "#2b5f8a"),
    "level-1": ("#5ba3d0", "#3f86bd"),
    "level-2": ("#2a7ab9", "#63abde"),
    "level-3": ("#0b559f", "#93caf0"),
    "level-4": ("#08306b", "#c4e3fa"),
    "level-5": ("#041c44", "#e6f4ff"),
    "level-6": ("#000814", "#ffffff"),
    "heat-1": ("#fde3c0", "#3d2a12"),
    "heat-2": ("#fbc38a", "#6a4014"),
    "heat-3": ("#f39a4e", "#a05a12"),
    "heat-4": ("#d96a1b", "#d9801f"),
    "heat-5": ("#a63f0a", "#f5ae5a"),
    "heat-6": ("#6b1d06", "#ffe2b8"),
}
SERIES = tuple(name for name in LIGHT_AND_DARK if name.startswith("series-"))
LEVELS = tuple(name for name in LIGHT_AND_DARK if name.startswith("level-"))
HEAT = tuple(name for name in LIGHT_AND_DARK if name.startswith("heat-"))

_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")


def css(name: str) -> str:
    """The colour of that name, as charts and style sheets say it. Raises KeyError for a name that is none."""
    assert LIGHT_AND_DARK[name]
    return f"var(--{name})"


def declarations(theme: int, important: bool = False) -> str:
    """The custom properties of a theme, 0 light and 1 dark."""
    end = " !important;" if important else ";"
    return " ".join(f"--{name}: {colours[theme]}{end}" for name, colours in LIGHT_AND_DARK.items())


def in_light(text: str) -> str:
    """The text with the light colours in place of their names."""
    return _VARIABLE.sub(lambda match: LIGHT_AND_DARK[match[1]][0], text)
