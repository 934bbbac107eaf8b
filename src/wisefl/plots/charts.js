// Charts of every page: lines with bands, a legend of buttons, values on hover or keys. `dress` comes first.
let MARKS, ZERO_BELOW, LINEAR_BELOW; // as in the pictures
const LOOKS = {}; // by number
export function dress({ dressing, looks }) {
  ({ marks: MARKS, zeroBelow: ZERO_BELOW, linearBelow: LINEAR_BELOW } = dressing);
  Object.assign(LOOKS, looks);
}
const STROKE = 2; // px, as in the style
const MARGIN = { left: 52, right: 14, top: 10, bottom: 26 };
const LOG_FROM = 12; // so many times the least value is the largest when a logarithmic axis is offered
const NARROW = 440; // px of a chart beside whose lines there is no room for values

export function element(name, attributes = {}, ...children) {
  const svg = ["svg", "g", "path", "line", "text", "clipPath", "rect"].includes(name);
  const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name) : document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
const colour = (look) => LOOKS[look].ink;
const dash = (look) => LOOKS[look].dash.map((part) => part * STROKE).join(" ");
const place = (number) => number.toFixed(1);
const path = (points) => points.map(([x, y], i) => `${i ? "L" : "M"}${place(x)},${place(y)}`).join("");
const marker = (look, x, y, size, name = "mark") =>
  element("path", { class: name, d: path(LOOKS[look].marker.map(([u, v]) => [x + size * u, y - size * v])) + "Z" });
const swatch = (look) =>
  element("svg", { width: 36, height: 14, "aria-hidden": "true", class: colour(look) },
    element("path", { class: "line", d: "M1,7L35,7", "stroke-dasharray": dash(look) }), marker(look, 18, 7, 4));

const formats = new Map(); // making one is dear, and all numbers of a page share a few
export function format(value, digits = 4) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e9)) return value.toExponential(Math.min(digits - 1, 2)).replace("-", "−");
  const notation = size >= 1e5 ? "compact" : "standard", name = `${notation} ${digits}`;
  if (!formats.has(name)) formats.set(name, new Intl.NumberFormat("en", { maximumSignificantDigits: digits, notation }));
  return formats.get(name).format(value).replace("-", "−");
}
const MAPS = { linear: (value) => value, log: Math.log, symlog: (value) => Math.asinh(value / LINEAR_BELOW) };
export function scale(low, high, from, to, kind) {
  const map = MAPS[kind];
  const start = map(low), span = map(high) - start || 1;
  return Object.assign((value) => from + ((map(value) - start) / span) * (to - from), { low, high });
}
export function ticks(low, high, count, kind) {
  if (kind === "symlog") {
    const powers = Array.from({ length: 12 }, (_, i) => LINEAR_BELOW * 10 ** i);
    return [...powers.map((tick) => -tick), 0, ...powers].filter((tick) => tick >= low && tick <= high);
  }
  if (kind === "log" && high / low >= 4) {
    const steps = high / low > 1e3 ? [1] : [1, 2, 5];
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      for (const step of steps) found.push(step * 10 ** power);
    return found.filter((tick) => tick >= low && tick <= high);
  }
  const rough = (high - low) / count, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough * 0.999);
  const first = Math.ceil(low / step - 1e-9);
  return Array.from({ length: Math.floor(high / step + 1e-9) - first + 1 }, (_, i) => Number(((first + i) * step).toPrecision(12)));
}
const spread = (positions, distance) => { // indices of positions, kept so far apart that labels do not touch
  let last = -Infinity;
  return positions.map((at, i) => [at, i]).filter(([at]) => at - last >= distance && ((last = at), true)).map(([, i]) => i);
};
const distinct = (numbers) => [...new Set(numbers)].sort((a, b) => a - b);

class Panel {
  constructor(figure, panel, number) {
    Object.assign(this, { figure, panel, id: `${figure.data.id}-${number}` });
    this.xs = distinct(panel.curves.flatMap((curve) => curve.x));
    this.at = this.xs.length - 1;
    const means = panel.curves.flatMap((curve) => curve.mean);
    const most = means.reduce((a, b) => Math.max(a, b), 0), least = means.reduce((a, b) => Math.min(a, b), Infinity);
    this.uneven = panel.yScale === "symlog" ? "symlog" : "log"; // how it is drawn where the values lie far apart
    this.wide = this.uneven === "symlog" || (least > 0 && (panel.yScale === "log" || most > LOG_FROM * least));
    this.log = this.wide && panel.yScale !== "linear";
    const names = figure.data.methods.filter((_, m) => panel.curves[m].x.length).map((method) => method.label);
    this.svg = element("svg", { role: "img", "aria-label": `Line chart. ${panel.title}: ${panel.yLabel} against ${panel.xLabel}, for ${names.join(", ")}. The numbers are in the data table below.` });
    this.reader = element("div", {
      class: "reader", role: "slider", tabindex: 0, "aria-orientation": "horizontal", "aria-valuemin": 0,
      "aria-valuemax": Math.max(this.at, 0), "aria-label": `Read values: ${panel.title}, ${panel.yLabel}`,
    });
    this.tip = element("div", { class: "tip", "aria-hidden": "true", hidden: "" });
    const plot = element("div", { class: "plot" }, this.svg, this.reader, this.tip);
    this.node = element("div", { class: "panel" });
    if (figure.data.panels.length > 1) this.node.append(element("h4", {}, panel.title));
    this.node.append(element("div", { class: "y-label" }, panel.yLabel), plot, element("div", { class: "x-label" }, panel.xLabel));
    this.listen();
    new ResizeObserver(() => { if (this.svg.clientWidth !== this.width) this.draw(); }).observe(plot);
  }
  get kind() { return this.log ? this.uneven : "linear"; }
  get shown() { // [method number, curve, look] of what is to be seen
    const all = this.panel.curves.map((curve, m) => [m, curve, this.figure.data.methods[m].look]);
    return all.filter(([m, curve]) => this.figure.shown.has(m) && curve.x.length);
  }

  range() {
    const curves = this.shown.length ? this.shown.map(([, curve]) => curve) : this.panel.curves;
    const values = curves.flatMap((curve) => {
      const reach = curve.seeds.length ? curve.seeds.flat() : curve.half.flatMap((half, i) => half === null ? [] : [curve.mean[i] - half, curve.mean[i] + half]);
      return [...curve.mean, ...reach].filter((value) => value !== null && (this.kind !== "log" || value > 0));
    });
    let low = Infinity, high = -Infinity;
    for (const value of values) { low = Math.min(low, value); high = Math.max(high, value); }
    if (!(low <= high)) return [0, 1];
    if (this.kind === "log") return [low / 1.1, high * 1.1];
    if (this.kind === "symlog") return [Math.min(1.5 * low, 0), high * 1.5];
    const pad = (high - low) * 0.05 || Math.abs(high) * 0.1 || 1;
    return [low >= 0 && low < ZERO_BELOW * high ? 0 : low - pad, high + pad];
  }
  draw() {
    const width = (this.width = this.svg.clientWidth);
    if (!width) return;
    const height = Math.round(Math.min(340, Math.max(230, width * 0.58)));
    const right = width - MARGIN.right, bottom = height - MARGIN.bottom;
    const first = this.xs[0] ?? 0, last = this.xs.at(-1) ?? 1;
    this.x = scale(first, last, MARGIN.left + 8, right - 6, "linear");
    this.y = scale(...this.range(), bottom, MARGIN.top, this.kind);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("height", height);
    Object.assign(this.reader.style, { left: `${MARGIN.left}px`, top: `${MARGIN.top}px`, width: `${right - MARGIN.left}px`, height: `${bottom - MARGIN.top}px` });
    const clip = element("clipPath", { id: `${this.id}-clip` }, element("rect", { x: MARGIN.left, y: MARGIN.top, width: Math.max(right - MARGIN.left, 1), height: bottom - MARGIN.top }));
    this.pointer = element("g", {});
    this.svg.replaceChildren(clip, this.axes(right, bottom), ...this.shown.map((one) => this.curve(...one)), this.pointer);
    if (!this.shown.length) this.svg.append(element("text", { class: "none", x: width / 2, y: height / 2 }, "No method is shown."));
    if (!this.tip.hidden) this.read();
    else this.say();
  }
  axes(right, bottom) {
    const made = element("g", { "aria-hidden": "true" });
    for (const tick of ticks(this.y.low, this.y.high, 6, this.kind)) {
      const at = place(this.y(tick));
      made.append(element("line", { class: "grid", x1: MARGIN.left, x2: right, y1: at, y2: at }),
        element("text", { x: MARGIN.left - 8, y: Number(at) + 4, "text-anchor": "end" }, format(tick)));
    }
    made.append(element("line", { class: "axis", x1: MARGIN.left, x2: right, y1: bottom, y2: bottom }));
    const wanted = this.xs.length <= 16 ? this.xs : ticks(this.x.low, this.x.high, Math.max(3, (right - MARGIN.left) / 70), "linear");
    for (const i of spread(wanted.map(this.x), 12 + 7 * Math.max(0, ...wanted.map((tick) => format(tick, 6).length)))) {
      const at = place(this.x(wanted[i]));
      made.append(element("line", { class: "axis", x1: at, x2: at, y1: bottom, y2: bottom + 5 }),
        element("text", { x: at, y: bottom + 19, "text-anchor": "middle" }, format(wanted[i], 6)));
    }
    return made;
  }
  curve(method, curve, look) {
    const clip = `url(#${this.id}-clip)`, height = (value) => this.y(this.kind === "log" ? Math.max(value, this.y.low / 10) : value);
    const made = element("g", { class: `curve ${colour(look)}`, "data-method": method });
    const banded = curve.x.map((_, i) => i).filter((i) => curve.half[i] !== null);
    if (banded.length > 1) {
      const edge = (sign) => banded.map((i) => [this.x(curve.x[i]), height(curve.mean[i] + sign * curve.half[i])]);
      made.append(element("path", { class: "band", "clip-path": clip, d: path([...edge(1), ...edge(-1).reverse()]) + "Z" }));
    }
    for (const values of curve.seeds) {
      const points = values.flatMap((value, i) => value === null ? [] : [[this.x(curve.x[i]), height(value)]]);
      made.append(element("path", { class: "seed", "clip-path": clip, d: path(points) }));
    }
    const points = curve.mean.map((value, i) => [this.x(curve.x[i]), this.y(value)]);
    made.append(element("path", { class: "line", "stroke-dasharray": dash(look), d: path(points) }));
    const step = points.length <= 2 * MARKS ? 1 : Math.floor(points.length / MARKS);
    const start = Math.floor((method / this.panel.curves.length) * step); // shifted, so that close lines do not hide each other's
    const level = this.figure.data.methods[method].level; // which has no points of its own
    for (let i = start; i < points.length && !level; i += step) made.append(marker(look, ...points[i], 4));
    return made;
  }

  listen() {
    const { reader } = this;
    const point = (event) => {
      const at = event.clientX - this.svg.getBoundingClientRect().left;
      this.at = this.xs.reduce((best, x, i) => Math.abs(this.x(x) - at) < Math.abs(this.x(this.xs[best]) - at) ? i : best, 0);
      this.read();
    };
    reader.addEventListener("pointermove", point);
    reader.addEventListener("pointerdown", point);
    reader.addEventListener("pointerleave", () => { if (document.activeElement !== reader) this.hide(); });
    reader.addEventListener("focus", () => this.read());
    reader.addEventListener("blur", () => this.hide());
    reader.addEventListener("keydown", (event) => {
      const far = Math.max(1, Math.round(this.xs.length / 10)), end = this.xs.length - 1;
      const to = { ArrowLeft: this.at - 1, ArrowDown: this.at - 1, ArrowRight: this.at + 1, ArrowUp: this.at + 1, PageDown: this.at - far, PageUp: this.at + far, Home: 0, End: end }[event.key];
      if (event.key === "Escape") this.hide();
      if (to === undefined) return;
      event.preventDefault();
      this.at = Math.min(Math.max(to, 0), end);
      this.read();
    });
  }
  values() { // of each method shown, its point nearest to the cursor, best on top
    const x = this.xs[this.at];
    const rows = this.shown.map(([m, curve, look]) => {
      const i = curve.x.reduce((best, other, j) => Math.abs(other - x) < Math.abs(curve.x[best] - x) ? j : best, 0);
      return { label: this.figure.data.methods[m].label, look, x: curve.x[i], mean: curve.mean[i], half: curve.half[i] };
    });
    return rows.sort((a, b) => b.mean - a.mean);
  }
  say() {
    const x = this.xs[this.at] ?? 0;
    const words = this.values().map((row) => `${row.label} ${format(row.mean)}${row.half === null ? "" : ` plus or minus ${format(row.half, 2)}`}`);
    this.reader.setAttribute("aria-valuenow", Math.max(this.at, 0));
    this.reader.setAttribute("aria-valuetext", `${this.panel.xLabel} ${format(x, 6)}: ${words.join("; ") || "no method is shown"}`);
  }
  read() {
    this.say();
    const rows = this.values(), x = this.xs[this.at];
    if (!rows.length) return this.hide();
    const at = this.x(x), [from, to] = [this.y(this.y.low), this.y(this.y.high)];
    this.pointer.replaceChildren(element("line", { class: "cursor", x1: place(at), x2: place(at), y1: from, y2: to }),
      ...rows.map((row) => element("g", { class: colour(row.look) }, marker(row.look, this.x(row.x), this.y(row.mean), 5.5, "mark now"))));
    this.tip.replaceChildren(element("b", {}, `${this.panel.xLabel}: ${format(x, 6)}`), ...rows.map((row) => {
      const elsewhere = row.x === x ? "" : ` at ${format(row.x, 6)}`;
      const value = format(row.mean) + (row.half === null ? "" : ` ± ${format(row.half, 2)}`) + elsewhere;
      return element("div", {}, swatch(row.look), element("span", {}, row.label), element("span", {}, value));
    }));
    this.tip.hidden = false;
    const room = this.svg.clientWidth, wide = this.tip.offsetWidth;
    const beside = at + 14 + wide <= room ? at + 14 : at - 14 - wide;
    const under = room < NARROW; // there the values would hide the lines
    Object.assign(this.tip.style, under ? { left: "0px", top: "calc(100% + 1.75rem)" } : { left: `${Math.max(0, beside)}px`, top: "4px" });
  }
  hide() {
    this.tip.hidden = true;
    this.pointer?.replaceChildren();
  }
}

export class Figure {
  constructor(data, place) {
    this.data = data;
    this.shown = new Set(data.methods.keys());
    this.panels = data.panels.map((panel, number) => new Panel(this, panel, number));
    this.buttons = data.methods.map((method, m) => this.button(method, m));
    const methods = element("div", { role: "group", "aria-label": "Methods shown" }, ...this.buttons);
    const legend = element("div", { class: "legend" }, methods);
    this.all = element("button", { type: "button", class: "plain" });
    this.all.addEventListener("click", () => {
      this.shown = new Set(this.shown.size < data.methods.length ? data.methods.keys() : []);
      this.draw();
    });
    if (data.methods.length > 1) methods.append(this.all);
    if (this.panels.some((panel) => panel.wide)) legend.append(this.logButton());
    const node = element("div", { class: "panels" }, ...this.panels.map((panel) => panel.node));
    place.append(legend, node);
    this.draw();
  }
  button(method, m) {
    const made = element("button", { type: "button", "aria-pressed": "true" }, swatch(method.look), element("span", {}, method.label));
    made.addEventListener("click", () => {
      if (!this.shown.delete(m)) this.shown.add(m);
      this.draw();
    });
    for (const kind of ["pointerenter", "focus"]) made.addEventListener(kind, () => this.emphasise(m));
    for (const kind of ["pointerleave", "blur"]) made.addEventListener(kind, () => this.emphasise(null));
    return made;
  }
  logButton() {
    const wide = this.panels.filter((panel) => panel.wide);
    const made = element("button", { type: "button", class: "plain", "aria-pressed": wide.some((panel) => panel.log) }, "Logarithmic y-axis");
    made.addEventListener("click", () => {
      const log = made.getAttribute("aria-pressed") !== "true";
      made.setAttribute("aria-pressed", log);
      for (const panel of wide) panel.log = log;
      this.draw();
    });
    return made;
  }
  emphasise(method) {
    for (const { svg } of this.panels)
      for (const curve of svg.querySelectorAll(".curve"))
        curve.classList.toggle("dim", this.shown.has(method) && curve.dataset.method !== String(method));
  }
  draw() {
    this.buttons.forEach((button, m) => button.setAttribute("aria-pressed", this.shown.has(m)));
    this.all.textContent = this.shown.size < this.buttons.length ? "Show all" : "Hide all";
    for (const panel of this.panels) panel.draw();
  }
}
