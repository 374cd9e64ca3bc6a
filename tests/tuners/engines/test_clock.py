"""The clock of a library, and the slots it is hooked into."""

import ctypes
import platform
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import rocksdict
from lsmlens.tuners.engines import clock
from lsmlens.tuners.engines.c_api import CApi
from lsmlens.tuners.engines.choice import EngineChoice
from lsmlens.tuners.engines.clock import Clock
from lsmlens.tuners.engines.machine_code import Code, load_address, mappings, slots
from lsmlens.tuners.options.resolved_options import ResolvedOptions

linux = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in clock.CODE, reason="the clock can be set on Linux only"
)


@linux
def test_a_library_calls_time_through_a_slot(library: Path) -> None:
    CApi(library)
    (slot,) = slots(library, "time")
    (place,) = [one for one in mappings() if one.start <= slot < one.stop]
    assert "r" in place.permissions
    assert load_address(library)
    assert slots(library, "no_such_function") == []


@linux
def test_what_is_not_loaded_or_no_library_has_no_slots(library: Path, tmp_path: Path) -> None:
    copy = tmp_path / "librocksdb.so"
    copy.write_bytes(library.read_bytes())
    assert slots(copy, "time") == []
    assert Clock(copy).set(1) is False
    assert slots(Path(__file__), "time") == []


@linux
def test_the_function_gives_its_number() -> None:
    code = Code(clock.CODE[platform.machine()], clock.PAGE)
    for number in (0, 1, 86400, 1 << 40):
        code.number[0] = number
        assert code() == number


@linux
def test_set_and_restored(library: Path) -> None:
    CApi(library)
    one = Clock(library)
    assert one.set(1000.5)
    assert one.set(2000)
    one.restore()
    one.restore()
    assert one.set(3000)
    one.restore()


@linux
def test_switched_off_nothing_is_patched(choice: EngineChoice, tmp_path: Path) -> None:
    def slot_values() -> list[int]:
        library = choice.library or Path(rocksdict.rocksdict.__file__)
        return [ctypes.c_size_t.from_address(slot).value for slot in slots(library, "time")]

    for sets_clock in (False, True):
        engine = replace(choice, sets_clock=sets_clock)()
        asked = ResolvedOptions("tested", engine.version, {}, {"default": {}}, {"default": {}})
        database = engine.open(tmp_path / str(sets_clock), asked)
        before = slot_values()
        assert before
        assert database.set_clock(1_000_000_000) is sets_clock
        assert (slot_values() == before) is not sets_clock
        database.close()
        assert slot_values() == before


@pytest.mark.parametrize(("system", "machine"), [("darwin", "x86_64"), ("linux", "riscv64")])
def test_elsewhere_it_cannot_be_set(library: Path, monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert Clock(library).set(1000) is False


def test_both_processors_code_ends_in_a_return() -> None:
    assert clock.CODE["x86_64"].endswith(b"\xc3")
    assert clock.CODE["aarch64"].endswith(bytes.fromhex("c0035fd6"))
    assert len(clock.CODE["aarch64"]) == 24


@linux
def test_one_library_a_process(library: Path, tmp_path: Path) -> None:
    """Two would share static data and crash; the second is refused in plain words."""
    copy = tmp_path / "other.so"
    copy.write_bytes(library.read_bytes())
    script = (
        "import sys; from pathlib import Path\n"
        "from lsmlens.tuners.engines.c_api import CApi\n"
        "CApi(Path(sys.argv[1])); CApi(Path(sys.argv[1]))\n"
        "try: CApi(Path(sys.argv[2]))\n"
        "except Exception as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, str(library), str(copy)], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == f"{copy}: {library} is loaded already"
