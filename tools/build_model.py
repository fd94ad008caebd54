"""Build the local embedding model, int8 in one ONNX graph, from the published weights.

    pip install numpy==2.4.6 onnx==1.23.2 safetensors==0.8.0
    python tools/build_model.py MODEL_DIR [OUT_DIR]

MODEL_DIR holds `config.json` and `model.safetensors` of sentence-transformers/all-MiniLM-L6-v2.
With the versions above, the result is byte for byte the file in `vault_index/embeddings/model/`
(the default OUT_DIR).
"""

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MODEL_FOLDER = Path(__file__).resolve().parent.parent / "vault_index" / "embeddings" / "model"
FILE_NAME = "model.int8-nm.onnx"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MICROSOFT = "com.microsoft"
"""The operators onnxruntime adds: quantised products, and attention in one kernel."""

Array = np.ndarray[Any, Any]


class Graph:
    """Collects nodes and constants. Names are numbered, so the same calls give the same bytes."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self._count = 0

    def name(self, stem: str) -> str:
        """Return a unique name."""
        self._count += 1
        return f"{stem}_{self._count}"

    def constant(self, values: Array, stem: str) -> str:
        """Add a constant and return its name."""
        name = self.name(stem)
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def integers(self, *values: int) -> str:
        """Add a constant of int64 and return its name."""
        return self.constant(np.array(values, np.int64), "i")

    def floats(self, values: Array, stem: str) -> str:
        """Add a constant of float32 and return its name."""
        return self.constant(values.astype(np.float32), stem)

    def add(self, kind: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """Add a node and return the name of its output."""
        return self.add_many(1, kind, *inputs, domain=domain, **attributes)[0]

    def add_many(
        self, outputs: int, kind: str, *inputs: str, domain: str = "", **attributes: Any
    ) -> list[str]:
        """Add a node and return the names of its outputs."""
        names = [self.name(kind) for _ in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, domain=domain, **attributes))
        return names


def quantise(values: Array, axis: int) -> tuple[Array, Array]:
    """Symmetric int8 with one scale for all values along `axis`."""
    scale = np.abs(values).max(axis, keepdims=True) / 127.0
    scale[scale == 0] = 1
    return np.clip(np.rint(values / scale), -127, 127).astype(np.int8), scale.astype(np.float32)


class Encoder:
    """Writes the layers of a BERT encoder into a graph, from its weights and its `config.json`."""

    takes = "input_ids"
    """The name of what goes in."""

    def __init__(
        self, graph: Graph, weights: Mapping[str, Array], config: Mapping[str, Any]
    ) -> None:
        self._graph = graph
        self._weights = weights
        self._hidden = int(config["hidden_size"])
        self._heads = int(config["num_attention_heads"])
        self._epsilon = float(config["layer_norm_eps"])

    def embed(self) -> str:
        """Add word and position embeddings; the position table includes the only token type."""
        length = self._graph.add("Shape", self.takes, start=1, end=2)
        positions = self._weights["embeddings.position_embeddings.weight"]
        positions = positions + self._weights["embeddings.token_type_embeddings.weight"][0]
        words = self._words()
        table = self._graph.floats(positions, "pos")
        first = self._graph.integers(0)
        axis = self._graph.integers(0)
        placed = self._graph.add("Add", words, self._graph.add("Slice", table, first, length, axis))
        x = self._normalise(placed, "embeddings.LayerNorm")
        # Nothing uses these two (the shapes of an attention that is not fused): the shipped file
        # has them, and a rebuilt one shall be equal to it.
        self._graph.integers(0, 0, self._heads, self._hidden // self._heads)
        self._graph.integers(0, 0, self._hidden)
        return x

    def layer(self, x: str, number: int) -> str:
        """Add one layer."""
        stem = f"encoder.layer.{number}."
        merged = self._attend(x, stem)
        attended = self._product(merged, *self._linear(stem + "attention.output.dense"), stem + "o")
        x = self._normalise(
            self._graph.add("Add", attended, x), stem + "attention.output.LayerNorm"
        )
        wide = self._product(x, *self._linear(stem + "intermediate.dense"), stem + "f1")
        narrow = self._product(
            self._graph.add("Gelu", wide), *self._linear(stem + "output.dense"), stem + "f2"
        )
        return self._normalise(self._graph.add("Add", narrow, x), stem + "output.LayerNorm")

    def pool(self, x: str) -> None:
        """The mean over all tokens, of unit length, as `sentence_embedding`."""
        mean = self._graph.add("ReduceMean", x, self._graph.integers(1), keepdims=0)
        norm = self._graph.add("ReduceL2", mean, self._graph.integers(1), keepdims=1)
        smallest = self._graph.constant(np.array(1e-12, np.float32), "c")
        divisor = self._graph.add("Max", norm, smallest)
        self._graph.nodes.append(helper.make_node("Div", [mean, divisor], ["sentence_embedding"]))

    def _words(self) -> str:
        rows, scales = quantise(self._weights["embeddings.word_embeddings.weight"], 1)
        picked = self._graph.add("Gather", self._graph.constant(rows, "word_q"), self.takes, axis=0)
        floats = self._graph.add("Cast", picked, to=TensorProto.FLOAT)
        scale = self._graph.add(
            "Gather", self._graph.constant(scales, "word_s"), self.takes, axis=0
        )
        return self._graph.add("Mul", floats, scale)

    def _attend(self, x: str, stem: str) -> str:
        parts = [self._linear(f"{stem}attention.self.{part}") for part in ("query", "key", "value")]
        weight = np.concatenate([part[0] for part in parts], 0)
        bias = np.concatenate([part[1] for part in parts], 0)
        joined = self._product(x, weight, bias, stem + "qkv")
        sizes = self._graph.integers(self._hidden, self._hidden, self._hidden)
        query, key, value = self._graph.add_many(3, "Split", joined, sizes, axis=-1)
        return self._graph.add(
            "MultiHeadAttention", query, key, value, domain=MICROSOFT, num_heads=self._heads
        )

    def _linear(self, stem: str) -> tuple[Array, Array]:
        return self._weights[stem + ".weight"], self._weights[stem + ".bias"]

    def _product(self, x: str, weight: Array, bias: Array, stem: str) -> str:
        # A linear layer stores [out, in]; the product wants [in, out], with one scale per output.
        quantised, scale = quantise(weight.T.astype(np.float32), 0)
        scale = scale.reshape(-1)
        inputs = [
            self._graph.constant(quantised, stem + "_q"),
            self._graph.constant(scale, stem + "_s"),
            self._graph.constant(np.zeros(scale.shape, np.int8), stem + "_z"),
            self._graph.floats(bias, stem + "_b"),
        ]
        return self._graph.add("DynamicQuantizeMatMul", x, *inputs, domain=MICROSOFT)

    def _normalise(self, x: str, stem: str) -> str:
        weight = self._graph.floats(self._weights[stem + ".weight"], stem + ".w")
        bias = self._graph.floats(self._weights[stem + ".bias"], stem + ".b")
        return self._graph.add(
            "LayerNormalization", x, weight, bias, axis=-1, epsilon=self._epsilon
        )


def build(weights: Mapping[str, Array], config: Mapping[str, Any]) -> onnx.ModelProto:
    """Return the model."""
    graph = Graph()
    encoder = Encoder(graph, weights, config)
    x = encoder.embed()
    for number in range(config["num_hidden_layers"]):
        x = encoder.layer(x, number)
    encoder.pool(x)
    return helper.make_model(
        helper.make_graph(
            graph.nodes,
            "all-MiniLM-L6-v2",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "tokens"])],
            [
                helper.make_tensor_value_info(
                    "sentence_embedding", TensorProto.FLOAT, ["batch", config["hidden_size"]]
                )
            ],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid(MICROSOFT, 1)],
        producer_name="vault-index",
        ir_version=9,
    )


def main() -> None:
    """Build the file."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model_dir", type=Path)
    parser.add_argument("out_dir", type=Path, nargs="?", default=MODEL_FOLDER)
    arguments = parser.parse_args()
    source = arguments.model_dir / "model.safetensors"
    found = hashlib.sha256(source.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        parser.error(
            f"{source} is not the published weights: SHA-256 {found} instead of {WEIGHTS_SHA256}"
        )
    from safetensors.numpy import load_file

    config = json.loads((arguments.model_dir / "config.json").read_text("utf-8"))
    weights = {name.removeprefix("bert."): values for name, values in load_file(source).items()}
    data = build(weights, config).SerializeToString(deterministic=True)
    arguments.out_dir.mkdir(parents=True, exist_ok=True)
    (arguments.out_dir / FILE_NAME).write_bytes(data)
    print(f"{hashlib.sha256(data).hexdigest()}  {FILE_NAME}  {len(data):,} bytes")


if __name__ == "__main__":
    main()
