// Tables as charts and as rows.
import { byId, choice, fill, make, say } from "watch/elements";
import { colour, draw } from "watch/charts";
import { source } from "watch/source";

const cards = new Map();
const OF_ITERATION = ["time", "iteration", "cycle"];
// Columns that say which of several things in an iteration a row belongs to.
const GROUPS = ["component", "camera", "name", "variable", "halo", "track", "group", "line", "probe", "axis"];
// Columns that are drawn first if a table has them.
const FIRST = ["mean", "maximum", "count", "power", "density", "value", "sum"];
const PAUSE = 400; // milliseconds between readings of a table

class Card {
  constructor(name) {
    this.name = name;
    this.place = make("div", { class: "chart" });
    const redraw = { on: { change: () => this.draw() } };
    this.x = choice([], { "aria-label": "Horizontal axis", ...redraw });
    this.y = make("div", { class: "columns", role: "group", "aria-label": "Columns that are drawn", ...redraw });
    this.chosen = make("summary", {}, "columns");
    this.logX = make("input", { type: "checkbox", ...redraw });
    this.logY = make("input", { type: "checkbox", ...redraw });
    this.rows = make("details", { on: { toggle: () => this.list() } }, make("summary", {}, "Newest rows"),
      make("div", { class: "scrolled", tabindex: "0" }));
    this.note = make("p", { class: "note" });
    this.card = make("article", { class: "card" }, make("h3", {}, name), this.place,
      make("div", { class: "controls" }, make("label", {}, "over ", this.x), 
        make("details", { class: "picked" }, this.chosen, this.y), make("label", {}, this.logX, " log x"), make("label", {}, this.logY, " log y")),
      this.note, this.rows);
    this.card.dataset.table = name;
    this.version = -1;
  }

  async take(facts) {
    this.facts = facts;
    if (this.reading) return; // read again at the end of this reading
    this.reading = true;
    while (this.version !== this.facts.version) {
      const version = this.facts.version;
      try {
        this.table = await source.table(this.name);
        this.version = version;
        this.choose();
        this.draw();
        this.list();
      } catch {
        break; // gone meanwhile
      }
      await new Promise((done) => setTimeout(done, PAUSE));
    }
    this.reading = false;
  }

  isNumber(column) {
    return this.table.values[this.table.columns.indexOf(column)].some((value) => typeof value === "number");
  }

  choose() {
    const key = JSON.stringify([this.table.columns, this.table.over_time]);
    if (this.key === key) return;
    this.key = key;
    const numbers = this.table.columns.filter((column) => this.isNumber(column));
    const own = numbers.filter((column) => !OF_ITERATION.includes(column));
    fill(this.x, numbers);
    const across = this.table.over_time ? OF_ITERATION : ["lower", "k", "k_lower", "x", "radius", "r", "mass", ...own];
    this.x.value = across.find((column) => numbers.includes(column)) ?? numbers[0] ?? "";
    const first = FIRST.find((column) => own.includes(column))
      ?? own.find((column) => !GROUPS.includes(column) && column !== this.x.value) ?? own[0];
    this.y.replaceChildren(...own.map((column) =>
      make("label", {}, make("input", { type: "checkbox", value: column, checked: column === first }), ` ${column}`)));
  }

  drawn() {
    return [...this.y.querySelectorAll("input:checked")].map((box) => box.value);
  }

  // Rows by what they belong to, if an iteration has several.
  groups() {
    const column = this.table.over_time ? this.table.columns.find((name) => GROUPS.includes(name)) : undefined;
    const marks = column ? this.table.values[this.table.columns.indexOf(column)] : [];
    const rows = new Map();
    const count = this.table.values[0]?.length ?? 0;
    for (let row = 0; row < count; ++row) {
      const mark = column ? `${column} ${marks[row]}` : "";
      if (!rows.has(mark)) rows.set(mark, []);
      rows.get(mark).push(row);
    }
    return rows;
  }

  draw() {
    if (!this.table) return;
    const values = (column) => this.table.values[this.table.columns.indexOf(column)] ?? [];
    const across = values(this.x.value);
    const traces = [];
    const groups = this.groups();
    for (const column of this.drawn()) {
      for (const [mark, rows] of groups) {
        const name = [column, groups.size > 1 ? mark : ""].filter(Boolean).join(", ");
        traces.push({ type: "scatter", mode: rows.length < 40 ? "lines+markers" : "lines", name,
          x: rows.map((row) => across[row]), y: rows.map((row) => values(column)[row]),
          line: { color: colour(traces.length), width: 1.6, shape: this.x.value === "lower" ? "hv" : "linear" },
          marker: { color: colour(traces.length), size: 4 } });
      }
    }
    const names = this.drawn().join(", ");
    say(this.chosen, `columns: ${names || "none"}`);
    draw(this.place, traces.slice(0, 40), { showlegend: traces.length > 1,
      xaxis: { title: { text: this.x.value }, type: this.logX.checked ? "log" : "linear" },
      yaxis: { title: { text: names.length < 40 ? names : "" }, type: this.logY.checked ? "log" : "linear" } });
    const iteration = this.table.columns[0] === "iteration" ? this.table.last.at(-1)?.[0] : undefined;
    say(this.note, [`${this.table.rows} rows`, this.table.over_time || iteration === undefined ? "" :
      `the chart shows iteration ${iteration}`, this.table.thinned && this.table.over_time ? "the chart shows a part of them" : ""]
      .filter(Boolean).join("; "));
  }

  list() {
    if (!this.rows.open || !this.table) return;
    const cell = (tag, text) => make(tag, {}, text);
    this.rows.querySelector("div").replaceChildren(make("table", {},
      make("thead", {}, make("tr", {}, ...this.table.columns.map((name) => cell("th", name)))),
      make("tbody", {}, ...[...this.table.last].reverse().map((row) =>
        make("tr", {}, ...row.map((text) => cell("td", text)))))));
  }
}

// Lists of columns close by a click elsewhere, and by Escape.
document.addEventListener("click", (event) => {
  for (const open of document.querySelectorAll(".picked[open]")) if (!open.contains(event.target)) open.open = false;
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") for (const open of document.querySelectorAll(".picked[open]")) open.open = false;
});

export function takeTable(name, facts) {
  if (!cards.has(name)) {
    const card = new Card(name);
    cards.set(name, card);
    const later = [...cards.keys()].sort().find((other) => other > name);
    byId("tables").querySelector(".cards").insertBefore(card.card, later ? cards.get(later).card : null);
  }
  byId("tables").querySelector(".empty").hidden = true;
  cards.get(name).take(facts);
}

export function dropTable(name) {
  cards.get(name)?.card.remove();
  cards.delete(name);
  byId("tables").querySelector(".empty").hidden = cards.size > 0;
}
