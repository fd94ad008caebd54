// Before the first paint, and so no module: a theme that was chosen, else that of the system.
try {
  const theme = localStorage.getItem("vault-index.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
} catch {
  // storage may be forbidden: then the system's theme it is
}
