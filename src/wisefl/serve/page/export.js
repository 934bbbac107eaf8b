// What one takes along: a link, the same as a command or a program, files, a picture.
import { byId, h, number, percent, withUnit, colour } from "./dom.js";
import { csvOf } from "./fleet.js";
import { LONGEST_LINK, linkOf } from "./state.js";

const word = (text) => (/^[\w./:+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);
const python = (value) => (value === "inf" ? 'float("inf")' : value === null ? "None" : Array.isArray(value) ? `(${value.map((one) => JSON.stringify(one)).join(", ")},)` : typeof value === "string" ? JSON.stringify(value) : String(value));
const plainRandom = (random) => random && random.samples === undefined && (random.mean_gain ?? 1) === 1;

const options = (values, known) => Object.entries(values).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => `${known[name].option} ${word(String(one))}`));

/** The shell's command for what is in view: the round, or the whole campaign. */
export function shellOf(state, known) {
  const { random } = state.fleet, all = state.view === "campaign";
  const draw = plainRandom(random) ? `wisefl fleet --clients ${random.clients} --seed ${random.seed}${random.classes ? ` --classes ${random.classes}` : ""} -o fleet.csv\n` : "";
  const given = [...options(state.limits, known), ...(all ? options(state.horizon, known) : []), "--json"];
  return `${draw}wisefl ${all ? "campaign" : "plan"} fleet.csv ${given.join(" ")}`;
}
export function pythonOf(state) {
  const { random } = state.fleet, limits = Object.entries(state.limits).map(([name, value]) => `${name}=${python(value)}`).join(", ");
  const fleet = plainRandom(random) ? `Fleet.random(${random.clients}, ${random.seed}${random.classes ? `, classes=${random.classes}` : ""})` : 'Fleet.from_csv("fleet.csv")';
  return `from wisefl import Fleet, Limits, RoundProblem, solve\n\nfleet = ${fleet}\nproblem = RoundProblem.build(fleet, limits=Limits(${limits}))\ndecision = solve(problem)\nprint(decision.summary())`;
}

export function download(name, content, type) {
  const url = content instanceof Blob ? URL.createObjectURL(content) : URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
export function decisionCsv(decision) {
  const names = Object.keys(decision.clients[0]);
  return `${names.join(",")}\n${decision.clients.map((one) => names.map((name) => (/[",]/.test(one[name]) ? `"${String(one[name]).replaceAll('"', '""')}"` : one[name] ?? "")).join(",")).join("\n")}\n`;
}

const escape = (text) => String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
/** The round as a picture of its own, in the colours of the page. */
export function pictureOf(decision) {
  const rows = [...decision.clients].sort((a, b) => b.share - a.share).slice(0, 40), wide = 900, left = 150, right = 170, high = 92 + 24 * rows.length;
  const [page, text, muted, blue, orange, grid] = ["--page", "--text", "--muted", "--s0", "--s1", "--grid"].map(colour), along = (part) => (wide - left - right) * part;
  const lines = rows.map((one, at) => {
    const y = 66 + 24 * at, end = decision.latency_s;
    return `<text x="${left - 8}" y="${y + 12}" text-anchor="end">${escape(one.client)}</text><rect x="${left}" y="${y}" width="${along(1)}" height="15" fill="${grid}"/>` +
      `<rect x="${left}" y="${y}" width="${along(one.compute_s / end)}" height="15" fill="${orange}"/><rect x="${left + along(one.compute_s / end)}" y="${y}" width="${along(one.upload_s / end)}" height="15" fill="${blue}"/>` +
      `<text x="${wide - right + 10}" y="${y + 12}">${escape(percent(one.share))}, ${escape(withUnit(one.upload_j + one.compute_j, "J", 3))}</text>`;
  });
  const proof = decision.lower_bound === null ? `by ${decision.solver}` : `proved bound ${number(decision.lower_bound)}, gap ${percent(decision.gap, 2)}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${wide}" height="${high}" viewBox="0 0 ${wide} ${high}" font-family="system-ui, sans-serif" font-size="13" fill="${text}"><rect width="${wide}" height="${high}" fill="${page}"/>` +
    `<text x="20" y="26" font-size="16" font-weight="600">${decision.clients.length} clients, ${escape(withUnit(decision.latency_s, "s"))}, ${escape(withUnit(decision.energy_j, "J"))}, objective ${number(decision.objective)}</text>` +
    `<text x="20" y="46" fill="${muted}">${escape(proof)}; orange computes, blue uploads</text>${lines.join("")}<text x="${left}" y="${high - 8}" fill="${muted}">0</text><text x="${wide - right}" y="${high - 8}" text-anchor="end" fill="${muted}">${escape(withUnit(decision.latency_s, "s"))}</text></svg>`;
}
export async function asPng(svg) {
  const image = new Image(), url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await new Promise((done, failed) => Object.assign(image, { onload: done, onerror: failed, src: url }));
  const canvas = h("canvas", {});
  Object.assign(canvas, { width: 2 * image.width, height: 2 * image.height });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

export async function showShare(state, known, decision) {
  const dialog = byId("dialog"), link = await linkOf(state);
  const copied = (text, button) => navigator.clipboard?.writeText(text).then(() => { button.textContent = "Copied"; setTimeout(() => (button.textContent = "Copy"), 1500); }, () => {});
  const part = (id, title, text, note) => {
    const button = h("button", { type: "button", onclick: () => copied(text, button), "aria-label": `Copy: ${title}` }, "Copy");
    return h("section", {}, h("div", { class: "card-head" }, h("h3", { id: `${id}-title` }, title), button), h("pre", { tabindex: 0, id, "aria-labelledby": `${id}-title` }, h("code", {}, text)), note ? h("p", { class: "note" }, note) : null);
  };
  const file = (label, does) => h("button", { type: "button", onclick: does, disabled: decision === null }, label);
  const needsFile = plainRandom(state.fleet.random) ? null : "It reads fleet.csv: take the fleet along, below.";
  dialog.replaceChildren(
    h("div", { class: "card-head" }, h("h2", { id: "dialog-title" }, "Take it along"), h("button", { type: "button", class: "quiet", onclick: () => dialog.close() }, "Close")),
    link.length > LONGEST_LINK ? h("p", {}, "This fleet is too large for a link: take its file along, and open it there.") : part("share-link", "Link to this state", link, "It holds the fleet and the limits, and works wherever the explorer runs at this address."),
    part("share-shell", "The same in a shell", shellOf(state, known), needsFile), part("share-python", "The same in Python", pythonOf(state), needsFile),
    h("section", {}, h("h3", {}, "Files"), h("div", { class: "row wrap" },
      file("Decision (CSV)", () => download("decision.csv", decisionCsv(decision), "text/csv")), file("Decision (JSON)", () => download("decision.json", JSON.stringify(decision, null, 2), "application/json")),
      file("Fleet (CSV)", () => download("fleet.csv", csvOf(state.fleet), "text/csv")),
      file("Picture (PNG)", async () => download("round.png", await asPng(pictureOf(decision)))), file("Picture (SVG)", () => download("round.svg", pictureOf(decision), "image/svg+xml")))));
  dialog.showModal();
}
