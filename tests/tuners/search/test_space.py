import pytest
from lsmlens.analyzer.errors import InputError
from lsmlens.tuners.options.option_set import OptionSet
from lsmlens.tuners.options.presets import preset
from lsmlens.tuners.options.tunables import UNIVERSAL
from lsmlens.tuners.search.space import AS_ALL, Space, has_own_columns, neighbour, probes, space_of

BYTES = {"default": 1.0, "O-0": 50.0, "O-1": 40.0, "P": 30.0, "L": 0.5}


@pytest.fixture
def space() -> Space:
    return space_of(preset("ceph:pacific"), BYTES)


def test_columns_that_carry_the_bytes_have_memtables_of_their_own(space: Space) -> None:
    columns = {one.column for one in space.dimensions if one.column is not None}
    assert columns == {"O", "P"}
    assert {one.option for one in space.dimensions if one.column == "O"} == {
        "write_buffer_size",
        "min_write_buffer_number_to_merge",
    }


def test_a_database_of_one_family_has_no_columns() -> None:
    assert all(one.column is None for one in space_of(preset("rocksdb:default"), {"default": 5.0}).dimensions)


def test_the_present_choices_change_nothing(space: Space) -> None:
    same = space.candidate(space.present, "same")
    assert same.differences(space.base) == ()
    assert not has_own_columns(same)


def test_what_all_share_changes_for_a_column_too(space: Space) -> None:
    changed = space.candidate({**space.present, "write_buffer_size": str(64 << 20)}, "x")
    assert changed.value_of("write_buffer_size", "O-0") == str(64 << 20)
    assert not has_own_columns(changed)


def test_a_column_has_its_own_value(space: Space) -> None:
    changed = space.candidate({**space.present, "P.min_write_buffer_number_to_merge": "2"}, "x")
    assert changed.value_of("min_write_buffer_number_to_merge", "P") == "2"
    assert changed.value_of("min_write_buffer_number_to_merge", "O-0") == "1"
    assert has_own_columns(changed)


def test_a_column_of_its_own_goes_back_to_what_all_have() -> None:
    base = preset("ceph:reef")  # L and P merge 32 there
    space = space_of(base, BYTES)
    assert space.present["P.min_write_buffer_number_to_merge"] == "32"
    same = space.candidate({**space.present, "P.min_write_buffer_number_to_merge": AS_ALL}, "x")
    assert same.value_of("min_write_buffer_number_to_merge", "P") == "6"


def test_choices_of_another_set_are_the_nearest(space: Space) -> None:
    other = space.base.changed("max_bytes_for_level_base", "300000000").changed("write_buffer_size", "4194304", "P")
    found = space.choices_of(other)
    assert found["max_bytes_for_level_base"] == str(256 << 20)
    assert found["P.write_buffer_size"] == str(32 << 20)


@pytest.mark.parametrize("name", ["write_buffer_size", "P.write_buffer_size"])
def test_frozen_options_are_not_searched(name: str) -> None:
    names = {one.name for one in space_of(preset("ceph:pacific"), BYTES, [name]).dimensions}
    assert name not in names
    assert ("P.write_buffer_size" in names) is False
    assert "max_bytes_for_level_base" in names


def test_an_unknown_frozen_option_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="--freeze nonsense"):
        space_of(preset("ceph:pacific"), BYTES, ["nonsense"])


def test_a_value_off_the_ladder_is_on_it() -> None:
    base = preset("ceph:pacific").changed("level0_file_num_compaction_trigger", "5")
    ladder = next(one for one in space_of(base, {}).dimensions if one.option == "level0_file_num_compaction_trigger")
    assert "5" in ladder.values
    assert [float(one) for one in ladder.values] == sorted(float(one) for one in ladder.values)


def test_what_is_left_out_anyway_may_be_frozen() -> None:
    space = space_of(preset("ceph:pacific"), BYTES, ["enable_blob_files"])
    assert "enable_blob_files" in space.left_out


def test_what_presets_have_is_on_the_ladders() -> None:
    base = preset("ceph:pacific").changed("write_buffer_size", str(16 << 20))
    reef, luminous = preset("ceph:reef"), preset("ceph:luminous")
    space = space_of(base, BYTES, others=[reef, luminous])
    ladders = {one.name: one.values for one in space.dimensions}
    assert str(256 << 20) in ladders["write_buffer_size"]
    assert str(1 << 30) in ladders["max_bytes_for_level_base"]
    assert space.candidate(space.choices_of(luminous), "x").value_of("write_buffer_size") == str(256 << 20)
    assert space.largest_scale(["O-0"]) == space_of(base, BYTES).largest_scale(["O-0"])


def test_what_a_value_needs_beside_it_comes_with_it() -> None:
    space = space_of(preset("ceph:reef").changed("level_compaction_dynamic_level_bytes", "true"), BYTES)
    found = space.candidate({**space.present, "compaction_style": UNIVERSAL}, "x")
    assert found.value_of("level_compaction_dynamic_level_bytes") == "false"
    found.validate(["default", "O-0"])


def test_probes_change_one_option_each_and_begin_with_every_first_value(space: Space) -> None:
    probed = [one for one in space.dimensions if one.option in ("compaction_pri", "max_subcompactions")]
    found = list(probes(probed, space.present))
    changed = [[(name, value) for name, value in one.items() if value != space.present[name]] for one in found]
    assert all(len(one) == 1 for one in changed)
    assert [one[0][0] for one in changed[:2]] == ["compaction_pri", "max_subcompactions"]
    assert len(found) == sum(len(one.values) - 1 for one in probed)


class Scored:
    def __init__(self, choices: dict[str, str], cost: float) -> None:
        self.choices, self.cost = choices, cost


def test_neighbours_are_near_valid_and_the_same_for_a_seed(space: Space) -> None:
    scored = [Scored(space.present, 1.0)]
    for seed in range(50):
        found = neighbour(space, scored, seed)
        assert found == neighbour(space, scored, seed)
        changed = [name for name, value in found.items() if value != space.present[name]]
        assert 1 <= len(changed) <= 4
        for one in space.dimensions:
            assert found[one.name] in one.values


def test_neighbours_need_no_named_base(space: Space) -> None:
    assert isinstance(space.candidate(neighbour(space, [Scored(space.present, 1.0)], 3), "x"), OptionSet)
