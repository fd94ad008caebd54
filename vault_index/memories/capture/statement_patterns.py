"""How people say what they decided, want and prefer, as patterns of a sentence in lower case."""

import re

FILLER = re.compile(
    r"(?:ok(?:ay)?|so|and|but|also|then|yes|yeah|yep|no|nope|well|right|actually|please|pls|fyi|btw|by the way|note"
    r"|important|reminder|again|hey|hi|thanks|great|perfect|sure|ps|nb|one (?:more|last) thing|just so you know"
    r"|to be clear|for the record|as (?:discussed|agreed)|(?:as a )?general rule|(?:new )?rule|in general|generally"
    r"|(?:in|for|across) (?:this|our|my|the) (?:\w+ )?(?:repo|repository|project|codebase|team|company|code|app))\b"
    r"\s*[:,!.-]*\s+"
)
CIRCUMSTANCE = re.compile(
    r"(?:when|whenever|if|for|in|on|before|after|during|with|while|unless|once|as|at|because|since)\b[^,]{1,90},\s+"
    r"|(?:after|in|at|during|on) (?:the|our|my|today's|yesterday's|last) [^,]{1,40}? (?=we\b)"
    r"|(?:yesterday|today|earlier|last \w+),? (?=we\b)"
)
QUESTION = re.compile(
    r"(?:who|what|why|where|which|how|whose)\b|when (?:do|did|does|should|is|are|will|can)\b"
    r"|(?:should|shall|could|can|would|will|did|does|do|is|are|was|were|has|have|am) "
    r"(?:i|we|you|it|this|that|there|they|he|she|the|our|my|anyone|someone|all)\b"
)

_THING = r"(?!(?:it|this|that|them|these|those|so)\b(?! (?:we|you|the|every|all)\b)|nothing\b|later\b)"
"""What was decided is not `it` or `that`: the sentence before it would be needed."""
_NAMED = r"(?!(?:it|this|that|them)\b)"
_ONE_OF_TWO = r"(?:it|this|that|the (?:first|second|third|last|former|latter|other|new|old))\b"
_LATELY = r"(?: (?:all|just|now|finally|already|both|also|together|today|yesterday|recently|then|jointly))*"
_RULE_NAME = r"(?:convention|rule|policy|standard|guideline|practice|house style)s?"

_DECISIONS = (
    rf"(?:we|the team|our team|everyone)(?:'ve| have)?{_LATELY} (?:decided|agreed|opted|voted)"
    rf"(?: (?:today|yesterday|together|now|last week))? (?:to|on|that|not|against|for|we) {_THING}",
    # What `I` decided to do next is a story.
    rf"i(?:'ve| have)?{_LATELY} decided (?!to (?:look|take|check|try|start|restart|ask|give|see|investigate|go ahead"
    rf"|rerun|reboot|wait|leave|come|have|read|debug|write you)\b)(?:to|on|that|not|against|for|we) {_THING}",
    rf"we(?:'ve| have)?{_LATELY} (?:settled on|chose|chosen|standardi[sz]ed on|picked|committed to) {_THING}",
    rf"we(?:'re| are) (?:going|sticking) with {_NAMED}",
    rf"(?:let'?s|let us) (?:go|stick) (?:with|to) {_NAMED}(?!the (?:first|next|last|flow|plan)\b)",
    rf"we(?:'ll| will) (?:use|go with|stick with|stick to) {_NAMED}",
    r"(?:the |our |final )*decision(?: is| was)?(?: made)?(?::| to| that) \w",
    r"it(?:'s| was| is| has been)(?: now)? (?:decided|agreed) (?:to|that|on) ",
)
_RULES = (
    r"(?:from now on|going forward|moving forward|from here on(?: out)?|henceforth)"
    r"(?:,|:| please| always| never| use| do| don't| all| every| we| you| i want| no)(?! (?:get|see)\b) ?",
    r"from now on (?!line\b|it\b|the\b|i get\b|i see\b)\w",
    r"(?!it\b|this\b|that\b|the\b|there\b|i get\b|everything\b).{6,}[ ,](?:from now on|going forward|henceforth)[.!]*$",
    r"(?:do not|don'?t|no) .{3,}\b(?:in this (?:repo|repository|project|codebase)"
    r"|without (?:asking|my|telling|checking)|under any circumstances|unless i (?:ask|say|tell))\b",
    r"(?:do not|don'?t) ever \w",
    rf"we (?:don'?t|do not) use {_NAMED}(?!any of\b)",
    rf"we (?:only )?use {_NAMED}[^.]*(?:,? (?:not|instead of|rather than) |\bin this (?:repo|project)\b)",
    rf"our (?:\w+ ){{0,3}}{_RULE_NAME}(?: here| for [\w ]{{1,30}})? (?:is|are|says?|requires?)(?: that| to|:)? "
    r"(?!not (?:working|clear)\b|broken\b|wrong\b|failing\b|too\b|unclear\b|outdated\b|missing\b)",
    rf"(?:the|my) (?:\w+ ){{0,2}}{_RULE_NAME}(?: here)? (?:is(?: that| to|:| no| one)|says:) ",
    r"(?:by convention|as a rule),? \w",
)
_PREFERENCES = (
    r"(?:i|we|the team)(?:'d| would)?(?: (?:really|strongly|generally|usually|much|always|also|personally))* prefers? "
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
    r"(?:remember|keep in mind|bear in mind|don'?t forget|do not forget|make a note|take note|note to self)[,:]? that "
    r"(?!(?:one|time|\w+) (?:i|we|you|from|with)\b|one\b|time\b)",
    r"(?:remember|keep in mind)(?: this)?: ",
    r"(?:save|store|add|put|write|commit)(?: this| that| it)? (?:to|in|into) (?:your |the )?memory(?: that|:) ",
    r"for future reference[,:]? ",
)


def _any_of(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


REMINDER = _any_of(_REMINDERS)
"""What comes after it is to be kept; of the others the whole sentence is."""
STATEMENTS = (("decision", _any_of(_DECISIONS)), (None, _any_of(_PREFERENCES)), ("pattern", _any_of(_RULES)))
"""The type of memory of each; a preference has none of its own."""

RULE = re.compile(
    r"(?:please |just )*(?:(?P<subject>we|i) (?:should |must |want to )?|you (?:should|must|need to|have to|may|can) "
    r"|(?:let'?s|let us) |make sure (?:to |you |that you |we |that we )|be sure to |remember to )?"
    r"(?:always|never(?: ever)?)(?: ever)? (?P<verb>[a-z][a-z'-]*)"
)
NORM = re.compile(
    r"(?P<subject>[a-z`][^,;:]{2,60}?) (?:must|should|shall|may) (?:always|never) "
    r"(?P<verb>[a-z][a-z'-]*)(?: (?P<next>[\w'-]+))?"
)
NO_VERB = re.compile(
    r"an?|the|this|that|these|those|its?|my|your|our|their|so|been|in|on|at|for|with|from|to|of|and|or|but|nice|good|fun"
    r"|same|great|true|false|there|here|mind|again|happen|thought|saw|seen|had|got|gotten|knew|known|heard|made|did|done"
    r"|went|gone|came|took|taken|found|said|told|was|were|is|are|ran|wrote|written|gonna|possible|easy|hard|worth|very"
    r"|really|quite|too|both|just|left|right|one|two|more|less|enough|late|early"
    r"|(?!(?:need|embed|seed|feed|speed|proceed|exceed|shed|bring|ping|string|focus|bias)$)(?:.*[^s]s|.*ed|.*ing)"
)
"""After `always` or `never` these tell what happens or happened, not what to do."""
STATE = re.compile(
    r"get|forget|end|see|know|remember|understand|wonder|think|feel|have|find|hit|notice|receive|lose|struggle|can|could"
    r"|would|will|mess|confuse|hear|expect|manage|fail"
)
"""What `I always …` and `we never …` complain of."""
UNNAMED = re.compile(r"this|that|it|which|there|he|she|they|these|those|you|i")
REPORTED = re.compile(r"\b(?:says?|said|thinks?|told|claims?|wonder|know|sure|believe|if|whether|maybe|perhaps|test)\b")
FAULT = re.compile(r"happen|occur|fail|get|reach|return|see|null|none|empty|undefined|called|reached|negative")
"""What `should never …` when a program is wrong."""
