// The decision: its certificate, the round along time, the shares of the band, and what limits it.
import { byId, h, number, percent, withUnit } from "./dom.js";

const MOST_ROWS = 40;

export function drawCertificate(decision, { pending, took, stale }) {
  const proved = decision?.lower_bound !== null && decision !== null;
  const status = decision === null ? "deciding" : decision.status === "certified" ? decision.gap < 1e-6 ? "proved optimal" : `proved within ${percent(decision.gap, 2)}` : decision.status;
  const kind = decision === null || stale ? "open" : decision.status === "certified" ? "good" : decision.status === "violates limits" ? "bad" : "open";
  const tile = (name, value, note) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value, note ? h("small", {}, note) : null));
  const box = byId("certificate");
  box.classList.toggle("pending", pending);
  box.classList.toggle("stale", stale);
  box.replaceChildren(
    h("p", { class: `badge ${kind}`, id: "status" }, stale ? "of earlier limits" : status),
    h("dl", { class: "tiles" },
      tile("Objective", number(decision?.objective)),
      tile("Proved bound", proved ? number(decision.lower_bound) : "none"),
      tile("Gap", proved ? percent(decision.gap, 2) : "–"),
      tile("Decided in", decision ? withUnit(decision.seconds, "s", 3) : "–", took ? `, ${withUnit(took / 1e3, "s", 2)} to here` : ""),
      tile("Latency", withUnit(decision?.latency_s, "s")),
      tile("Energy", withUnit(decision?.energy_j, "J")),
      tile("Clients", decision ? `${decision.clients.length}` : "–", decision ? ` of ${number(decision.eligible)}` : ""),
      tile("Samples", number(decision?.samples, 6))));
}

export function drawKey() {
  const entry = (kind, text) => h("li", {}, h("i", { class: `swatch ${kind}` }), text);
  byId("round-key").replaceChildren(entry("compute", "computing"), entry("upload", "uploading"), entry("slack", "slack"));
}

/** One bar per client against the deadline; a table, so that it can be heard as well. */
export function drawTimeline(decision, { deadline, pinned, ask, pin }) {
  const place = byId("timeline");
  if (!decision) return place.replaceChildren(h("p", { class: "note" }, "No decision yet."));
  const end = Math.max(decision.latency_s, deadline ?? 0);
  const most = Math.max(...decision.clients.map((one) => one.upload_j + one.compute_j));
  const rows = decision.clients.length > MOST_ROWS ? [...decision.clients].sort((a, b) => b.share - a.share).slice(0, MOST_ROWS) : decision.clients;
  const width = (part) => ({ width: `${Math.max(0, Math.min(100, 100 * part)).toFixed(2)}%` });
  const row = (one) => {
    const slack = end - one.compute_s - one.upload_s;
    return h("tr", {},
      h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => ask(one.client), title: `Why ${one.client}?` }, one.client)),
      h("td", { class: "bars" }, h("div", { class: "bar" },
        h("span", { class: "compute", style: width(one.compute_s / end) }), h("span", { class: "upload", style: width(one.upload_s / end) }), h("span", { class: "slack", style: width(slack / end) })),
        h("span", { class: "unseen" }, `computes ${withUnit(one.compute_s, "s")}, uploads ${withUnit(one.upload_s, "s")}, slack ${withUnit(Math.max(slack, 0), "s", 2)}`)),
      h("td", { class: "num" }, percent(one.share)),
      h("td", { class: "num" }, withUnit(one.frequency_hz, "Hz", 3)),
      h("td", { class: "energy" }, h("div", { class: "bar thin" },
        h("span", { class: "compute", style: width(one.compute_j / most) }), h("span", { class: "upload", style: width(one.upload_j / most) })),
        h("span", {}, withUnit(one.upload_j + one.compute_j, "J", 3))),
      h("td", {}, h("button", { type: "button", class: "pin", "aria-pressed": pinned.has(one.client), "aria-label": `Pin ${one.client}`, title: "Pin: it must take part", onclick: () => pin(one.client) }, "pin")));
  };
  const left = decision.clients.length - rows.length;
  place.replaceChildren(
    h("table", { class: "timeline" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "client"),
        h("th", { scope: "col", class: "scale" }, h("span", {}, "0"), h("span", {}, deadline ? `deadline ${withUnit(deadline, "s", 3)}` : withUnit(end, "s", 3))),
        h("th", { scope: "col", class: "num" }, "share"), h("th", { scope: "col", class: "num" }, "CPU"), h("th", { scope: "col", class: "num" }, "energy"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "pin")))),
      h("tbody", {}, ...rows.map(row))),
    left > 0 ? h("p", { class: "note" }, `${left} more train; the ${MOST_ROWS} with the largest shares are drawn.`) : "");
}

export function drawShares(decision) {
  const place = byId("shares");
  const clients = decision ? [...decision.clients].sort((a, b) => b.share - a.share) : [];
  const used = clients.reduce((sum, one) => sum + one.share, 0);
  place.setAttribute("aria-label", decision ? `Shares of the band: ${clients.slice(0, 12).map((one) => `${one.client} ${percent(one.share)}`).join(", ")}` : "No decision yet");
  place.replaceChildren(...clients.slice(0, 200).map((one, at) =>
    h("span", { class: `part ink${at % 8}`, style: { "flex-grow": String(one.share) }, title: `${one.client}: ${percent(one.share)}` }, one.share > 0.06 ? h("b", {}, one.client) : "")),
    used < 0.999 && decision ? h("span", { class: "part free", style: { "flex-grow": String(1 - used) }, title: `free: ${percent(1 - used)}` }) : "");
}

/** In words: which limits bind, and what more band would be worth. */
export function drawFacts(decision, limit) {
  const place = byId("facts");
  if (!decision) return place.replaceChildren();
  const facts = [];
  const fact = (name, text, binds) => facts.push(h("div", { class: binds ? "binds" : "" }, h("dt", {}, name), h("dd", {}, text)));
  const spare = decision.samples / limit("min_samples") - 1;
  fact("samples", `${number(decision.samples, 6)} of at least ${number(limit("min_samples"), 6)}`, spare < 0.02);
  const deadline = limit("deadline_s");
  if (deadline !== null) fact("deadline", decision.latency_s > deadline * (1 - 1e-6) ? "binds: the round takes all of it" : `${percent(1 - decision.latency_s / deadline)} to spare`, decision.latency_s > deadline * (1 - 1e-6));
  const budget = limit("energy_budget_j");
  if (budget !== null) fact("joules", decision.energy_j > budget * (1 - 1e-3) ? "binds: nearly all are spent" : `${percent(1 - decision.energy_j / budget)} to spare`, decision.energy_j > budget * (1 - 1e-3));
  const saved = decision.saved_per_percent_of_bandwidth;
  if (saved !== null) fact("band", `a percent more would save ${number(saved, 2)} of the objective`, saved > 0);
  if (decision.limited_by !== null) fact("limited by", `${{ radio: "the radio", cpu: "the CPUs", both: "radio and CPUs alike" }[decision.limited_by]}: uploads take ${percent(decision.upload_part, 2)} of the time`, false);
  fact("mixture", `${number(decision.mixture_divergence, 3)} nat from everybody's data`, false);
  for (const [name, amount] of Object.entries(decision.violations)) fact(name, `broken by ${percent(amount)}`, true);
  place.replaceChildren(...facts);
}
