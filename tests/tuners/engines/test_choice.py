"""Which engine is taken, for what there is."""

import pickle
from pathlib import Path

import pytest
from lsmlens.tuners.engines import choice
from lsmlens.tuners.engines.choice import EngineChoice, choose_engine
from lsmlens.tuners.engines.errors import EngineError, NotPublished
from lsmlens.tuners.engines.library import Library, given_library
from lsmlens.tuners.engines.rocksdict import RocksdictEngine
from lsmlens.tuners.engines.versions import nearest, version_numbers

WHEEL = RocksdictEngine().version


def made(version: str, source: str = "rocksdbjni") -> Library:
    return Library(version, Path(f"/{source}/{version}.so"), source)


class Machine:
    """What is on a machine, and what its network brings."""

    def __init__(self) -> None:
        self.installed: list[Library] = []
        self.system: list[Library] = []
        self.published: list[str] | None = []
        self.notices: list[str] = []

    def install(self, version: str) -> Library:
        if self.published is None:
            raise EngineError(f"RocksDB {version} cannot be fetched: no network")
        if version not in self.published:
            raise NotPublished(version, nearest(version, self.published))
        self.installed.append(made(version))
        return self.installed[-1]

    def choose(self, wanted: str | None = None, name: str | None = None, download: bool = True) -> EngineChoice:
        return choose_engine(name, wanted, None, download, self.notices.append)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> Machine:
    one = Machine()
    monkeypatch.delenv("LSMLENS_ROCKSDB", raising=False)
    monkeypatch.setattr(choice, "installed_libraries", lambda: one.installed)
    monkeypatch.setattr(choice, "system_libraries", lambda: one.system)
    monkeypatch.setattr(choice, "install_version", one.install)
    return one


def test_the_very_version(machine: Machine) -> None:
    machine.installed = [made("6.8.1"), made("7.9.2")]
    choice = machine.choose("6.8.1")
    assert (choice.name, choice.version, choice.library, choice.notes) == ("capi", "6.8.1", made("6.8.1").path, ())
    assert machine.notices == []


def test_the_official_build_before_the_systems(machine: Machine) -> None:
    machine.installed, machine.system = [made("7.8.3")], [made("7.8.3", "system")]
    assert machine.choose("7.8.3").library == made("7.8.3").path
    machine.installed = []
    assert machine.choose("7.8.3").library == made("7.8.3", "system").path


def test_fetched_with_one_line_of_notice(machine: Machine) -> None:
    machine.installed, machine.published = [made("7.9.2")], ["6.8.1", "7.9.2"]
    choice = machine.choose("6.8.1")
    assert (choice.version, choice.notes) == ("6.8.1", ())
    (notice,) = machine.notices
    assert "fetching RocksDB 6.8.1" in notice


def test_one_that_was_never_published(machine: Machine) -> None:
    machine.published = ["8.5.3", "8.6.7"]
    choice = machine.choose("8.5.2")
    assert choice.version == "8.5.3"
    assert choice.notes == ("RocksDB 8.5.3 (rocksdbjni) in place of 8.5.2",)


def test_one_of_a_minor_number_that_was_never_published(machine: Machine) -> None:
    machine.published, machine.installed = ["8.6.7"], [made("8.4.4")]
    choice = machine.choose("8.5.2")
    assert choice.version == "8.4.4"
    assert choice.notes == ("RocksDB 8.4.4 (rocksdbjni) in place of 8.5.2: RocksDB 8.5.2 is not published",)


def test_no_network(machine: Machine) -> None:
    machine.published, machine.installed = None, [made("5.18.4"), made("6.15.5")]
    choice = machine.choose("6.8.1")
    assert choice.version == "6.15.5"
    assert "cannot be fetched: no network" in choice.notes[0]
    assert len(machine.notices) == 2


def test_no_download_asked_for(machine: Machine) -> None:
    machine.published, machine.installed = ["6.8.1"], [made("6.15.5")]
    choice = machine.choose("6.8.1", download=False)
    assert choice.notes == ("RocksDB 6.15.5 (rocksdbjni) in place of 6.8.1: it is not here",)
    assert machine.notices == []


def test_the_wheel_where_there_is_no_library(machine: Machine) -> None:
    machine.published = None
    choice = machine.choose("6.8.1")
    assert (choice.name, choice.version, choice.library) == ("rocksdict", WHEEL, None)
    assert choice.notes[0].startswith(f"RocksDB {WHEEL} (rocksdict's) in place of 6.8.1: RocksDB 6.8.1 cannot")


def test_the_wheel_where_its_major_version_is_nearer(machine: Machine) -> None:
    machine.installed = [made("5.18.4")]
    wanted = f"{version_numbers(WHEEL)[0]}.0.0"
    assert machine.choose(wanted, download=False).name == "rocksdict"
    assert machine.choose(wanted, name="capi", download=False).version == "5.18.4"
    assert machine.choose("6.8.1", download=False).version == "5.18.4"


def test_the_newest_where_none_is_wanted(machine: Machine) -> None:
    assert machine.choose().name == "rocksdict"
    machine.installed, machine.system = [made("6.15.5"), made("10.2.1")], [made("7.8.3", "system")]
    assert machine.choose().version == "10.2.1"
    assert machine.choose().notes == ()


def test_rocksdict_by_name(machine: Machine) -> None:
    machine.installed = [made("6.8.1")]
    choice = machine.choose("6.8.1", name="rocksdict")
    assert choice.notes == (f"RocksDB {WHEEL} (rocksdict's) in place of 6.8.1",)
    assert machine.choose(name="rocksdict").notes == ()


def test_capi_by_name_without_any_library(machine: Machine) -> None:
    machine.published = None
    with pytest.raises(
        EngineError, match=r"no library of RocksDB 6\.8\.1: RocksDB 6\.8\.1 cannot be fetched"
    ) as caught:
        machine.choose("6.8.1", name="capi")
    assert "lsmlens engine install" in caught.value.hint


def test_an_engine_of_another_name(machine: Machine) -> None:
    with pytest.raises(EngineError, match="leveldb: no such engine"):
        machine.choose(name="leveldb")


def test_a_version_that_is_none(machine: Machine) -> None:
    with pytest.raises(EngineError, match="reef: no version of RocksDB"):
        machine.choose("reef")


def test_a_given_library_goes_before_all(
    machine: Machine, library: Path, jar: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = "6.8.1" if given_library(library).version != "6.8.1" else "7.9.2"
    machine.installed = [made(wanted)]
    choice = choose_engine(None, wanted, library, True, machine.notices.append)
    assert choice.library == library.resolve()
    assert choice.notes == (f"RocksDB {choice.version} (given) in place of {wanted}",)
    monkeypatch.setenv("LSMLENS_ROCKSDB", str(library))
    assert machine.choose(wanted) == choice
    assert machine.choose(wanted, name="rocksdict").name == "rocksdict"
    from_jar = choose_engine(None, choice.version, jar, True, machine.notices.append)
    assert from_jar.library is not None
    assert from_jar.library.is_relative_to(cache)
    with pytest.raises(EngineError, match="no such file"):
        choose_engine(None, None, Path("/nonexistent.so"), True, machine.notices.append)


def test_rocksdb_keeps_its_own_clock_where_that_is_asked_for(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.installed = [made("6.8.1")]
    assert machine.choose("6.8.1").sets_clock
    monkeypatch.setenv("LSMLENS_OWN_CLOCK", "1")
    for name in (None, "rocksdict"):
        choice = machine.choose("6.8.1", name=name)
        assert not choice.sets_clock
        assert choice.notes[-1].startswith("RocksDB keeps its own clock (LSMLENS_OWN_CLOCK)")


def test_a_choice_can_be_sent(machine: Machine) -> None:
    choice = machine.choose("6.8.1", download=False)
    assert pickle.loads(pickle.dumps(choice)) == choice
    assert choice().notes[0] == choice.notes[0]


def test_versions() -> None:
    assert version_numbers("10.10.1.1") == (10, 10, 1, 1)
    assert version_numbers("unknown") == ()
    known = ["5.18.4", "6.8.1", "6.15.5", "7.9.2", "7.10.2", "11.1.1", "11.8.1"]
    assert nearest("6.9.0", known) == "6.8.1"
    assert nearest("7.9.3", known) == "7.9.2"
    assert nearest("99.1", known) == "11.8.1"
    assert nearest("7.9.2", []) is None
