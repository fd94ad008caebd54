"""The queue of missing vectors, without threads: the test calls each step."""

from vault_index.daemon.embedding_queue import EmbeddingQueue, Stepper
from vault_index.daemon.progress_rate import ProgressRate
from vault_index.results.changes import EmbedReport


class Steps:
    """An index whose steps answer `finished` as listed."""

    def __init__(self, *finished: bool) -> None:
        self.finished = list(finished)

    def embed_step(self, renew: bool) -> EmbedReport:
        return EmbedReport(0, 0, 0, 0.0, finished=self.finished.pop(0))

    def shrink(self) -> None: ...

    def close(self) -> None: ...


def queue_of(index: Steps) -> EmbeddingQueue:
    return EmbeddingQueue(Stepper(lambda: index), lambda work: work(), ProgressRate(lambda: 0.0), lambda: 0.0)


def test_embedding_queue_starts_another_pass_for_a_text_added_meanwhile() -> None:
    """A step continues after the last one, so a text changed before that place needs another pass."""
    index = Steps(False, True, True)
    queue = queue_of(index)
    queue.more()
    queue.step()
    queue.more()
    queue.step()
    assert queue.next_at is not None
    queue.step()
    assert queue.next_at is None


def test_embedding_queue_stops_after_a_pass_without_new_texts() -> None:
    queue = queue_of(Steps(False, False, True))
    queue.more()
    for _ in range(3):
        assert queue.next_at is not None
        queue.step()
    assert queue.next_at is None
