// All rounds of a training: what is asked of them together, who took part when, what it costs, and the bound.
import { ask } from "./api.js";
import { Figure } from "./charts.js";
import { byId, colour, h, number, percent, withUnit } from "./dom.js";

export class CampaignView {
  constructor(store, horizon, body) {
    Object.assign(this, { store, horizon, body });
    this.form = h("form", { class: "card controls" }, h("div", { class: "card-head" }, h("h2", {}, "Over all rounds")),
      ...horizon.map((item) => this.field(item)), h("button", { type: "submit", class: "strong", id: "play" }, "Play the campaign"),
      h("p", { class: "note" }, "The limits of the round hold in every round. Batteries and duties let more clients in: set “Divergence up to” to inf first."));
    this.result = h("div", { class: "middle", id: "campaign-result", "aria-live": "polite" }, h("section", { class: "card" }, h("p", { class: "note" }, "A perfect round every round adds up to the wrong training: the same few clients train for ever. Ask for a part of the rounds, or give everybody a battery, and play.")));
    byId("view-campaign").append(h("div", { class: "workbench two" }, this.form, this.result));
    this.form.addEventListener("submit", (event) => { event.preventDefault(); this.play(); });
  }
  field(item) {
    const input = h("input", { type: "text", inputmode: "decimal", id: `horizon-${item.name}`, autocomplete: "off" });
    input.addEventListener("change", () => {
      const text = input.value.trim().toLowerCase(), value = ["", "none", "mains"].includes(text) ? item.default : Number(text);
      input.setAttribute("aria-invalid", Number.isNaN(value));
      if (Number.isNaN(value)) return;
      const told = { ...this.store.state.horizon };
      if (value === item.default) delete told[item.name]; else told[item.name] = value;
      this.store.set({ horizon: told });
    });
    item.show = () => (input.value = this.store.state.horizon[item.name] ?? item.default ?? "mains");
    return h("label", { class: "field", title: item.help }, h("span", {}, item.name.replaceAll("_", " ")), input);
  }
  render() { for (const item of this.horizon) item.show(); }
  async play() {
    const button = byId("play");
    button.disabled = true;
    button.textContent = "Playing …";
    try {
      this.show(await ask("campaign", this.body({ horizon: this.store.state.horizon })));
    } catch (error) {
      this.result.replaceChildren(h("section", { class: "card" }, h("p", { class: "bad-text" }, error.message)));
    } finally {
      button.disabled = false;
      button.textContent = "Play the campaign";
    }
  }
  show(told) {
    const taken = told.clients.map((one) => one.rounds), tile = (name, value) => h("div", { class: "tile" }, h("dt", {}, name), h("dd", {}, value));
    const map = h("canvas", { class: "map", role: "img", "aria-label": `Who trains in which of ${told.rounds} rounds; the table below has the numbers` });
    const charts = h("div", { class: "charts" });
    const broken = Object.entries(told.violations).map(([name, amount]) => `${name} by ${number(amount)}`).join(", ");
    this.result.replaceChildren(
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "The campaign")), h("dl", { class: "tiles" },
        tile("Objective", number(told.objective)), tile("Proved bound", told.lower_bound === null ? "none" : number(told.lower_bound)), tile("At most saved", percent(told.gap, 3)), tile("Latency", withUnit(told.latency_s, "s")), tile("Energy", withUnit(told.energy_j, "J")),
        tile("Ever train", `${taken.filter((rounds) => rounds > 0).length} of ${taken.length}`), tile("Rounds of a client", `${Math.min(...taken)} to ${Math.max(...taken)}`)),
        told.lower_bound === null ? h("p", { class: "note" }, "No time was left for the bound: fewer rounds, or a larger --time-limit.") : h("p", { class: "note" }, "No schedule undercuts the bound, not even one that knows every channel in advance."),
        broken ? h("p", { class: "bad-text" }, `Breaks ${broken}.`) : ""),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Who trains when"), h("span", { class: "note" }, "a column is a round, a row a client")), map),
      h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Along the rounds")), charts),
      h("section", { class: "card" }, this.table(told)));
    drawMap(map, told);
    for (const figure of figures(told)) {
      const part = h("div", { class: "one-figure" }, figure.panels.length > 1 ? "" : h("h3", {}, figure.panels[0].title));
      charts.append(part);
      new Figure(figure, part);
    }
  }
  table(told) {
    return h("details", {}, h("summary", {}, "Every client"), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Every client" }, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, ...["client", "rounds", "at least", "energy", "battery left"].map((name, at) => h("th", { scope: "col", class: at ? "num" : "" }, name)))),
      h("tbody", {}, ...told.clients.slice(0, 2000).map((one) => h("tr", {}, h("th", { scope: "row" }, one.client), h("td", { class: "num" }, String(one.rounds)), h("td", { class: "num" }, String(one.least_rounds)), h("td", { class: "num" }, withUnit(one.energy_j, "J", 3)), h("td", { class: "num" }, one.battery_left_j === null ? "mains" : withUnit(one.battery_left_j, "J", 3))))))));
  }
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

function drawMap(canvas, told) {
  const ratio = devicePixelRatio || 1, wide = canvas.parentElement.clientWidth - 32, clients = told.clients.length, rounds = told.selected.length;
  const cell = Math.max(1, Math.min(40, Math.floor(wide / rounds))), row = Math.max(1, Math.min(9, 420 / clients));
  Object.assign(canvas, { width: Math.max(cell * rounds, 1) * ratio, height: Math.max(row * clients, 1) * ratio });
  Object.assign(canvas.style, { width: `${cell * rounds}px`, height: `${row * clients}px` });
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.fillStyle = colour("--raised");
  pen.fillRect(0, 0, cell * rounds, row * clients);
  pen.fillStyle = colour("--s0");
  told.selected.forEach((who, round) => { for (const client of who) pen.fillRect(round * cell, client * row, Math.max(cell - 0.6, 0.8), Math.max(row - 0.6, 0.8)); });
}
