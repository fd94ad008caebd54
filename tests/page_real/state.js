() => {
  const main = document.querySelector("main").cloneNode(true);
  // Left out: times, durations, sizes on the disk, the mark of an answer, the hits of an earlier search.
  const passing = "time, .told, .loading, .card:has(.stacked), .told-bar, .quoted .frame, .doc-hits";
  for (const one of main.querySelectorAll(passing)) one.remove();
  const fields = [...document.querySelectorAll("main :is(input, select, textarea)")];
  const texts = (one) => one.textContent.split(/\s*\n\s*/);
  return {
    title: document.title, address: location.hash, text: [...main.querySelectorAll(":not(:has(*))")].flatMap(texts),
    fields: fields.map((one) => [one.name || one.ariaLabel, one.value, one.checked]),
    on: [...main.querySelectorAll("[aria-pressed=true], [aria-current], [aria-selected=true], .hit")].flatMap(texts),
  };
}
