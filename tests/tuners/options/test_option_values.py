"""Values in one spelling, by what kind of option they are of."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsmlens.tuners.options.option_catalogue import find_option, option_names
from lsmlens.tuners.options.option_values import (
    canonical_value,
    compression_list,
    fields_of,
    fields_text,
    spelled_for,
)


@pytest.mark.parametrize(
    ("option", "text", "value"),
    [
        ("write_buffer_size", "16MB", "16777216"),
        ("write_buffer_size", "16M", "16777216"),
        ("write_buffer_size", "16384k", "16777216"),
        ("write_buffer_size", "1_K", "1024"),
        ("max_open_files", "-1", "-1"),
        ("level0_file_num_compaction_trigger", "8.000000", "8"),
        ("enable_pipelined_write", "1", "true"),
        ("enable_pipelined_write", "False", "false"),
        ("compression", "kLZ4Compression", "kLZ4Compression"),
        ("compression", "LZ4", "kLZ4Compression"),
        ("compression", "4", "kLZ4Compression"),
        ("compression", "NoCompression", "kNoCompression"),
        ("compression", "ZSTD", "kZSTD"),
        ("bottommost_compression", "Disabled", "kDisableCompressionOption"),
        ("wal_recovery_mode", "2", "kPointInTimeRecovery"),
        ("prepopulate_blob_cache", "flush only", "kFlushOnly"),
        ("index_type", "2", "kTwoLevelIndexSearch"),
        ("max_bytes_for_level_multiplier", "8", "8.000000"),
        ("compression_per_level", "kNoCompression:{kLZ4Compression}", "kNoCompression:kLZ4Compression"),
        ("compression_per_level", "", ""),
        ("max_bytes_for_level_multiplier_additional", "1, 1, 2", "1:1:2"),
        ("compression_opts", "-14:5:0:0", "{level=5;max_dict_bytes=0;strategy=0;window_bits=-14}"),
        ("compression_opts", "{level=5;enabled=1}", "{enabled=true;level=5}"),
        ("compaction_options_universal", "{size_ratio=3;stop_style=0}", None),
        ("block_cache", "{capacity=1M;num_shard_bits=4}", "1048576"),
        ("filter_policy", "bloomfilter:20:false", "bloomfilter:20:false"),
        ("filter_policy", "(nil)", "nullptr"),
        ("memtable_factory", "skip_list:16", "SkipListFactory"),
        ("memtable_factory", "{id=SkipListFactory;lookahead=0;}", "SkipListFactory"),
        ("no_option_at_all", " anything ", "anything"),
    ],
)
def test_spellings(option: str, text: str, value: str | None) -> None:
    wanted = value if value is not None else "{size_ratio=3;stop_style=kCompactionStopStyleSimilarSize}"
    assert canonical_value(option, text) == wanted


@pytest.mark.parametrize(
    ("option", "text", "expected"),
    [
        ("write_buffer_size", "lots", "a size, such as 64M"),
        ("write_buffer_size", "", "a size, such as 64M"),
        ("write_buffer_size", "99999999999999999999", "more than RocksDB can hold"),
        ("paranoid_checks", "maybe", "true or false"),
        ("compression", "kFast", "kNoCompression, kSnappyCompression"),
        ("max_bytes_for_level_multiplier", "8x", "a number"),
        ("compaction_options_fifo", "7", "fields in braces, such as {"),
        ("compaction_options_fifo", "{ttl}", "ttl sets nothing"),
        (
            "compaction_options_universal",
            "{siz_ratio=3}",
            "siz_ratio is none of its fields: expected allow_trivial_move",
        ),
        ("compression_opts", "{level=high}", "level=high"),
    ],
)
def test_what_an_option_cannot_have(option: str, text: str, expected: str) -> None:
    with pytest.raises(ValueError, match=r"expected|sets nothing|more than") as raised:
        canonical_value(option, text)
    assert expected in str(raised.value)


def test_a_version_spells_values_its_own_way() -> None:
    assert spelled_for("8.000000", "10") == "8"
    assert spelled_for("8.000000", "10.000000") == "8.000000"
    assert spelled_for("true", "false") == "true"
    assert spelled_for("{a=1;later=2}", "{a=0;b=3}") == "{a=1;b=3}"
    assert spelled_for("nullptr", "nullptr") == "nullptr"


def test_compression_options_before_they_were_fields() -> None:
    assert compression_list("{level=5;max_dict_bytes=16384}") == "-14:5:0:16384"


@given(st.sampled_from(option_names()), st.text(max_size=30) | st.integers().map(str) | st.floats().map(str))
def test_what_is_in_its_spelling_stays(option: str, text: str) -> None:
    try:
        value = canonical_value(option, text)
    except ValueError:
        return
    assert canonical_value(option, value) == value


@pytest.mark.parametrize("option", option_names())
def test_every_default_is_in_its_spelling(option: str) -> None:
    found = find_option(option)
    assert found is not None
    for default in found.defaults.values():
        if default is not None:
            assert spelled_for(canonical_value(option, default), default) == default


NAMES = st.from_regex(r"[a-z_]{1,10}", fullmatch=True)


@given(st.dictionaries(NAMES, st.from_regex(r"[A-Za-z0-9._:-]{1,8}", fullmatch=True), max_size=5))
def test_fields_are_read_as_they_are_printed(fields: dict[str, str]) -> None:
    assert fields_of(fields_text(fields)) == fields
