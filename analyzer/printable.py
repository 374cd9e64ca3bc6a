"""Text from logs, archives and the command line, as it may be shown on a terminal."""

GROUP_SPACE = "\N{NARROW NO-BREAK SPACE}"  # between groups of digits
REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """The text on one line, without control characters, lone surrogates and the like."""
    if text.isprintable():
        return text
    decoded = text.encode("utf-8", "surrogateescape" if _escapes_bytes(text) else "replace").decode("utf-8", "replace")
    return "".join(
        character if character.isprintable() or character == GROUP_SPACE else REPLACEMENT for character in decoded
    )


def _escapes_bytes(text: str) -> bool:
    """Whether all surrogates in it stand for bytes of a file name that is not UTF-8."""
    return all("\udc80" <= character <= "\udcff" for character in text if "\ud800" <= character <= "\udfff")
