// Time lines of simulation and servers, the buffer, and iterations that were not delivered.
import { byId, make, say } from "watch/elements";
import { colour, draw } from "watch/charts";

const CLIENTS = { compute: "simulation computes", publish: "publishes", wait: "waits for room", end: "ends its iteration" };
const COLOURS = { delivered: "var(--good)", refused: "var(--bad)", failed: "var(--warn)", unknown: "var(--lines)" };

function shown(id, is) {
  const card = byId(id);
  card.hidden = !is;
  return card.querySelector(".chart");
}

export function takeProgress(points) {
  const place = shown("progress", points.length > 1);
  if (points.length < 2) return;
  draw(place, [{ type: "scatter", mode: "lines+markers", marker: { size: 4 }, name: "iteration",
    x: points.map((point) => new Date(point[0] * 1000)), y: points.map((point) => point[1]) }],
  { xaxis: { title: { text: "when its result was there" }, nticks: 6 }, yaxis: { title: { text: "iteration" } } });
}

function drawSeconds(found) {
  const place = shown("per-iteration", true);
  const line = (name, y, number, dash) => ({ type: "scatter", mode: "lines", name, x: found.iterations, y,
    line: { color: colour(number), width: 1.4, dash } });
  const traces = [
    ...Object.entries(CLIENTS).map(([key, name], n) => line(name, found.clients[key], n, "solid")),
    line("work of a server", found.work, 5, "dot"),
  ];
  draw(place, traces, { showlegend: true, xaxis: { title: { text: "iteration" } },
    yaxis: { title: { text: "seconds, slowest rank" }, type: "log", exponentformat: "power" } });
}

function drawBuffer(found) {
  const place = shown("buffer", found.waiting.length > 0);
  if (!found.waiting.length) return;
  draw(place, [{ type: "scatter", mode: "lines", line: { shape: "hv", width: 1.4 }, fill: "tozeroy", name: "iterations",
    x: found.waiting.map((one) => one[0]), y: found.waiting.map((one) => one[1]) }],
  { xaxis: { title: { text: "seconds since the start" } },
    yaxis: { title: { text: "ended, not yet analysed" }, rangemode: "tozero" } });
}

function drawBars(found) {
  const place = shown("bars", found.bars.length > 0);
  const ranks = [...new Set(found.bars.map((bar) => bar[0]))].sort((a, b) =>
    a.localeCompare(b, undefined, { numeric: true })).reverse();
  const kinds = [...new Set(found.bars.map((bar) => bar[1]))];
  const traces = kinds.map((kind, n) => {
    const own = found.bars.filter((bar) => bar[1] === kind);
    return { type: "bar", orientation: "h", name: CLIENTS[kind] ?? kind, y: own.map((bar) => bar[0]),
      base: own.map((bar) => bar[2]), x: own.map((bar) => bar[3]),
      marker: { color: kind === "idle" || kind === "agree" ? "rgba(128,128,128,0.25)" : colour(n) },
      text: own.map((bar) => `iteration ${bar[4]}: ${(bar[3] * 1000).toPrecision(3)} ms`), textposition: "none",
      hovertemplate: "%{text}<extra>%{fullData.name}</extra>" };
  });
  place.style.height = `${Math.max(240, 130 + 26 * ranks.length)}px`;
  draw(place, traces, { barmode: "overlay", showlegend: true, bargap: 0.25,
    xaxis: { title: { text: "seconds since the start" } },
    yaxis: { categoryorder: "array", categoryarray: ranks, type: "category" } });
}

export function takeTimes(tables) {
  // The servers' own record, or else that of the simulation.
  const found = Object.values(tables).find((one) => one.iterations?.length);
  const note = byId("no-times");
  note.hidden = Boolean(found) && !found.sampled;
  if (!found) {
    for (const id of ["per-iteration", "buffer", "bars"]) shown(id, false);
    say(note, "Times come each second if the configuration has live: {requests: yes}. Otherwise they come when a rank has 256 KiB of them, and at the end of the run.");
    return;
  }
  if (found.sampled) say(note, "The record of times is long: the time lines show parts of it.");
  drawSeconds(found);
  drawBuffer(found);
  drawBars(found);
}

export function takeOutcomes(tables) {
  const found = Object.values(tables)[0];
  const strip = byId("strip");
  const reasons = byId("reasons");
  if (!found) {
    say(byId("outcomes"), "Outcomes come each second if the configuration has live: {requests: yes}. Otherwise they come when a server has 256 KiB of them, and at the end of the run.");
    strip.replaceChildren();
    reasons.hidden = true;
    return;
  }
  const numbers = Object.entries(found.numbers).map(([outcome, number]) => `${number} ${outcome}`).join(", ");
  say(byId("outcomes"), found.so_far ? `${numbers}, of the newest iterations on record.` : `${numbers}.`);
  strip.setAttribute("aria-label", `Outcomes of the newest iterations: ${numbers}`);
  strip.replaceChildren(...found.newest.map(([iteration, outcome]) =>
    make("span", { title: `iteration ${iteration}: ${outcome}`, style: `background:${COLOURS[outcome] ?? COLOURS.unknown}` })));
  reasons.hidden = !found.reasons.length;
  const cells = (tag, row) => make("tr", {}, ...row.map((text) => make(tag, {}, text)));
  reasons.replaceChildren(make("table", {}, make("thead", {}, cells("th", ["iteration", "cycle", "time", "outcome", "why"])),
    make("tbody", {}, ...[...found.reasons].reverse().map((row) => cells("td", row)))));
}
