"""Words as the index knows them, where they differ from words as written, and stopwords.

SQLite takes a run of Han, Kana, Hangul or Thai for one word, and `useEffect` too. So the indexed text and the question
are both rewritten first. CJK runs become their overlapping 2-grams, the usual remedy where there is no dictionary
(Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2.2.1); runs of Thai, Lao, Khmer and Burmese the
3-grams of their letters. Words of alphabets whose endings SQLite's stemmer does not know get their beginning beside
them, and those of Arabic and Hebrew, which take prefixes too, their 4-grams (McNamee and Mayfield, Character n-gram
tokenization for European language text retrieval, Information Retrieval 7, 2004). Identifiers get their parts beside
them (`snake_case` and `kebab-case` are split anyway). benchmarks/README.md says what each of these is worth.

Before that, index and question are brought into one form, `analysed`: HTML entities decoded, NFKC, without code points
that Unicode ignores, with the case folds that SQLite lacks, and emoji as words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from operator import add

from vault_index.unicode import ENTITY, IGNORABLE, SYMBOLS, composed, decoded

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f"
    "\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_KANA = "\u3041-\u30ff"
# Thai and Lao, Burmese, Khmer, with their marks, which SQLite takes for spaces.
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
_INFLECTED = "\u0370-\u052f\u0531-\u0587\u10a0-\u10ff\u1c80-\u1cbf\u1f00-\u1fff\ua640-\ua69f"  # Greek to Georgian
_PREFIXED = "\u0591-\u05ea\u0610-\u0669\u066e-\u06d3\u06d5-\u06dc\u06ee-\u06ff\u0750-\u077f"  # Hebrew and Arabic
_INDIC = (
    "\u0900-\u0963\u0966-\u0dff"  # Devanagari to Sinhala, without the marks that end a sentence
)
_SPACELESS = ("cjk", "syllabic")
_SYLLABIC_GRAM = 3
_PREFIXED_GRAM = 4
_BEGINNING = 5
_PIECE = "\u02d1"
"""Ends a piece of a word, and begins an emoji, so that it is no word: a letter to SQLite, in use in phonetic
transcription alone."""
_CASED = "ßẞİı\u13f8-\u13fd\u1c80-\u1cbf\ua796-\ua7f6\uab70-\uabbf"  # SQLite's tokenizer knows the case of others
_CASES = {"İ": "I", "ı": "i", "ẞ": "SS"}
_ACCENTS = (
    "\u0300-\u036f\u20d0-\u20ff"  # that no letter is composed with; of some SQLite makes spaces
)
_EMOJI = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe\u2600-\u27bf\u2934\u2935"
    "\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
)
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_REWRITTEN = f"{_CASED}{_ACCENTS}{_EMOJI}{IGNORABLE}{SYMBOLS}\U00010000-\U0010ffff"
_UNIT = re.compile(f"{ENTITY}|.", re.DOTALL)
# Letters that are written one for the other.
_ALIKE = {"ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ـ": ""}
# Bytes as what they are, to see at once that a text has no hump.
_KINDS = bytes(
    ord(
        "A"
        if chr(byte).isupper()
        else "a"
        if chr(byte).islower()
        else "0"
        if chr(byte).isdigit()
        else " "
    )
    if byte < 128
    else ord(" ")
    for byte in range(256)
)
_HUMP_KINDS = re.compile(rb"[a0]A|AAa")
_PARTS = re.compile(
    r"[A-Z]{2,9}e?s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+"
)  # `VMs` is one part
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[^\W_]+")


@cache
def _runs() -> re.Pattern[str]:
    """Compiled for the first text that is not ASCII: so wide a set of characters takes 10 ms."""
    return re.compile(
        f"(?P<cjk>[{_CJK}]+)|(?P<syllabic>[{_SYLLABIC}]+)|(?P<indic>[{_INDIC}]+)|(?P<prefixed>[{_PREFIXED}]+)"
        f"|[{_INFLECTED}]+"
    )


@cache
def _lone_han() -> re.Pattern[str]:
    """A Han character among Kana. Among itself it is half of a 2-gram, and by itself a prefix."""
    return re.compile(f"(?<![{_HAN}])[{_HAN}](?=[{_KANA}])|(?<=[{_KANA}])[{_HAN}](?![{_HAN}])")


@cache
def _any_run() -> re.Pattern[str]:
    """One set of characters is looked for several times faster than four: text in Latin letters needs no more."""
    return re.compile(f"[{_CJK}{_SYLLABIC}{_INDIC}{_INFLECTED}{_PREFIXED}{_REWRITTEN}]")


@cache
def _rewritten() -> re.Pattern[str]:
    return re.compile(f"[{_REWRITTEN}]")


def _as_it_stands(text: str) -> bool:
    return text.isascii() or (
        _any_run().search(text) is None and unicodedata.is_normalized("NFKC", text)
    )


def analysed(text: str) -> str:
    """The form in which index and query compare words. Each emoji becomes a word, as `ˑ128512`."""
    return _normalized(_read(text))


def _read(text: str) -> str:
    """`text` without entities, and with the commonest characters replaced that patterns take ten times as long for."""
    text = decoded(text)
    return (
        text if text.isascii() else text.replace("\xa0", " ").replace("…", "...").replace("ß", "ss")
    )


def _normalized(text: str) -> str:
    if text.isascii() or (
        _rewritten().search(text) is None and unicodedata.is_normalized("NFKC", text)
    ):
        return text
    return _rewritten().sub(_rewrite, composed(text))


def _rewrite(sign: re.Match[str]) -> str:
    """What SQLite's tokenizer would fold otherwise or take for a space, as it is indexed."""
    kind = unicodedata.category(sign[0])[0]
    if kind == "L":
        return _CASES.get(sign[0]) or sign[0].casefold()
    if kind in "SPC":
        return "" if sign[0] in _SKIN_TONES else f" {_PIECE}{ord(sign[0])} "
    return "" if sign[0] <= _ACCENTS[-1] else sign[0]


def _units(text: str) -> list[tuple[int, int]]:
    """Start and end of each piece of `text` that can be analysed by itself: a letter with its accents, an entity."""
    units: list[tuple[int, int]] = []
    for unit in _UNIT.finditer(text):
        start = units.pop()[0] if units and _joins(unit[0]) else unit.start()
        units.append((start, unit.end()))
    return units


def _joins(unit: str) -> bool:
    """Whether a character belongs to the one before it, or adds nothing to it."""
    first = unicodedata.normalize("NFKD", decoded(unit))[:1]
    return (
        not analysed(unit) or unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"
    )


def index_text(text: str) -> str:
    """`text` as it is indexed: what is written without spaces as n-grams in place, parts and pieces at the end."""
    pieces: list[str] = []
    text, indexed = _with_runs(text, lambda run: _as_indexed(run, pieces))
    pieces[:0] = dict.fromkeys(part for word in _compounds(text) for part in _PARTS.findall(word))
    return f"{indexed}\n{' '.join(pieces)}" if pieces else indexed


def index_text_without_grams(text: str) -> str:
    """The same, with nothing where text without spaces stands, and no pieces: what is left are words."""
    text, words = _with_runs(text, _word_alone)
    parts = dict.fromkeys(part for word in _compounds(text) for part in _PARTS.findall(word))
    return f"{words}\n{' '.join(parts)}" if parts else words


def _with_runs(text: str, replace: Callable[[re.Match[str]], str]) -> tuple[str, str]:
    """The analysed form of `text`, and the same with its runs replaced."""
    text = _read(text)
    if _as_it_stands(text):
        return text, text
    text = _normalized(text)
    return text, _runs().sub(replace, text) if _any_run().search(text) else text


def _word_alone(run: re.Match[str]) -> str:
    return " " if _is_spaceless(run) else folded(run[0])


def index_text_in_place(text: str) -> str:
    """`text` with all words the index holds of it, each on its line."""
    text = _read(text)
    if not _as_it_stands(text):
        text = "\n".join(map(_line_in_place, _normalized(text).split("\n")))
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


def _line_in_place(line: str) -> str:
    pieces: list[str] = []
    return (
        line
        if line.isascii()
        else " ".join((_runs().sub(lambda run: _as_indexed(run, pieces), line), *pieces))
    )


def _as_indexed(run: re.Match[str], pieces: list[str]) -> str:
    """A run of letters as the index holds it; the pieces of a word are added to `pieces`."""
    if run.lastgroup not in _SPACELESS:
        pieces += _pieces(run[0], run.lastgroup)
        return folded(run[0])
    # The last characters stand by themselves as well: they begin no n-gram.
    tails = [run[0][-1]] if run.lastgroup == "cjk" else _tails(_letters(run[0]))
    return f" {' '.join((*_grams(run), *tails))} "


def _is_spaceless(run: re.Match[str]) -> bool:
    return run.lastgroup in _SPACELESS


def _grams(run: re.Match[str]) -> list[str]:
    if run.lastgroup == "cjk":
        return list(map(add, run[0], run[0][1:])) or [run[0]]
    letters = _letters(run[0])
    ends = range(_SYLLABIC_GRAM, len(letters) + 1)
    return [letters[end - _SYLLABIC_GRAM : end] for end in ends] or [letters]


def _tails(letters: str) -> list[str]:
    return [letters[-size:] for size in range(1, _SYLLABIC_GRAM) if size < len(letters)]


def _letters(run: str) -> str:
    """The letters of a run, without vowel signs and tones, which SQLite does not see."""
    return "".join(filter(str.isalnum, run))


@lru_cache(maxsize=50_000)  # the same few words come again in text after text
def _pieces(word: str, script: str | None) -> tuple[str, ...]:
    """What the forms of a word have in common, as far as its letters can tell."""
    if script in _SPACELESS:
        return ()
    word = folded(word)
    if script == "prefixed":
        return tuple(
            word[end - _PREFIXED_GRAM : end] + _PIECE
            for end in range(_PREFIXED_GRAM, len(word) + 1)
        )
    return (word[:_BEGINNING] + _PIECE,) if len(word) > _BEGINNING else ()


class _Folded(dict[int, str]):
    """What a letter becomes in the index, worked out when it is first met (for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        base = unicodedata.normalize("NFD", letter)[0]
        if unicodedata.category(base).startswith("M"):
            base = _vowel(letter)
        elif letter >= "\u3000" or ("\u0400" <= letter <= "\u052f" and letter not in "ёЁ"):
            base = letter  # `й` is another letter than `и`, and `が` than `か`
        self[code] = _ALIKE.get(base, base)
        return self[code]


def _vowel(mark: str) -> str:
    """The letter of the vowel that an Indic mark stands for, because SQLite takes the mark for a space; empty for other
    marks."""
    script, sign, vowel = unicodedata.name(mark, "").partition(" VOWEL SIGN ")
    with suppress(KeyError):
        return unicodedata.lookup(f"{script} LETTER {vowel}") if sign else ""
    return ""


_FOLDED = _Folded()


@lru_cache(maxsize=50_000)  # the same few words come again in text after text
def folded(word: str) -> str:
    """A word without accents and vowel marks. SQLite's tokenizer takes them off Latin letters only."""
    return word if word.isascii() else word.translate(_FOLDED)


def query_parts(word: str, *, pieces: bool = True) -> list[str]:
    """What to look for instead of a word of a question, each as a phrase, any of which may match.

    What is shorter than an n-gram comes back as it is: it begins one wherever it stands, or ends a run. So does a Han
    character between others: beside Kana it is a word of its own.
    """
    word = analysed(word)
    compounds = [" ".join(_PARTS.findall(compound)) for compound in _compounds(word)]
    if word.isascii():
        return [word, *compounds]
    runs = list(_runs().finditer(word))
    of_words = [piece for run in runs if pieces for piece in _pieces(run[0], run.lastgroup)]
    grams = [gram for run in runs if _is_spaceless(run) for gram in _grams(run)]
    if grams:
        others = filter(_WORD.search, _runs().sub(_word_alone, word).split())
        return [*grams, *(_lone_han().findall(word) if pieces else ()), *others, *of_words]
    return [_runs().sub(_word_alone, word), *compounds, *of_words]


def query_phrase(phrase: str) -> str:
    """A phrase of a question as it stands in the index."""
    return _with_runs(phrase, _in_a_row)[1]


def _in_a_row(run: re.Match[str]) -> str:
    return f" {' '.join(_grams(run))} " if _is_spaceless(run) else folded(run[0])


def is_prefix(part: str) -> bool:
    """Whether a part must be looked for as a beginning: it is shorter than the n-grams of its script."""
    run = None if part.isascii() or len(part) >= _SYLLABIC_GRAM else _runs().fullmatch(part)
    return run is not None and (
        run.lastgroup == "syllabic" or (run.lastgroup == "cjk" and len(part) == 1)
    )


def is_plain(text: str) -> bool:
    """Whether the index holds the words of `text` as they stand there: no identifiers, no entities, ASCII alone."""
    return text.isascii() and "&" not in text and not next(_compounds(text), "")


def placed_words(text: str) -> list[tuple[int, int, str]]:
    """The words that the index holds of `text`, each with where it stands, start and end: identifiers and their parts,
    words and their pieces, and of text without spaces characters and n-grams."""
    form = analysed(text)
    if form == text:
        return _words_in(form)
    places = [unit for unit in _units(text) for _ in analysed(text[slice(*unit)])]
    return [(places[start][0], places[end - 1][1], word) for start, end, word in _words_in(form)]


def _words_in(text: str) -> list[tuple[int, int, str]]:
    runs = [] if text.isascii() else list(_runs().finditer(text))
    apart = (
        _runs().sub(lambda run: " " * len(run[0]) if _is_spaceless(run) else run[0], text)
        if runs
        else text
    )
    words = [
        (*word.span(), folded(word[0]) if runs else word[0]) for word in _TOKEN.finditer(apart)
    ]
    compounds = set(_compounds(text))
    words += [
        (start + part.start(), start + part.end(), part[0])
        for start, _, word in (words if compounds else ())
        if word in compounds
        for part in _PARTS.finditer(word)
    ]
    for run in runs:
        words += _placed(run)
    return words


def _placed(run: re.Match[str]) -> Iterator[tuple[int, int, str]]:
    start, end = run.span()
    if not _is_spaceless(run):
        yield from (
            (start, end, word) for word in (folded(run[0]), *_pieces(run[0], run.lastgroup))
        )
        return
    cjk = run.lastgroup == "cjk"
    places = [start + at for at, letter in enumerate(run[0]) if cjk or letter.isalnum()]
    for first in range(len(places)):
        for last in range(first + 1, min(first + (2 if cjk else _SYLLABIC_GRAM), len(places)) + 1):
            stop = places[last] if last < len(places) else end
            yield places[first], stop, "".join(run.string[at] for at in places[first:last])


def index_words(text: str) -> list[str]:
    """The different words the index looks up for `text`, in lower case: identifiers and their parts, words and their
    pieces, and text without spaces as n-grams."""
    text, phrase = _with_runs(text, _in_a_row)
    words = _TOKEN.findall(phrase)
    words += [part for compound in _compounds(text) for part in _PARTS.findall(compound)]
    if not text.isascii():
        words += _lone_han().findall(text)
        words += [
            piece for run in _runs().finditer(text) for piece in _pieces(run[0], run.lastgroup)
        ]
    return list(dict.fromkeys(map(str.lower, words)))


def is_word(word: str) -> bool:
    """Whether it is a word as people write them: no n-gram, no piece of another word."""
    in_part = (*_SPACELESS, "indic")
    return word.isascii() or not (
        _PIECE in word or any(run.lastgroup in in_part for run in _runs().finditer(word))
    )


def is_piece(word: str) -> bool:
    """Whether it is a piece of a word that the index holds as well."""
    return word.endswith(_PIECE)


def mostly_cjk(text: str) -> bool:
    """Whether more of its letters are Chinese, Japanese or Korean than not."""
    if text.isascii():
        return False
    cjk = sum(len(run[0]) for run in _runs().finditer(text) if run.lastgroup == "cjk")
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

_LETTERS = (
    "s t d m n"  # what an apostrophe leaves, as in `l'eau` and `what's`; `c` and `r` are languages
)

STOPWORDS = frozenset(
    f"{_ENGLISH} {_GERMAN} {_FRENCH} {_SPANISH} {_ITALIAN} {_PORTUGUESE} {_DUTCH} {_LETTERS}".split()
)

_CONTRACTED = ("'s", "'re", "'ll", "'d", "'m", "'ve")


def is_stopword(word: str, *, all_caps: bool = False) -> bool:
    """Whether a word of a query is a stopword. `WHO` in capitals is a name, unless the whole query is `all_caps`."""
    bare = analysed(word).strip("?!.,;:'’()[]…").replace("’", "'")
    if len(bare) > 1 and bare.isupper() and not all_caps:
        return False
    lower = bare.casefold()
    stem = next((lower.removesuffix(end) for end in _CONTRACTED if lower.endswith(end)), lower)
    return lower in STOPWORDS or stem in STOPWORDS
