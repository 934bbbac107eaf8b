// The page: one state, asked of the service whenever it changes, drawn by its parts.
import { Newest, Problem, ask, setToken, takeToken } from "./api.js";
import { Comparison, showWhy } from "./answers.js";
import { CampaignView } from "./campaign.js";
import { dress } from "./charts.js";
import { Controls } from "./controls.js";
import { byId, h, kept, later, number, percent, say, withUnit } from "./dom.js";
import { showShare } from "./export.js";
import { csvOf, edited, fleetOf, fromService } from "./fleet.js";
import { drawFront } from "./front.js";
import { Ring } from "./ring.js";
import { drawCertificate, drawFacts, drawKey, drawShares, drawTimeline } from "./round.js";
import { RunsView } from "./runs.js";
import { Store, fromLink, linkOf } from "./state.js";
import { FleetTable } from "./table.js";

const PAPER = { clients: 80, seed: 0 };
const PRESETS = {
  "The paper's round: 80 clients": { random: PAPER, limits: {} },
  "Everybody may train": { random: PAPER, limits: { max_divergence: "inf", min_samples: 12_000, bandwidth_hz: 1e7 } },
  "In a hurry: a deadline of 0.3 s": { random: PAPER, limits: { deadline_s: 0.3 } },
  "Only the mixture counts": { random: PAPER, limits: { divergence: "mixture", max_divergence: 0.1 } },
  "10,000 clients": { random: { clients: 10_000, seed: 0 }, limits: { max_divergence: "inf", min_samples: 30_000, bandwidth_hz: 2e7 } },
};
const FRONT_POINTS = 15, FRONT_ALONE_UP_TO = 1000, VIEWS = ["round", "campaign", "runs"];

const page = { decision: null, took: 0, stale: false, pending: true, front: null, frontStale: false, room: 0, told: null };
let store, controls, ring, table, comparison, campaign, runs, known, planner;

/** The body of a request about this round. */
const body = (more = {}) => `{"fleet":${JSON.stringify(csvOf(store.state.fleet))},${JSON.stringify({ limits: store.state.limits, ...more }).slice(1)}`;

/** What the parts ask about clients, by their row. */
function viewOf({ fleet, limits }) {
  const limit = (name) => limits[name] ?? known[name].default;
  const required = new Set(limits.required ?? []), forbidden = new Set(limits.forbidden ?? []);
  const most = limit("divergence") === "mixture" || limit("max_divergence") === "inf" ? Infinity : Number(limit("max_divergence"));
  const chosen = new Map((page.decision?.clients ?? []).map((one) => [one.client, one]));
  const id = (at) => String(fleet.columns.client[at]);
  const may = (at) => !forbidden.has(id(at)) && (fleet.divergence === null || most === Infinity || fleet.divergence[at] <= most);
  const trains = (at) => chosen.has(id(at));
  return { limit, required, forbidden, chosen, id, may, trains, decision: page.decision, barred: [most, ...forbidden].join(), rank: (at) => (trains(at) ? chosen.get(id(at)).share - 2 : may(at) ? 0 : 1) };
}

const timeline = kept((decision, deadline, pinned) => drawTimeline(decision, deadline, pinned, { ask: why, pin: (name) => mark(name, "pin") }));
const shares = kept(drawShares);
let drawing = false;
/** At the next frame, once, and then what is newest. */
function draw() {
  if (drawing) return;
  drawing = true;
  requestAnimationFrame(() => {
    drawing = false;
    const { state } = store, view = viewOf(state);
    drawFront(page.front, page.stale ? null : page.decision, weigh, page.frontStale, page.room);
    drawCertificate(page.decision, page);
    timeline(page.decision, view.limit("deadline_s"), view.limit("required"));
    shares(page.decision);
    drawFacts(page.decision, view.limit);
    ring.draw(state.fleet, view);
    table.draw(state.fleet, view);
    document.body.dataset.decided = planner.sent && !planner.flight ? String(planner.sent) : "";
  });
}

function problem(error) {
  const box = byId("problem");
  box.hidden = error === null;
  if (error === null) return;
  const fix = (remedy) => h("button", { type: "button", onclick: () => controls.set(remedy.field, remedy.value) }, `Set ${remedy.field} to ${number(remedy.value, 6)}`);
  box.replaceChildren(h("span", {}, error.message), ...(error.remedies ?? []).filter((remedy) => remedy.field in (controls?.known ?? {})).map(fix));
  if (error.status === 401) {
    const input = h("input", { type: "password", "aria-label": "Token", placeholder: "token" });
    box.append(h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); setToken(input.value); location.reload(); } }, input, h("button", { type: "submit" }, "Show it")));
  }
}

const weigh = (latency_weight, energy_weight) => {
  const limits = { ...store.state.limits, latency_weight, energy_weight };
  for (const name of ["latency_weight", "energy_weight"]) if (limits[name] === known[name].default) delete limits[name];
  store.set({ limits });
};

/** Pin or ban a client, or let it be again. */
function mark(client, does) {
  const [own, other] = does === "pin" ? ["required", "forbidden"] : ["forbidden", "required"];
  const limits = { ...store.state.limits }, names = limits[own] ?? [];
  const without = (list) => (list ?? []).filter((name) => name !== client);
  limits[own] = names.includes(client) ? without(names) : [...names, client];
  limits[other] = without(limits[other]);
  for (const name of [own, other]) if (!limits[name].length) delete limits[name];
  store.set({ limits });
}
const why = (client) => showWhy(client, body({ client }));

/** Ask for the round as it is now. */
function decide() {
  page.pending = true;
  byId("certificate").classList.add("pending");
  planner.ask(() => body(), store.state.fleet.id);
}
function decided(decision, took, newest) {
  Object.assign(page, { decision, took, stale: false, pending: !newest });
  problem(page.told); // what was wrong with the link stays until something is changed
  draw();
  if (newest) say(`${decision.clients.length} clients train: ${withUnit(decision.latency_s, "s")}, ${withUnit(decision.energy_j, "J")}, objective ${number(decision.objective)}${decision.lower_bound === null ? "" : `, proved within ${percent(decision.gap, 2)}`}`);
}
function refused(error) {
  Object.assign(page, { stale: page.decision !== null, pending: false });
  problem(error);
  draw();
}

const paint = async (forced) => {
  if (!forced && store.state.fleet.size > FRONT_ALONE_UP_TO) return;
  const about = store.state, { limits } = about, rest = { ...limits };
  delete rest.latency_weight;
  delete rest.energy_weight;
  try {
    const points = await ask("pareto", body({ limits: rest, points: FRONT_POINTS }));
    if (about.fleet === store.state.fleet) Object.assign(page, { front: points, frontStale: store.state.limits !== limits });
    draw();
  } catch (error) {
    if (forced) problem(error);
  }
};
const paintSoon = later(450, () => paint(false));

/** A fleet becomes the page's only when the service finds it sound. */
async function take(fleet, more = {}) {
  try {
    const told = await ask("fleet", JSON.stringify({ fleet: csvOf(fleet), smoothing: Number(store.state.limits.smoothing ?? 0) }));
    const sound = fromService(told, { name: fleet.name, text: csvOf(fleet) });
    const limits = { ...(more.limits ?? store.state.limits) }, names = new Set(sound.columns.client.map(String));
    for (const name of ["required", "forbidden"]) if (limits[name]) {
      limits[name] = limits[name].filter((client) => names.has(client));
      if (!limits[name].length) delete limits[name];
    }
    store.set({ fleet: sound, ...more, limits });
  } catch (error) {
    problem(error);
    draw();
  }
}
async function random(asked, more = {}) {
  try {
    const told = await ask("fleet/random", JSON.stringify(asked));
    const limits = { ...(more.limits ?? store.state.limits) };
    delete limits.required;
    delete limits.forbidden;
    store.set({ fleet: fromService(told, { random: asked }), ...more, limits });
  } catch (error) {
    problem(error);
  }
}

function changed(state, before) {
  page.told = null;
  byId("undo").disabled = !store.past.length;
  byId("redo").disabled = !store.future.length;
  controls.render();
  campaign.render();
  if (state.view !== before.view) show(state.view);
  if (state.fleet !== before.fleet) {
    page.decision = state.fleet.size === before.fleet.size ? page.decision : null;
    page.front = null;
    names(state.fleet);
  }
  if (state.fleet !== before.fleet || state.limits !== before.limits) {
    page.frontStale = page.front !== null;
    comparison.outdated();
    decide();
    paintSoon();
  }
  draw();
  remember();
}
const names = (fleet) => byId("client-names").replaceChildren(...fleet.columns.client.slice(0, 500).map((name) => h("option", { value: name })));
/** Reloading the page keeps small states; a large fleet would make the address unwieldy. */
const remember = later(800, async () => {
  if (store.state.fleet.random || store.state.fleet.size <= 200) history.replaceState(null, "", (await linkOf(store.state)).replace(/^[^#]*/, ""));
});

function show(view) {
  for (const one of VIEWS) byId(`view-${one}`).hidden = one !== view;
  for (const tab of document.querySelectorAll(".tabs a")) tab.toggleAttribute("aria-current", tab.dataset.view === view);
  document.querySelector(".tabs a[aria-current]")?.setAttribute("aria-current", "page");
  byId("certificate").hidden = view !== "round"; // it is the round's: a campaign has its own
  runs.open(view === "runs");
}

function ask_for(title, content, does) {
  const dialog = byId("dialog");
  dialog.replaceChildren(h("form", { method: "dialog", onsubmit: does }, h("h2", { id: "dialog-title" }, title), ...content,
    h("div", { class: "row end" }, h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Cancel"), h("button", { type: "submit", class: "strong", id: "dialog-ok" }, "Use it"))));
  dialog.showModal();
}

function listen() {
  byId("undo").addEventListener("click", () => store.undo());
  byId("redo").addEventListener("click", () => store.redo());
  byId("share").addEventListener("click", () => showShare(store.state, known, page.decision));
  byId("front-run").addEventListener("click", () => paint(true));
  byId("why-form").addEventListener("submit", (event) => { event.preventDefault(); if (byId("why-client").value) why(byId("why-client").value); });
  document.querySelectorAll(".tabs a").forEach((tab) => tab.addEventListener("click", (event) => { event.preventDefault(); store.set({ view: tab.dataset.view }); }));
  document.addEventListener("keydown", (event) => {
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || /^(text|search)$/.test(event.target.type)) return;
    event.preventDefault();
    if (event.shiftKey) store.redo(); else store.undo();
  });
  byId("preset").append(h("option", { value: "" }, "choose one …"), ...Object.keys(PRESETS).map((name) => h("option", { value: name }, name)));
  byId("preset").addEventListener("change", (event) => { const one = PRESETS[event.target.value]; event.target.value = ""; if (one) random(one.random, { limits: one.limits }); });
  byId("random").addEventListener("click", () => {
    const field = (name, label, value) => h("label", { class: "field" }, h("span", {}, label), h("input", { type: "number", id: `random-${name}`, value, min: name === "seed" ? 0 : 1 }));
    ask_for("A random fleet by the paper's table", [field("clients", "clients", 80), field("seed", "seed", 1), field("classes", "classes", 10)], () =>
      random({ clients: Number(byId("random-clients").value), seed: Number(byId("random-seed").value), ...(byId("random-classes").value === "10" ? {} : { classes: Number(byId("random-classes").value) }) }));
  });
  byId("paste").addEventListener("click", () => {
    const text = h("textarea", { rows: 12, "aria-label": "Fleet as CSV", placeholder: "client,distance_m,transmit_power_dbm,max_frequency_hz,cycles_per_bit,count_0,…", spellcheck: "false" });
    ask_for("Paste a fleet: CSV, or cells of a spreadsheet", [text], () => take(fleetOf(text.value, "pasted")));
  });
  const read = async (file) => file && take(fleetOf(await file.text(), file.name));
  byId("open").addEventListener("change", (event) => { read(event.target.files[0]); event.target.value = ""; });
  for (const [kind, shown] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    document.addEventListener(kind, (event) => {
      if (kind === "dragleave" && event.relatedTarget !== null) return;
      event.preventDefault();
      byId("drop").hidden = !shown;
      if (kind === "drop") read(event.dataTransfer.files[0]);
    });
  }
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  new ResizeObserver(([{ contentRect }]) => { page.room = contentRect.width; draw(); }).observe(byId("front"));
}

async function start() {
  takeToken();
  const linked = await fromLink(location.hash).catch((error) => { page.told = error; return null; });
  const [{ limits, horizon }, palette] = await Promise.all([ask("limits"), fetch("palette.json").then((answer) => answer.json())]);
  dress(palette);
  known = Object.fromEntries([...horizon, ...limits].map((item) => [item.name, item]));
  const wanted = linked?.fleet.random ?? (linked ? null : PAPER);
  const told = wanted ? await ask("fleet/random", JSON.stringify(wanted)) : await ask("fleet", JSON.stringify({ fleet: csvOf(linked.fleet) }));
  const fleet = fromService(told, wanted ? { random: wanted } : { name: linked.fleet.name, text: csvOf(linked.fleet) });
  store = new Store({ fleet, limits: linked?.limits ?? {}, horizon: linked?.horizon ?? {}, view: VIEWS.includes(linked?.view) ? linked.view : location.hash === "#runs" ? "runs" : "round" });
  planner = new Newest("plan", { answered: decided, failed: refused });
  controls = new Controls(store, limits);
  ring = new Ring({ ask: why });
  table = new FleetTable({ ask: why, name: mark, edit: (row, column, value) => take(edited(store.state.fleet, row, column, value)) });
  comparison = new Comparison(body);
  campaign = new CampaignView(store, horizon, body);
  runs = new RunsView();
  listen();
  drawKey();
  names(fleet);
  store.listeners.push(changed);
  controls.render();
  campaign.render();
  show(store.state.view);
  draw();
  decide();
  paintSoon();
}
start().catch((error) => {
  known ??= {};
  problem(error instanceof Problem ? error : new Error(`The page could not start: ${error.message}`));
});
