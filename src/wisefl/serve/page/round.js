// The decision: its certificate, the round along time, the shares of the band, and what limits it.
import { byId, h, mark, number, percent, put, renew, withUnit } from "./dom.js";

const MOST_ROWS = 40;

export function drawCertificate(decision, { pending, took, stale }) {
  const proved = decision?.lower_bound !== null && decision !== null;
  const status = decision === null ? "deciding" : decision.status === "certified" ? decision.gap < 1e-6 ? "proved optimal" : `proved within ${percent(decision.gap, 2)}` : decision.status;
  const kind = decision === null || stale ? "open" : decision.status === "certified" ? "good" : decision.status === "violates limits" ? "bad" : "open";
  const box = byId("certificate");
  if (!box.firstChild) box.append(h("p", { id: "status" }), h("dl", { class: "tiles" }));
  const [badge, tiles] = box.children;
  box.classList.toggle("pending", pending);
  box.classList.toggle("stale", stale);
  mark(badge, "class", `badge ${kind}`);
  put(badge, stale ? "of earlier limits" : status);
  renew(tiles, [
    ["Objective", number(decision?.objective)],
    ["Proved bound", proved ? number(decision.lower_bound) : "none"],
    ["Gap", proved ? percent(decision.gap, 2) : "–"],
    ["Decided in", decision ? withUnit(decision.seconds, "s", 3) : "–", took ? `, ${withUnit(took / 1e3, "s", 2)} to here` : ""],
    ["Latency", withUnit(decision?.latency_s, "s")],
    ["Energy", withUnit(decision?.energy_j, "J")],
    ["Clients", decision ? `${decision.clients.length}` : "–", decision ? ` of ${number(decision.eligible)}` : ""],
    ["Samples", number(decision?.samples, 6)],
  ], ([name]) => name, tile);
}
function tile(name) {
  const value = h("span"), note = h("small");
  return { node: h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value, note)), show: ([, said, more = ""]) => { put(value, said); put(note, more); } };
}

export function drawKey() {
  const entry = (kind, text) => h("li", {}, h("i", { class: `swatch ${kind}` }), text);
  byId("round-key").replaceChildren(entry("compute", "computing"), entry("upload", "uploading"), entry("slack", "slack"));
}

/** One bar per client against the deadline; a table, so that it can be heard as well. */
export function drawTimeline(decision, deadline, pinned, { ask, pin }) {
  const place = byId("timeline");
  if (!decision) return place.replaceChildren(h("p", { class: "note" }, "No decision yet."));
  if (!byId("round-rows")) place.replaceChildren(
    h("table", { class: "timeline" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "client"), h("th", { scope: "col", class: "scale" }, h("span", {}, "0"), h("span", { id: "round-end" })),
        h("th", { scope: "col", class: "num" }, "share"), h("th", { scope: "col", class: "num" }, "CPU"), h("th", { scope: "col", class: "num" }, "energy"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "pin")))),
      h("tbody", { id: "round-rows" })),
    h("p", { class: "note", id: "round-more" }));
  const end = Math.max(decision.latency_s, deadline ?? 0);
  const most = Math.max(...decision.clients.map((one) => one.upload_j + one.compute_j));
  const rows = decision.clients.length > MOST_ROWS ? [...decision.clients].sort((a, b) => b.share - a.share).slice(0, MOST_ROWS) : decision.clients;
  const left = decision.clients.length - rows.length;
  put(byId("round-end"), deadline ? `deadline ${withUnit(deadline, "s", 3)}` : withUnit(end, "s", 3));
  put(byId("round-more"), left > 0 ? `${left} more train; the ${MOST_ROWS} with the largest shares are drawn.` : "");
  renew(byId("round-rows"), rows.map((one) => ({ ...one, end, most, pinned: pinned.includes(one.client) })), (one) => one.client, (client) => row(client, ask, pin));
}
function row(client, ask, pin) {
  const parts = (...kinds) => kinds.map((kind) => h("span", { class: kind }));
  const times = parts("compute", "upload", "slack"), joules = parts("compute", "upload"), words = h("span", { class: "unseen" }), energy = h("span");
  const share = h("td", { class: "num" }), speed = h("td", { class: "num" });
  const button = h("button", { type: "button", class: "pin", "aria-label": `Pin ${client}`, title: "Pin: it must take part", onclick: () => pin(client) }, "pin");
  const node = h("tr", {},
    h("th", { scope: "row" }, h("button", { type: "button", class: "link", onclick: () => ask(client), title: `Why ${client}?` }, client)),
    h("td", { class: "bars" }, h("div", { class: "bar" }, ...times), words), share, speed,
    h("td", { class: "energy" }, h("div", { class: "bar thin" }, ...joules), energy), h("td", {}, button));
  const widths = (bars, values, all) => bars.forEach((bar, at) => (bar.style.width = `${Math.max(0, Math.min(100, (100 * values[at]) / all)).toFixed(2)}%`));
  const show = (one) => {
    const slack = one.end - one.compute_s - one.upload_s;
    widths(times, [one.compute_s, one.upload_s, slack], one.end);
    widths(joules, [one.compute_j, one.upload_j], one.most);
    put(words, `computes ${withUnit(one.compute_s, "s")}, uploads ${withUnit(one.upload_s, "s")}, slack ${withUnit(Math.max(slack, 0), "s", 2)}`);
    put(share, percent(one.share));
    put(speed, withUnit(one.frequency_hz, "Hz", 3));
    put(energy, withUnit(one.upload_j + one.compute_j, "J", 3));
    mark(button, "aria-pressed", one.pinned);
  };
  return { node, show };
}

export function drawShares(decision) {
  const place = byId("shares");
  const clients = decision ? [...decision.clients].sort((a, b) => b.share - a.share) : [];
  const free = 1 - clients.reduce((sum, one) => sum + one.share, 0);
  place.setAttribute("aria-label", decision ? `Shares of the band: ${clients.slice(0, 12).map((one) => `${one.client} ${percent(one.share)}`).join(", ")}` : "No decision yet");
  const parts = clients.slice(0, 200).map((one, at) => ({ name: `of ${one.client}`, share: one.share, kind: `ink${at % 8}`, title: `${one.client}: ${percent(one.share)}`, label: one.share > 0.06 ? one.client : "" }));
  if (decision && free > 0.001) parts.push({ name: "free", share: free, kind: "free", title: `free: ${percent(free)}`, label: "" });
  renew(place, parts, (one) => one.name, part);
}
function part() {
  const label = h("b"), node = h("span", {}, label);
  const show = (one) => {
    node.style.setProperty("flex-grow", one.share.toPrecision(6));
    mark(node, "class", `part ${one.kind}`);
    mark(node, "title", one.title);
    put(label, one.label);
  };
  return { node, show };
}

/** In words: which limits bind, and what more band would be worth. */
export function drawFacts(decision, limit) {
  if (!decision) return byId("facts").replaceChildren();
  const facts = [], fact = (name, text, binds) => facts.push({ name, text, binds });
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
  renew(byId("facts"), facts, (one) => one.name, told);
}
function told(name) {
  const text = h("dd"), node = h("div", {}, h("dt", {}, name), text);
  return { node, show: (one) => { put(text, one.text); mark(node, "class", one.binds ? "binds" : ""); } };
}
