"""Secrets are withheld where they are read: by options' names, and by the shape of cephx keys and passwords in URLs."""

import re
from typing import Any, Final

WITHHELD: Final = "(withheld)"
# rgw_keystone_admin_password, mgr/dashboard/jwt_token_secret, keyring, mgr/cephadm/ssh_identity_key
NAME: Final = re.compile(
    r"(?:^|[_./ -])(?:keys?|keyfile|tokens?)(?:$|[_./ -])|keyring|passw|passphrase|secret|credential|private",
    re.IGNORECASE,
)
# AQD2xE9nAAAAABAAq0Yd7Z3JZ0v1M2b8l4o9Zg==      28 bytes, of which the first two are 1 and 0
CEPHX_KEY: Final = rb"\bAQ[A-Za-z0-9+/]{36}=="
URL_PASSWORD: Final = rb"(?<=://)[^/\s:@\"]+:[^/\s@\"]+(?=@)"
_SHAPES: Final = re.compile(CEPHX_KEY + b"|" + URL_PASSWORD)
# rgw_admin_password = abc      "key": "AQ…"      in what is no JSON
_SETTING: Final = re.compile(rb"^(?P<name>[ \t\"']*[\w./ -]+?[\"']?[ \t]*[=:][ \t]*)(?P<value>\S[^\n]*)", re.MULTILINE)


def without_secrets(document: Any) -> Any:
    """A JSON document with what is secret in it withheld.

    An option is known by its name wherever its value stands: beside it (`config show`), under it by source (`config
    diff`), or in a row that names it (`config dump`). Numbers of JSON, as perf dumps have them, are no secrets.
    """
    if isinstance(document, dict):
        named = document.get("name")
        is_secret_row = isinstance(named, str) and NAME.search(named) is not None
        return {
            key: _withheld(value)
            if NAME.search(key) or (is_secret_row and key not in ("name", "section", "mask", "level", "type"))
            else without_secrets(value)
            for key, value in document.items()
        }
    if isinstance(document, list):
        return [without_secrets(one) for one in document]
    if isinstance(document, str):
        return shapes_withheld(document.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")
    return document


def _withheld(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _withheld(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_withheld(one) for one in value]
    return WITHHELD if isinstance(value, str) and value else value


def shapes_withheld(text: bytes) -> bytes:
    """A text with cephx keys, and users and passwords of URLs, withheld: for logs, where all else is kept."""
    return _SHAPES.sub(WITHHELD.encode(), text)


def settings_withheld(text: bytes) -> bytes:
    """A text of settings, a line each, with those withheld whose names are secrets'."""

    def said(match: re.Match[bytes]) -> bytes:
        is_secret = NAME.search(match["name"].decode("utf-8", "replace").strip("\"' \t=:"))
        return match["name"] + WITHHELD.encode() if is_secret else match[0]

    return shapes_withheld(_SETTING.sub(said, text))
