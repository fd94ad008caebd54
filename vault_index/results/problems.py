"""What is wrong: in every report, and in the answer of `doctor`."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Failure:
    path: str
    error: str


@dataclass(frozen=True, slots=True)
class Problem:
    code: str
    message: str
    hint: str
