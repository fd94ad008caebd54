"""`doctor --recall`: what another local model would change in this vault, and what it costs.

Nobody has judged these notes, so a passage asks for itself: its beginning is the question, and the rest of it must be
found among the rests of all others, by meaning alone (the inverse cloze task of Lee et al. 2019, arXiv 1906.00300).
That tells in which languages a model understands the vault; of whole answers it does not: words count there, too.
"""

import re
import time
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import takewhile

import numpy as np

from vault_index.config.schema import EmbeddingConfig
from vault_index.embeddings import Embedder, open_embedder
from vault_index.embeddings.packages import install_multilingual
from vault_index.embeddings.wordpiece import english_share
from vault_index.errors import VaultIndexError
from vault_index.models import Vector, VectorSpace
from vault_index.results.status import LanguageShare, ModelComparison, ModelRecall
from vault_index.runtime import Runtime
from vault_index.store.counts import count_rows
from vault_index.store.documents import sampled_texts
from vault_index.vectors import is_int8

_MODELS = (
    ModelRecall("all-MiniLM-L6-v2", None, (), None, memory_mb=50, download_mb=0, hint=""),
    ModelRecall(
        "multilingual-e5-small",
        None,
        (),
        None,
        memory_mb=80,
        download_mb=76,
        hint="",
    ),
)
"""Not measured yet."""
_LOCAL = "vault-index config set embedding.provider local, and "
_SHIPPED = _MODELS[0].model
_ENGLISH = "English"
_PASSAGES = 400
_SECONDS = 30.0
"""After which no further passage is embedded: on a slow machine the sample is smaller."""
_DEPTH = 10
_SHORTEST = 16
"""Characters of a question."""
_END = re.compile(r"(?<=[.!?।؟])\s|(?<=[。！？])|\n")
_ENGLISH_SHARE = 0.45
"""The least share of letters in words that the English model knows whole."""
_SCRIPTS = {"CJK": "Chinese", "HANGUL": "Korean", "HIRAGANA": "Japanese", "LATIN": "other Latin"}


def compare_models(runtime: Runtime, seconds: float = _SECONDS) -> ModelComparison | None:
    """None for a vault without passages that can ask, and where no local model can be loaded."""
    started = time.perf_counter()
    with runtime.pool.lend() as connections:
        pairs = [pair for text in sampled_texts(connections.reader, _PASSAGES) if (pair := ask_for_itself(text))]
        chunks = count_rows(connections.reader, "chunk")
    embedders = dict(_installed())
    vectors, spent = _embed([rest for _, rest in pairs], embedders, started + seconds)
    pairs = pairs[: max(map(len, vectors.values()), default=0)]
    if not pairs:
        return None
    languages = [language_of(f"{question} {rest}") for question, rest in pairs]
    shares = {name: round(count / len(pairs), 4) for name, count in Counter(languages).most_common()}
    settings = runtime.config.embedding
    local = settings.provider == "local"
    present = settings.model or (_SHIPPED if local else settings.provider)
    present = next((one.model for one in _MODELS if local and present.startswith(one.model)), present)
    models = []
    for one in _MODELS:
        use = f"{'' if local else _LOCAL}vault-index config set embedding.model {one.model}"
        hint = "" if local and present == one.model else use
        if one.model not in embedders:
            models.append(replace(one, hint=f"{install_multilingual()} && {use}"))
            continue
        embedder = embedders[one.model]
        asked = [embedder.embed_query(text) for text, _ in pairs]
        ranks = reciprocal_ranks(embedder.space, asked, vectors[one.model])
        by_language = [[rank for rank, its in zip(ranks, languages, strict=True) if its == name] for name in shares]
        cost = round(chunks * spent[one.model] / len(pairs), 1)
        models.append(
            replace(one, mrr=_mean(ranks), by_language=tuple(map(_mean, by_language)), seconds=cost, hint=hint)
        )
        embedder.close()
    return ModelComparison(
        present=present,
        known=(shares.get(_ENGLISH, 0.0) if present == _SHIPPED else 1.0) if local else None,
        passages=len(pairs),
        chunks=chunks,
        languages=tuple(LanguageShare(name, share) for name, share in shares.items()),
        models=tuple(models),
        seconds=round(time.perf_counter() - started, 2),
    )


def ask_for_itself(text: str) -> tuple[str, str] | None:
    """The first sentence or heading of a passage, and what follows it; None where one of them is too short."""
    text = text.strip()
    ends = (match.end() for match in _END.finditer(text))
    cut = next((end for end in ends if end >= _SHORTEST), len(text))
    if cut > len(text) // 2:  # one sentence, or a language that writes none
        cut = len(text) // 3
    question, rest = text[:cut].strip(" #\n"), text[cut:].strip()
    return (question, rest) if len(question) >= _SHORTEST else None


def language_of(text: str) -> str:
    """English or not, and the script of what is not."""
    scripts = Counter(unicodedata.name(letter, "?").split(" ")[0] for letter in text if letter.isalpha())
    if scripts and english_share(text) > _ENGLISH_SHARE:
        return _ENGLISH
    if scripts["HIRAGANA"]:
        return _SCRIPTS["HIRAGANA"]
    script = scripts.most_common(1)[0][0] if scripts else "no words"
    return _SCRIPTS.get(script, script.capitalize())


def reciprocal_ranks(space: VectorSpace, questions: Sequence[Vector], passages: Sequence[Vector]) -> list[float]:
    """Of each passage for the question of the same place: 1 / rank, 0 past the tenth."""
    asked, found = (
        np.frombuffer(b"".join(vectors), "i1" if is_int8(space) else "<f4").reshape(len(vectors), -1).astype("<f4")
        for vectors in (questions, passages)
    )
    cosines = asked @ found.T
    ranks = 1 + (cosines > np.diag(cosines)[:, None]).sum(axis=1)
    return [1.0 / rank if rank <= _DEPTH else 0.0 for rank in ranks.tolist()]


def _installed() -> Iterator[tuple[str, Embedder]]:
    """The local models that can be loaded, loaded."""
    for one in _MODELS:
        with suppress(VaultIndexError):
            if embedder := open_embedder(EmbeddingConfig(provider="local", model=one.model)):
                embedder.embed_query(one.model)
                yield one.model, embedder


def _embed(
    texts: Sequence[str], embedders: Mapping[str, Embedder], until: float
) -> tuple[dict[str, list[Vector]], dict[str, float]]:
    """The vectors of as many texts as there is time for, and the seconds they took: one model after the other for each
    text, so that what else the machine does meanwhile hits all of them."""
    vectors: dict[str, list[Vector]] = {name: [] for name in embedders}
    spent = dict.fromkeys(embedders, 0.0)
    for text in takewhile(lambda _: time.perf_counter() < until, texts):
        for name, embedder in embedders.items():
            started = time.perf_counter()
            vectors[name] += embedder.embed([text])
            spent[name] += time.perf_counter() - started
    return vectors, spent


def _mean(figures: Sequence[float]) -> float:
    return round(sum(figures) / len(figures), 4)
