"""Seeds of random tests: the same at every landing, more and new ones every night."""

import os

TIMES = int(os.environ.get("VAULT_INDEX_TEST_TIMES", "1"))
"""How many times the usual number of seeds and examples to run; `make nightly` sets 10."""
_FIRST = int(os.environ.get("VAULT_INDEX_TEST_FIRST_SEED", "1"))


def seeds(count: int) -> range:
    """Return `count` seeds (times TIMES), for `parametrize`; every process of one run gets the same ones."""
    return range(_FIRST, _FIRST + count * TIMES)
