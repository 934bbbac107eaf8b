// Sliders for the limits that one drags, fields for all of them; names, defaults and meanings are the service's.
import { byId, h, named, number } from "./dom.js";

const SLIDERS = {
  bandwidth_hz: { label: "Bandwidth", unit: "Hz", low: 1e5, high: 2e7, log: true },
  deadline_s: { label: "Deadline", unit: "s", low: 0.05, high: 50, log: true, off: "none" },
  energy_budget_j: { label: "Energy budget", unit: "J", low: 0.02, high: 200, log: true, off: "none" },
  latency_weight: { label: "A second weighs", unit: "", low: 0.01, high: 100, log: true },
  energy_weight: { label: "A joule weighs", unit: "", low: 0.01, high: 100, log: true },
  max_divergence: { label: "Divergence up to", unit: "nat", low: 0, high: 2, off: "inf" },
  min_samples: { label: "Samples at least", unit: "", low: 1, high: (state) => Math.max(state.fleet.total, 2), log: true, whole: true },
};
const STEPS = 400;

export class Controls {
  constructor(store, limits) {
    Object.assign(this, { store, limits, known: Object.fromEntries(limits.map((item) => [item.name, item])), parts: {} });
    for (const [name, look] of Object.entries(SLIDERS)) byId("sliders").append(this.slider(name, look));
    for (const item of limits) if (!(item.name in SLIDERS) && !["required", "forbidden"].includes(item.name)) byId("fields").append(this.field(item));
    byId("reset").addEventListener("click", () => store.set({ limits: {} }));
  }
  value(name) { return this.store.state.limits[name] ?? this.known[name].default; }
  set(name, value, group) {
    const limits = { ...this.store.state.limits };
    if (value === this.known[name].default) delete limits[name];
    else limits[name] = value;
    this.store.set({ limits }, group);
  }
  slider(name, look) {
    const top = look.off ? STEPS + 12 : STEPS; // the last stretch switches the limit off
    const range = h("input", { type: "range", min: 0, max: top, step: 1, id: `slide-${name}`, "aria-label": look.label });
    const text = h("input", { type: "text", inputmode: "decimal", id: `limit-${name}`, "aria-label": `${look.label}${look.unit ? ` in ${look.unit}` : ""}`, autocomplete: "off", spellcheck: "false" });
    const high = () => (typeof look.high === "function" ? look.high(this.store.state) : look.high);
    const toValue = (step) => {
      if (look.off && step > STEPS) return look.off === "inf" ? "inf" : null;
      const part = Math.min(step / STEPS, 1);
      const raw = look.log ? look.low * (high() / look.low) ** part : look.low + (high() - look.low) * part;
      return look.whole ? Math.round(raw) : Number(raw.toPrecision(3));
    };
    const toStep = (value) => {
      if (value === null || value === "inf" || value === undefined) return top;
      const part = look.log ? Math.log(value / look.low) / Math.log(high() / look.low) : (value - look.low) / (high() - look.low);
      return Math.round(STEPS * Math.min(Math.max(part, 0), 1));
    };
    range.addEventListener("input", () => this.set(name, toValue(Number(range.value)), `slide ${name}`));
    range.addEventListener("change", () => this.store.settle());
    text.addEventListener("change", () => this.typed(name, text, look.off));
    this.parts[name] = () => {
      const value = this.value(name);
      range.value = toStep(value);
      range.setAttribute("aria-valuetext", value === null ? "no limit" : `${number(value)} ${look.unit}`);
      if (document.activeElement !== text) text.value = value === null ? "none" : value === "inf" ? "inf" : shown(value);
    };
    return h("div", { class: "slider", title: this.known[name].help },
      h("div", { class: "slider-head" }, h("label", { for: range.id }, look.label), text, h("span", { class: "unit" }, look.unit)), range);
  }
  field(item) {
    const label = named(item.name);
    if (item.type.startsWith("Literal")) {
      const words = [...item.type.matchAll(/'([^']+)'/g)].map((found) => found[1]);
      const select = h("select", { id: `limit-${item.name}` }, ...words.map((word) => h("option", { value: word }, word)));
      select.addEventListener("change", () => this.set(item.name, select.value));
      this.parts[item.name] = () => (select.value = this.value(item.name));
      return h("label", { class: "field", title: item.help }, h("span", {}, label), select);
    }
    const text = h("input", { type: "text", inputmode: "decimal", id: `limit-${item.name}`, autocomplete: "off", spellcheck: "false" });
    text.addEventListener("change", () => this.typed(item.name, text, item.default === null ? "none" : undefined));
    this.parts[item.name] = () => { if (document.activeElement !== text) text.value = this.value(item.name) === null ? "none" : shown(this.value(item.name)); };
    return h("label", { class: "field", title: item.help }, h("span", {}, label), text);
  }
  typed(name, input, off) {
    const text = input.value.trim().toLowerCase();
    const value = off === "none" && ["", "none", "∞"].includes(text) ? null : ["inf", "∞"].includes(text) ? "inf" : Number(text);
    input.setAttribute("aria-invalid", Number.isNaN(value));
    if (!Number.isNaN(value)) this.set(name, value);
  }
  render() { for (const draw of Object.values(this.parts)) draw(); }
}
const shown = (value) => (Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? Number(value).toExponential().replace("e+", "e") : String(value));
