// The fleet as a grid: only the rows in sight exist, so ten thousand clients scroll like eighty.
import { arrange, byId, h, mark, number, percent, put, withUnit } from "./dom.js";

const ROW = 30, SPARE = 8;
const UNITS = { distance_m: "distance (m)", transmit_power_dbm: "power (dBm)", max_frequency_hz: "CPU up to", cycles_per_bit: "cycles/bit", channel_gain: "gain", max_energy_j: "J at most", energy_weight: "a joule counts", value: "worth", battery_j: "battery (J)", recharge_j: "recharge (J)", group: "group" };

export class FleetTable {
  constructor({ ask, name, edit }) {
    Object.assign(this, { ask, name, edit, order: [], at: [0, 1], sort: null, down: false, kept: new Map(), top: 0, high: 0 });
    this.box = byId("table");
    this.body = h("tbody");
    this.head = h("thead");
    this.above = h("tr", { "aria-hidden": "true" }); // instead of the rows that do not exist
    this.below = h("tr", { "aria-hidden": "true" });
    this.table = h("table", { class: "fleet-grid", role: "grid", "aria-label": "Fleet" }, this.head, this.body);
    this.box.append(this.table);
    this.box.addEventListener("scroll", () => requestAnimationFrame(() => { this.top = this.box.scrollTop; this.rows(); }));
    this.table.addEventListener("keydown", (event) => this.key(event));
    this.table.addEventListener("dblclick", (event) => this.begin(event.target.closest("td,th")));
    byId("find").addEventListener("input", () => this.arrange());
    byId("show").addEventListener("change", () => this.arrange());
    new ResizeObserver(() => { this.high = this.box.clientHeight; this.rows(); }).observe(this.box);
    this.body.addEventListener("focusin", ({ target }) => { if (target.dataset.column) this.here(Number(target.dataset.place), Number(target.dataset.column)); });
  }
  columns() {
    const { columns } = this.fleet, own = Object.keys(UNITS).filter((name) => columns[name]);
    const plain = (name) => ({ name, label: UNITS[name] ?? name, edit: true, of: (at) => columns[name][at], show: (value) => (value === null || value === "" ? "–" : name === "max_frequency_hz" ? withUnit(Number(value), "Hz", 3) : name === "group" ? String(value) : number(value, 4)) });
    return [
      { name: "client", label: "client", of: (at) => columns.client[at], show: String },
      { name: "state", label: "this round", of: (at) => this.view.rank(at) },
      { name: "samples", label: "samples", of: (at) => this.fleet.samples[at], show: (value) => number(value, 6) },
      { name: "divergence", label: "divergence", of: (at) => this.fleet.divergence?.[at] ?? Infinity, show: (value) => number(value, 3) },
      ...own.map(plain),
      { name: "labels", label: "labels", of: () => 0, render: (at) => this.labels(at) },
      ...this.fleet.counts.map((name) => ({ ...plain(name), label: name.replace("count_", "class "), show: (value) => number(value, 6) })),
    ];
  }
  draw(fleet, view) {
    const other = fleet !== this.fleet;
    Object.assign(this, { fleet, view });
    if (other) {
      this.made = this.columns();
      this.header();
    }
    const named = [...view.required, ...view.forbidden].join();
    if (other || named !== this.named || byId("show").value !== "all" || this.sort === "state") this.arrange();
    else this.rows();
    this.named = named;
  }
  header() {
    this.made = this.columns();
    this.kept.clear();
    const sorted = (column) => (this.sort === column.name ? (this.down ? "descending" : "ascending") : "none");
    this.head.replaceChildren(h("tr", {}, ...this.made.map((column) =>
      h("th", { scope: "col", "aria-sort": sorted(column), class: `col-${column.name.startsWith("count_") ? "count" : column.name}` },
        h("button", { type: "button", class: "link", onclick: () => { this.down = this.sort === column.name && !this.down; this.sort = column.name; this.header(); this.arrange(); } }, column.label)))));
  }
  arrange() {
    const wanted = byId("find").value.trim().toLowerCase(), which = byId("show").value, { view, fleet } = this;
    const keep = { all: () => true, trains: (at) => view.trains(at), eligible: (at) => view.may(at), barred: (at) => !view.may(at), named: (at) => view.required.has(view.id(at)) || view.forbidden.has(view.id(at)) }[which];
    this.order = [];
    for (let at = 0; at < fleet.size; at++) if (keep(at) && (!wanted || view.id(at).toLowerCase().includes(wanted))) this.order.push(at);
    const column = this.made.find((one) => one.name === this.sort);
    if (column) {
      const turn = this.down ? -1 : 1, plain = (value) => (value === "" || value === null || Number.isNaN(Number(value)) ? String(value) : Number(value));
      const values = new Map(this.order.map((at) => [at, plain(column.of(at))]));
      this.order.sort((a, b) => { const u = values.get(a), v = values.get(b); return turn * (u < v ? -1 : u > v ? 1 : a - b); });
    }
    byId("fleet-count").textContent = `${number(this.order.length, 6)} of ${number(fleet.size, 6)} clients, ${number(fleet.total, 6)} samples`;
    this.table.setAttribute("aria-rowcount", this.order.length + 1);
    this.rows();
  }
  rows() {
    if (!this.fleet || this.body.querySelector("input")) return;
    // Where it stands is remembered: asked here, after other parts have changed, the browser would lay out the page to know.
    const first = Math.max(0, Math.floor(this.top / ROW) - SPARE), seen = Math.ceil((this.high || 400) / ROW) + 2 * SPARE;
    const shown = this.order.slice(first, first + seen), focused = this.body.contains(document.activeElement);
    const before = this.kept;
    this.kept = new Map(shown.map((at) => [at, before.get(at) ?? this.row(at)]));
    shown.forEach((at, place) => this.kept.get(at).show(first + place));
    const gap = (node, rows) => { if (node.style.height !== `${rows * ROW}px`) node.style.height = `${rows * ROW}px`; return node; };
    const none = this.order.length ? [] : [h("tr", {}, h("td", { colspan: this.made.length, class: "note" }, "Nobody is like that."))];
    arrange(this.body, [gap(this.above, first), ...[...this.kept.values()].map((one) => one.node), gap(this.below, Math.max(this.order.length - first - shown.length, 0)), ...none]);
    if (focused) this.focus();
  }
  /** A row is made once; what the round does to its client is then told in place. */
  row(at) {
    const name = this.view.id(at), word = h("span", { class: "word" });
    const button = (label, does) => h("button", { type: "button", tabindex: -1, class: `pin ${does}`, "aria-label": `${label} ${name}`, onclick: (event) => { event.stopPropagation(); this.name(name, does); } }, does);
    const pin = button("Pin", "pin"), ban = button("Ban", "ban");
    const content = (column) => (column.name === "state" ? h("span", { class: "state" }, word, pin, ban) : column.render ? column.render(at) : column.show(column.of(at)));
    const cells = this.made.map((column, c) => h(c === 0 ? "th" : "td", { scope: c === 0 ? "row" : undefined, "data-column": c, class: column.edit ? "edit" : "" }, content(column)));
    const node = h("tr", { "data-at": at }, ...cells);
    const show = (place) => {
      const { view } = this;
      mark(node, "class", view.trains(at) ? "trains" : view.may(at) ? "" : "barred");
      mark(node, "aria-rowindex", place + 2);
      put(word, this.word(at));
      mark(pin, "aria-pressed", view.required.has(name));
      mark(ban, "aria-pressed", view.forbidden.has(name));
      if (place === Number(cells[0].dataset.place)) return;
      cells.forEach((cell, c) => { cell.dataset.place = place; cell.tabIndex = this.at[0] === place && this.at[1] === c ? 0 : -1; });
    };
    return { node, show };
  }
  here(place, c) {
    this.body.querySelector("[tabindex='0'][data-place]")?.setAttribute("tabindex", -1);
    this.at = [place, c];
    this.cell()?.setAttribute("tabindex", 0);
  }
  cell() { return this.body.querySelector(`[data-place="${this.at[0]}"][data-column="${this.at[1]}"]`); }
  word(at) {
    const { view } = this, name = view.id(at), one = view.chosen.get(name);
    return one ? `trains, ${percent(one.share, 2)}` : view.forbidden.has(name) ? "banned" : view.may(at) ? "may train" : "too far";
  }
  labels(at) {
    const values = this.fleet.counts.map((name) => Number(this.fleet.columns[name][at])), most = Math.max(...values, 1);
    return h("span", { class: "labels", role: "img", "aria-label": `samples per class: ${values.slice(0, 20).join(", ")}` }, ...values.slice(0, 40).map((value) => h("i", { style: { height: `${(18 * value) / most}px` } })));
  }
  focus() {
    const top = this.at[0] * ROW;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    if (top + 3 * ROW > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top + 3 * ROW - this.box.clientHeight;
    this.top = this.box.scrollTop;
    if (!this.cell()) this.rows();
    this.cell()?.focus({ preventScroll: false });
  }
  key(event) {
    if (event.target.tagName === "INPUT" || event.target.closest("thead")) return;
    const page = Math.floor(this.box.clientHeight / ROW) - 2, [place, c] = this.at;
    const to = { ArrowDown: [place + 1, c], ArrowUp: [place - 1, c], ArrowLeft: [place, c - 1], ArrowRight: [place, c + 1], PageDown: [place + page, c], PageUp: [place - page, c], Home: [0, c], End: [this.order.length - 1, c] }[event.key];
    const name = this.view.id(this.order[place]), does = { p: "pin", b: "ban" }[event.key.toLowerCase()];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (to) {
      this.here(Math.min(Math.max(to[0], 0), this.order.length - 1), Math.min(Math.max(to[1], 0), this.made.length - 1));
      this.focus();
    } else if (does) this.name(name, does);
    else if (event.key.toLowerCase() === "w") this.ask(name);
    else if (event.key === "Enter" || event.key === "F2") this.begin(this.cell());
    else return;
    event.preventDefault();
  }
  begin(cell) {
    const column = this.made[Number(cell?.dataset.column)];
    if (!column?.edit) return;
    const at = this.order[Number(cell.dataset.place)], before = column.of(at) ?? "";
    const input = h("input", { type: "text", value: String(before), "aria-label": `${column.label} of ${this.view.id(at)}` });
    let over = false;
    const end = (keep) => {
      if (over) return;
      over = true;
      const text = input.value.trim();
      input.remove();
      this.kept.delete(at);
      if (keep && text !== String(before)) this.edit(at, column.name, text === "" ? "" : Number.isNaN(Number(text)) ? text : Number(text));
      this.rows();
      this.cell()?.focus();
    };
    input.addEventListener("keydown", (event) => { if (["Enter", "Escape", "Tab"].includes(event.key)) { event.preventDefault(); end(event.key !== "Escape"); } });
    input.addEventListener("blur", () => end(true));
    cell.replaceChildren(input);
    input.select();
  }
}
