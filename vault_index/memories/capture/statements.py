"""Extract decisions and preferences from what a user wrote to an agent.

Plain heuristics, sentence by sentence; they prefer missing a statement over storing a complaint. A
statement begins its sentence or clause (`we decided to`, `never`, `I prefer`), after optional
fillers. Questions, quotations and code are ignored. The heuristics are measured with
tests/memories/statements.toml.
"""

import re
from collections.abc import Iterator

from vault_index.markdown.normalize import split_lines
from vault_index.memories.capture.markers import Captured, without_code

FILLER = re.compile(
    r"(?:ok(?:ay)?|so|and|but|also|then|yes|yeah|yep|no|nope|well|right|actually|please|pls|fyi"
    r"|btw|by the way|note"
    r"|important|reminder|again|hey|hi|thanks|great|perfect|sure|ps|nb|one (?:more|last) thing"
    r"|just so you know"
    r"|to be clear|for the record|as (?:discussed|agreed)|(?:as a )?general rule|(?:new )?rule"
    r"|in general|generally"
    r"|(?:in|for|across) (?:this|our|my|the) (?:\w+ )?(?:repo|repository|project|codebase|team"
    r"|company|code|app))\b"
    r"\s*[:,!.-]*\s+"
)
CIRCUMSTANCE = re.compile(
    r"(?:when|whenever|if|for|in|on|before|after|during|with|while|unless|once|as|at|because"
    r"|since)\b[^,]{1,90},\s+"
    r"|(?:after|in|at|during|on) (?:the|our|my|today's|yesterday's|last) [^,]{1,40}? (?=we\b)"
    r"|(?:yesterday|today|earlier|last \w+),? (?=we\b)"
)
_THING = (
    r"(?!(?:it|this|that|them|these|those|so)\b(?! (?:we|you|the|every|all)\b)|nothing\b|later\b)"
)
"""Excludes `it` and `that`, which only the sentence before would explain."""
_NAMED = r"(?!(?:it|this|that|them)\b)"
_ONE_OF_TWO = r"(?:it|this|that|the (?:first|second|third|last|former|latter|other|new|old))\b"
_LATELY = (
    r"(?: (?:all|just|now|finally|already|both|also|together|today|yesterday|recently|then"
    r"|jointly))*"
)
_RULE_NAME = r"(?:convention|rule|policy|standard|guideline|practice|house style)s?"

_DECISIONS = (
    rf"(?:we|the team|our team|everyone)(?:'ve| have)?{_LATELY} (?:decided|agreed|opted|voted)"
    rf"(?: (?:today|yesterday|together|now|last week))? (?:to|on|that|not|against|for|we) {_THING}",
    # `I decided to check …` reports a next step, not a decision.
    rf"i(?:'ve| have)?{_LATELY} decided (?!to (?:look|take|check|try|start|restart|ask|give|see"
    rf"|investigate|go ahead"
    rf"|rerun|reboot|wait|leave|come|have|read|debug|write you)\b)(?:to|on|that|not|against|for"
    rf"|we) {_THING}",
    rf"we(?:'ve| have)?{_LATELY} (?:settled on|chose|chosen|standardi[sz]ed on|picked"
    rf"|committed to) {_THING}",
    rf"we(?:'re| are) (?:going|sticking) with {_NAMED}",
    rf"(?:let'?s|let us) (?:go|stick) (?:with|to) {_NAMED}(?!the (?:first|next|last|flow|plan)\b)",
    rf"we(?:'ll| will) (?:use|go with|stick with|stick to) {_NAMED}",
    r"(?:the |our |final )*decision(?: is| was)?(?: made)?(?::| [-–—]| to| that) \w",
    r"decision,? we (?!made|make|took|take|had|have|need|were|are|could|can|should|discussed"
    r"|reached|came|regret)\w",
    r"it(?:'s| was| is| has been)(?: now)? (?:decided|agreed) (?:to|that|on) ",
)
_RULES = (
    r"(?:from now on|going forward|moving forward|from here on(?: out)?|henceforth)"
    r"(?:,|:| please| always| never| use| do| don't| all| every| we| you| i want| no)(?! (?:get"
    r"|see)\b) ?",
    r"from now on (?!line\b|it\b|the\b|i get\b|i see\b)\w",
    r"(?!it\b|this\b|that\b|the\b|there\b|i get\b|everything\b).{6,}[ ,](?:from now on"
    r"|going forward|henceforth)[.!]*$",
    r"(?:do not|don'?t|no) .{3,}\b(?:in this (?:repo|repository|project|codebase)"
    r"|without (?:asking|my|telling|checking)|under any circumstances|unless i (?:ask|say|tell))\b",
    r"(?:do not|don'?t) ever \w",
    rf"we (?:don'?t|do not) use {_NAMED}(?!any of\b)",
    rf"we (?:only )?use {_NAMED}[^.]*(?:,? (?:not|instead of|rather than) |\bin this (?:repo"
    rf"|project)\b)",
    rf"our (?:\w+ ){{0,3}}{_RULE_NAME}(?: here| for [\w ]{{1,30}})? (?:is|are|says?"
    rf"|requires?)(?: that| to|:)? "
    r"(?!not (?:working|clear)\b|broken\b|wrong\b|failing\b|too\b|unclear\b|outdated\b|missing\b)",
    rf"(?:the|my) (?:\w+ ){{0,2}}{_RULE_NAME}(?: here)? (?:is(?: that| to|:| no| one)|says:) ",
    r"(?:by convention|as a rule),? \w",
)
_PREFERENCES = (
    r"(?:i|we|the team)(?:'d| would)?(?: (?:really|strongly|generally|usually|much|always|also"
    r"|personally))* prefers? "
    rf"(?!not to\b|it (?:when|if)\b|that you\b)(?!{_ONE_OF_TWO})",
    r"(?:i|we)(?:'d| would) prefer (?:it if|it when|that) (?:you|we)\b",
    rf"prefer (?!{_ONE_OF_TWO})\w",
    r"my (?:\w+ )?preference (?:is|would be)(?: to|:)? ",
    r"i(?:'d| would)(?: much)? rather (?!not say|know\b|see\b)(?:\w+ ){2}",
    r"i (?:really )?(?:(?:don'?t|do not) like|hate)(?: it)? when (?:you|code|comments|people)\b",
    r"i (?:don'?t|do not|never) want (?:you to|any|to see)\b",
    r"i(?:'d like| would like| want| expect) you to (?:always|never)\b",
    r"i(?:'m| am) not a (?:big )?fan of ",
)
_REMINDERS = (
    r"(?:remember|keep in mind|bear in mind|don'?t forget|do not forget|make a note|take note"
    r"|note to self)[,:]? that "
    r"(?!(?:one|time|\w+) (?:i|we|you|from|with)\b|one\b|time\b)",
    r"(?:remember|keep in mind)(?: this)?: ",
    r"(?:remember|keep in mind) (?=(?:the|our|all|every) (?!time\b|day\b|first\b"
    r"|last\b)(?:[\w-]+ ){1,3}"
    r"(?:is|are|must|needs?|uses?|runs?|lives?|belongs?|happens?) )",
    r"(?:save|store|add|put|write|commit)(?: this| that| it)? (?:to|in|into) (?:your "
    r"|the )?memory(?: that|:) ",
    r"for future reference[,:]? ",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


REMINDER = _any_of(_REMINDERS)
"""The memory is the text after this; for the other patterns, it is the whole sentence."""
STATEMENTS = (
    ("decision", _any_of(_DECISIONS)),
    (None, _any_of(_PREFERENCES)),
    ("pattern", _any_of(_RULES)),
)
"""The memory type of each pattern; a preference has none."""

RULE = re.compile(
    r"(?:please |just )*(?:(?P<subject>we|i) (?:should |must |want to )?|you (?:should|must"
    r"|need to|have to|may|can) "
    r"|(?:let'?s|let us) |make sure (?:to |you |that you |we |that we )|be sure to |remember to )?"
    r"(?:always|never(?: ever)?)(?: ever)? (?P<verb>[a-z][a-z'-]*)"
)
NORM = re.compile(
    r"(?P<subject>[a-z`][^,;:]{2,60}?) (?:must|should|shall|may) (?:always|never) "
    r"(?P<verb>[a-z][a-z'-]*)(?: (?P<next>[\w'-]+))?"
)
NO_VERB = re.compile(
    r"an?|the|this|that|these|those|its?|my|your|our|their|so|been|in|on|at|for|with|from|to|of"
    r"|and|or|but|nice|good|fun"
    r"|same|great|true|false|there|here|mind|again|happen|thought|saw|seen|had|got|gotten|knew"
    r"|known|heard|made|did|done"
    r"|went|gone|came|took|taken|found|said|told|was|were|is|are|ran|wrote|written|gonna|possible"
    r"|easy|hard|worth|very"
    r"|really|quite|too|both|just|left|right|one|two|more|less|enough|late|early"
    r"|(?!(?:need|embed|seed|feed|speed|proceed|exceed|shed|bring|ping|string|focus"
    r"|bias)$)(?:.*[^s]s|.*ed|.*ing)"
)
"""After `always` or `never`, these words describe an event instead of giving an instruction."""
STATE = re.compile(
    r"get|forget|end|see|know|remember|understand|wonder|think|feel|have|find|hit|notice|receive"
    r"|lose|struggle|can|could"
    r"|would|will|mess|confuse|hear|expect|manage|fail"
)
"""Verbs of complaints after `I always` and `we never`."""
UNNAMED = re.compile(r"this|that|it|which|there|he|she|they|these|those|you|i")
REPORTED = re.compile(
    r"\b(?:says?|said|thinks?|told|claims?|wonder|know|sure|believe|if|whether|maybe|perhaps"
    r"|test)\b"
)
FAULT = re.compile(
    r"happen|occur|fail|get|reach|return|see|null|none|empty|undefined|called|reached|negative"
)
"""Words after `should never` that describe a program error."""


PASTED = 8000
"""A longer message, in characters, is a pasted document and not the user's own words."""

_WRAPPED = 60
"""A line with at least this many characters may continue on the next line."""

_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^“”\n]*”|«[^«»\n]*»|(?<!\w)'(?=[^' \n]* )[^'\n]*'(?!\w)")
_APART = re.compile(
    r"\s*(?:>|\||#{1,6} |\$ |\+{3} |-{3} |@@ )|(?: {4}|\t)(?!\s*(?:[-*+]|\d+[.)]) )"
)
"""Lines that are not the user's sentences: quotes, tables, headings, commands, diffs, indented
code.
"""
_ITEM = re.compile(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_STOP = re.compile(r"(?<!\be\.g)(?<!\bi\.e)(?<!\betc)(?<!\bvs)[.!?…](?=[\s)]|$)")
_CLAUSE = re.compile(
    r";\s+|\s[-–—]+\s+|,\s+(?:so|and|but|also|then|because)\s+|(?<!\s)\s+so\s+(?=never\b|always\b"
    r"|from now on\b)"
)


def statements(text: str) -> tuple[Captured, ...]:
    """Return the sentences that state a decision, a rule, a preference or a reminder.

    Each is returned once, in order; `with_tags_and_expiry` adds tags and expiry.
    """
    if len(text) > PASTED:
        return ()
    found: dict[str, Captured] = {}
    for line, sentence, shown in _sentences(text):
        stated = _find_statement(shown)
        if stated and sentence[stated[1] :].strip():
            kind, start = stated
            found.setdefault(shown, Captured(sentence[start:].strip(), line, type=kind))
    return tuple(found.values())


def _sentences(text: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, each sentence, and its lower-case form without code and quotations.

    Offsets in both forms are equal.
    """
    lines = split_lines(text)
    shown, _ = without_code(lines)
    for number, (raw, visible) in _join_wrapped_lines(lines, shown):
        plain = _lower(_QUOTED.sub(lambda match: "`" * len(match[0]), visible).replace("’", "'"))
        start = 0
        for end in [*(match.end() for match in _STOP.finditer(plain)), len(plain)]:
            if plain[start:end].strip():
                lead = len(plain[start:end]) - len(plain[start:end].lstrip())
                yield number, raw[start + lead : end], plain[start + lead : end]
            start = end


def _lower(text: str) -> str:
    """Convert to lower case at equal offsets; a few letters would become two."""
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(one.lower() if len(one.lower()) == 1 else one for one in text)


def _join_wrapped_lines(
    lines: list[str], shown: list[str]
) -> Iterator[tuple[int, tuple[str, str]]]:
    """Yield the user's lines without list marks and emphasis; wrapped lines are joined."""
    raw, visible, first = "", "", 0
    for number, (line, seen) in enumerate(zip(lines, shown, strict=False)):
        apart = not seen.strip() or _APART.match(line)
        if raw and (apart or len(lines[number - 1]) < _WRAPPED or not seen.lstrip()[:1].islower()):
            yield first + 1, (raw, visible)
            raw = visible = ""
        if apart:
            continue
        item = _ITEM.match(seen)
        cut = item.end() if item else len(seen) - len(seen.lstrip())
        line, seen = line.rstrip()[cut:], seen[cut : len(line.rstrip())]
        first = first if raw else number
        raw += (" " if raw else "") + "".join(
            one for one, other in zip(line, seen, strict=True) if other != "*"
        )
        visible += (" " if visible else "") + seen.replace("*", "")
    if raw:
        yield first + 1, (raw, visible)


def _find_statement(sentence: str) -> tuple[str | None, int] | None:
    """Return the memory type of a sentence and where its memory begins; None if there is none."""
    begin = _after_fillers(sentence, 0)
    if sentence.rstrip(" )`").endswith("?") or len(sentence.split()) < 3:
        return None
    for start in _starts(sentence, begin):
        if reminder := REMINDER.match(sentence, start):
            return "note", reminder.end()
        for kind, pattern in STATEMENTS:
            if pattern.match(sentence, start):
                return kind, begin
        if _is_rule(sentence, start):
            return "pattern", begin
    return None


def _starts(sentence: str, begin: int) -> Iterator[int]:
    """Yield where a statement may begin: at the sentence, after `when …,` or at a clause."""
    yield begin
    if circumstance := CIRCUMSTANCE.match(sentence, begin):
        yield _after_fillers(sentence, circumstance.end())
    for clause in _CLAUSE.finditer(sentence):
        yield _after_fillers(sentence, clause.end())


def _after_fillers(sentence: str, start: int) -> int:
    while match := FILLER.match(sentence, start):
        start = match.end()
    return start


def _is_rule(sentence: str, start: int) -> bool:
    """Return whether `always …` or `never …` is an instruction, not a description."""
    if rule := RULE.match(sentence, start):
        return not NO_VERB.fullmatch(rule["verb"]) and not (
            rule["subject"] and STATE.fullmatch(rule["verb"])
        )
    norm = NORM.match(sentence, start)
    if not norm or UNNAMED.fullmatch(norm["subject"]) or REPORTED.search(norm["subject"]):
        return False
    verb, after = norm["verb"], norm["next"] or ""
    return not (NO_VERB.fullmatch(verb) or FAULT.fullmatch(verb) or FAULT.fullmatch(after))
