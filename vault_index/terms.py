"""Convert text and queries to the words of the index, and recognise stopwords.

SQLite's tokenizer treats a run of Han, Kana, Hangul or Thai letters as one word, and `useEffect`
too. So texts and queries are rewritten before they reach it:

- Chinese, Japanese and Korean text becomes overlapping 2-grams, the usual method without a
  dictionary (Manning, Raghavan and Schütze, Introduction to Information Retrieval, 2.2.1).
- Thai, Lao, Khmer and Burmese text becomes 3-grams of its letters.
- SQLite's stemmer does not know the endings of some other scripts. Words in these scripts also get
  a piece: their first five letters. Arabic and Hebrew words, which have prefixes too, get their
  4-grams instead (McNamee and Mayfield, Character n-gram tokenization for European language text
  retrieval, Information Retrieval 7, 2004).
- Identifiers such as `useEffect` also get their parts. SQLite itself splits `snake_case` and
  `kebab-case`.

benchmarks/README.md has the effect of each step on recall.

Before that, `analysed` normalises the text: it decodes HTML entities, applies NFKC, removes
ignorable code points, folds the letters that SQLite does not fold, and turns emoji into words.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, lru_cache
from operator import add

from vault_index.unicode import ENTITY, IGNORABLE, SYMBOLS, composed, decoded

_CJK = (
    "\u1100-\u11ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_KANA = "\u3041-\u30ff"
# Thai, Lao, Burmese and Khmer, with their marks, which SQLite treats as spaces.
_SYLLABIC = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\ua9e0-\ua9ff\uaa60-\uaa7f"
# Greek, Cyrillic, Armenian and Georgian.
_INFLECTED = "\u0370-\u052f\u0531-\u0587\u10a0-\u10ff\u1c80-\u1cbf\u1f00-\u1fff\ua640-\ua69f"
# Hebrew and Arabic.
_PREFIXED = "\u0591-\u05ea\u0610-\u0669\u066e-\u06d3\u06d5-\u06dc\u06ee-\u06ff\u0750-\u077f"
# Devanagari to Sinhala, without the marks that end a sentence.
_INDIC = "\u0900-\u0963\u0966-\u0dff"
_SPACELESS = ("cjk", "syllabic")
_SYLLABIC_GRAM = 3
_PREFIXED_GRAM = 4
_BEGINNING = 5
_PIECE = "\u02d1"
"""Ends a piece of a word and begins an emoji, so neither equals a real word. SQLite treats it as a
letter. Only phonetic transcription uses it.
"""
# Letters with a case that SQLite's tokenizer does not fold.
_CASED = "ßẞİı\u13f8-\u13fd\u1c80-\u1cbf\ua796-\ua7f6\uab70-\uabbf"
_CASES = {"İ": "I", "ı": "i", "ẞ": "SS"}
# Combining marks that NFKC left uncombined; SQLite treats some of them as spaces.
_ACCENTS = "\u0300-\u036f\u20d0-\u20ff"
_EMOJI = (
    "\u231a\u231b\u2328\u23cf\u23e9-\u23f3\u23f8-\u23fa\u25aa\u25ab\u25b6\u25c0\u25fb-\u25fe"
    "\u2600-\u27bf\u2934\u2935\u2b05-\u2b07\u2b1b\u2b1c\u2b50\u2b55\u3030\u303d"
)
_SKIN_TONES = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"
_REWRITTEN = f"{_CASED}{_ACCENTS}{_EMOJI}{IGNORABLE}{SYMBOLS}\U00010000-\U0010ffff"
_UNIT = re.compile(f"{ENTITY}|.", re.DOTALL)
# Arabic letters that people use interchangeably, and the tatweel, which has no meaning.
_ALIKE = {"ى": "ي", "ی": "ي", "ة": "ه", "ک": "ك", "ـ": ""}
# Maps each byte to its class, in the order of ASCII: digit, upper case, lower case; else a space.
_CHARACTER_CLASSES = b"".join(
    (b" " * 48, b"0" * 10, b" " * 7, b"A" * 26, b" " * 6, b"a" * 26, b" " * 133)
)
# The capital letter after a change of class in an identifier, as in `useEffect` and `HTTPServer`.
# The literal at the beginning makes the search several times faster.
_CASE_CHANGE = re.compile(rb"A(?:(?<=[a0]A)|(?<=AA)(?=a))")
# The parts of an identifier; `VMs` is one part.
_PARTS = re.compile(r"[A-Z]{2,9}e?s(?![a-z])|[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_WORD = re.compile(r"\w+")
_TOKEN = re.compile(r"[^\W_]+")


@cache
def _runs() -> re.Pattern[str]:
    """Return the pattern that finds the runs of each script.

    Compiled for the first text that is not ASCII, because so wide a character set takes 10 ms.
    """
    return re.compile(
        f"(?P<cjk>[{_CJK}]+)|(?P<syllabic>[{_SYLLABIC}]+)|(?P<indic>[{_INDIC}]+)"
        f"|(?P<prefixed>[{_PREFIXED}]+)|[{_INFLECTED}]+"
    )


@cache
def _lone_han() -> re.Pattern[str]:
    """Return the pattern of a single Han character next to Kana, which may be a word of its own.

    The 2-grams cover other Han characters in a run, and a prefix search covers a query of one
    character.
    """
    return re.compile(f"(?<![{_HAN}])[{_HAN}](?=[{_KANA}])|(?<=[{_KANA}])[{_HAN}](?![{_HAN}])")


@cache
def _any_run() -> re.Pattern[str]:
    """Return one character set of everything to rewrite, several times faster than `_runs`.

    Text in Latin letters needs no other pattern.
    """
    return re.compile(f"[{_CJK}{_SYLLABIC}{_INDIC}{_INFLECTED}{_PREFIXED}{_REWRITTEN}]")


@cache
def _rewritten() -> re.Pattern[str]:
    return re.compile(f"[{_REWRITTEN}]")


def _needs_no_rewriting(text: str) -> bool:
    return text.isascii() or (
        _any_run().search(text) is None and unicodedata.is_normalized("NFKC", text)
    )


def analysed(text: str) -> str:
    """Return the form in which index and query compare words; emoji become words (`ˑ128512`)."""
    return _normalized(_read(text))


def _read(text: str) -> str:
    """Decode entities, and replace three frequent characters faster than `_normalized` does."""
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
    """Replace a character that SQLite's tokenizer would fold differently or treat as a space."""
    kind = unicodedata.category(sign[0])[0]
    if kind == "L":
        return _CASES.get(sign[0]) or sign[0].casefold()
    if kind in "SPC":
        return "" if sign[0] in _SKIN_TONES else f" {_PIECE}{ord(sign[0])} "
    return "" if sign[0] <= _ACCENTS[-1] else sign[0]


def _units(text: str) -> list[tuple[int, int]]:
    """Return start and end of each unit of `text` that can be analysed alone.

    A unit is an entity, or a letter with its accents.
    """
    units: list[tuple[int, int]] = []
    for unit in _UNIT.finditer(text):
        start = units.pop()[0] if units and _joins(unit[0]) else unit.start()
        units.append((start, unit.end()))
    return units


_analysed_unit = lru_cache(maxsize=1_000)(analysed)  # the same few letters recur


@lru_cache(maxsize=1_000)
def _joins(unit: str) -> bool:
    """Return whether a character belongs to the one before it, or adds nothing to it."""
    first = unicodedata.normalize("NFKD", decoded(unit))[:1]
    return (
        not analysed(unit) or unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"
    )


def index_text(text: str) -> str:
    """Return `text` as the index stores it.

    Text without spaces becomes n-grams in place. Parts of identifiers and pieces of words follow at
    the end.
    """
    pieces: list[str] = []
    text, indexed = _with_runs(text, lambda run: _as_indexed(run, pieces))
    pieces[:0] = dict.fromkeys(part for word in _compounds(text) for part in _PARTS.findall(word))
    return f"{indexed}\n{' '.join(pieces)}" if pieces else indexed


def index_text_without_grams(text: str) -> str:
    """Return `index_text` without n-grams and pieces, so that only words remain."""
    text, words = _with_runs(text, _word_alone)
    parts = dict.fromkeys(part for word in _compounds(text) for part in _PARTS.findall(word))
    return f"{words}\n{' '.join(parts)}" if parts else words


def _with_runs(text: str, replace: Callable[[re.Match[str]], str]) -> tuple[str, str]:
    """Return the analysed form of `text`, and that form with its runs replaced."""
    text = _read(text)
    if _needs_no_rewriting(text):
        return text, text
    text = _normalized(text)
    return text, _runs().sub(replace, text) if _any_run().search(text) else text


def _word_alone(run: re.Match[str]) -> str:
    return " " if _is_spaceless(run) else folded(run[0])


def index_text_in_place(text: str) -> str:
    """Return `text` with all its index words, each on the line where it occurs."""
    text = _read(text)
    if not _needs_no_rewriting(text):
        text = "\n".join(map(_line_in_place, _normalized(text).split("\n")))
    # Searching character classes is several times faster than searching text. Each character is
    # one byte, so the positions are the same.
    classes = text.encode("ascii", "replace").translate(_CHARACTER_CLASSES)
    pieces, end = [], 0
    for change in _CASE_CHANGE.finditer(classes):
        if change.start() >= end:
            start = classes.rfind(b" ", 0, change.start()) + 1
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
    """Return a run of letters as the index stores it; append the pieces of a word to `pieces`."""
    if run.lastgroup not in _SPACELESS:
        pieces += _pieces(run[0], run.lastgroup)
        return folded(run[0])
    # The last characters begin no n-gram, so add them separately.
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
    """Return the letters of a run without vowel signs and tones, which SQLite ignores."""
    return "".join(filter(str.isalnum, run))


@lru_cache(maxsize=50_000)  # the same few words come again in text after text
def _pieces(word: str, script: str | None) -> tuple[str, ...]:
    """Return the pieces that the inflected forms of a word share: its beginning, or its 4-grams."""
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
    """The index form of each letter, computed on first use (for `str.translate`)."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        base = unicodedata.normalize("NFD", letter)[0]
        if unicodedata.category(base).startswith("M"):
            base = _vowel(letter)
        elif letter >= "\u3000" or ("\u0400" <= letter <= "\u052f" and letter not in "ёЁ"):
            base = letter  # `й` and `и` are different letters, as are `が` and `か`
        self[code] = _ALIKE.get(base, base)
        return self[code]


def _vowel(mark: str) -> str:
    """Return the letter of an Indic vowel sign, or an empty string for other marks.

    SQLite treats the sign as a space.
    """
    script, sign, vowel = unicodedata.name(mark, "").partition(" VOWEL SIGN ")
    with suppress(KeyError):
        return unicodedata.lookup(f"{script} LETTER {vowel}") if sign else ""
    return ""


_FOLDED = _Folded()


@lru_cache(maxsize=50_000)  # the same few words come again in text after text
def folded(word: str) -> str:
    """Return a word without accents and vowel marks; SQLite does this for Latin letters only."""
    return word if word.isascii() else word.translate(_FOLDED)


def query_parts(word: str, *, pieces: bool = True) -> list[str]:
    """Return the phrases to search for instead of a query word; any of them may match.

    A word shorter than an n-gram is returned unchanged. It matches the beginning of an n-gram
    (`is_prefix`) or the end of a run. With `pieces`, a single Han character next to Kana is
    returned too, because it may be a word of its own.
    """
    word = analysed(word)
    compounds = [" ".join(_PARTS.findall(compound)) for compound in _compounds(word)]
    if word.isascii():
        return [word, *compounds]
    runs = list(_runs().finditer(word))
    of_words = [piece for run in runs if pieces for piece in _pieces(run[0], run.lastgroup)]
    if grams := [gram for run in runs if _is_spaceless(run) for gram in _grams(run)]:
        others = filter(_WORD.search, _runs().sub(_word_alone, word).split())
        return [*grams, *(_lone_han().findall(word) if pieces else ()), *others, *of_words]
    return [_runs().sub(_word_alone, word), *compounds, *of_words]


def query_phrase(phrase: str) -> str:
    """Return a phrase of a query in the form of the index."""
    return _with_runs(phrase, _in_a_row)[1]


def _in_a_row(run: re.Match[str]) -> str:
    return f" {' '.join(_grams(run))} " if _is_spaceless(run) else folded(run[0])


def is_prefix(part: str) -> bool:
    """Return whether a part is shorter than its script's n-grams, so it must be a prefix search."""
    run = None if part.isascii() or len(part) >= _SYLLABIC_GRAM else _runs().fullmatch(part)
    return run is not None and (
        run.lastgroup == "syllabic" or (run.lastgroup == "cjk" and len(part) == 1)
    )


def is_plain(text: str) -> bool:
    """Return whether the index holds the words of `text` unchanged.

    This is so for ASCII text without identifiers and entities.
    """
    return text.isascii() and "&" not in text and not next(_compounds(text), "")


def placed_words(text: str) -> list[tuple[int, int, str]]:
    """Return the index words of `text` as (start, end, word), with their positions in `text`.

    These are words, their pieces, the parts of identifiers, and single characters and n-grams of
    text without spaces.
    """
    form = analysed(text)
    if form == text:
        return _words_in(form)
    places = [unit for unit in _units(text) for _ in _analysed_unit(text[slice(*unit)])]
    return [(places[start][0], places[end - 1][1], word) for start, end, word in _words_in(form)]


def _words_in(text: str) -> list[tuple[int, int, str]]:
    runs = [] if text.isascii() else list(_runs().finditer(text))
    apart = text
    if runs:
        apart = _runs().sub(lambda run: " " * len(run[0]) if _is_spaceless(run) else run[0], text)
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
    """Return the distinct words that the index looks up for `text`, in lower case.

    These are words, their pieces, identifiers and their parts, and n-grams of text without spaces.
    """
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
    """Return whether this is a word as people write it, not an n-gram or a piece."""
    in_part = (*_SPACELESS, "indic")
    return word.isascii() or not (
        _PIECE in word or any(run.lastgroup in in_part for run in _runs().finditer(word))
    )


def is_piece(word: str) -> bool:
    """Return whether this is a piece of a word; the index holds that word as well."""
    return word.endswith(_PIECE)


def mostly_cjk(text: str) -> bool:
    """Return whether most letters are Chinese, Japanese or Korean."""
    if text.isascii():
        return False
    cjk = sum(len(run[0]) for run in _runs().finditer(text) if run.lastgroup == "cjk")
    return cjk > sum(map(len, _TOKEN.findall(text))) - cjk


def _compounds(text: str) -> Iterator[str]:
    """Yield words like `useEffect` and `HTTPServer`.

    Most texts have none, so this searches for changes of case instead of checking every word.
    """
    # See `index_text_in_place` for the classes.
    classes = text.encode("ascii", "replace").translate(_CHARACTER_CLASSES)
    end = 0
    for change in _CASE_CHANGE.finditer(classes):
        if change.start() >= end:
            start = classes.rfind(b" ", 0, change.start()) + 1
            end = classes.find(b" ", change.end())
            end = len(classes) if end < 0 else end
            yield text[start:end]


# Stopwords of the languages in which notes are most often written. They match, but do not decide
# the ranking. Words that are topics in another of these languages are not in the lists (German
# `war` and `man`, French `ai`, Dutch `door`): to count a common word does little harm, to ignore
# a topic does much.
_ENGLISH = """
a about after all also am an and any are aren't as at be because been before being both but by can
can't could did didn't do does doesn't doing don't down each few for from further had has hasn't
have haven't having he her here hers him his how i if in into is isn't it its itself just me more
most my no nor not now of off on once only or other our out over own same she should so some such
than that the their them then there these they this those through to too under until up us very was
wasn't we were what when where which while who whom whose why will with won't would you your
"""
_GERMAN = """
aber alle als am auf aus bei bis bist da dann das dass dem der des dies diese dieser dieses doch du
durch ein eine einem einen einer eines er es für habe haben hatte ich ihr im ist ja kann kein keine
mein mich mir mit nach nicht noch nur ob oder ohne sein sich sie sind so über um und uns unter vom
von vor wann warum was weil welche welchen welcher welches wem wen wenn wer werden wie wieso wir
wird wo wurde zu zum zur
"""
_FRENCH = """
à au aux avec ce ces cette comment dans de des du elle en est et eu il ils je l la le les leur lui
ma mais mes mon ne nos notre nous on où ou par pas pourquoi qu quand que quel quelle quelles quels
qui quoi sa sans se ses si sont sur te tes tu un une vos votre vous y
"""
_SPANISH = """
al como con cómo cual cuál cuándo de del donde dónde el ella en entre es esta este esto está fue ha
la las lo los más mi muy o para pero por porque qué que quién se ser sobre su sus también un una uno
unos y ya
"""
_ITALIAN = """
alla anche che chi come con cosa cui da dal dalla dei del della delle dove e ed gli ha ho i il in la
le lo ma nel nella non o perché per più quale quali quando quanto questa questo si sono su sul sulla
tra un una
"""
_PORTUGUESE = """
ao às com como da das de do e é ela ele em entre essa esse esta este eu foi há isso já mais mas me
meu minha na não nas no nos o onde ou para pela pelo por qual quais quando quem que se sem seu sua
também um uma à
"""
_DUTCH = """
aan als bij dat de deze dit een en er geen haar heb hebben heeft het hij ik je maar met mijn naar
niet nog of om ook op te tot uit voor waar waarom wanneer wat welke werd wie wij wordt zich zij zijn
zonder
"""

# Letters that an apostrophe separates, as in `what's`. `c` and `r` are programming languages.
_LETTERS = "s t d m n"

STOPWORDS = frozenset(
    " ".join(
        (_ENGLISH, _GERMAN, _FRENCH, _SPANISH, _ITALIAN, _PORTUGUESE, _DUTCH, _LETTERS)
    ).split()
)

_CONTRACTED = ("'s", "'re", "'ll", "'d", "'m", "'ve")


def is_stopword(word: str, *, all_caps: bool = False) -> bool:
    """Return whether a query word is a stopword.

    `WHO` in capitals is a name, unless the whole query is `all_caps`.
    """
    bare = analysed(word).strip("?!.,;:'’()[]…").replace("’", "'")
    if len(bare) > 1 and bare.isupper() and not all_caps:
        return False
    lower = bare.casefold()
    stem = next((lower.removesuffix(end) for end in _CONTRACTED if lower.endswith(end)), lower)
    return lower in STOPWORDS or stem in STOPWORDS
