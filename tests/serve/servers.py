"""The names by which tests of other packages still know tests/world.py."""

from tests.waiting import until as until
from tests.world import (
    Answered as Answered,
    Process as Process,
    Served as Served,
    World as Place,
    bearer as bearer,
    opened_world as place,
)

__all__ = ["Answered", "Place", "Process", "Served", "bearer", "place", "until"]
