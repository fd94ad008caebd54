"""The OpenAPI document of `serve`, tried by schemathesis: no request that it makes up is a fault of the server, and
every answer is one that the document names. `make test-openapi` installs it, and names its command."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.serve.attackers import served

# Dates, references and words in a query have rules of their own, which no schema says: what fits it may be refused.
# What does not fit is refused but where `capture` gives the name of the token for an author that is false.
_LEFT_OUT = {"reader": "positive_data_acceptance", "writer": "positive_data_acceptance,negative_data_rejection"}


@pytest.mark.parametrize(("name", "phases"), [("reader", "coverage,fuzzing"), ("writer", "fuzzing")])
def test_every_answer_is_one_that_the_document_names(tmp_path: Path, name: str, phases: str) -> None:
    with served(tmp_path) as one:
        ran = subprocess.run(
            [os.environ["SCHEMATHESIS"], "--no-color", "run", f"http://{one.host}/openapi.json",
             "--header", f"Authorization: Bearer {one.tokens[name]}", "--max-examples", "4", "--seed", "21",
             "--phases", phases, "--exclude-checks", _LEFT_OUT[name], "--max-failures", "5"],
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
        assert one.lives
        assert "Traceback" not in one.logs
