/** What highlight.js finds in a code, as a tree instead of HTML. */

/** Collects `[class, children]` and texts: what highlight.js asks for instead of its writer of HTML. */
class Tree {
  constructor() {
    this.root = [];
    this.open = [this.root];
  }

  addText(text) {
    if (text) this.open.at(-1).push(text);
  }

  startScope(scope) {
    const node = [`code-${scope.split(/[._]/)[0]}`, []];
    this.open.at(-1).push(node);
    this.open.push(node[1]);
  }

  endScope() {
    this.open.pop();
  }

  openNode(scope) {
    this.startScope(scope);
  }

  closeNode() {
    this.endScope();
  }

  __addSublanguage({ root }) {
    this.open.at(-1).push(...root);
  }

  finalize() {}

  toHTML() {
    return this.root;
  }
}

/** The parts of a text: strings and `[class, parts]`; null where its language is not known. */
export function scopesOf(library, text, lang) {
  if (!library.getLanguage(lang)) return null;
  library.configure({ __emitter: Tree });
  const { value } = library.highlight(text, { language: lang, ignoreIllegals: true });
  return Array.isArray(value) ? value : null; // a string after an error of the library
}
