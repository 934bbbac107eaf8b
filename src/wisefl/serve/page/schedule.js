// Who trains when: a column is a round, a row a client; pointing at a cell names both.
import { colour, h } from "./dom.js";

const LEFT = 58, BOTTOM = 22, TALLEST = 420, EVERY_LABEL = 15;

export class Schedule {
  constructor(told) {
    this.told = told;
    this.canvas = h("canvas", { class: "map", role: "img", "aria-label": `Who trains in which of ${told.rounds} rounds; the table below has the numbers` });
    this.tip = h("div", { class: "tip", hidden: true });
    this.node = h("div", { class: "schedule" }, this.canvas, this.tip);
    this.trains = told.selected.map((who) => new Set(who));
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    new ResizeObserver(() => this.draw()).observe(this.node);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }
  draw() {
    const wide = this.node.clientWidth, clients = this.told.clients.length, rounds = this.told.rounds;
    if (!wide) return;
    const ratio = devicePixelRatio || 1, cell = (this.cell = Math.max(0.5, Math.min(40, (wide - LEFT) / rounds))), row = (this.row = Math.max(0.5, Math.min(12, TALLEST / clients)));
    const high = row * clients + BOTTOM, across = LEFT + cell * rounds;
    Object.assign(this.canvas, { width: Math.ceil(across * ratio), height: Math.ceil(high * ratio) });
    Object.assign(this.canvas.style, { width: `${across}px`, height: `${high}px` });
    const pen = this.canvas.getContext("2d");
    pen.scale(ratio, ratio);
    pen.fillStyle = colour("--raised");
    pen.fillRect(LEFT, 0, cell * rounds, row * clients);
    pen.fillStyle = colour("--s0");
    const gap = (size) => Math.max(size - (size > 3 ? 0.8 : 0), 0.5);
    this.told.selected.forEach((who, round) => { for (const client of who) pen.fillRect(LEFT + round * cell, client * row, gap(cell), gap(row)); });
    this.labels(pen, cell, row, clients, rounds);
  }
  labels(pen, cell, row, clients, rounds) {
    Object.assign(pen, { fillStyle: colour("--muted"), font: "11px system-ui, sans-serif", textBaseline: "middle", textAlign: "right" });
    const rows = Math.ceil(EVERY_LABEL / row), columns = nice(Math.ceil(48 / cell));
    for (let client = 0; client < clients; client += rows) pen.fillText(this.told.clients[client].client, LEFT - 6, Math.max((client + 0.5) * row, 6), LEFT - 8);
    pen.textAlign = "center";
    for (let round = columns; round <= rounds; round += columns) pen.fillText(String(round), LEFT + (round - 0.5) * cell, row * clients + 12);
    pen.textAlign = "right";
    pen.fillText("round", LEFT - 6, row * clients + 12);
  }
  point(event) {
    const round = Math.floor((event.offsetX - LEFT) / this.cell), client = Math.floor(event.offsetY / this.row), one = this.told.clients[client];
    this.tip.hidden = !one || round < 0 || round >= this.told.rounds;
    if (this.tip.hidden) return;
    this.tip.replaceChildren(h("b", {}, `${one.client}, round ${round + 1}`), `${this.trains[round].has(client) ? "trains" : "rests"}; in ${one.rounds} of ${this.told.rounds} rounds in all`);
    Object.assign(this.tip.style, { left: `${Math.min(event.offsetX + 14, Math.max(this.node.clientWidth - 210, 0))}px`, top: `${event.offsetY + 14}px` });
  }
}
/** The next of 1, 2, 5, 10, 20 … that is no smaller. */
function nice(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].find((one) => one * power >= least) * power;
}
