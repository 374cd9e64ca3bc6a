"""How values spread: around the log's mean, as the database's own histogram says."""

import pytest
from lsmlens.analyzer.counters.size_histograms import SizeClass, SizeHistogram
from lsmlens.tuners.estimation.value_shapes import with_shapes
from lsmlens.tuners.workloads.components import Growth, Keys
from lsmlens.tuners.workloads.document import ColumnFamily
from lsmlens.tuners.workloads.sizes import Mixture, mean_bytes

HISTOGRAM = SizeHistogram(
    {
        "O": (SizeClass(64, 127, 500), SizeClass(512, 575, 300)),
        "o": (SizeClass(64, 127, 500),),
        "p": (SizeClass(384, 400, 5000),),
        "B": (SizeClass(0, 16, 3000),),
        "S": (SizeClass(64, 90, 1000),),
    }
)


def family(name: str, values: float = 300.0) -> ColumnFamily:
    return ColumnFamily(name=name, keys=Keys(20), values=values, components=(Growth(rate=1.0),))


@pytest.mark.parametrize("name", ["O", "O-0", "O-11", "default"])
def test_the_spread_is_taken_and_the_mean_stays_the_log_s(name: str) -> None:
    (found,) = with_shapes([family(name)], HISTOGRAM)
    assert isinstance(found.values, Mixture)
    assert mean_bytes(found.values) == pytest.approx(300, rel=0.01)


def test_each_family_has_its_own_prefixes() -> None:
    objects, rest = with_shapes([family("O-0"), family("default")], HISTOGRAM)
    assert isinstance(objects.values, Mixture)
    assert isinstance(rest.values, Mixture)
    assert [one.share for one in objects.values.classes] == [500, 300, 500]
    assert [one.share for one in rest.values.classes] == [5000, 3000, 1000]


def test_values_stay_of_one_size_where_nothing_else_is_told() -> None:
    for name in ("p-1", "m", "P"):  # spreads hardly, is not in it, is another prefix than p
        assert with_shapes([family(name)], HISTOGRAM) == (family(name),)
    assert with_shapes([family("O-0")], None) == (family("O-0"),)
    assert with_shapes([family("O-0", 0.0)], HISTOGRAM) == (family("O-0", 0.0),)
    few = SizeHistogram({"O": (SizeClass(0, 10, 40), SizeClass(500, 600, 40))})
    assert with_shapes([family("O-0")], few) == (family("O-0"),)
