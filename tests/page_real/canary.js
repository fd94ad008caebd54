(() => {
  const hits = [];
  const tell = (what) => void hits.push(what);
  Object.defineProperty(window, "__hits", { value: hits });
  Object.defineProperty(window, "__hit", { set: () => tell("ran") });
  for (const name of ["alert", "confirm", "prompt", "print", "open"]) {
    window[name] = () => tell(`called ${name}`);
  }
  for (const name of ["message", "beforeprint"]) addEventListener(name, () => tell(name));
  document.addEventListener("securitypolicyviolation", (event) =>
    tell(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`));
  const tags = "script iframe frame object embed applet base meta link style template portal math mglyph video audio " +
    "picture source track marquee foreignObject use image animate set noscript xmp plaintext slot fencedframe";
  const never = new Set(tags.toLowerCase().split(" "));
  const look = (node) => {
    if (node.nodeType !== 1 || node.closest("head")) return;
    if (node.localName === "math" && node.closest(".prose .math")) return;
    if (never.has(node.localName.toLowerCase()) || node.localName.includes("-")) tell(`made <${node.localName}>`);
    for (const { name, value } of node.attributes) {
      const bad = /^(on|srcdoc|srcset|formaction|ping|xlink:|background|action|is$)/i.test(name);
      if (bad || (name === "style" && /url|expression|@import/i.test(value))) tell(`${name}=${value}`.slice(0, 99));
    }
    for (const name of ["src", "poster", "data"]) {
      const from = node.getAttribute(name) ?? "";
      if (from && !from.startsWith("blob:")) tell(`<${node.localName} ${name}=${from}>`.slice(0, 99));
    }
  };
  const began = () => new MutationObserver((records) => {
    for (const { target, addedNodes } of records) {
      look(target);
      for (const node of addedNodes) {
        look(node);
        for (const inner of node.querySelectorAll?.("*") ?? []) look(inner);
      }
    }
  }).observe(document.body, { subtree: true, childList: true, attributes: true });
  addEventListener("DOMContentLoaded", began);
})()
