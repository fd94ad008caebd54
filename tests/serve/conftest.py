"""What several modules serve: each has a place of its own (`here`)."""

import pytest

from tests.serve.servers import Place, Served


@pytest.fixture(scope="module")
def served(here: Place) -> Served:
    return here.serve()
