"""Schemathesis tests the OpenAPI document of `serve`: no request causes a server error, and the document describes
every answer. `make test-openapi` installs it and sets SCHEMATHESIS to its command."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.serve.attackers import attacked

# Hundreds of its requests have no token; serve would answer them with 429 after the first twenty.
_MANY_LOGINS = "from vault_index.serve import guard; guard._FAILED_LOGINS = 1000.0, 10_000"
# Dates, references and queries have rules that no schema expresses, so a valid value may be refused. `capture` accepts
# one invalid value: it replaces a false author by the name of the token.
_LEFT_OUT = {"reader": "positive_data_acceptance", "writer": "positive_data_acceptance,negative_data_rejection"}


@pytest.mark.parametrize(("name", "phases"), [("reader", "coverage,fuzzing"), ("writer", "fuzzing")])
def test_openapi_document_describes_every_answer(tmp_path: Path, name: str, phases: str) -> None:
    with attacked(tmp_path, first=_MANY_LOGINS) as target:
        ran = subprocess.run(
            [os.environ["SCHEMATHESIS"], "--no-color", "run", f"http://{target.host}/openapi.json",
             "--header", f"Authorization: Bearer {target.tokens[name]}", "--max-examples", "4", "--seed", "21",
             "--phases", phases, "--exclude-checks", _LEFT_OUT[name], "--max-failures", "5"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
        assert target.lives
        assert "Traceback" not in target.logs()
