/** The page: who it is for signs in, and what the address names is shown. */

import { html, render, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { ask, call, isSignedIn, listen, onSignedOut, signIn, unreachable } from "./api.js";
import { go, here, link } from "./router.js";
import { allKeys, useKeys } from "./keys.js";
import { About, Dialog, ErrorNote, Icon, Keys, Loading, Toasts, loadStyle, sentence, toast, useChanges } from "./ui.js";
import * as search from "./views/search.js";

const PLACES = [
  { name: "search", label: "Search", icon: "search", key: "s" },
  { name: "browse", label: "Browse", icon: "folder", key: "b" },
  { name: "sessions", label: "Sessions", icon: "sessions", key: "e" },
  { name: "review", label: "Review", icon: "review", key: "r" },
  { name: "recall", label: "Recall", icon: "recall", key: "c" },
  { name: "health", label: "Health", icon: "health", key: "h" },
  { name: "tokens", label: "Tokens", icon: "tokens", key: "t" },
];
const MODULES = {
  __proto__: null,
  doc: "document", browse: "browse", sessions: "sessions", timeline: "timeline", review: "review", history: "history",
  recall: "recall", health: "health", tokens: "tokens",
};
const loaded = Object.assign(Object.create(null), { search });

function App({ about }) {
  const [place, setPlace] = useState(here());
  const [view, setView] = useState(loaded[place.name] || null);
  const [fault, setFault] = useState(null);
  const [turn, setTurn] = useState(0);
  const [help, setHelp] = useState(false);
  const [Palette, setPalette] = useState(null);
  const [waiting, setWaiting] = useState(0);
  const main = useRef(null);

  // Layout effects listen before anything is visible; effects run after the paint, which a busy machine delays.
  useLayoutEffect(() => {
    const moved = () => setPlace(here());
    addEventListener("hashchange", moved);
    return () => removeEventListener("hashchange", moved);
  }, []);

  useEffect(() => {
    let current = true;
    const shown = (module) => {
      // Whoever went on meanwhile is shown that place, and nothing in between: it would lose where they were.
      if (!current || here().name !== place.name) return;
      setFault(null);
      setView(module);
      document.title = `${module.title || "vault-index"} · vault-index`;
    };
    viewOf(place.name).then(shown, (error) => current && setFault(error));
    return () => { current = false; };
  }, [place.name, turn]);
  const again = () => setTurn((one) => one + 1);
  useChanges(() => fault && again());

  // A new place is read from its beginning, also by who hears it; typing in the search field is no new place.
  useLayoutEffect(() => {
    scrollTo(0, 0);
    if (place.name !== "search") main.current?.focus({ preventScroll: true });
  }, [place.name, place.parts.join("/")]);

  useEffect(() => {
    const count = () => call("review", { limit: 1 }).then((found) => setWaiting(found.total), () => {});
    const soon = setTimeout(() => { count(); import("./palette.js").catch(() => {}); }, 1200);
    addEventListener("vault-index:reviewed", count);
    const stop = listen(({ event, data }) => {
      dispatchEvent(new CustomEvent("vault-index:changed", { detail: { event, data } }));
    });
    return () => {
      clearTimeout(soon);
      removeEventListener("vault-index:reviewed", count);
      stop();
    };
  }, []);

  const palette = () => import("./palette.js").then((module) => setPalette(() => module.default), (error) => toast(error.message));
  useLayoutEffect(() => {
    const pressed = (event) => {
      if (event.key !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
      event.preventDefault();
      if (!document.querySelector("dialog[open]")) palette();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, []);

  const moves = PLACES.map(({ name, label, key }) => [`g ${key}`, [`go to ${label.toLowerCase()}`, () => go(link(name))]]);
  useKeys("Everywhere", {
    "/": ["search", focusSearch],
    ...Object.fromEntries(moves),
    "Ctrl k": ["go to a document or a command", palette],
    "?": ["show these keys", () => setHelp(true)],
    Escape: ["leave the field", () => document.activeElement?.blur()],
  }, 0);

  const View = view && loaded[place.name] === view ? view.default : null;
  return html`
    <${About.Provider} value=${about}>
      <a class="skip" href="#main" onClick=${(event) => { event.preventDefault(); main.current.focus(); }}>Skip to content</a>
      <${Navigation} at=${place.name} waiting=${waiting} help=${() => setHelp(true)} about=${about} />
      <main id="main" class=${`view-${MODULES[place.name] || "search"}`} tabindex="-1" ref=${main}>
        ${fault && html`<${ErrorNote} error=${fault} retry=${again} />`}
        ${View ? html`<${View} key=${place.name + place.parts.join("/")} parts=${place.parts} params=${place.params} />`
          : !fault && html`<${Loading} />`}
      </main>
      <${Toasts} />
      ${Palette && html`<${Palette} close=${() => setPalette(null)} />`}
      ${help && html`<${Dialog} title="Keys" close=${() => setHelp(false)}><${Keys} groups=${allKeys()} /><//>`}
    <//>`;
}

async function viewOf(name) {
  const file = MODULES[name];
  if (!loaded[name] && !file) throw Object.assign(new Error("there is no such page"), { hint: "press g s to search", status: 404 });
  loaded[name] ??= await import(`./views/${file}.js`).catch(() => { throw unreachable(); });
  await loadStyle(loaded[name].style);
  return loaded[name];
}

function focusSearch() {
  search.asked.left = null;
  if (here().name !== "search") go(link("search", [], { q: here().params.q || search.asked.last }));
  // At once where it is there: what is typed next is for it.
  (function look() {
    const field = document.querySelector("#search");
    if (field) field.select();
    else requestAnimationFrame(look);
  })();
}

const NEAR = new Map([["doc", "search"], ["timeline", "search"], ["history", "review"]]);

function Navigation({ at, waiting, help, about }) {
  const near = NEAR.get(at) || at;
  return html`
    <header class="side">
      <a class="brand" href=${link("search")} aria-label="vault-index, to the search">
        <${Icon} name="brand" /><span>vault-index</span>
      </a>
      <nav aria-label="Places">
        ${PLACES.map(({ name, label, icon }) => html`
          <a href=${link(name)} aria-current=${near === name ? "page" : null}>
            <${Icon} name=${icon} /><span>${label}</span>
            ${name === "review" && waiting > 0 && html`<b class="count">${waiting > 99 ? "99+" : waiting}<i class="unseen"> to review</i></b>`}
          </a>`)}
      </nav>
      <div class="side-foot">
        <${Theme} />
        <button class="quiet" onClick=${help} aria-label="Keys" title="Keys (?)"><${Icon} name="keyboard" /></button>
        <small>${about.version}</small>
      </div>
    </header>`;
}

const THEMES = { "": "light", light: "dark", dark: "" };

function Theme() {
  const [theme, setTheme] = useState(document.documentElement.dataset.theme || "");
  const turn = () => {
    const next = THEMES[theme];
    setTheme(next);
    if (next) document.documentElement.dataset.theme = next;
    else delete document.documentElement.dataset.theme;
    try {
      localStorage.setItem("vault-index.theme", next);
    } catch {
      // for this visit
    }
  };
  const name = theme || "system";
  return html`<button class="quiet" onClick=${turn} aria-label=${`Theme: ${name}`} title=${`Theme: ${name}`}>
    <${Icon} name=${`theme-${name}`} /></button>`;
}

function SignIn({ error }) {
  return html`
    <main class="sign-in" id="main">
      <${Icon} name="brand" />
      <h1>vault-index</h1>
      ${error && html`<${ErrorNote} error=${error} />`}
      <p>You are not signed in. On the machine with your vault, run</p>
      <pre><code>vault-index open</code></pre>
      <p class="dim">This opens your browser and signs it in.</p>
    </main>`;
}

async function start() {
  const root = document.querySelector("#app");
  if (root.hidden) root.replaceChildren();
  root.hidden = false;
  const code = new URLSearchParams(location.hash.slice(1)).get("token");
  let error = null;
  if (code) {
    go("#/", { replace: true });
    try {
      // A page that is signed in goes on with the token that it has.
      if (!isSignedIn() || !await ask("tokens", { drop: code }).catch((refused) => refused.status !== 401)) await signIn(code);
    } catch (refused) {
      error = refused;
    }
  }
  onSignedOut(() => render(html`<${SignIn} key="out" />`, root));
  if (!isSignedIn()) {
    render(html`<${SignIn} key="out" error=${error} />`, root);
    return;
  }
  // Searching needs none of it, and begins at once.
  const about = { version: "", name: "", editor: "", sources: [] };
  render(html`<${App} key="in" about=${about} />`, root);
  try {
    render(html`<${App} key="in" about=${await ask("about")} />`, root);
    if (error) toast(sentence(error.message));
  } catch (refused) {
    if (isSignedIn()) render(html`<${SignIn} key="out" error=${refused} />`, root);
  }
}

addEventListener("hashchange", () => {
  // A new code for a page that is open already: nothing of the address is kept.
  if (location.hash.startsWith("#token=")) start();
});
start();
