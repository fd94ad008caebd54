"""The former name of tests/mutations.py."""

from tests.mutations import mutated as mutated, parsed as parsed
