// All rounds of a training: what is asked of them together, who took part when, what it costs, and the bound.
import { ask } from "./api.js";
import { Figure } from "./charts.js";
import { byId, h, named, number, percent, withUnit } from "./dom.js";
import { download } from "./export.js";
import { Schedule } from "./schedule.js";

const MOST_ROWS = 2000;

export class CampaignView {
  constructor(store, horizon, body) {
    Object.assign(this, { store, horizon, body, about: null });
    this.few = h("div", { class: "hint" }, h("p", {}, "Only clients near everybody's data may train: duties and batteries need more of them."),
      h("button", { type: "button", id: "let-in", onclick: () => store.set({ limits: { ...store.state.limits, max_divergence: "inf" } }) }, "Let everybody in"));
    this.form = h("form", { class: "card controls" }, h("div", { class: "card-head" }, h("h2", {}, "Over all rounds")), this.few,
      ...horizon.map((item) => this.field(item)), h("button", { type: "submit", class: "strong", id: "play" }, "Play the campaign"),
      h("p", { class: "note" }, "The limits of the round hold in every round."));
    this.result = h("div", { class: "middle", id: "campaign-result", "aria-live": "polite" }, h("section", { class: "card" }, h("h2", {}, "All rounds together"), h("p", {}, "A perfect round every round adds up to the wrong training: the same few clients train for ever. Ask that everybody takes part in a part of the rounds, or give everybody a battery, and play.")));
    byId("view-campaign").append(h("div", { class: "workbench two" }, this.form, this.result));
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.play(); });
  }
  field(item) {
    const input = h("input", { type: "text", inputmode: "decimal", id: `horizon-${item.name}`, autocomplete: "off", "aria-describedby": `horizon-${item.name}-help` });
    input.addEventListener("change", () => {
      const text = input.value.trim().toLowerCase(), value = ["", "none", "mains"].includes(text) ? item.default : Number(text);
      input.setAttribute("aria-invalid", Number.isNaN(value));
      if (Number.isNaN(value)) return;
      const told = { ...this.store.state.horizon };
      if (value === item.default) delete told[item.name]; else told[item.name] = value;
      this.store.set({ horizon: told });
    });
    item.show = () => (input.value = this.store.state.horizon[item.name] ?? item.default ?? "mains");
    return h("div", { class: "asked" }, h("label", { class: "field" }, h("span", {}, named(item.name)), input), h("p", { class: "note", id: `horizon-${item.name}-help` }, item.help));
  }
  render() {
    const { fleet, limits, horizon } = this.store.state;
    for (const item of this.horizon) item.show();
    this.few.hidden = limits.max_divergence === "inf" || limits.divergence === "mixture";
    const stale = this.about !== null && (this.about.fleet !== fleet || this.about.limits !== limits || this.about.horizon !== horizon);
    this.result.classList.toggle("of-before", stale);
  }
  async play() {
    const button = byId("play"), { fleet, limits, horizon } = this.store.state;
    button.disabled = true;
    button.textContent = "Playing …";
    try {
      const told = await ask("campaign", this.body({ horizon }));
      this.about = { fleet, limits, horizon };
      this.show(told);
    } catch (error) {
      this.about = null;
      this.result.replaceChildren(h("section", { class: "card" }, h("p", { class: "bad-text" }, error.message)));
    } finally {
      button.disabled = false;
      button.textContent = "Play the campaign";
      this.render();
    }
  }
  show(told) {
    const schedule = new Schedule(told), charts = h("div", { class: "charts" });
    this.result.replaceChildren(summary(told),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Who trains when"), h("span", { class: "note" }, "a column is a round, a row a client")), schedule.node),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Along the rounds")), charts),
      h("section", { class: "card" }, everyClient(told)));
    schedule.draw();
    for (const figure of figures(told)) {
      const part = h("div", { class: figure.methods.length > 1 ? "one-figure" : "one-figure alone" }, h("h3", {}, figure.panels.length > 1 ? "Cost and pace" : figure.panels[0].title));
      charts.append(part);
      new Figure(figure, part);
    }
  }
}

function summary(told) {
  const taken = told.clients.map((one) => one.rounds), tile = (name, value) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value));
  const proved = told.lower_bound !== null, broken = Object.entries(told.violations).map(([name, amount]) => `${name} by ${number(amount)}`).join(", ");
  const [kind, badge] = broken ? ["bad", "breaks limits"] : proved ? ["good", `proved within ${percent(told.gap, 2)}`] : ["open", "not bounded"];
  return h("section", { class: "card" },
    h("div", { class: "card-head" }, h("h2", {}, "The campaign"), h("p", { class: `badge ${kind}` }, badge), h("button", { type: "button", onclick: () => download("campaign.json", JSON.stringify(told, null, 2), "application/json") }, "Campaign (JSON)")),
    h("p", { class: "before" }, "Of earlier limits: play again."),
    h("dl", { class: "tiles" }, tile("Objective", number(told.objective)), tile("Proved bound", proved ? number(told.lower_bound) : "none"), tile("Latency", withUnit(told.latency_s, "s")), tile("Energy", withUnit(told.energy_j, "J")),
      tile("Ever train", `${taken.filter((rounds) => rounds > 0).length} of ${taken.length}`), tile("Rounds of a client", `${Math.min(...taken)} to ${Math.max(...taken)}`)),
    h("p", { class: "note" }, proved ? "No schedule undercuts the bound, not even one that knows every channel in advance." : "No time was left for the bound: ask for fewer rounds, or start the service with a larger --time-limit."),
    broken ? h("p", { class: "bad-text" }, `Breaks ${broken}.`) : "");
}

function everyClient(told) {
  const cell = (text) => h("td", { class: "num" }, text);
  const row = (one) => h("tr", {}, h("th", { scope: "row" }, one.client), cell(String(one.rounds)), cell(String(one.least_rounds)), cell(withUnit(one.energy_j, "J", 3)), cell(one.battery_left_j === null ? "mains" : withUnit(one.battery_left_j, "J", 3)));
  return h("details", {}, h("summary", {}, "Every client"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Every client" }, h("table", { class: "plain" },
    h("thead", {}, h("tr", {}, ...["client", "rounds", "at least", "energy", "battery left"].map((name, at) => h("th", { scope: "col", class: at ? "num" : "" }, name)))),
    h("tbody", {}, ...told.clients.slice(0, MOST_ROWS).map(row)))));
}

function figures(told) {
  const rounds = told.selected.map((_, at) => at + 1), line = (values) => ({ x: rounds, mean: values, half: rounds.map(() => null), seeds: [] });
  const panel = (title, yLabel, ...lines) => ({ title, xLabel: "round", yLabel, yScale: "linear", curves: lines });
  const one = { id: "campaign", methods: [{ label: "the campaign", look: 0, level: false }], panels: [
    panel("Latency of a round", "seconds", line(told.round_latency_s)), panel("Energy of a round", "joules", line(told.round_energy_j)),
    panel("Clients of a round", "clients", line(told.selected.map((who) => who.length))), panel("Behind an even pace", "participations, mean", line(told.behind))] };
  if (!told.battery_j) return [one];
  const names = ["emptiest battery", "middle", "fullest"];
  return [one, { id: "batteries", methods: names.map((label, look) => ({ label, look, level: false })), panels: [panel("Batteries", "joules", ...told.battery_j.map(line))] }];
}
