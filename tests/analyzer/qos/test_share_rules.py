"""Q17, Q22: shares themselves, values of the real OSD's config show replaced."""

from collections.abc import Callable

import pytest
from lsmlens.analyzer.findings import Finding, Severity
from lsmlens.analyzer.qos.rules import ClusterRule, OsdRule
from lsmlens.analyzer.qos.share_rules import CustomShares, LimitPerClient
from lsmlens.analyzer.qos.view import QosView

Build = Callable[..., QosView]
Found = Callable[[OsdRule | ClusterRule, QosView], list[Finding]]
PREFIX = "osd_mclock_scheduler_"
CUSTOM = {"osd_mclock_profile": "custom"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"client_res": "0.7"}, "reservations add up to 120 % of the capacity"),
        ({"client_lim": "0.3"}, "client: the limit is below the reservation"),
        ({"client_wgt": "20"}, "background best effort: no reservation and hardly any weight"),
        ({"client_res": "157"}, "shares above 1"),
        ({}, None),
    ],
)
def test_q17_custom_shares(build: Build, found: Found, changed: dict[str, str], said: str | None) -> None:
    view = build(CUSTOM | {PREFIX + name: value for name, value in changed.items()})
    findings = found(CustomShares(), view)
    assert bool(findings) is (said is not None)
    if said is not None:
        assert said in findings[0].meaning


def test_q17_shares_where_units_are_meant(build: Build, found: Found) -> None:
    (finding,) = found(CustomShares(), build(CUSTOM, release="17.2.5"))
    assert "values below 1" in finding.meaning


def test_q17_nothing_for_a_built_in_profile(build: Build, found: Found) -> None:
    assert not found(CustomShares(), build({PREFIX + "client_res": "0.7"}))


LIMITED = {PREFIX + "client_lim": "0.8"}


@pytest.mark.parametrize(
    ("config", "release", "is_found"),
    [
        (LIMITED, "18.2.0", True),
        (LIMITED, "18.2.1", False),
        ({}, "18.2.0", False),
        (LIMITED, "19.2.3", False),
    ],
)
def test_q22(build: Build, found: Found, config: dict[str, str], release: str, is_found: bool) -> None:
    assert bool(found(LimitPerClient(), build(config, release=release))) is is_found


@pytest.mark.parametrize(("clients", "expected"), [(1, []), (2, [Severity.WARNING])])
def test_q22_counts_clients_in_the_queues(build: Build, found: Found, clients: int, expected: list[Severity]) -> None:
    text = " ".join(f"{{ client:{{ class_id: 3 client_id: {number} profile_id: 0 }} }}" for number in range(clients))
    dump = {"OSD:ShardedOpWQ:0": {"queue_sizes": {"immediate": 0, "scheduler": 0}, "mClockClients": {"clients": text}}}
    view = build(LIMITED, release="18.2.0", files={"dump_op_pq_state.json": dump})
    assert [finding.severity for finding in found(LimitPerClient(), view)] == expected
