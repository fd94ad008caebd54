() => {
  const found = [...window.__hits.splice(0)];
  const routes = /^#\/(doc|search)(\/|\?|$)/;
  for (const a of document.body.querySelectorAll("a, area")) {
    const said = a.getAttribute("href") ?? "";
    const inside = a.closest(".prose") !== null;
    const outwards = inside ? ["http:", "https:", "mailto:"] : ["http:", "https:", "obsidian:"];
    if (a.closest(".doc-actions") && said.startsWith("vscode://file/")) outwards.push("vscode:");
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(said)?.[0].toLowerCase();
    const own = inside ? routes.test(said) : said.startsWith("#/") || said === "#main";
    if (a.hasAttribute("href") && !own && !outwards.includes(scheme)) found.push(`href=${said}`.slice(0, 99));
    if (a.hasAttribute("download")) found.push("download");
    if (own && /^#\/\//.test(said)) found.push(`href=${said}`.slice(0, 99));
  }
  for (const one of document.body.querySelectorAll("img")) {
    if (!/^(blob:|$)/.test(one.src)) found.push(`img ${one.src}`.slice(0, 99));
  }
  for (const one of document.body.querySelectorAll(".prose *")) {
    const name = one.localName;
    if (["form", "textarea", "select", "label", "dialog"].includes(name)) found.push(`<${name}> in a note`);
    if (name === "input" && !(one.type === "checkbox" && one.disabled)) found.push("an input in a note");
    if (one.id && !one.id.startsWith("h-")) found.push(`id=${one.id}`.slice(0, 99));
    if (one.hasAttribute("name") || one.hasAttribute("contenteditable")) found.push("name of an element in a note");
    if (/fixed|sticky/.test(getComputedStyle(one).position)) found.push(`<${name}> leaves the note`);
  }
  const polluted = Object.keys(Object.prototype).length || {}.polluted || [].polluted || Function.prototype.polluted;
  if (polluted) found.push("a prototype has more than before");
  if (location.pathname !== "/" || location.search) found.push(`at ${location}`);
  return found;
}
