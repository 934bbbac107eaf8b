// Asks the service. A problem is an Error with the service's own sentence, field and remedies.
const KEY = "wisefl-token";

export class Problem extends Error {
  constructor(told, status) {
    super(told.message);
    Object.assign(this, { kind: told.kind, field: told.field, value: told.value, remedies: told.remedies ?? [], status });
  }
}

/** A token comes behind the #, which is never sent, and is taken off the address at once. */
export function takeToken() {
  const found = /^#token=(.+)$/.exec(location.hash);
  if (!found) return;
  sessionStorage.setItem(KEY, decodeURIComponent(found[1]));
  history.replaceState(null, "", location.pathname);
}
export const setToken = (token) => sessionStorage.setItem(KEY, token);

export async function ask(path, body, signal) {
  const headers = { "Content-Type": "application/json" };
  const token = sessionStorage.getItem(KEY);
  if (token) headers.Authorization = `Bearer ${token}`;
  let answer;
  try {
    answer = await fetch(`api/v1/${path}`, { method: body === undefined ? "GET" : "POST", headers, body, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem({ kind: "lost", message: "The service does not answer: is `wisefl serve` still running?" }, 0);
  }
  const told = await answer.json().catch(() => ({ error: { kind: "unknown", message: "The service's answer is not JSON." } }));
  if (!answer.ok) throw new Problem(told.error, answer.status);
  return told;
}

/** Asks for the newest thing only: one request at a time, and what changed meanwhile is asked for when it is over. */
export class Newest {
  constructor(path, { answered, failed }) {
    Object.assign(this, { path, answered, failed, waiting: null, flight: null, sent: 0 });
  }
  /** `group` names what an answer is about; when that changes, the answer under way is of no use any more. */
  ask(body, group) {
    this.waiting = { body, group };
    if (this.flight && this.flight.group !== group) this.flight.stop.abort();
    if (!this.flight) this.send();
  }
  async send() {
    const { body, group } = this.waiting;
    this.waiting = null;
    this.sent += 1;
    const stop = new AbortController();
    const flight = (this.flight = { group, stop });
    try {
      const began = performance.now();
      const told = await ask(this.path, typeof body === "function" ? body() : body, stop.signal);
      this.answered(told, performance.now() - began, this.waiting === null);
    } catch (error) {
      if (error.name !== "AbortError" && (this.waiting === null || !(error instanceof Problem))) this.failed(error);
    } finally {
      if (this.flight === flight) this.flight = null;
      if (this.waiting) this.send();
    }
  }
}
