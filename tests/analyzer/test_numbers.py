"""Numbers and moments as people read them."""

import pytest
from lsmlens.analyzer.numbers import counted, mib, percent, plain, ratio, setting, size, time_of
from lsmlens.analyzer.units import MIB
from lsmlens.reports.moments import moment, moment_of_micros

SPACE = "\N{NARROW NO-BREAK SPACE}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "-"),
        (0, "0"),
        (7, "7"),
        (-7, "-7"),
        (9999, "9999"),
        (10_000, f"10{SPACE}000"),
        (15_934_931, f"15{SPACE}934{SPACE}931"),
        (-12_345, f"-12{SPACE}345"),
        (0.0, "0"),
        (0.5, "0.5"),
        (286.92, "286.92"),
        (0.2781560200049379, "0.278156"),
        (9_999.25, "9999.25"),
        (99_999.4, f"99{SPACE}999"),
        (1_468_368.42595274, f"1{SPACE}468{SPACE}368"),
        (-1_468_368.42595274, f"-1{SPACE}468{SPACE}368"),
        (0.00001234567, "1.23457e-05"),
    ],
)
def test_plain(value: float | None, text: str) -> None:
    assert plain(value) == text


def test_plain_to_fewer_digits() -> None:
    assert plain(3.14159, 3) == "3.14"
    assert plain(314.159, 3) == "314"


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0.0"),
        (1, "<0.01"),
        (MIB // 300, "<0.01"),
        (MIB // 100, "0.01"),
        (MIB, "1.00"),
        (9 * MIB + MIB // 2, "9.50"),
        (10 * MIB, "10.0"),
        (3333 * MIB + MIB // 3, "3333.3"),
    ],
)
def test_mib(count: int, text: str) -> None:
    assert mib(count) == text


@pytest.mark.parametrize(("value", "text"), [(None, "-"), (0.0, "0.000"), (1.5726, "1.573"), (12, "12.000")])
def test_ratio(value: float | None, text: str) -> None:
    assert ratio(value) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (MIB - 1, "1 MiB"),
        (MIB, "1 MiB"),
        (5 << 30, "5 GiB"),
        (3 << 40, "3 TiB"),
        (5000 << 40, "5000 TiB"),
    ],
)
def test_size(count: int, text: str) -> None:
    assert size(count) == text


@pytest.mark.parametrize(
    ("millis", "offset", "text"),
    [
        (None, 0, None),
        (1795215380761, 0, "2026-11-20T22:56:20.761Z"),
        (1795215380761, None, "2026-11-20T22:56:20.761"),
        (1795215380761, 3600, "2026-11-20T21:56:20.761Z"),
        (1795215380761, -12600, "2026-11-21T02:26:20.761Z"),
        (1795215380000, 0, "2026-11-20T22:56:20.000Z"),
        (0, 0, "1970-01-01T00:00:00.000Z"),
        (1e18, 0, None),
    ],
)
def test_moments(millis: float | None, offset: int | None, text: str | None) -> None:
    assert moment(millis, offset) == text


def test_moments_of_events() -> None:
    assert moment_of_micros(None) is None
    assert moment_of_micros(1795215642085694) == "2026-11-20T23:00:42.086Z"
    assert moment_of_micros((1 << 63) - 1) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "-"),
        (0.0, "0 s"),
        (4.5e-8, "<0.1 µs"),
        (7.49e-7, "0.749 µs"),
        (0.0000838, "83.8 µs"),
        (0.0009996, "1 ms"),
        (0.0123456, "12.3 ms"),
        (0.9996, "1 s"),
        (2.0, "2 s"),
        (5400, "1 h 30 min"),
    ],
)
def test_time_of(seconds: float | None, text: str) -> None:
    assert time_of(seconds) == text


@pytest.mark.parametrize(("value", "digits", "text"), [(None, 1, "-"), (0.673, 1, "67.3 %"), (0.673, 0, "67 %")])
def test_percent(value: float | None, digits: int, text: str) -> None:
    assert percent(value, digits) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("write_buffer_size", "268435456", "256 MiB"),
        ("max_total_wal_size", "1073741824", "1 GiB"),
        ("block_size", "4096", "4 KiB"),
        ("osd_memory_target", "4294967296", "4 GiB"),
        ("max_bytes_for_level_base", "1000000", f"1{SPACE}000{SPACE}000"),
        ("max_bytes_for_level_multiplier", "1024", "1024"),
        ("max_open_files", "1048576", f"1{SPACE}048{SPACE}576"),
        ("max_total_wal_size", "0", "0"),
        ("soft_pending_compaction_bytes_limit", "68719476736", "64 GiB"),
        ("bluestore_rocksdb_options", "ttl=60,write_buffer_size=16777216", "ttl=60,write_buffer_size=16 MiB"),
        ("bluestore_rocksdb_options", "write_buffer_size=16MB", "write_buffer_size=16MB"),
        ("compression", "kLZ4Compression", "kLZ4Compression"),
    ],
)
def test_an_option_of_bytes_is_in_its_unit(name: str, value: str, text: str) -> None:
    assert setting(name, value) == text


def test_counted() -> None:
    assert [counted(count, "file") for count in (0, 1, 2)] == ["0 files", "1 file", "2 files"]
    assert counted(12_000, "flush") == f"12{SPACE}000 flushes"
