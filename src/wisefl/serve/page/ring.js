// Devices around the base station, by distance. Everybody is a dot; who trains is a disc as large as its share.
import { byId, colour, h, mark, number, percent } from "./dom.js";

const GOLDEN = Math.PI * (3 - Math.sqrt(5));

export class Ring {
  constructor({ ask }) {
    this.canvas = byId("ring");
    this.tip = byId("ring-tip");
    this.spots = [];
    this.canvas.addEventListener("pointermove", (event) => this.point(event));
    this.canvas.addEventListener("pointerleave", () => (this.tip.hidden = true));
    this.canvas.addEventListener("click", (event) => { const at = this.near(event); if (at !== null) ask(this.fleet.columns.client[at]); });
    new ResizeObserver(() => {
      this.wide = this.canvas.parentElement.clientWidth;
      if (this.fleet) this.draw(this.fleet, this.view);
    }).observe(this.canvas.parentElement);
    const entry = (kind, text) => h("li", {}, h("i", { class: `dot ${kind}` }), text);
    byId("ring-key").replaceChildren(entry("trains", "trains, by share"), entry("may", "may train"), entry("barred", "may not"), entry("named", "pinned or banned"));
  }
  draw(fleet, view) {
    Object.assign(this, { fleet, view });
    if (!this.wide) return; // drawn as soon as there is room
    const side = Math.min(this.wide, 340), ratio = devicePixelRatio || 1;
    if (this.canvas.width !== Math.floor(side * ratio)) {
      Object.assign(this.canvas, { width: side * ratio, height: side * ratio });
      Object.assign(this.canvas.style, { width: `${side}px`, height: `${side}px` });
    }
    const ink = Object.fromEntries(["--text", "--muted", "--grid", "--s0", "--s1", "--page", "--axis", "--bad"].map((name) => [name, colour(name)]));
    const ground = [fleet.id, view.barred, side, ratio, ink["--page"]].join();
    if (ground !== this.drawn) this.lay(fleet, view, side, ratio, ink);
    this.drawn = ground;
    const pen = this.canvas.getContext("2d"), chosen = view.decision?.clients ?? [];
    pen.setTransform(1, 0, 0, 1, 0, 0);
    pen.clearRect(0, 0, this.canvas.width, this.canvas.height);
    pen.drawImage(this.ground, 0, 0);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    const largest = Math.max(...chosen.map((one) => one.share), 1e-9), size = 11 * (chosen.length > 200 ? 0.3 : chosen.length > 40 ? 0.55 : 1);
    for (const one of chosen) {
      if (!this.places.has(one.client)) continue; // of the fleet before
      pen.beginPath();
      pen.arc(...this.spots[this.places.get(one.client)], Math.max(this.dot + 1.4, size * Math.sqrt(one.share / largest)), 0, 7);
      pen.fillStyle = ink["--s0"];
      pen.fill();
      pen.strokeStyle = ink["--page"];
      pen.lineWidth = 1.5;
      pen.stroke();
    }
    for (const [names, letter] of [[view.required, "--s1"], [view.forbidden, "--bad"]]) for (const name of names) this.marked(pen, name, ink[letter], letter === "--bad");
    mark(this.canvas, "aria-label", `Devices by distance, ${number(fleet.size)} in all; ${chosen.length} train. The table of the fleet has the same.`);
  }
  /** What stays while one drags, on a canvas of its own: distances, and a dot for everybody. */
  lay(fleet, view, side, ratio, ink) {
    this.ground = h("canvas", { width: side * ratio, height: side * ratio });
    const pen = this.ground.getContext("2d"), middle = side / 2, distances = fleet.columns.distance_m.map(Number);
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    let low = Infinity, high = 0;
    for (const distance of distances) { low = Math.min(low, distance); high = Math.max(high, distance); }
    if (low > 0.3 * high) low -= 0.35 * (high - low) || 1; else low = 0;
    const radius = (distance) => 26 + ((distance - low) / (high - low || 1)) * (middle - 38);
    this.rings(pen, middle, low, high, radius, ink);
    this.dot = fleet.size > 1500 ? 1.1 : fleet.size > 300 ? 1.8 : 2.6;
    this.places = new Map(fleet.columns.client.map((name, at) => [String(name), at]));
    this.spots = distances.map((distance, at) => {
      const turn = at * GOLDEN, far = radius(distance);
      return [middle + far * Math.cos(turn), middle + far * Math.sin(turn)];
    });
    this.spots.forEach(([x, y], at) => {
      pen.beginPath();
      pen.arc(x, y, view.may(at) ? this.dot : this.dot * 0.75, 0, 7);
      pen.fillStyle = view.may(at) ? ink["--muted"] : ink["--grid"];
      pen.fill();
    });
  }
  rings(pen, middle, low, high, radius, ink) {
    pen.lineWidth = 1;
    pen.font = "11px system-ui, sans-serif";
    pen.textAlign = "center";
    for (const part of [0, 0.5, 1]) {
      const distance = low + (high - low) * part, far = radius(distance);
      if (part > 0 || low > 0) { pen.strokeStyle = ink["--grid"]; pen.beginPath(); pen.arc(middle, middle, far, 0, 7); pen.stroke(); }
      if (part > 0) { pen.fillStyle = ink["--muted"]; pen.fillText(`${Math.round(distance)} m`, middle, middle - far - 3); }
    }
    pen.fillStyle = ink["--text"];
    pen.beginPath(); pen.moveTo(middle, middle - 9); pen.lineTo(middle + 6, middle + 7); pen.lineTo(middle - 6, middle + 7); pen.fill();
  }
  marked(pen, name, ink, crossed) {
    if (!this.places.has(name)) return;
    const [x, y] = this.spots[this.places.get(name)];
    pen.strokeStyle = ink;
    pen.lineWidth = 2;
    pen.beginPath();
    if (crossed) { pen.moveTo(x - 5, y - 5); pen.lineTo(x + 5, y + 5); pen.moveTo(x + 5, y - 5); pen.lineTo(x - 5, y + 5); }
    else pen.arc(x, y, 8, 0, 7);
    pen.stroke();
  }
  near(event) {
    const box = this.canvas.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
    let best = null, least = 144;
    this.spots.forEach(([u, v], at) => { const far = (u - x) ** 2 + (v - y) ** 2; if (far < least) { least = far; best = at; } });
    return best;
  }
  point(event) {
    const at = this.near(event);
    this.tip.hidden = at === null;
    if (at === null) return;
    const { columns, samples, divergence } = this.fleet, name = String(columns.client[at]);
    const one = this.view.chosen.get(name);
    this.tip.replaceChildren(h("b", {}, name), `${number(Number(columns.distance_m[at]))} m, ${number(samples[at], 6)} samples, divergence ${number(divergence?.[at], 3)}`, h("br"), one ? `trains with ${percent(one.share)} of the band` : this.view.may(at) ? "may train" : "may not train");
    const [x, y] = this.spots[at];
    Object.assign(this.tip.style, { left: `${Math.min(x + 10, this.canvas.clientWidth - 150)}px`, top: `${y + 10}px` });
  }
}
