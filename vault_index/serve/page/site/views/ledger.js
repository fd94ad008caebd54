/** What ever left this machine, as the privacy ledger has it: by day, by server, and as a table. */

import { html, useRef } from "../vendor/preact.js";
import { ask, call } from "../api.js";
import { Bars } from "../charts.js";
import { documentLink } from "../router.js";
import { ErrorNote, Icon, Loading, count, day, sentence, useAnswer } from "../ui.js";

const DAYS = 60;
const ROWS = 100;
const SLOW = 500;

const dollars = (price) => `$${price < 0.01 ? price.toFixed(4) : price.toFixed(2)}`;
const number = (value) => value.toLocaleString("en");
const server = (endpoint) => endpoint.replace(/^https?:\/\//, "");

export function Ledger({ spent, provider }) {
  const now = JSON.stringify(spent);
  const [ledger, error] = useAnswer((signal) => ask("sent", {}, { signal }), [now]);
  // What became private among many documents takes seconds to find, which is not done for each text that is sent.
  const known = useRef({ took: 0, spent: "" }).current;
  if (known.took < SLOW) known.spent = now;
  const judge = async (signal) => {
    const began = performance.now();
    const found = await call("status", { privacy: true }, { signal });
    known.took = performance.now() - began;
    return found;
  };
  const [judged, failed] = useAnswer(judge, [known.spent]);
  return html`<section class="card ledger" aria-labelledby="ledger"><h2 id="ledger">Sent from this machine</h2>
    ${!ledger && !error && html`<${Loading} what="Reading the ledger" />`}
    ${(error || failed) && html`<${ErrorNote} error=${error || failed} />`}
    ${ledger && (ledger.results.length ? html`<${Sent} rows=${ledger.results}
      spent=${spent} />` : html`<${Nothing} provider=${provider} />`)}
    ${judged?.private?.length > 0 && html`<${Private} ledger=${judged} />`}
  </section>`;
}

const Nothing = ({ provider }) => html`<p class="calm"><${Icon} name="check" /><span>
  <b>Nothing was sent from this machine.</b>
  ${["none", "local"].includes(provider)
    ? " No embedding server is configured."
    : " Every request is recorded here before it is sent."}</span></p>`;

/** A row for each day, server and model, newest first. */
function Sent({ rows, spent }) {
  const prices = new Map(spent.map((one) => [one.day, one.price]));
  const sums = new Map();
  for (const row of rows) {
    const sum = sums.get(row.day) || { texts: 0, tokens: 0, servers: new Set() };
    sum.texts += row.texts;
    sum.tokens += row.tokens;
    sum.servers.add(server(row.endpoint));
    sums.set(row.day, sum);
  }
  const days = calendar(rows.at(-1).day);
  const data = days.map((one, index) => {
    const sum = sums.get(one);
    const price = prices.get(one);
    const cost = price ? `, about ${dollars(price)}` : "";
    const to = sum && [...sum.servers].join(", ");
    const told = sum && `${count(sum.tokens, "token")} in ${count(sum.texts, "text")} to ${to}${cost}`;
    const marked = index === 0 || index === days.length - 1;
    const tick = days.length <= 14 ? String(Number(one.slice(-2))) : marked ? shortDay(one) : "";
    return { label: day(one), value: sum?.tokens || 0, told: told || "nothing", tick };
  });
  const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
  const known = spent.filter((one) => one.price !== null);
  const cost = known.reduce((sum, one) => sum + one.price, 0);
  const costs = cost > 0 ? `, about ${dollars(cost)} on the last ${count(known.length, "day")} of sending` : "";
  const price = (on) => (typeof prices.get(on) === "number" ? dollars(prices.get(on)) : "–");
  return html`
    <${Bars} label="Tokens by day" data=${data} most=${number(Math.max(...data.map((one) => one.value)))}>
      ${`${count(tokens, "token")} in all${costs}`}<//>
    <details><summary>As a table, by day and server</summary>
      <div class="scroll-x" tabindex="0" role="region" aria-label="What was sent"><table>
        <thead><tr><th scope="col">Day</th><th scope="col">Server</th><th scope="col">Model</th><th scope="col"
          class="number">Documents</th>
          <th scope="col" class="number">Texts</th><th scope="col" class="number">Tokens</th><th scope="col"
            class="number">Cost that day</th></tr></thead>
        <tbody>${rows.slice(0, ROWS).map((row) => html`<tr key=${[row.day, row.endpoint, row.model].join()}>
          <td>${day(row.day)}</td>
          <td>${server(row.endpoint)}</td><td>${row.model}</td>
          <td class="number">${number(row.documents)}${row.queries ? html`<small
            class="dim"> and queries</small>` : ""}</td>
          <td class="number">${number(row.texts)}</td><td class="number">${number(row.tokens)}</td>
          <td class="number">${price(row.day)}</td></tr>`)}</tbody>
      </table></div>
      ${rows.length > ROWS && html`<p class="small dim">
        ${`The last ${ROWS} of ${number(rows.length)}; all documents: vault-index status --privacy`}</p>`}
    </details>`;
}

/** All days from the first one to today, or the last of them. */
function calendar(first) {
  const at = new Date();
  at.setHours(12, 0, 0, 0);
  const days = [];
  while (days.length < DAYS && (days.length < 7 || days.at(-1) > first)) {
    days.push([at.getFullYear(), at.getMonth() + 1, at.getDate()].map((one) => String(one).padStart(2, "0")).join("-"));
    at.setDate(at.getDate() - 1);
  }
  return days.reverse();
}

const SHORT = new Intl.DateTimeFormat("en", { day: "numeric", month: "short" });
const shortDay = (one) => SHORT.format(new Date(`${one}T12:00`));

const Private = ({ ledger }) => html`<div class="note warn"><${Icon} name="warning" /><div>
  <strong>${count(ledger.private.length, "document was", "documents were")} sent before becoming private</strong>
  <ul>${ledger.private.slice(0, 10).map((one) => html`<li key=${one.source + one.path}><a
    href=${documentLink(one)}>${one.path}</a>
    <span class="small"> to ${one.endpoints.map(server).join(", ")}</span></li>`)}</ul>
  <p class="small">${sentence(ledger.hint)}</p></div></div>`;
