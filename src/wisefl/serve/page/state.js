// What the page is about, its past (undo), and the link that restores it.
import { csvOf, fleetOf } from "./fleet.js";

export const LONGEST_LINK = 60_000;

export class Store {
  constructor(state) {
    Object.assign(this, { state, past: [], future: [], listeners: [], group: null });
  }
  /** Changes of one `group` in a row (one drag of a slider) are undone together. */
  set(patch, group = null) {
    if (group === null || group !== this.group) this.past.push(this.state);
    if (this.past.length > 200) this.past.shift();
    this.group = group;
    this.future = [];
    this.replace({ ...this.state, ...patch });
  }
  settle() { this.group = null; }
  undo() {
    if (!this.past.length) return;
    this.future.push(this.state);
    this.group = null;
    this.replace(this.past.pop());
  }
  redo() {
    if (!this.future.length) return;
    this.past.push(this.state);
    this.replace(this.future.pop());
  }
  replace(state) {
    const before = this.state;
    this.state = state;
    for (const listener of this.listeners) listener(state, before);
  }
}

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
function toText(bytes) {
  let text = "";
  for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
const toBytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));

export async function linkOf({ fleet, limits, horizon, view }) {
  const told = { limits, horizon, view, fleet: fleet.random ? { random: fleet.random } : { csv: csvOf(fleet), name: fleet.name } };
  const packed = await through(new TextEncoder().encode(JSON.stringify(told)), new CompressionStream("deflate-raw"));
  return `${location.origin}${location.pathname}#s=${toText(packed)}`;
}

/** The state that a link tells; its fleet is either complete or still to be drawn (`random`). */
export async function fromLink(hash) {
  if (!hash.startsWith("#s=")) return null;
  try {
    const told = JSON.parse(new TextDecoder().decode(await through(toBytes(hash.slice(3)), new DecompressionStream("deflate-raw"))));
    return { ...told, fleet: told.fleet.random ? told.fleet : fleetOf(told.fleet.csv, told.fleet.name) };
  } catch {
    throw new Error("This link is damaged: a part of it is missing.");
  }
}
