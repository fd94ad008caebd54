"""The conformance tests of the protocol, as far as they apply to a server with its own tools."""

import os
import tomllib
from pathlib import Path

import pytest

from tests.mcp_real.conftest import Reached
from tests.mcp_real.gate import gate
from tests.mcp_real.programs import Checks, conform

REVISIONS = ("2025-11-25", "2026-07-28")
PAGE = Path(__file__).with_name("conformance.md")

SCENARIOS = tomllib.loads(Path(__file__).with_name("scenarios.toml").read_text("utf-8"))
LEFT_OUT = {*SCENARIOS["fixtures"], *SCENARIOS["not_offered"]}
EXTENSIONS = "tasks-"
NEEDS_A_FIXTURE = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
"""Checks of server-stateless."""


def is_asked(scenario: str) -> bool:
    return scenario not in LEFT_OUT and not scenario.startswith(EXTENSIONS)


@pytest.fixture(scope="module")
def over_http(reached: Reached, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checks]:
    """All checks that a revision requires."""
    with gate(reached.port, reached.token) as url:
        return {one: conform(url, one, home=tmp_path_factory.mktemp("http")) for one in REVISIONS}


def failures(found: Checks) -> list[str]:
    return [
        f"{scenario}: {check['id']}: {check.get('errorMessage')}"
        for scenario, checks in found.items()
        for check in checks
        if check["status"] == "FAILURE" and check["id"] not in NEEDS_A_FIXTURE
    ]


def test_conformance_holds_for_all_scenarios(over_http: dict[str, Checks]) -> None:
    for found in over_http.values():
        assert failures({one: checks for one, checks in found.items() if is_asked(one)}) == []


def test_conformance_holds_for_the_schema_of_every_message(over_http: dict[str, Checks]) -> None:
    for found in over_http.values():
        judged = [check for checks in found.values() for check in checks if check["id"] == "wire-schema-valid"]
        assert len(judged) > 20
        assert failures({"": judged}) == []


def test_conformance_exclusions_name_existing_scenarios(over_http: dict[str, Checks]) -> None:
    assert set().union(*over_http.values()) >= LEFT_OUT


def test_conformance_page_is_up_to_date(over_http: dict[str, Checks]) -> None:
    told = table(over_http)
    if "MCP_RECORD" in os.environ:
        PAGE.write_text(told, "utf-8")
    assert PAGE.read_text("utf-8") == told, "run: make test-mcp MCP_RECORD=1, and then make reference"


def table(results: dict[str, Checks]) -> str:
    scenarios = sorted(filter(is_asked, set().union(*results.values())))
    lines = [["scenario", *results], ["---"] * (1 + len(results))]
    lines += [[f"`{one}`", *(_passed(found.get(one, [])) for found in results.values())] for one in scenarios]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _passed(checks: list[dict[str, object]]) -> str:
    asked = [check["status"] for check in checks if check["id"] not in NEEDS_A_FIXTURE]
    judged = [status for status in asked if status in ("SUCCESS", "FAILURE", "WARNING")]
    return f"{judged.count('SUCCESS')} of {len(judged)}" if judged else ""
