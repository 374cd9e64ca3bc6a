"""ceph.conf as the ceph-conf of 16.2.15 reads it: each expected value is what it printed."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.analyzer.options.ceph_conf import parse_ceph_conf

TEXT = r"""
[osd]
a1 = x;y
a3 = x\;y,z={p\;q}
a4 = x # comment
a5 = x#notcomment
a 6 spaced = one \
  two
a-7 = 'qw e'
a8=  trailing
  a9 = indented
a10 = "abc" ; comment
a11 = first
a11 = second
a12 = x "yz" w
; a14 = no
[osd.0]
a1 = special
[global]
a15 = g
a9 = global
"""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("a1", "x"),
        ("a3", "x;y,z={p;q}"),
        ("a4", "x"),
        ("a5", "x"),
        ("a_6_spaced", "one   two"),
        ("a-7", "qw e"),
        ("a8", "trailing"),
        ("a9", "indented"),
        ("a10", "abc"),
        ("a11", "second"),
        ("a12", 'x "yz" w'),
        ("a14", None),
        ("a15", "g"),
    ],
)
def test_values(name: str, value: str | None) -> None:
    assert parse_ceph_conf(TEXT).options_of("osd.1").get(name) == value


def test_the_nearer_section_counts() -> None:
    conf = parse_ceph_conf(TEXT)
    assert [conf.options_of(daemon).get("a1") for daemon in ("osd.0", "osd.1", "osd", "mon.a")] == [
        "special",
        "x",
        "x",
        None,
    ]


def test_the_file_of_an_osd(fixtures: Path) -> None:
    conf = parse_ceph_conf((fixtures / "osd-stock" / "ceph.conf").read_bytes())
    assert list(conf.sections) == ["global", "mon", "osd", "client"]
    options = conf.options_of("osd.0")
    assert options["bluestore_debug_enforce_settings"] == "ssd"
    assert options["osd_max_pg_log_entries"] == "10000"
    assert options["mon_host"] == "[v2:127.0.0.1:3300/0,v1:127.0.0.1:6789/0]"
    assert conf.options_of("client.admin")["log_file"] == ""


@given(st.text() | st.binary() | st.text(alphabet="a=[]\\;#\"' \n"))
def test_any_text(text: str | bytes) -> None:
    parse_ceph_conf(text).options_of("osd.0")
