// No module, and so before all of them: who is signed in and comes to the search types at once. `views/search.js` takes
// the field over with what is in it.
try {
  if (localStorage.getItem("vault-index.signed-in") && /^(#\/?(search)?(\?.*)?)?$/s.test(location.hash)) {
    document.querySelector("#app").hidden = false;
    if (matchMedia("(hover: hover)").matches) document.querySelector("#search").focus({ preventScroll: true });
  }
} catch {
  // storage may be forbidden: the page comes with its modules then
}
