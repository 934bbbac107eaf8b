// Runs of a folder, followed live, and the figures of a reproduction, with the charts of every page.
import { ask } from "./api.js";
import { Figure, dress } from "./charts.js";
import { byId, h, number, percent, withUnit } from "./dom.js";

const EVERY = 2000, MOST = 12;

export class RunsView {
  constructor() {
    Object.assign(this, { chosen: null, drawn: "", timer: 0, shown: false });
    this.list = h("section", { class: "card runs-list", "aria-label": "Runs" }, h("h2", {}, "Runs"), h("p", { class: "note" }, "Looking …"));
    this.charts = h("div", { class: "middle", id: "runs-charts" });
    this.trouble = h("p", { class: "card bad-text", role: "alert", hidden: true });
    byId("view-runs").append(h("div", { class: "workbench two" }, this.list, h("div", { class: "middle" }, this.trouble, this.charts)));
    document.addEventListener("visibilitychange", () => this.look());
  }
  open(shown) {
    this.shown = shown;
    this.look();
  }
  async look() {
    clearTimeout(this.timer);
    if (!this.shown || document.hidden) return;
    try {
      const told = await ask("runs");
      if (this.chosen === null) this.chosen = new Set(told.runs.filter((run) => !run.error).slice(0, 6).map((run) => run.name));
      this.names(told);
      const over = this.chosen.size ? await ask(`runs?${[...this.chosen].map((name) => `name=${encodeURIComponent(name)}`).join("&")}`) : { runs: [], figures: null };
      this.draw(over, told.figures);
      const going = told.runs.some((run) => !run.finished && !run.error);
      if (going) this.timer = setTimeout(() => this.look(), EVERY);
      this.trouble.hidden = true;
    } catch (error) {
      if (this.drawn === "") this.list.replaceChildren(h("h2", {}, "Runs"));
      this.trouble.textContent = error.message;
      this.trouble.hidden = false;
      if (error.status !== 404) this.timer = setTimeout(() => this.look(), 2 * EVERY);
    }
  }
  names(told) {
    const focused = document.activeElement?.dataset?.run;
    const done = told.runs.filter((run) => run.finished).length;
    const box = (run) => {
      const input = h("input", { type: "checkbox", "data-run": run.name, disabled: Boolean(run.error) });
      input.checked = this.chosen.has(run.name);
      input.addEventListener("change", () => {
        if (!input.checked) this.chosen.delete(run.name);
        else if (this.chosen.size < MOST) this.chosen.add(run.name);
        this.look();
      });
      const far = run.error ? run.error : run.finished ? `${number(run.rounds, 6)} rounds` : `${number(run.rounds, 6)} of ${number(run.planned, 6)}`;
      return h("li", {}, h("label", {}, input, h("span", {}, h("b", {}, run.name), h("small", {}, `${run.policy ?? ""} ${far}`)), run.error ? "" : h("progress", { max: run.planned, value: run.rounds, "aria-label": `Progress of ${run.name}` })));
    };
    this.list.replaceChildren(h("div", { class: "card-head" }, h("h2", {}, "Runs"), h("span", { class: "note" }, `${done} of ${told.runs.length} finished`)), h("p", { class: "note path" }, told.root), h("ul", {}, ...told.runs.slice(0, 400).map(box)));
    if (focused) this.list.querySelector(`[data-run="${CSS.escape(focused)}"]`)?.focus();
  }
  draw(over, figures) {
    // Charts keep what is hidden and read off, so they are made anew only when there is something new.
    const now = JSON.stringify([over.runs.map((run) => [run.name, run.rounds, run.finished, run.error]), Boolean(figures)]);
    if (now === this.drawn) return;
    this.drawn = now;
    const parts = over.runs.length ? [this.followed(over)] : [];
    this.charts.replaceChildren(...parts);
    if (over.figures?.figures.length) this.figures(over.figures, parts[0].querySelector(".charts"));
    if (figures) {
      const place = h("div", { class: "charts" });
      this.charts.append(h("section", { class: "card", id: "reproduction" }, h("h2", {}, "Figures of the reproduction"), place));
      this.figures(figures, place);
    }
    if (!this.charts.children.length) this.charts.append(h("section", { class: "card" }, h("p", { class: "note" }, "Choose a run.")));
  }
  followed(over) {
    const row = (run) => run.error ? h("tr", {}, h("th", { scope: "row" }, run.name), h("td", { colspan: 6, class: "bad-text" }, run.error)) : h("tr", {}, h("th", { scope: "row" }, run.name), h("td", {}, run.finished ? "finished" : run.now ? `round ${run.now.round}: ${run.now.selected.length} clients train` : "running"),
      h("td", { class: "num" }, `${run.rounds} of ${run.planned}`), h("td", { class: "num" }, number(run.accuracy)), h("td", { class: "num" }, withUnit(run.latency_s, "s")), h("td", { class: "num" }, withUnit(run.energy_j, "J")), h("td", { class: "num" }, run.left_s === null ? "–" : withUnit(run.left_s, "s", 2)));
    return h("section", { class: "card" }, h("div", { class: "card-head" }, h("h2", {}, "Chosen runs")), h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Chosen runs" }, h("table", { class: "plain" },
      h("thead", {}, h("tr", {}, ...["run", "state", "rounds", "accuracy", "latency", "energy", "left"].map((name, at) => h("th", { scope: "col", class: at > 1 ? "num" : "" }, name)))), h("tbody", {}, ...over.runs.map(row)))), h("div", { class: "charts" }));
  }
  figures(data, place) {
    dress(data);
    for (const figure of data.figures) {
      const part = h("div", { class: "one-figure" }, h("h3", {}, figure.id === "runs" ? "Over one another" : figure.id.replace("figure-", "").replaceAll(/[-_]/g, " ")));
      place.append(part);
      new Figure(figure, part);
    }
  }
}
