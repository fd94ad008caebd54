"""Words as the index knows them, where they differ from words as written (CJK text and compound identifiers), and
stopwords.

SQLite takes a run of Han, Kana or Hangul for one word, and `useEffect` too. So the indexed text and the question are
both rewritten first. CJK runs become their overlapping 2-grams, the usual remedy where there is no dictionary
(Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2.2.1); on the judged Chinese questions they take
nDCG@10 from .008 to .98. Identifiers get their parts beside them (`snake_case` and `kebab-case` are split anyway).
"""

import re
from collections.abc import Iterator
from functools import cache
from operator import add

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
# Bytes as what they are, to see at once that a text has no hump.
_KINDS = bytes(
    ord("A" if chr(byte).isupper() else "a" if chr(byte).islower() else "0" if chr(byte).isdigit() else " ")
    if byte < 128
    else ord(" ")
    for byte in range(256)
)
_HUMP_KINDS = re.compile(rb"[a0]A|AAa")
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[^\W_]+")


@cache
def _cjk_run() -> re.Pattern[str]:
    """Compiled for the first text that is not ASCII: so wide a set of characters takes 10 ms."""
    return re.compile(f"[{_CJK}]+")


def index_text(text: str) -> str:
    """`text` as it is indexed: CJK runs as 2-grams in place, the parts of identifiers at the end."""
    return _with_parts(text, _with_grams(text))


def index_text_without_cjk(text: str) -> str:
    """The same, with nothing where CJK runs stand: what is left are words."""
    return _with_parts(text, text if text.isascii() else _cjk_run().sub(" ", text))


def index_text_in_place(text: str) -> str:
    """`text` with all words the index holds of it, each on its line."""
    text = _with_grams(text)
    # Humps are found in bytes of one kind each, a character a byte, several times faster than in text.
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    pieces, end = [], 0
    for hump in _HUMP_KINDS.finditer(kinds):
        if hump.start() >= end:
            start = kinds.rfind(b" ", 0, hump.start()) + 1
            compound = _TOKEN.match(text, start)[0]  # type: ignore[index]
            pieces.append(f"{text[end:start]}{compound} {' '.join(_PARTS.findall(compound))}")
            end = start + len(compound)
    return "".join((*pieces, text[end:]))


def _with_parts(text: str, indexed: str) -> str:
    parts = dict.fromkeys(part for word in _compounds(text) for part in _PARTS.findall(word))
    return f"{indexed}\n{' '.join(parts)}" if parts else indexed


def _with_grams(text: str) -> str:
    """CJK runs as 2-grams, and their last characters by themselves: they begin no 2-gram."""
    if text.isascii():
        return text
    return _cjk_run().sub(lambda run: f" {' '.join(_grams(run[0]))} {run[0][-1]} ", text)


def query_parts(word: str) -> list[str]:
    """What to look for instead of a word of a question, each as a phrase, any of which may match.

    A single CJK character comes back as it is: it begins a 2-gram wherever it stands, or ends a run.
    """
    runs = _cjk_run().findall(word) if not word.isascii() else []
    if runs:
        others = [rest for rest in _cjk_run().split(word) if _WORD.search(rest)]
        return [*(gram for run in runs for gram in _grams(run)), *others]
    compounds = [" ".join(_PARTS.findall(compound)) for compound in _compounds(word)]
    return [word, *compounds]


def query_phrase(phrase: str) -> str:
    """A phrase of a question as it stands in the index."""
    return phrase if phrase.isascii() else _cjk_run().sub(lambda run: f" {' '.join(_grams(run[0]))} ", phrase)


def is_prefix(part: str) -> bool:
    """Whether a part must be looked for as a beginning: a single CJK character is half of a 2-gram."""
    return len(part) == 1 and not part.isascii() and _cjk_run().fullmatch(part) is not None


def index_words(text: str) -> list[str]:
    """The different words the index looks up for `text`, in lower case: identifiers and their parts, and CJK text as
    2-grams."""
    parts = [part for compound in _compounds(text) for part in _PARTS.findall(compound)]
    return list(dict.fromkeys(word.lower() for word in (*_TOKEN.findall(query_phrase(text)), *parts)))


def holds_cjk(word: str) -> bool:
    return not word.isascii() and _cjk_run().search(word) is not None


def mostly_cjk(text: str) -> bool:
    """Whether more of its letters are Chinese, Japanese or Korean than not."""
    if text.isascii():
        return False
    cjk = sum(map(len, _cjk_run().findall(text)))
    return cjk > sum(map(len, _TOKEN.findall(text))) - cjk


def _compounds(text: str) -> Iterator[str]:
    """Words like `useEffect` and `HTTPServer`. Most text has none, so their humps are looked for, not the words."""
    # Bytes of one kind each are searched several times faster than text; a character is a byte, and keeps its place.
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    if not (b"aA" in kinds or b"0A" in kinds or b"AAa" in kinds):
        return
    end = 0
    for hump in _HUMP_KINDS.finditer(kinds):
        if hump.start() >= end:
            start = kinds.rfind(b" ", 0, hump.start()) + 1
            end = kinds.find(b" ", hump.end())
            end = len(kinds) if end < 0 else end
            yield text[start:end]


def _grams(run: str) -> list[str]:
    return list(map(add, run, run[1:])) or [run]


# Stopwords of the languages notes are most often written in: they match, but do not decide. A word that is a topic in
# another of these languages is left out (German `war` and `man`, French `ai`, Dutch `door`): a common word that counts
# does little harm, a topic that does not count does much.
_ENGLISH = """
a about after all also am an and any are aren't as at be because been before being both but by can can't could did
didn't do does doesn't doing don't down each few for from further had has hasn't have haven't having he her here hers
him his how i if in into is isn't it its itself just me more most my no nor not now of off on once only or other our
out over own same she should so some such than that the their them then there these they this those through to too
under until up us very was wasn't we were what when where which while who whom whose why will with won't would you
your
"""
_GERMAN = """
aber alle als am auf aus bei bis bist da dann das dass dem der des dies diese dieser dieses doch du durch ein eine
einem einen einer eines er es für habe haben hatte ich ihr im ist ja kann kein keine mein mich mir mit nach nicht noch
nur ob oder ohne sein sich sie sind so über um und uns unter vom von vor wann warum was weil welche welchen welcher
welches wem wen wenn wer werden wie wieso wir wird wo wurde zu zum zur
"""
_FRENCH = """
à au aux avec ce ces cette comment dans de des du elle en est et eu il ils je l la le les leur lui ma mais mes mon ne
nos notre nous on où ou par pas pourquoi qu quand que quel quelle quelles quels qui quoi sa sans se ses si sont
sur te tes tu un une vos votre vous y
"""
_SPANISH = """
al como con cómo cual cuál cuándo de del donde dónde el ella en entre es esta este esto está fue ha la las lo los
más mi muy o para pero por porque qué que quién se ser sobre su sus también un una uno unos y ya
"""
_ITALIAN = """
alla anche che chi come con cosa cui da dal dalla dei del della delle dove e ed gli ha ho i il in la le lo ma nel
nella non o perché per più quale quali quando quanto questa questo si sono su sul sulla tra un una
"""
_PORTUGUESE = """
ao às com como da das de do e é ela ele em entre essa esse esta este eu foi há isso já mais mas me meu minha na não
nas no nos o onde ou para pela pelo por qual quais quando quem que se sem seu sua também um uma à
"""
_DUTCH = """
aan als bij dat de deze dit een en er geen haar heb hebben heeft het hij ik je maar met mijn naar niet nog of om
ook op te tot uit voor waar waarom wanneer wat welke werd wie wij wordt zich zij zijn zonder
"""

_LETTERS = "s t d m n"  # what an apostrophe leaves, as in `l'eau` and `what's`; `c` and `r` are languages

STOPWORDS = frozenset(f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_PORTUGUESE} {_DUTCH} {_LETTERS}".split())

_CONTRACTED = ("'s", "'re", "'ll", "'d", "'m", "'ve")


def is_stopword(word: str, *, all_caps: bool = False) -> bool:
    """Whether a word of a query is a stopword. `WHO` in capitals is a name, unless the whole query is `all_caps`."""
    bare = word.strip("?!.,;:'’()[]…").replace("’", "'")
    if len(bare) > 1 and bare.isupper() and not all_caps:
        return False
    folded = bare.casefold()
    stem = next((folded.removesuffix(end) for end in _CONTRACTED if folded.endswith(end)), folded)
    return folded in STOPWORDS or stem in STOPWORDS
