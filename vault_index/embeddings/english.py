"""The bundled English model: all-MiniLM-L6-v2 in int8 (`model/README.md`)."""

import numpy as np

from vault_index.embeddings.inference import Array, checked, open_session, unit_mean, windows
from vault_index.embeddings.wordpiece import MODEL, vocabulary
from vault_index.models import Vector
from vault_index.vectors import as_int8

WINDOW = 254
"""Maximum number of pieces per input, without `[CLS]` and `[SEP]`."""
_FILE = "model.int8-nm.onnx"
_CLS, _SEP = 101, 102


class EnglishModel:
    """The vocabulary and the ONNX session (50 MB together)."""

    def __init__(self) -> None:
        lines = (MODEL / "SHA256SUMS").read_text("utf-8").splitlines()
        with checked(
            MODEL, {name: digest for digest, name in map(str.split, lines) if name == _FILE}
        ):
            self._session = open_session(MODEL / _FILE)
            self._pieces = vocabulary()

    def embed(self, text: str) -> "Vector":
        """Return the unit vector of a text, in int8."""
        return as_int8(
            unit_mean([self._run(ids) for ids in windows(text, self._pieces.ids, WINDOW)])
        )

    embed_query = embed

    def _run(self, ids: list[int]) -> "Array":
        batch = np.array([[_CLS, *ids, _SEP]], np.int64)
        return np.asarray(self._session.run(None, {"input_ids": batch})[0][0], "<f4")
