"""Placement groups of a dump, as JSON and as text, of releases with and without spaces in their stamps."""

import pytest
from lsmlens.analyzer.qos.placement_groups import PlacementGroup, is_pg_dump, read_pg_dump

JSON = {
    "pg_ready": True,
    "pg_map": {
        "pg_stats": [
            {
                "pgid": "13.1e8",
                "state": "active+undersized+degraded+remapped+backfill_wait",
                "up": [18, 33, 10],
                "acting": [18, 10],
                "acting_primary": 18,
                "stat_sum": {
                    "num_objects": 2,
                    "num_bytes": 8388608,
                    "num_objects_degraded": 2,
                    "num_objects_misplaced": 0,
                },
            },
            {
                "pgid": "2.1a",
                "state": "active+remapped+backfilling",
                "up": [1, 2, 3],
                "acting": [1, 2, 4],
                "acting_primary": 1,
                "stat_sum": {"num_objects": 100, "num_bytes": 419430400, "num_objects_misplaced": 60},
            },
            {
                "pgid": "3.0s1",
                "state": "active+clean",
                "up": [2147483647, 5],
                "acting": [2147483647, 5],
                "stat_sum": {},
            },
            {"pgid": "not one"},
        ]
    },
}
# As a cluster of 12.2 printed it.
OLD_TEXT = """version 20754
PG_STAT OBJECTS MISSING_ON_PRIMARY DEGRADED MISPLACED UNFOUND BYTES LOG DISK_LOG STATE STATE_STAMP VERSION REPORTED UP \
UP_PRIMARY ACTING ACTING_PRIMARY LAST_SCRUB SCRUB_STAMP LAST_DEEP_SCRUB DEEP_SCRUB_STAMP
13.1e8 2 0 2 0 0 8388608 1527 1527 active+undersized+degraded+remapped+backfill_wait 2018-07-03 20:30:13.999637 \
9493'38727 20754:165663 [18,33,10] 18 [18,10] 18 9493'38727 2018-07-03 19:53:43.462188 0'0 2018-06-28 20:09:36.303126
"""
_NEW_HEADER = (
    "PG_STAT  OBJECTS  MISSING_ON_PRIMARY  DEGRADED  MISPLACED  UNFOUND  BYTES  OMAP_BYTES*  OMAP_KEYS*  LOG  STATE"
    "  STATE_STAMP  VERSION  REPORTED  UP  UP_PRIMARY  ACTING  ACTING_PRIMARY"
)
NEW_TEXT = f"""{_NEW_HEADER}
2.1a    100  0  0  60  0  419430400  0  0  1527  active+remapped+backfilling  2024-01-31T23:58:22.017893+0300  1'2 \
3:4  [1,2,3]   1  [1,2,4]   1
2.ff      0  0  0   0  0          0  0  0     0  unknown                      2024-01-31T23:58:22.017893+0300  0'0 \
0:0       []  -1       []  -1
"""


def test_json() -> None:
    groups = read_pg_dump(JSON)
    assert groups is not None
    assert len(groups) == 3
    first, second, third = groups
    assert (first.name, first.seed, first.primary, first.targets) == ("13.1e8", 0x1E8, 18, (33,))
    assert first.recovers
    assert not first.is_only_misplaced
    assert (second.targets, second.is_only_misplaced, second.objects_to_recover) == ((3,), True, 60)
    assert second.object_bytes == 4 << 20
    assert (third.seed, third.up, third.primary, third.recovers) == (0, (None, 5), None, False)


def test_json_before_nautilus_has_no_map() -> None:
    assert read_pg_dump(JSON["pg_map"]) == read_pg_dump(JSON)


def test_text_with_spaces_in_stamps() -> None:
    assert is_pg_dump(OLD_TEXT)
    assert read_pg_dump(OLD_TEXT) == (
        PlacementGroup(
            13, 0x1E8, "active+undersized+degraded+remapped+backfill_wait", (18, 33, 10), (18, 10), 18, 2, 8388608, 2, 0
        ),
    )


def test_text_of_newer_releases() -> None:
    groups = read_pg_dump(NEW_TEXT)
    assert groups is not None
    assert groups[0] == PlacementGroup(
        2, 0x1A, "active+remapped+backfilling", (1, 2, 3), (1, 2, 4), 1, 100, 419430400, 0, 60
    )
    assert groups[1].primary is None


@pytest.mark.parametrize("document", [None, [], {}, {"pg_map": []}, {"pg_stats": 3}, "no dump at all", 7])
def test_what_is_no_dump(document: object) -> None:
    assert read_pg_dump(document) is None
