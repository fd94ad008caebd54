"""Arguments of tools: their JSON schema, and the check that clients do not make."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from vault_index.errors import UsageError

Kind = Literal["text", "names", "whole", "number", "flag"]

_SCHEMAS: Mapping[Kind, dict[str, Any]] = {
    "text": {"type": "string"},
    "names": {"type": "array", "items": {"type": "string"}},
    "whole": {"type": "integer"},
    "number": {"type": "number"},
    "flag": {"type": "boolean"},
}
_EXPECTED: Mapping[Kind, str] = {
    "text": "text",
    "names": "a list of texts, or one text",
    "whole": "a whole number",
    "number": "a number",
    "flag": "true or false",
}


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of a tool. `names` is a list, or several in one text, as the method itself reads them."""

    kind: Kind = "text"
    about: str = ""
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        described = {"description": self.about} if self.about else {}
        return {**_SCHEMAS[self.kind], **({"enum": list(self.choices)} if self.choices else {}), **described}

    def checked(self, name: str, value: Any) -> Any:
        """The value; UsageError where it is not of this kind."""
        if not self._is_kind(value):
            raise UsageError(
                f"{name} must be {_EXPECTED[self.kind]}, not {_shown(value)}", "correct it, and call again"
            )
        if self.choices and value not in self.choices:
            raise UsageError(f"{name} cannot be {value!r}", f"it is one of {', '.join(self.choices)}")
        return value

    def _is_kind(self, value: Any) -> bool:
        match self.kind:
            case "text":
                return isinstance(value, str)
            case "flag":
                return isinstance(value, bool)
            case "names":
                texts = [value] if isinstance(value, str) else value
                return isinstance(texts, list) and all(isinstance(text, str) for text in texts)
            case "whole":
                return isinstance(value, int) and not isinstance(value, bool)
            case "number":
                return isinstance(value, int | float) and not isinstance(value, bool)


def checked_arguments(
    given: Mapping[str, Any], known: Mapping[str, Argument], aliases: Mapping[str, str], needs: tuple[str, ...]
) -> dict[str, Any]:
    """What was given, by our names and of the right kinds. `needs` names those of which one must be there.

    Null is "not given". Raises UsageError for what is unknown, of another kind, given twice or missing.
    """
    checked: dict[str, Any] = {}
    for other, value in given.items():
        name = other if other in known else aliases.get(other, other)
        if name not in known:
            raise UsageError(f"there is no argument {other!r}", f"there are {', '.join(known)}")
        if value is None:
            continue
        if name in checked:
            raise UsageError(f"{other} and {name} are the same, and both are given", f"give {name} alone")
        checked[name] = known[name].checked(other, value)
    if needs and not any(checked.get(name) not in (None, "", []) for name in needs):
        raise UsageError(f"{' or '.join(needs)} is missing", "every call needs it")
    return checked


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
