"""The conformance tests of the protocol, as far as they apply to a server with its own tools."""

import os
from pathlib import Path

import pytest

from tests.mcp_real.bridge import bridge
from tests.mcp_real.conftest import Reached
from tests.mcp_real.gate import gate
from tests.mcp_real.programs import Checks, conform

REVISIONS = ("2025-11-25", "2026-07-28")
PAGE = Path(__file__).with_name("conformance.md")

FIXTURES = {
    "http-custom-header-server-validation",
    "json-schema-2020-12",
    "server-sse-polling",
    *(f"elicitation-{kind}" for kind in ("sep1034-defaults", "sep1330-enums")),
    *(f"resources-{kind}" for kind in ("read-binary", "read-text", "templates-read")),
    *(f"prompts-get-{kind}" for kind in ("embedded-resource", "simple", "with-args", "with-image")),
    *(
        f"tools-call-{kind}"
        for kind in (
            *("audio", "elicitation", "embedded-resource", "error", "image", "mixed-content", "sampling"),
            *("simple-text", "with-logging", "with-progress"),
        )
    ),
    *(
        f"input-required-result-{kind}"
        for kind in (
            *("basic-elicitation", "basic-list-roots", "basic-sampling", "capability-check", "ignore-extra-params"),
            *("missing-input-response", "multi-round", "multiple-input-requests", "non-tool-request"),
            *("request-state", "result-type", "tampered-state", "validate-input"),
        )
    ),
}
"""They need tools, prompts and resources with names that only a test server has."""

NOT_OFFERED = {"logging-set-level", "resources-subscribe", "resources-unsubscribe"}
EXTENSIONS = "tasks-"
NEEDS_A_FIXTURE = {"sep-2575-server-rejects-undeclared-capability", "sep-2575-missing-capability-http-400"}
"""Checks of server-stateless."""

ABOUT_HTTP = {
    *("dns-rebinding-protection", "http-header-validation", "server-session-lifecycle", "server-stateless"),
    "server-sse-multiple-streams",
}


def is_asked(scenario: str) -> bool:
    return scenario not in FIXTURES | NOT_OFFERED and not scenario.startswith(EXTENSIONS)


@pytest.fixture(scope="module")
def over_http(reached: Reached, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Checks]:
    """All checks that a revision requires."""
    with gate(reached.port, reached.token) as url:
        return {one: conform(url, one, home=tmp_path_factory.mktemp("http")) for one in REVISIONS}


@pytest.fixture(scope="module")
def over_stdio(
    reached: Reached, over_http: dict[str, Checks], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Checks]:
    """The applicable checks that are not about HTTP."""
    with bridge(reached.stdio) as url:
        return {
            one: conform(url, one, *filter(is_asked, found.keys() - ABOUT_HTTP), home=tmp_path_factory.mktemp("stdio"))
            for one, found in over_http.items()
        }


def failures(found: Checks) -> list[str]:
    return [
        f"{scenario}: {check['id']}: {check.get('errorMessage')}"
        for scenario, checks in found.items()
        for check in checks
        if check["status"] == "FAILURE" and check["id"] not in NEEDS_A_FIXTURE
    ]


def test_conformance_holds_for_all_scenarios(over_http: dict[str, Checks], over_stdio: dict[str, Checks]) -> None:
    for found in (*over_http.values(), *over_stdio.values()):
        assert failures({one: checks for one, checks in found.items() if is_asked(one)}) == []


def test_conformance_holds_for_the_schema_of_every_message(over_http: dict[str, Checks]) -> None:
    for found in over_http.values():
        judged = [check for checks in found.values() for check in checks if check["id"] == "wire-schema-valid"]
        assert len(judged) > 20
        assert failures({"": judged}) == []


def test_conformance_exclusions_name_existing_scenarios(over_http: dict[str, Checks]) -> None:
    assert set().union(*over_http.values()) >= FIXTURES | NOT_OFFERED | ABOUT_HTTP


def test_conformance_page_is_up_to_date(over_http: dict[str, Checks], over_stdio: dict[str, Checks]) -> None:
    told = table({"HTTP": over_http, "stdio": over_stdio})
    if "MCP_RECORD" in os.environ:
        PAGE.write_text(told, "utf-8")
    assert PAGE.read_text("utf-8") == told, "run: make test-mcp MCP_RECORD=1, and then make reference"


def table(results: dict[str, dict[str, Checks]]) -> str:
    columns = {f"{transport}, {one}": found for transport, by in results.items() for one, found in by.items()}
    scenarios = sorted(filter(is_asked, set().union(*columns.values())))
    lines = [["scenario", *columns], ["---"] * (1 + len(columns))]
    lines += [[f"`{one}`", *(_passed(found.get(one, [])) for found in columns.values())] for one in scenarios]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _passed(checks: list[dict[str, object]]) -> str:
    asked = [check["status"] for check in checks if check["id"] not in NEEDS_A_FIXTURE]
    judged = [status for status in asked if status in ("SUCCESS", "FAILURE", "WARNING")]
    return f"{judged.count('SUCCESS')} of {len(judged)}" if judged else ""
