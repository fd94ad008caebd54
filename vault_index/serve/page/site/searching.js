/** Searching while somebody types: by the words at once, and by their meaning too as soon as the keys rest. */

import { useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { call } from "./api.js";
import { unfinished } from "./query.js";
import { useChanges } from "./ui.js";

const PAGE = 20;
/** More are not seen before the next key. */
const FIRST = 10;
const REST = 250;
const NOTHING = { text: "", explain: false, found: null, refined: false, error: null, ended: false };

/** The last whole answer: whoever comes back from a document finds it at once. */
let last = NOTHING;
addEventListener("vault-index:changed", ({ detail }) => {
  if (detail.event === "changed") last = NOTHING;
});

/**
 * @param {{ text: string, typed: boolean, caret?: number }} asked what is in the field, and whether somebody types it.
 * @param {boolean} explain whether the hits are to say why they were found.
 * @returns {{ text: string, found: object|null, refined: boolean, error: Error|null, isPart: boolean,
 * more: (() => void)|null, again: () => void, soon: () => void }} the hits of all pages so far, and for which text,
 * which may be one before the last key; `isPart` where there may be more of them. `again` is for after an error, and
 * `soon` waits for no further key.
 */
export function useSearch({ text, typed, caret }, explain) {
  const [state, setState] = useState(last.text === text ? last : NOTHING);
  const [turn, setTurn] = useState(0);
  const running = useRef({ signal: null, refine: () => {}, paging: false });
  const latest = useRef({ asked: 0, shown: 0 });

  useEffect(() => {
    const number = ++latest.current.asked;
    const wanted = new AbortController();
    const { signal } = wanted;
    const now = (running.current = { signal, refine: () => {}, paging: false });
    const search = (params) => call("search", { limit: PAGE, explain, ...params }, { signal });
    const known = state.refined && state.text === text;
    let timer;
    if (!text.trim() || known) latest.current.shown = number;
    if (!text.trim()) setState(NOTHING);
    else if (!known || (explain && !state.explain)) {
      let refined = false;
      const show = (found) => {
        if (number < latest.current.shown) return;
        latest.current.shown = number;
        setState({ ...NOTHING, text, explain, found: keyed(found), refined });
      };
      const begun = typed && caret < text.length ? text : unfinished(text);
      const first = known ? null : inTurn({ query: begun, mode: "text", limit: FIRST, explain }, signal).catch(() => null);
      // Hits of a key before the last one are shown, too: who types faster than the answers come would see none. What is
      // wrong with a query is said once nobody types.
      first?.then((found) => !found || refined || show(found));
      now.refine = async () => {
        clearTimeout(timer);
        now.refine = () => {};
        try {
          const found = await whole(search, text, begun, first);
          refined = true;
          if (!signal.aborted) show(found);
        } catch (error) {
          if (!signal.aborted) setState((before) => ({ ...before, error }));
        }
      };
      timer = setTimeout(now.refine, typed ? REST : 0);
    }
    return () => {
      clearTimeout(timer);
      wanted.abort();
    };
  }, [text, explain, turn]);
  const again = () => {
    setState({ ...state, error: null });
    setTurn(turn + 1);
  };
  useChanges(() => state.error && again());

  useLayoutEffect(() => {
    if (state.refined) last = state;
    if (!state.found || state.error) return undefined;
    const { dataset } = document.documentElement;
    dataset.shown = state.text;
    performance.mark("shown");
    if (state.refined) dataset.refined = state.text;
    // They name what is on the page, and nothing that was.
    return () => {
      delete dataset.shown;
      delete dataset.refined;
    };
  }, [state]);

  const more = async () => {
    const now = running.current;
    const { results } = state.found;
    if (now.paging) return;
    now.paging = true;
    try {
      const params = { query: state.found.query, limit: PAGE, offset: results.length, explain };
      const next = await call("search", params, { signal: now.signal });
      const found = keyed({ ...state.found, results: [...results, ...next.results] });
      if (!now.signal.aborted) setState({ ...state, found, ended: next.results.length < PAGE });
    } catch (error) {
      if (!now.signal.aborted) setState({ ...state, error });
    }
    now.paging = false;
  };
  const isPart = !state.ended && state.found?.results.length >= (state.refined ? PAGE : FIRST);
  const hasMore = isPart && state.refined && state.text === text;
  const soon = () => running.current.refine();
  return { ...state, isPart, more: hasMore && !state.error ? more : null, again, soon };
}

let turn = Promise.resolve();

/**
 * One text search at a time, and after it the newest: one that is under way is work for the server whether anybody
 * still waits for it or not, and the next one would share a processor with it.
 */
function inTurn(params, signal) {
  const found = turn.then(() => {
    signal.throwIfAborted();
    return call("search", params);
  });
  turn = found.catch(() => {});
  return found;
}

/** The answer; where the index does not know the last word, but some that begin so (`begun`), to that. */
async function whole(search, text, begun, first) {
  const found = await search({ query: text });
  if (begun === text || isKnown(found, begun)) return found;
  const guess = await (first ?? search({ query: begun, mode: "text" }));
  return answers(guess) ? search({ query: begun }) : found;
}

const answers = (found) => Boolean(found?.results.some((hit) => !hit.weak));

function isKnown(found, begun) {
  const corrected = (word) => begun.toLowerCase().endsWith(`${word.toLowerCase()}*`);
  return answers(found) && !Object.keys(found.corrections).some(corrected);
}

/** Hits with keys that are the same from answer to answer: the document, the passage, and which hit in it. */
function keyed(found) {
  const seen = new Map();
  for (const hit of found.results) {
    const passage = `${hit.id}:${hit.lines[0]}`;
    seen.set(passage, (seen.get(passage) || 0) + 1);
    hit.key = `${passage}:${seen.get(passage)}`;
  }
  return found;
}
