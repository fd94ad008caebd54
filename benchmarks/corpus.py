"""Generate vaults of any size with the word frequencies of real texts, and queries for them.

A note is assembled from runs of a few words of one topic, some of a second topic, and names that
few notes have. So word frequencies, and the similarity of notes on one topic, are as in the source
texts. A note depends only on its number: a smaller vault is the beginning of a larger one.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

Topic = Sequence[str]
"""The words of a text, in their order, with the marks that follow them."""

SEED = 19
_TOPIC = 1500
"""Words of a topic; an abstract of a paper has 250, a page of a manual 1,000."""
_SYLLABLES = [a + b for a in (
    "b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "r", "s", "st", "t", "v", "z",
)
              for b in ("a", "e", "i", "o", "u", "en", "or", "al")]  # fmt: skip
_CODE = (
    "```python\ndef {0}({1}):\n    return {2}.{0}({1}, timeout=30)\n```",
    "```sh\n{0} --{1} {2} --verbose\n```",
    "```yaml\n{0}:\n  {1}: {2}\n  retries: 3\n```",
)
_SMALL = "the of and to in a for that with on as by from at it this be"
_TAGS = ("project/{0}", "area/{0}", "{0}", "{0}", "{0}", "status/open", "status/done", "reading")
ONE_PERCENT = "onepercent"
"""The tag of every hundredth note."""


def _words() -> list[str]:
    """Return common words, the most frequent first."""
    return (Path(__file__).parent / "data/words.txt").read_text("utf-8").split()


def made_up_topics(count: int = 400) -> list[Topic]:
    """Return topics of words: common ones and made-up ones of each topic.

    The n-th word of a list is 1/n times as frequent as the first.
    """
    chance = random.Random(SEED)
    common = [*_SMALL.split(), *_words()]
    vocabulary = [*common, *(made_up_word(number) for number in range(4_000))]

    def zipf(size: int) -> list[float]:
        return list(accumulate(1 / rank for rank in range(1, size + 1)))

    everywhere, here = zipf(len(vocabulary)), zipf(300)
    topics: list[Topic] = []
    for _ in range(count):
        own = chance.sample(vocabulary[len(common) :], 300)
        pairs = zip(
            chance.choices(vocabulary, cum_weights=everywhere, k=_TOPIC),
            chance.choices(own, cum_weights=here, k=_TOPIC),
            strict=True,
        )
        topics.append([one if chance.random() < 0.7 else other for one, other in pairs])
    return topics


def made_up_word(number: int) -> str:
    """Another one for every number, of two syllables and more."""
    syllables = []
    number += len(_SYLLABLES)
    while number:
        number, rest = divmod(number, len(_SYLLABLES))
        syllables.append(_SYLLABLES[rest])
    return "".join(syllables)


class Corpus:
    """A generated vault."""

    def __init__(self, topics: Sequence[Topic], notes: int) -> None:
        self.topics = topics
        self.notes = notes

    def write(self, vault: Path) -> int:
        """Write all notes, fifty per folder, ten folders per parent; return the bytes of text."""
        size = 0
        for number in range(self.notes):
            path = vault / self.path(number)
            if number % 50 == 0:
                path.parent.mkdir(parents=True, exist_ok=True)
            size += path.write_bytes(self.note(number).encode())
        return size

    def path(self, number: int) -> str:
        """Return the path of a note."""
        return f"area {number // 500}/topic {number // 50}/{self.name(number)}.md"

    def name(self, number: int) -> str:
        """Return the name of a note."""
        _, title = self._begin(number)
        return f"{title} {number}"

    def note(self, number: int) -> str:
        """About 4.7 KB in 5.6 passages, as the notes of a real vault have on average."""
        author, title = self._begin(number)
        sections = [
            self._front(author, number, title),
            f"# {title}\n\n{author.paragraph(author.length(40))}\n",
        ]
        level = 2
        for _ in range(author.chance.choice((1, 2, 3, 3, 4, 5, 5, 7))):
            level = author.chance.choice((2, 2, 3, level, level))
            sections.append(f"{'#' * level} {author.heading()}\n\n{self._section(author)}\n")
        return "\n".join(sections)

    def _begin(self, number: int) -> tuple["_Author", str]:
        """Return the author and the title of a note; topics of a folder are neighbours."""
        chance = random.Random(SEED * 1_000_003 + number)
        place = (number // 50 * 7919 + chance.randrange(6)) % len(self.topics)
        author = _Author(
            chance, self.topics[place], self.topics[chance.randrange(len(self.topics))]
        )
        return author, author.heading()

    def _front(self, author: "_Author", number: int, title: str) -> str:
        chance = author.chance
        tags = [
            chance.choice(_TAGS).format(author.content_word().lower())
            for _ in range(chance.randrange(4))
        ]
        if number % 100 == 0:
            tags.append(ONE_PERCENT)
        lines = [
            f"created: 20{chance.randrange(15, 27)}"
            f"-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}"
        ]
        if tags:
            lines.append(f"tags: [{', '.join(dict.fromkeys(tags))}]")
        if number % 8 == 0:
            lines.append(f"aliases: [{title.split()[0]} {made_up_word(number)}]")
        return "---\n" + "\n".join(lines) + "\n---\n" if tags or number % 3 else ""

    def _section(self, author: "_Author") -> str:
        blocks = []
        words = author.length(165)
        while words > 0:
            size = min(words, author.length(60))
            words -= size
            kind = author.chance.random()
            if kind < 0.2:
                blocks.append(author.items(size))
            elif kind < 0.25:
                blocks.append(
                    author.chance.choice(_CODE).format(
                        *(author.content_word().lower() for _ in range(3))
                    )
                )
            else:
                blocks.append(author.paragraph(size))
            if author.chance.random() < 0.12:
                blocks.append(f"See [[{self.name(int(author.chance.random() * self.notes))}]].")
        return "\n\n".join(blocks)


class _Author:
    """Writes about one topic, and now and then about another one."""

    def __init__(self, chance: random.Random, topic: Topic, aside: Topic) -> None:
        self.chance = chance
        self._topic = topic
        self._aside = aside

    def length(self, mean: float) -> int:
        """Most are shorter than the mean, few much longer."""
        return int(self.chance.lognormvariate(0, 0.7) * mean * 0.78) + 4

    def run(self, size: int) -> Sequence[str]:
        topic = self._topic if self.chance.random() < 0.75 else self._aside
        start = self.chance.randrange(len(topic) - size)
        return topic[start : start + size]

    def content_word(self) -> str:
        return max(self.run(6), key=len).rstrip(".,;:?")

    def heading(self) -> str:
        words = dict.fromkeys(self.content_word() for _ in range(self.chance.randint(2, 3)))
        return " ".join(words).capitalize()

    def words(self, size: int) -> list[str]:
        """Return words; half of the names in them are in few other notes, in any size of vault."""
        words: list[str] = []
        while len(words) < size:
            words += self.run(self.chance.randrange(3, 9))
            if self.chance.random() < 0.04:
                words.append(
                    made_up_word(int(self.chance.paretovariate(0.5)) % 3_000_000).capitalize()
                )
        return words[:size]

    def paragraph(self, size: int) -> str:
        sentences, words = [], self.words(size)
        while words:
            sentence = " ".join(words[: (most := self.chance.randrange(8, 24))])
            words = words[most:]
            sentences.append(sentence[0].upper() + sentence[1:].rstrip(".,;:?") + ".")
        return " ".join(sentences)

    def items(self, size: int) -> str:
        marker = self.chance.choice(("- ", "- ", "* ", "1. ", "- [ ] "))
        words = self.words(size)
        return "\n".join(
            marker + " ".join(words[start : start + 9]).rstrip(".,;:")
            for start in range(0, size, 9)
        )


# --- queries --------------------------------------------------------------------------------------

KINDS = ("four words", "long question", "prefix", "typing errors", "filter of 1 %", "common words")


class Asker:
    """Queries about the notes of a corpus; equal for equal corpora."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus

    def queries(self, kind: str, count: int) -> Iterator[str]:
        """Yield queries of one kind."""
        for number in range(count):
            chance = random.Random(f"{SEED} {kind} {number}")
            place = chance.randrange(self._corpus.notes)
            author, _ = self._corpus._begin(place)
            author.chance = chance
            words = [author.content_word().lower() for _ in range(4)]
            if kind == "long question":
                yield (
                    " ".join(
                        ["how", "do", *(word.strip(".,;:?").lower() for word in author.words(20))]
                    )
                    + "?"
                )
            elif kind == "prefix":
                yield f"{words[0]} {words[1]} {words[2][: max(3, len(words[2]) - 3)]}*"
            elif kind == "typing errors":
                yield " ".join(
                    [_mistyped(chance, words[0]), words[1], _mistyped(chance, words[2]), words[3]]
                )
            elif kind == "common words":
                yield " ".join(chance.sample(_words()[17:57], 4))
            else:
                yield " ".join(words)


def _mistyped(chance: random.Random, word: str) -> str:
    """Two letters swapped, one left out or one put in; the first one stays."""
    at = chance.randrange(1, max(2, len(word) - 1))
    return chance.choice(
        (word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :], word[:at] + word[at + 1 :],
         word[:at] + "e" + word[at:])
    )  # fmt: skip
