from hypothesis import given, strategies as st

from vault_index.query.ranking.passages import TermMatcher, focus, snippet, split_passages
from vault_index.query.ranking.retrieval import QueryTerm


def matcher(*words: str) -> TermMatcher:
    query_terms = [QueryTerm(word, {word: 1.0}, False, 1.0, known=True) for word in words]
    return TermMatcher(query_terms, lambda asked: {word: word for word in asked})


def test_of_a_long_block_the_lines_that_answer_are_named() -> None:
    text = "\n".join(["```sh", *(f"step {number}" for number in range(20)), "pump the boiler", "up to one bar", "```"])
    found = focus(text, split_passages(text)[0], matcher("boiler", "bar"))
    assert (found.first, found.last) == (21, 22)


def test_a_short_paragraph_is_its_own_focus() -> None:
    text = "Pump the boiler\nup to one bar\nonce a month."
    found = focus(text, split_passages(text)[0], matcher("bar"))
    assert (found.first, found.last) == (0, 2)


def test_of_a_long_line_the_snippet_shows_the_sentence_that_answers() -> None:
    line = " ".join(f"Sentence {number} is about the weather and nothing else." for number in range(40))
    text = f"{line} Pump the boiler up to one bar. {line}"
    found = focus(text, split_passages(text)[0], matcher("boiler", "bar"))
    shown = snippet(text, found.first, found.column)
    assert shown.startswith("…Pump the boiler up to one bar.")
    assert len(shown) <= 242


def test_the_end_of_a_long_line_is_shown_whole() -> None:
    text = " ".join(f"Sentence {number} is about the weather." for number in range(40)) + " The boiler."
    found = focus(text, split_passages(text)[0], matcher("boiler"))
    shown = snippet(text, found.first, found.column)
    assert shown.endswith("The boiler.")
    assert len(shown) > 200


@given(st.text(max_size=900), st.integers(0, 20))
def test_any_passage_has_a_focus_within_it(text: str, number: int) -> None:
    passages = split_passages(text)
    passage = passages[number % len(passages)]
    found = focus(text, passage, matcher("a", "b"))
    assert passage.first <= found.first <= found.last <= passage.last
    assert len(snippet(text, found.first, found.column)) <= 400
