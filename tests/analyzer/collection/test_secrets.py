"""What is withheld, and what is not."""

from typing import Any

import pytest
from lsmlens.analyzer.collection.secrets import WITHHELD, settings_withheld, shapes_withheld, without_secrets


@pytest.mark.parametrize(
    "name",
    [
        "rgw_keystone_admin_password",
        "rgw_ldap_secret",
        "mgr/dashboard/jwt_token_secret",
        "mgr/cephadm/ssh_identity_key",
        "mgr/cephadm/registry_credentials",
        "keyring",
        "key",
        "keyfile",
        "rgw_barbican_passphrase",
    ],
)
def test_options_that_hold_secrets(name: str) -> None:
    assert without_secrets({name: "x"}) == {name: WITHHELD}
    assert without_secrets({"diff": {name: {"default": "", "mon": "x"}}}) == {
        "diff": {name: {"default": "", "mon": WITHHELD}}
    }
    row = {"section": "global", "name": name, "value": "x", "level": "advanced", "mask": ""}
    assert without_secrets([row]) == [{**row, "value": WITHHELD}]
    assert settings_withheld(f"a = 1\n{name} = x\n".encode()) == f"a = 1\n{name} = {WITHHELD}\n".encode()


@pytest.mark.parametrize(
    "document",
    [
        {"osd_memory_target": "4294967296", "bluestore_rocksdb_options": "compression=kNoCompression"},
        {"rocksdb": {"submit_latency": {"avgcount": 3, "sum": 0.5}}},
        {"bluestore_cache_autotune": "true", "monkey": "x", "rocksdb_cache_type": "binned_lru"},
        {"osd": {"key": 3}},
        [{"name": "osd.3", "value": "x"}],
    ],
)
def test_the_rest_stays(document: Any) -> None:
    assert without_secrets(document) == document


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (b"key AQD2xE9nAAAAABAAq0Yd7Z3JZ0v1M2b8l4o9Zg== of osd.0", b"key (withheld) of osd.0"),
        (b"GET https://admin:pw@grafana/ 200", b"GET https://(withheld)@grafana/ 200"),
        (b'rocksdb: EVENT_LOG_v1 {"job": 1}', b'rocksdb: EVENT_LOG_v1 {"job": 1}'),
        (b"v2://10.0.0.1:6800/5", b"v2://10.0.0.1:6800/5"),
    ],
)
def test_shapes(text: bytes, left: bytes) -> None:
    assert shapes_withheld(text) == left
    assert without_secrets({"said": text.decode()}) == {"said": left.decode()}
