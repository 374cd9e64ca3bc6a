"""Commands that change options, for real databases."""

from pathlib import Path

from lsmlens.analyzer.analysis import analyze
from lsmlens.analyzer.options.option_changes import change_all, change_families


def test_an_osd_and_its_monitor(fixtures: Path) -> None:
    osd, monitor = analyze([str(fixtures / "osd-stock")]).runs
    assert change_all(osd, {"max_background_compactions": "4", "ttl": "0"}) == (
        'ceph config set osd bluestore_rocksdb_options_annex "max_background_compactions=4,ttl=0"',
    )
    (*_, command) = change_all(monitor, {"write_buffer_size": "67108864"})
    assert command.startswith('ceph config set mon mon_rocksdb_options "')
    assert command.endswith(',write_buffer_size=67108864"')


def test_families_of_an_osd_whose_sharding_is_known(fixtures: Path) -> None:
    osd = analyze([str(fixtures / "osd-stock")]).runs[0]
    commands = change_families(osd, ["P", "O-1"], {"min_write_buffer_number_to_merge": "2"})
    assert (
        'ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 --sharding="m(3) p(3,0-12) O(3,0-13)='
        "block_cache={type=binned_lru};min_write_buffer_number_to_merge=2 L P=min_write_buffer_number_to_merge=2"
        '" reshard'
    ) in commands


def test_families_of_an_osd_whose_sharding_is_not_known(fixtures: Path) -> None:
    (osd,) = analyze([str(fixtures / "osd-crash")]).runs
    assert "ceph-bluestore-tool --path /var/lib/ceph/osd/ceph-0 show-sharding" in change_families(
        osd, ["P"], {"ttl": "0"}
    )


def test_another_program(fixtures: Path) -> None:
    (run,) = analyze([str(fixtures / "rocksdb-7.8")]).runs
    assert change_all(run, {"max_background_jobs": "4"}) == ("max_background_jobs=4",)
    assert change_families(run, ["default"], {"ttl": "0"}) == ("ttl=0",)
