"""Regular expressions, compiled when a text first needs them: most need none, and all of them take 10 ms."""

import re
from functools import cache


@cache
def compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
