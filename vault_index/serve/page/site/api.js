/** What the page asks its server: the methods of the registry, and what the page has of its own. */

const SIGNED_IN = "vault-index.signed-in";
const IMAGES = 60;

/**
 * The page keeps no token, but a key that no script can read, and sends what it signs for this run of the server. Whoever
 * listens at this address later gets a signature that is worth nothing.
 */
let signedIn = Boolean(marked());
let key = signedIn ? inStore("readonly", (store) => store.get("key")).catch(() => null) : Promise.resolve(null);
let proof = null;
let signedOut = () => {};

/** What the server refused, or that it does not answer (`status` 0). */
export class ApiError extends Error {
  constructor(status, { code = "", message = "the request failed", hint = "" } = {}) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

export const unreachable = () =>
  new ApiError(0, { code: "unreachable", message: "the server does not answer", hint: "start it: vault-index open" });

function marked() {
  try {
    return localStorage.getItem(SIGNED_IN) || "";
  } catch {
    return "";
  }
}

async function keep(value) {
  signedIn = Boolean(value);
  key = Promise.resolve(value);
  proof = null;
  try {
    await inStore("readwrite", (store) => (value ? store.put(value, "key") : store.clear()));
    if (value) localStorage.setItem(SIGNED_IN, String(Date.now()));
    else localStorage.removeItem(SIGNED_IN);
  } catch {
    // good until the page is closed
  }
}

/** What a request to the store of this address answers. */
function inStore(mode, act) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open("vault-index", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => reject(opening.error);
    opening.onsuccess = () => {
      const request = act(opening.result.transaction("keys", mode).objectStore("keys"));
      request.onerror = () => reject(request.error);
      request.onsuccess = () => resolve(request.result);
    };
  });
}

async function sign() {
  const own = await key;
  if (!own) return "";
  const response = await fetch("/healthz", { credentials: "omit", redirect: "error", cache: "no-store" });
  const { run } = await response.json();
  const signed = await crypto.subtle.sign("HMAC", own, new TextEncoder().encode(run));
  return Array.from(new Uint8Array(signed), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export const isSignedIn = () => signedIn;

/** @param {() => void} told is called whenever this page is signed in no longer. */
export function onSignedOut(told) {
  signedOut = told;
}

// Another page of this browser was signed in: what the address here names can be shown.
addEventListener("storage", ({ key, newValue }) => key === SIGNED_IN && newValue && !signedIn && location.reload());

export function signOut() {
  keep(null);
  signedOut();
}

/** Exchange the code of `vault-index open` for a key. */
export async function signIn(code) {
  const headers = { "Content-Type": "application/json" };
  const response = await send("/signin", { method: "POST", headers, body: JSON.stringify({ code }) });
  // One that is none leaves who is signed in signed in: any page may lead here with one.
  if (!response.ok) throw await refused(response, false);
  const bytes = new Uint8Array((await response.json()).key.match(/../g).map((byte) => parseInt(byte, 16)));
  await keep(await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]));
}

async function send(path, options, again = true) {
  const used = (proof ||= sign());
  try {
    const shown = await used;
    const headers = shown ? { ...options.headers, Authorization: `Bearer ${shown}` } : options.headers;
    const response = await fetch(path, { credentials: "omit", redirect: "error", cache: "no-store", ...options, headers });
    if (response.status !== 401 || !shown || !again) return response;
  } catch (error) {
    if (proof === used) proof = null;
    throw error.name === "AbortError" ? error : unreachable();
  }
  // The server may have started anew since.
  if (proof === used) proof = null;
  return send(path, options, false);
}

async function refused(response, ends = true) {
  const said = await response.json().catch(() => ({}));
  if (response.status === 401 && signedIn && ends) signOut();
  return new ApiError(response.status, said.error);
}

/** POST, and the answer; raises ApiError, or AbortError once `signal` says so. */
export async function request(path, params = {}, { signal } = {}) {
  const headers = { "Content-Type": "application/json" };
  const response = await send(path, { method: "POST", headers, body: JSON.stringify(params), signal });
  if (!response.ok) throw await refused(response);
  return response.json();
}

/** A method of the registry: `call("search", { query: "wal" })`. See /openapi.json. */
export const call = (method, params, options) => request(`/api/${method}`, params, options);

/** What the page has of its own: about, read, tokens. */
export const ask = (name, params, options) => request(`/page/${name}`, params, options);

const images = new Map();

/** The address (blob:) of an image of a vault. Raises ApiError where there is none. */
export async function imageUrl(source, path) {
  const from = `/files/${[source, ...path.split("/")].map(encodeURIComponent).join("/")}`;
  if (!images.has(from)) {
    const response = await send(from, {});
    if (!response.ok) throw await refused(response);
    images.set(from, URL.createObjectURL(await response.blob()));
    if (images.size > IMAGES) {
      const [oldest, url] = images.entries().next().value;
      images.delete(oldest);
      URL.revokeObjectURL(url);
    }
  }
  return images.get(from);
}

/**
 * What changes, for as long as the page is open: `told({ event, data })`. The server's stream needs a header, which
 * EventSource cannot send. A browser has six connections for all tabs: one that nobody sees gives its own back, and
 * hears later what it missed. Returns what ends it.
 */
export function listen(told) {
  const ended = new AbortController();
  let stream = ended;
  const look = () => document.hidden && stream.abort();
  document.addEventListener("visibilitychange", look, { signal: ended.signal });
  (async () => {
    let last = "";
    let lost = false;
    while (!ended.signal.aborted) {
      await seen();
      stream = new AbortController();
      const signal = AbortSignal.any([stream.signal, ended.signal]);
      try {
        const response = await send("/events", { headers: last ? { "Last-Event-ID": last } : {}, signal });
        if (!response.ok) throw await refused(response);
        // Whatever was asked meanwhile had no answer.
        if (lost) told({ event: "changed", data: {} });
        lost = false;
        for await (const event of eventsOf(response.body)) {
          last = event.id || last;
          if (event.data) told({ event: event.event, data: JSON.parse(event.data) });
        }
      } catch {
        if (!signedIn) return;
        lost ||= !signal.aborted;
      }
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, 3000));
    }
  })();
  return () => ended.abort();
}

/** As soon as somebody sees the page. */
async function seen() {
  while (document.hidden) {
    await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

async function* eventsOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (text + value).split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      const fields = part.split("\n").map((line) => line.split(/: ?(.*)/s, 2));
      yield Object.fromEntries(fields.filter(([name]) => name));
    }
  }
}
