import base64
import random

import pytest

from vault_index.markdown.normalize import without_data

RUN = base64.b64encode(random.Random(5).randbytes(900)).decode()
LINES = "\n".join(RUN[start : start + 64] for start in range(0, 640, 64))
HEX = "0123456789abcdef" * 8


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"![](data:image/png;base64,{RUN}) weir", "![](data:image/png;base64,…) weir"),
        (
            f"[image1]: <data:image/svg+xml;charset=utf-8;base64,{RUN}>",
            "[image1]: <data:image/svg+xml;charset=utf-8;base64,…>",
        ),
        (f"url('data:font/woff2;base64,{RUN}')", "url('data:font/woff2;base64,…')"),
        (
            f"-----BEGIN PGP MESSAGE-----\nVersion: 2\n\n{LINES}\n=ab\n-----END PGP MESSAGE-----\nweir",
            "-----BEGIN PGP MESSAGE-----\n…\n\n" + "…\n" * 11 + "-----END PGP MESSAGE-----\nweir",
        ),
        (f"> {LINES[:64]}\nweir", "> …\nweir"),
        (f"key: {RUN} weir", "key: … weir"),
        (LINES, "\n".join(["…"] * 10)),
    ],
)
def test_without_data_replaces_data_and_keeps_line_counts(text: str, left: str) -> None:
    assert without_data(text) == left


@pytest.mark.parametrize(
    "text",
    [
        HEX, "/usr/share/" * 40, "Donaudampfschifffahrtsgesellschaft" * 20, "data:text/plain,hello", "=" * 500,
        "-----BEGIN CERTIFICATE-----", "水路" * 300, "SHOUT" * 100, "a" * 70 + "A1 and words",
    ],
)  # fmt: skip
def test_without_data_keeps_text(text: str) -> None:
    assert without_data(text) == text
