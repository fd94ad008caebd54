"""The OpenAPI document of `serve`, tried by schemathesis: no request that it makes up is a fault of the server, and
every answer is one that the document names. `make test-openapi` installs it, and names its command."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.serve.attackers import served

# Dates, references and words in a query have rules of their own, which no schema says: what fits it may be refused. Of
# what does not fit, two options that nobody needs are let through: a daemon answers `status` whatever it is asked.
_LEFT_OUT = "positive_data_acceptance,negative_data_rejection"


@pytest.mark.parametrize("name", ["part", "writer"])
def test_every_answer_is_one_that_the_document_names(tmp_path: Path, name: str) -> None:
    with served(tmp_path) as one:
        ran = subprocess.run(
            [os.environ["SCHEMATHESIS"], "--no-color", "run", f"http://{one.host}/openapi.json",
             "--header", f"Authorization: Bearer {one.tokens[name]}", "--max-examples", "4", "--seed", "21",
             "--exclude-checks", _LEFT_OUT, "--max-failures", "5"],
            cwd=tmp_path, capture_output=True, text=True, check=False, timeout=900,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout[-5000:] + ran.stderr[-2000:]
        assert one.lives
        assert "Traceback" not in one.logs
