// Small helpers that every part of the page uses.
import { format } from "./charts.js";

export const byId = (id) => document.getElementById(id);

/** An element: attributes as they are, `on…` as listeners, `style` as an object (the page allows no inline style). */
export function h(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    const flag = typeof value === "boolean" && !key.startsWith("aria-"); // aria-pressed="false" says something
    if (value === undefined || value === null || (flag && !value)) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "style") for (const [name, part] of Object.entries(value)) made.style.setProperty(name, part);
    else if (key === "value") made.value = value;
    else made.setAttribute(key, flag ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** Writes only what is new: whatever is written is laid out and painted again. */
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
export function mark(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/** These children in this order. Who stays is not touched: taken out and put back it would be drawn anew and lose the focus. */
export function arrange(place, nodes) {
  const wanted = new Set(nodes);
  for (const old of [...place.children]) if (!wanted.has(old)) old.remove();
  nodes.forEach((node, at) => { if (place.children[at] !== node) place.insertBefore(node, place.children[at] ?? null); });
}

const drawn = new WeakMap();
/** A child for every thing, known by its name: `make(name)` gives its `node` once, and its `show(thing, at)` says what changed. */
export function renew(place, things, nameOf, make) {
  const before = drawn.get(place), now = new Map();
  things.forEach((thing, at) => {
    const name = nameOf(thing), one = before?.get(name) ?? make(name);
    one.show(thing, at);
    now.set(name, one);
  });
  drawn.set(place, now);
  arrange(place, [...now.values()].map((one) => one.node));
}

/** A drawing that is left alone while what it shows is the same. */
export function kept(draw) {
  let before = [];
  return (...shown) => {
    if (before.length && shown.every((one, at) => one === before[at])) return;
    before = shown;
    draw(...shown);
  };
}

export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === Infinity || value === "inf") return "∞";
  return format(Number(value), digits);
}
export function percent(part, digits = 3) {
  if (part === null || part === undefined) return "–";
  return part > 0 && part < 1e-6 ? "< 0.0001 %" : `${number(100 * Math.max(part, 0), digits)} %`;
}

const STEPS = [[1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"]];
/** `2 MHz`, `365 ms`: a number with a unit as people say it. */
export function withUnit(value, unit, digits = 4) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const [by, letter] = size === 0 ? [1, ""] : STEPS.find(([step]) => size >= step * 0.9995) ?? STEPS.at(-1);
  return `${number(value / by, digits)} ${letter}${unit}`;
}

const ENDINGS = { hz: "Hz", s: "s", j: "J", dbm_hz: "dBm/Hz" };
/** The name of a limit as people read it: `battery_j` is `battery (J)`. */
export function named(name) {
  const ending = Object.keys(ENDINGS).sort((a, b) => b.length - a.length).find((one) => name.endsWith(`_${one}`));
  const words = (ending ? name.slice(0, -ending.length - 1) : name).replaceAll("_", " ");
  return ending ? `${words} (${ENDINGS[ending]})` : words;
}

/** Says something to whoever listens instead of looks, once things have settled. */
let timer = 0;
export function say(text) {
  clearTimeout(timer);
  timer = setTimeout(() => (byId("said").textContent = text), 700);
}

export function later(wait, action) {
  let waiting = 0;
  return (...given) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => action(...given), wait);
  };
}

/** A colour of the page; asking the browser again for every drawing would make it lay the page out anew. */
const inks = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => inks.clear());
export function colour(name) {
  if (!inks.has(name)) inks.set(name, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return inks.get(name);
}
