// Answers beside the decision: why a client takes part or not, and what other methods decide.
import { ask } from "./api.js";
import { byId, h, number, percent, withUnit } from "./dom.js";

export const METHODS = ["certified", "dc", "cs-greedy", "cs-random", "ga-greedy", "ga-random", "best-channel+equal"];

export async function showWhy(client, body) {
  const place = byId("why");
  byId("why-client").value = client;
  place.replaceChildren(h("p", { class: "note" }, "…"));
  try {
    place.replaceChildren(...told(await ask("why", body)));
  } catch (error) {
    place.replaceChildren(h("p", { class: "bad-text" }, error.message));
  }
}

function told(found) {
  const line = (name, text) => h("p", {}, h("b", {}, name), " ", text);
  const round = (decision) => `objective ${number(decision.objective)}: ${decision.clients.length} clients, ${withUnit(decision.latency_s, "s")}, ${withUnit(decision.energy_j, "J")}`;
  const lines = [h("p", { class: "lead" }, `${found.client} ${found.selected ? "takes part" : "does not take part"}.`)];
  if (found.barred) return [...lines, line("Barred:", `${found.barred}; no price would change that.`)];
  const other = found.selected ? found.outside : found.inside;
  const side = found.selected ? "Without it:" : "With it:";
  if (other.error) return [...lines, line(side, `impossible, ${other.error}.`)];
  const [low, high] = found.extra, between = high <= low * 1.001 ? number(high) : `${number(low)} to ${number(high)}`;
  return [...lines, line(side, `${round(other)}; ${instead(found.decision, other)}.`),
    found.selected ? line("It saves", `${between} of the objective, proved: it could cost that much more and stay.`)
      : line("Too dear by", `${between} of the objective, proved: so much cheaper it would have to become, or so high a value it would need.`)];
}
function instead(before, after) {
  const names = (one) => new Set(one.clients.map((client) => client.client)), was = names(before), is = names(after);
  const comes = [...is].filter((name) => !was.has(name)), goes = [...was].filter((name) => !is.has(name));
  const list = (word, who) => (who.length ? [`${word} ${who.slice(0, 4).join(", ")}${who.length > 4 ? ` and ${who.length - 4} more` : ""}`] : []);
  return [...list("in comes", comes), ...list("out goes", goes)].join(", ") || "with the same clients";
}

/** Every method's row fills when it is done; the ratio is to the best bound that any of them proved. */
export class Comparison {
  constructor(body) {
    Object.assign(this, { body, rows: new Map(), about: null });
    byId("compare").addEventListener("click", () => this.run());
    this.draw();
  }
  async run() {
    const about = (this.about = {});
    byId("compare").disabled = true;
    this.rows = new Map(METHODS.map((name) => [name, null]));
    this.stale = false;
    this.draw();
    for (const name of METHODS) {
      try {
        this.rows.set(name, await ask("plan", this.body({ solver: name })));
      } catch (error) {
        this.rows.set(name, error);
      }
      if (this.about !== about) return;
      this.draw();
    }
    byId("compare").disabled = false;
  }
  outdated() {
    if (this.rows.size && !this.stale) { this.stale = true; this.draw(); }
  }
  draw() {
    const place = byId("methods");
    if (!this.rows.size) return place.replaceChildren(h("p", { class: "note" }, `Decide this round with ${METHODS.length} methods, and hold each against the proved bound.`));
    const bounds = [...this.rows.values()].map((one) => one?.lower_bound ?? null).filter((bound) => bound !== null), bound = Math.max(...bounds);
    const row = ([name, one]) => {
      const head = h("th", { scope: "row" }, name);
      if (one === null) return h("tr", {}, head, h("td", { colspan: 5, class: "note" }, "…"));
      if (one instanceof Error) return h("tr", {}, head, h("td", { colspan: 5, class: "note", title: one.message }, one.message));
      const broken = Object.keys(one.violations);
      return h("tr", { class: broken.length ? "broken" : "" }, head, h("td", { class: "num" }, number(one.objective)),
        h("td", { class: "num" }, broken.length ? h("span", { class: "bad-text" }, `breaks ${broken.join(", ")}`) : bounds.length ? `× ${number(one.objective / bound, 3)}` : "–"),
        h("td", { class: "num" }, withUnit(one.latency_s, "s", 3)), h("td", { class: "num" }, withUnit(one.energy_j, "J", 3)), h("td", { class: "num" }, withUnit(one.seconds, "s", 2)));
    };
    place.replaceChildren(h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Methods" }, h("table", { class: this.stale ? "plain stale" : "plain" },
      h("thead", {}, h("tr", {}, ...["method", "objective", "to the bound", "latency", "energy", "took"].map((name, at) => h("th", { scope: "col", class: at ? "num" : "" }, name)))),
      h("tbody", {}, ...[...this.rows].map(row)))), this.stale ? h("p", { class: "note" }, "Of earlier limits: compare again.") : "");
  }
}
