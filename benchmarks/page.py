"""Measure the page: the time from a key to the frame with its hits, and the first load.

    python benchmarks/page.py FOLDER --size 140k [--queries 40] [--only load typing http]
                              [--texts FOLDER ...]

FOLDER holds the vault and the index of benchmarks/scale.py; the daemon and `serve` are started for
it. Queries are typed into Chromium (CHROMIUM_BIN), a key every 80 to 150 ms, with some pauses
between words. The time of a key ends when the hits for its text, or for a later text, are drawn.
`http` sends the same requests without a browser, to show the share of the server. Each figure is a
line of JSON. Needs Playwright (`make test-page`).
"""

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import time
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.corpus import Asker, made_up_topics, topics_of
from benchmarks.machine import describe
from benchmarks.scale import NOTES, Scaled
from benchmarks.serve import Client, processes
from vault_index.access import Tokens
from vault_index.callers import Caller
from vault_index.config import find_home

SEED = 22
_KINDS = {"four words": 5, "long question": 2, "typing errors": 2, "common words": 1}
"""Of ten queries so many."""
_KEYS = 0.08, 0.15
"""Seconds between two keys of a word."""
_THINKING = 0.4
_REFINED_AFTER = 0.25
"""A pause so long asks for the refined hits, of words and meaning."""
_END = 1.0
"""Seconds after the last key of a query, in which the refined hits are drawn."""
_LOADS = 7
_SIZE: Any = {"width": 1400, "height": 900}
_NAME = "benchmark-page"

_WATCH = """(() => {
  const lists = { keys: [], shown: [], refined: [], long: [], gaps: [] };
  const seen = (window.seen = { ...lists, usable: 0, whole: 0 });
  const painted = (then) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(0);
  });
  let down = 0;
  addEventListener("keydown", (event) => { down = event.timeStamp; }, true);
  addEventListener("input", (event) => seen.keys.push([event.target.value.trim(), down]), true);
  new MutationObserver((changes) => {
    for (const { attributeName } of changes) {
      const [which, root] = [attributeName?.slice(5), document.documentElement];
      const text = seen[which] && root.dataset[which]?.trim();
      if (text) painted((at) => seen[which].push([text, at]));
    }
    for (const [what, selector] of [["usable", "#app:not([hidden]) #search"], ["whole", "nav a"]]) {
      if (seen[what] || !document.querySelector(selector)) continue;
      seen[what] = -1;
      painted((at) => { seen[what] = at; });
    }
  }).observe(document, {
    childList: true, subtree: true, attributeFilter: ["data-shown", "data-refined", "hidden"],
  });
  new PerformanceObserver((list) => seen.long.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: "longtask", buffered: true });
})()"""
_FRAMES = """() => {
  let last = performance.now();
  const frame = (at) => {
    window.seen.gaps.push(at - last); last = at; requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


class Key(NamedTuple):
    """One key press."""

    letter: str
    text: str
    """What the field holds then."""
    pause: float
    """Seconds until the next one."""


def queries(asker: Asker, count: int) -> list[str]:
    """Two to four words mostly, as people type; the same for the same corpus."""
    chance = random.Random(SEED)
    made = []
    for kind, share in _KINDS.items():
        for query in asker.queries(kind, max(count * share // 10, 1)):
            words = query.split()
            made.append(
                " ".join(
                    words[: 7 if kind == "long question" else chance.choice((1, 2, 2, 3, 3, 4))]
                )
            )
    chance.shuffle(made)
    return made


def typed(query: str, chance: random.Random) -> list[Key]:
    """Return the keys of a query with their pauses."""
    keys = []
    for end, letter in enumerate(query, 1):
        pause = _THINKING if letter == " " and chance.random() < 0.3 else chance.uniform(*_KEYS)
        keys.append(Key(letter, query[:end], _END if end == len(query) else pause))
    return keys


def waits(
    keys: Sequence[tuple[str, float]],
    drawn: Sequence[tuple[str, float]],
    refined: Sequence[float] = (),
) -> list[float]:
    """Return the seconds from each key until the hits for its text or a later one are drawn.

    A key that does not change the text (a space) sends no request. With `refined`, only the keys
    pressed at these times count.
    """
    texts = [text for text, _ in keys]
    found = []
    for number, (text, at) in enumerate(keys):
        if not text or (number and text == texts[number - 1]) or (refined and at not in refined):
            continue
        later = set(texts[number:])
        found.append(
            next(
                (moment - at for other, moment in drawn if moment >= at and other in later),
                float("inf"),
            )
        )
    return found


# --- in Chromium ----------------------------------------------------------------------------------


class Typist:
    """A user's browser, signed in."""

    def __init__(self, browser: Any, port: int, code: str) -> None:
        self._origin = f"http://127.0.0.1:{port}"
        self._context = browser.new_context(viewport=_SIZE)
        page = self._context.new_page()
        page.goto(f"{self._origin}/#token={code}")
        page.wait_for_selector("#search")
        page.close()

    def _opened(self) -> tuple[Any, list[int]]:
        """A page with nothing in its cache, and the bytes of every answer as they came."""
        page = self._context.new_page()
        received: list[int] = []
        network = page.context.new_cdp_session(page)
        network.send("Network.enable")
        network.send("Network.clearBrowserCache")
        network.on(
            "Network.loadingFinished", lambda event: received.append(event["encodedDataLength"])
        )
        page.add_init_script(_WATCH)
        page.goto(f"{self._origin}/")
        page.wait_for_selector("#search")
        return page, received

    def loads(self) -> Iterator[tuple[str, float, str]]:
        """Measure the first load."""
        usable, whole, bytes_, requests = [], [], [], []
        for _ in range(_LOADS):
            page, received = self._opened()
            page.keyboard.type("a")
            page.wait_for_timeout(1000)
            assert page.input_value("#search") == "a", (
                "the search field does not take what is typed"
            )
            usable.append(page.evaluate("window.seen.usable"))
            whole.append(page.evaluate("window.seen.whole"))
            bytes_.append(sum(received))
            requests.append(len(received))
            page.close()
        yield "first load, until the search field is drawn, median", statistics.median(usable), "ms"
        yield "first load, until the search field is drawn, slowest", max(usable), "ms"
        yield "first load, until the whole page is drawn, median", statistics.median(whole), "ms"
        yield "first load, bytes over the wire", max(bytes_), "B"
        yield "first load, answers", max(requests), ""

    def types(self, wanted: Sequence[str]) -> Iterator[tuple[str, float, str]]:
        """Type queries and return the times."""
        page, _ = self._opened()
        chance, first, refined, long = (
            random.Random(SEED),
            list[float](),
            list[float](),
            list[float](),
        )
        for query in (
            wanted[0],
            *wanted,
        ):  # the first one once more: the model is loaded, pages of the index are read
            page.evaluate(
                "Object.assign(window.seen, { keys: [], shown: [], refined: [], long: [] })"
            )
            due = time.perf_counter()
            keys = typed(query, chance)
            for key in keys:
                page.keyboard.press("Space" if key.letter == " " else key.letter)
                due += key.pause
                page.wait_for_timeout(max(due - time.perf_counter(), 0) * 1000)
            seen = page.evaluate("window.seen")
            moments = [at for _, at in seen["keys"]]
            paused = [at for at, after in zip(moments, [*moments[1:], float("inf")], strict=True)
                      if after - at >= 1000 * _REFINED_AFTER]  # fmt: skip
            if query is not wanted[0] or first:
                first += waits(seen["keys"], seen["shown"])
                refined += waits(seen["keys"], seen["refined"], paused) if seen["refined"] else []
                long += seen["long"]
            else:
                first, refined = [], []
            page.keyboard.press("Control+A")
            page.keyboard.press("Backspace")
            page.wait_for_timeout(300)
        yield from percentiles("from key to hits", first)
        yield from percentiles("from key to refined hits", refined)
        yield "typing, tasks over 50 ms", len(long), ""
        yield "typing, longest task", max(long, default=0.0), "ms"
        yield from self._scrolls(page, wanted[0])

    def _scrolls(self, page: Any, query: str) -> Iterator[tuple[str, float, str]]:
        page.keyboard.type(query)
        page.wait_for_timeout(1000)
        page.mouse.move(_SIZE["width"] / 2, _SIZE["height"] / 2)
        page.evaluate("window.seen.gaps = []")
        page.evaluate(_FRAMES)
        for step in range(60):
            page.mouse.wheel(0, 80 if step < 40 else -120)
            page.wait_for_timeout(16)
        gaps = sorted(page.evaluate("window.seen.gaps"))
        yield "scrolling, frames, 95 %", gaps[int(len(gaps) * 0.95)], "ms"
        yield "scrolling, slowest frame", gaps[-1], "ms"
        page.close()


def in_browser(
    port: int, code: str, wanted: Sequence[str], parts: Sequence[str]
) -> Iterator[tuple[str, float, str]]:
    """Measure in Chromium."""
    from playwright.sync_api import sync_playwright

    from tests.page_real.browser import ARGUMENTS, chromium

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=[*ARGUMENTS])
        typist = Typist(browser, port, code)
        if "load" in parts:
            yield from typist.loads()
        if "typing" in parts:
            yield from typist.types(wanted)
        browser.close()


# --- without one ----------------------------------------------------------------------------------


async def ask_typing(
    port: int, token: str, wanted: Sequence[str]
) -> tuple[list[float], list[float]]:
    """Send the requests of the page while someone types.

    The page lets a search by words finish before the next one; here a newer text cancels it.
    """
    chance, first, refined = random.Random(SEED), list[float](), list[float]()

    async def ask(text: str, mode: str, drawn: list[tuple[str, float]]) -> None:
        client = Client("http", port, token, iter(()))
        try:
            wrong = await client.search(
                {"query": asked(text) if mode == "text" else text, "mode": mode, "limit": 20}
            )
        finally:
            client.close()
        if wrong:
            raise SystemExit(f"{text!r}: {wrong}")
        drawn.append((text, time.perf_counter()))

    for query in wanted:
        pressed, shown, better = (
            list[tuple[str, float]](),
            list[tuple[str, float]](),
            list[tuple[str, float]](),
        )
        paused, asking = list[float](), list[asyncio.Task[None]]()
        for key in typed(query, chance):
            pressed.append((key.text.strip(), now := time.perf_counter()))
            if key.letter != " ":
                for one in asking:
                    one.cancel()
                asking = [asyncio.create_task(ask(key.text, "text", shown))]
            if key.pause >= _REFINED_AFTER:
                paused.append(now)
                await asyncio.sleep(_REFINED_AFTER)
                asking.append(asyncio.create_task(ask(key.text.strip(), "hybrid", better)))
                await asyncio.sleep(key.pause - _REFINED_AFTER)
            else:
                await asyncio.sleep(key.pause)
        await asyncio.gather(*asking, return_exceptions=False)
        first += waits(pressed, shown)
        refined += waits(pressed, better, paused)
    return first, refined


def asked(text: str) -> str:
    """A text with its last word as the beginning of one."""
    last = text.rpartition(" ")[2]
    return f"{text}*" if len(last) > 1 and last.isalnum() else text


def percentiles(name: str, milliseconds: Sequence[float]) -> Iterator[tuple[str, float, str]]:
    """Yield the percentiles of durations as figures."""
    drawn = sorted(one for one in milliseconds if one < float("inf"))
    if not drawn:
        return
    yield f"{name}, median", statistics.median(drawn), "ms"
    for share in (75, 95, 99):
        yield f"{name}, {share} %", drawn[int(len(drawn) * share / 100)], "ms"
    yield f"{name}, slowest", drawn[-1], "ms"
    yield f"{name}, within 60 ms", 100 * bisect_left(drawn, 60.0) / len(drawn), "%"
    yield f"{name}, keys", len(drawn), ""
    yield f"{name}, never drawn", len(milliseconds) - len(drawn), ""


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=NOTES, default="140k")
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument(
        "--only", choices=("load", "typing", "http"), nargs="+", default=["load", "typing", "http"]
    )
    parser.add_argument(
        "--texts", type=Path, nargs="+", default=[], help="folders of English texts"
    )
    options = parser.parse_args()
    scaled = Scaled(
        options.folder.absolute(), options.size, topics_of(options.texts) or made_up_topics(), 0
    )
    scaled.build()
    wanted = queries(Asker(scaled.corpus), options.queries)
    tokens, now = Tokens(find_home(scaled.home).tokens_file), time.time()
    for old in tokens.all():
        if old.caller.name.startswith(_NAME):
            tokens.revoke(old.caller.name)
    code = tokens.add(
        Caller(_NAME, writes=True, owner=True), created=now, expires=now + 3600, once=True
    )
    token = tokens.add(Caller(f"{_NAME}-http", owner=True), created=now, expires=now + 3600)
    machine = describe()
    with processes(scaled.home, "127.0.0.1:0", {}) as (port, _):
        for name, value, unit in figures(port, code, token, wanted, options.only):
            line = {
                "machine": machine, "load": round(os.getloadavg()[0], 2),
                "notes": scaled.corpus.notes, "name": name, "value": round(value, 1), "unit": unit,
            }  # fmt: skip
            print(json.dumps(line), flush=True)


def figures(
    port: int, code: str, token: str, wanted: Sequence[str], parts: Sequence[str]
) -> Iterator[tuple[str, float, str]]:
    """Yield all figures."""
    if "http" in parts:
        asyncio.run(
            ask_typing(port, token, wanted[:2])
        )  # the model is loaded, pages of the index are read
        first, refined = asyncio.run(ask_typing(port, token, wanted))
        yield from percentiles("over HTTP, hits", [1000 * one for one in first])
        yield from percentiles("over HTTP, refined hits", [1000 * one for one in refined])
    if {*parts} - {"http"}:
        yield from in_browser(port, code, wanted, parts)


if __name__ == "__main__":
    main()
