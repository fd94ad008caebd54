/** Links that open a file of a vault in an editor. */

const ADDRESSES = {
  __proto__: null,
  vscode: "vscode://file{path}:{line}",
  vscodium: "vscodium://file{path}:{line}",
  cursor: "cursor://file{path}:{line}",
  windsurf: "windsurf://file{path}:{line}",
  zed: "zed://file{path}:{line}",
  sublime: "subl://open?url=file://{path}&line={line}",
  idea: "idea://open?file={path}&line={line}",
  textmate: "txmt://open?url=file://{path}&line={line}",
  obsidian: "obsidian://open?path={path}",
};

/** The link for `page.editor`, a name above or an address of its own; empty where it is neither. */
export function editorLink(editor, file, line) {
  const address = ADDRESSES[editor.trim().toLowerCase()] || editor;
  if (!/^[a-z][a-z\d+.-]*:/i.test(address) || /^(?:javascript|data|vbscript):/i.test(address)) return "";
  const path = file.split("/").map(encodeURIComponent).join("/");
  return address.replaceAll("{path}", () => path).replaceAll("{line}", line);
}
