// The latency-energy front: every point a weighting; choosing one sets the weights.
import { byId, h, mark, number, put, withUnit } from "./dom.js";
import { element, scale, ticks } from "./charts.js";

const HEIGHT = 230, LEFT = 46, BOTTOM = 30, TOP = 10, RIGHT = 12;
const step = (value, round) => 1.1 ** round(Math.log(value) / Math.log(1.1)); // the axes change by steps, not with every move of the cross
let drawn = null;

export function drawFront(points, decision, choose, stale, room) {
  const place = byId("front");
  place.classList.toggle("stale", stale);
  if (!points) {
    drawn = null;
    return place.replaceChildren(h("p", { class: "note" }, "Every weighting of seconds and joules gives a best round; together they are the front."));
  }
  const wide = Math.max(room, 240);
  const all = decision ? [...points, decision] : points;
  const span = (name) => [step(Math.min(...all.map((one) => one[name])) * 0.97, Math.floor), step(Math.max(...all.map((one) => one[name])) * 1.03, Math.ceil)];
  const kind = (name) => { const [low, high] = span(name); return high > 6 * low ? "log" : "linear"; };
  const x = scale(...span("latency_s"), LEFT, wide - RIGHT, kind("latency_s")), y = scale(...span("energy_j"), HEIGHT - BOTTOM, TOP, kind("energy_j"));
  const looks = [wide, x.low, x.high, y.low, y.high].join();
  if (drawn?.points !== points || drawn.looks !== looks) {
    drawn = { points, looks, here: element("path", { class: "here" }), note: h("p", { class: "note" }) };
    place.replaceChildren(chart(points, wide, x, y, kind, choose), drawn.note);
  }
  mark(drawn.here, "d", decision ? `M${x(decision.latency_s) - 8},${y(decision.energy_j)}h16m-8,-8v16` : "");
  put(drawn.note, stale ? "Of earlier limits." : "The cross is this round. Choose a point to take its weights.");
}

function chart(points, wide, x, y, kind, choose) {
  const svg = element("svg", { width: wide, height: HEIGHT, viewBox: `0 0 ${wide} ${HEIGHT}`, role: "group", "aria-label": "Latency-energy front" });
  const grid = element("g", { "aria-hidden": "true" });
  for (const tick of ticks(y.low, y.high, 4, kind("energy_j"))) {
    grid.append(element("line", { class: "grid", x1: LEFT, x2: wide - RIGHT, y1: y(tick), y2: y(tick) }), element("text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, number(tick, 3)));
  }
  let last = -Infinity;
  for (const tick of ticks(x.low, x.high, 4, kind("latency_s"))) {
    if (x(tick) - last < 40) continue;
    last = x(tick);
    grid.append(element("text", { x: last, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, number(tick, 3)));
  }
  grid.append(element("line", { class: "axis", x1: LEFT, x2: wide - RIGHT, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM }),
    element("text", { x: wide - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, "seconds"), element("text", { x: 2, y: TOP + 2 }, "J"));
  const best = points.filter((point) => !point.dominated).sort((a, b) => a.latency_s - b.latency_s);
  const line = best.map((point, at) => `${at ? "L" : "M"}${x(point.latency_s).toFixed(1)},${y(point.energy_j).toFixed(1)}`).join("");
  svg.append(grid, element("path", { class: "line ink0", d: line }));
  for (const point of points) {
    const words = `${withUnit(point.latency_s, "s")} and ${withUnit(point.energy_j, "J")} with ${point.clients} clients, at weights ${number(point.latency_weight, 3)} to ${number(point.energy_weight, 3)}`;
    const spot = element("g", { class: `spot ink0${point.dominated ? " dim" : ""}`, role: "button", tabindex: 0, "aria-label": words });
    const dot = document.createElementNS("http://www.w3.org/2000/svg", "circle"), title = document.createElementNS("http://www.w3.org/2000/svg", "title");
    title.textContent = words;
    for (const [key, value] of [["cx", x(point.latency_s)], ["cy", y(point.energy_j)], ["r", 5]]) dot.setAttribute(key, value);
    spot.append(title, dot);
    const take = () => choose(point.latency_weight, point.energy_weight);
    spot.addEventListener("click", take);
    spot.addEventListener("keydown", (event) => { if (["Enter", " "].includes(event.key)) { event.preventDefault(); take(); } });
    svg.append(spot);
  }
  svg.append(drawn.here);
  return svg;
}
