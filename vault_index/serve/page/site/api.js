/** What the page asks its server: the methods of the registry, and what the page has of its own. */

const KEY = "vault-index.token";
const IMAGES = 60;

let token = stored();
let signedOut = () => {};

/** What the server refused, or that it does not answer (`status` 0). */
export class ApiError extends Error {
  constructor(status, { code = "", message = "this failed", hint = "" } = {}) {
    super(message);
    Object.assign(this, { status, code, hint });
  }
}

export const unreachable = () =>
  new ApiError(0, { code: "unreachable", message: "the server does not answer", hint: "start it: vault-index open" });

function stored() {
  try {
    return localStorage.getItem(KEY) || "";
  } catch {
    return "";
  }
}

function keep(value) {
  token = value;
  try {
    if (value) localStorage.setItem(KEY, value);
    else localStorage.removeItem(KEY);
  } catch {
    // good until the page is closed
  }
}

export const isSignedIn = () => Boolean(token);

/** @param {() => void} told is called whenever the token is no longer one. */
export function onSignedOut(told) {
  signedOut = told;
}

// Another page of this browser was signed in: what the address here names can be shown.
addEventListener("storage", ({ key, newValue }) => key === KEY && newValue && !token && location.reload());

export function signOut() {
  keep("");
  signedOut();
}

/** Exchange the code of `vault-index open` for a token. */
export async function signIn(code) {
  const headers = { "Content-Type": "application/json" };
  const response = await send("/signin", { method: "POST", headers, body: JSON.stringify({ code }) });
  // One that is none leaves who is signed in signed in: any page may lead here with one.
  if (!response.ok) throw await refused(response, false);
  keep((await response.json()).token);
}

async function send(path, options) {
  const headers = { ...options.headers };
  if (token) headers.Authorization = `Bearer ${token}`;
  try {
    return await fetch(path, { credentials: "omit", redirect: "error", cache: "no-store", ...options, headers });
  } catch (error) {
    throw error.name === "AbortError" ? error : unreachable();
  }
}

async function refused(response, ends = true) {
  const said = await response.json().catch(() => ({}));
  if (response.status === 401 && token && ends) signOut();
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
        if (lost) told({ event: "changes", data: { reset: true } });
        lost = false;
        for await (const event of eventsOf(response.body)) {
          last = event.id || last;
          if (event.data) told({ event: event.event, data: JSON.parse(event.data) });
        }
      } catch {
        if (!token) return;
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
