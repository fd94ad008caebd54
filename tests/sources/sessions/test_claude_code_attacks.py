"""Random sessions of Claude Code, read again after each line."""

import random

import pytest
from hypothesis import given, settings, strategies as st

from tests.seeds import TIMES
from tests.sources.sessions.claude import Writer, read, told
from vault_index.sources.sessions.claude_code import ClaudeCode
from vault_index.sources.sessions.model import LeftOut


class Story:
    """A session that is being written, with its expected messages."""

    def __init__(self, writer: Writer, choice: random.Random) -> None:
        self.writer, self.choice = writer, choice
        self.waiting: list[tuple[str, str]] = []
        """Calls without a result, and their lines."""
        self.branched = self.open = False
        self.texts: list[str] = []
        self.places: list[tuple[str | None, list[str]]] = []
        """Prompts that a rewind may return to, with the messages up to there."""

    def step(self, name: str, number: int) -> None:
        if name == "block":
            name = "answer" if not self.open else name
        texts = getattr(self, name)(f"{name} {number}")
        self.open = name in ("answer", "block", "calls")
        if texts:
            self.waiting = [] if name != "calls" else self.waiting
            self.texts = [*self.texts, *texts]

    def prompt(self, text: str) -> list[str]:
        self.places.append((self.writer.last, self.texts))
        self.writer.prompt(text)
        return [f"user: {text}"]

    def answer(self, text: str) -> list[str]:
        self.writer.answer(text)
        return [f"assistant: {text}"]

    def block(self, text: str) -> list[str]:
        self.writer.answer(text, new=False)
        return [f"assistant: {text}"]

    def calls(self, text: str) -> list[str]:
        names = [f"{text} {part}" for part in range(self.choice.randint(1, 3))]
        self.waiting = [(name, self.writer.call(name, "Read", new=name == names[0], path=name)) for name in names]
        return [f"assistant: Read `{name}`" for name in names]

    def result(self, text: str, *, chained: bool = False) -> list[str]:
        if self.waiting:
            call, line = self.waiting.pop(self.choice.randrange(len(self.waiting)))
            self.branched |= bool(self.waiting) or not chained
            self.writer.result(call, parentUuid=self.writer.last if chained else line)
        return []

    def chained_result(self, text: str) -> list[str]:
        return self.result(text, chained=True)

    def noise(self, text: str) -> list[str]:
        self.writer.attachment()
        self.writer.prompt(text, isMeta=True)
        self.writer.raw({"type": "mode"})
        return []

    def compact(self, text: str) -> list[str]:
        self.writer.compact(text)
        return [f"summary: {text}"]

    def taken_back(self, text: str) -> list[str]:
        place = self.choice.randrange(len(self.places))
        last, self.texts = self.places[place]
        del self.places[place + 1 :]
        self.branched = True
        self.writer.prompt(text, parentUuid=last)
        return [f"user: {text}"]


STEPS = st.sampled_from(
    ["prompt", "answer", "block", "calls", "result", "chained_result", "noise", "compact", "taken_back"]
)


@settings(max_examples=150 * TIMES)
@given(steps=st.lists(STEPS, max_size=25), choice=st.randoms(use_true_random=False))
def test_claude_code_continues_a_conversation_after_any_line(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], choice: random.Random
) -> None:
    story, earlier = Story(Writer(tmp_path_factory.mktemp("story")), choice), None
    for number, name in enumerate(["prompt", *steps]):
        story.step(name, number)
        home, client = story.writer.write().home, ClaudeCode(story.writer.home)
        listed = client.listing().sessions[story.writer.session]
        earlier = client.read(listed, (), earlier)
        messages, problems = read(home, story.writer.session)
        assert (earlier.messages, earlier.problems) == (messages, problems)
        assert all(isinstance(problem, LeftOut) for problem in problems)
        assert [line.removesuffix(" completed").rstrip() for line in told(messages)] == story.texts
