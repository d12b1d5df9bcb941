// Questions to a running server: a form that makes an entry of `analyses:`, the entry itself, and what is running.
import { byId, choice, fill, labelled, make, options, say } from "watch/elements";
import { goTo } from "watch/pictures";
import { source } from "watch/source";

const LAYERS = { slice: "Slice", isosurface: "Isosurface", volume: "Volume" };
const KINDS = { ...LAYERS, projection: "Projection", histogram: "Histogram", statistics: "Statistics" };
const MAPS = ["viridis", "inferno", "magma", "plasma", "cividis", "coolwarm", "grey", "twilight"];
const controls = {};
let record = null;
let edited = false; // the entry is no longer that of the form

const id = () => Array.from(crypto.getRandomValues(new Uint8Array(3)), (n) => n.toString(16).padStart(2, "0")).join("");
const number = (control) => (control.value.trim() === "" || !Number.isFinite(Number(control.value)) ? null : Number(control.value));

function field(text, control, kinds) {
  const place = labelled(text, control);
  place.dataset.kinds = kinds.join(" ");
  return place;
}

const SIGN = String.raw`[+\-]?`; // browsers read patterns with the flag v, for which a bare '-' is wrong
const REAL = `${SIGN}([0-9]+[.]?[0-9]*|[.][0-9]+)([eE]${SIGN}[0-9]+)?`;
const WHOLE = "[1-9][0-9]*";
const LIST = `\\s*${REAL}([\\s,;]+${REAL})*\\s*`;
const box = (value, facts = {}) => make("input", { type: "text", inputmode: "decimal", size: "7", value,
  pattern: REAL, title: "a number such as 0.5 or 1e-3", ...facts });
const whole = (value) => box(value, { pattern: WHOLE, title: "a whole number above 0", required: true });
const several = (value) => box(value, { pattern: LIST, title: "numbers such as 0.5 1e-3", size: "14", required: true });
const numbers = (control) => control.value.split(/[\s,;]+/).filter(Boolean).map(Number).filter(Number.isFinite);

function variable() {
  return record?.variables?.find((one) => one.name === controls.variable.value);
}

function layer() {
  const kind = controls.kind.value;
  const entry = { variable: controls.variable.value };
  if ((variable()?.components ?? 1) > 1) entry.component = number(controls.component) ?? 0;
  if (kind === "slice") {
    entry.axis = controls.axis.value;
    if (number(controls.position) !== null) entry.position = number(controls.position);
  } else if (kind === "isosurface") {
    entry.values = numbers(controls.values);
  } else if (kind === "volume") {
    entry.opacity = numbers(controls.opacity);
  }
  return entry;
}

function size() {
  return [number(controls.width) ?? 800, number(controls.height) ?? 600];
}

function entryOf(name) {
  const kind = controls.kind.value;
  const every = controls.often.value === "every" ? { every: Math.max(1, number(controls.every) ?? 1) } : {};
  const frame = every.every ? `asked/${name}-{index:05}` : `asked/${name}`;
  if (kind === "histogram") return { histogram: { ...layer(), bins: number(controls.bins) ?? 64, ...every, file: `asked/${name}.csv` } };
  if (kind === "statistics") return { statistics: { ...layer(), ...every, file: `asked/${name}.csv` } };
  if (kind === "projection") {
    return { projection: { ...layer(), axis: controls.axis.value, ...every, file: `${frame}.h5`,
      image: { file: `${frame}.png`, size: size(), colours: controls.colours.value } } };
  }
  const camera = {};
  if (controls.look.value === "angles") Object.assign(camera, { phi: number(controls.phi) ?? 30, theta: number(controls.theta) ?? 30 });
  else if (controls.look.value !== "default") camera.view = JSON.parse(controls.look.value);
  if (camera.view && camera.view[2] !== 0) camera.up = [0, 1, 0];
  if ((number(controls.zoom) ?? 1) !== 1) camera.zoom = number(controls.zoom);
  const entry = { render: { [kind]: layer(), colours: controls.colours.value, size: size() } };
  if (number(controls.low) !== null && number(controls.high) !== null) entry.render.range = [number(controls.low), number(controls.high)];
  if (Object.keys(camera).length) entry.render.camera = camera;
  return { render: { ...entry.render, ...every, file: `${frame}.png` } };
}

function compose() {
  for (const place of byId("questions").querySelectorAll("[data-kinds]")) {
    const angles = place.dataset.angles === undefined || controls.look.value === "angles";
    const components = place.dataset.components === undefined || (variable()?.components ?? 1) > 1;
    place.hidden = !place.dataset.kinds.split(" ").includes(controls.kind.value) || !angles || !components;
    place.querySelector("input, select").disabled = place.hidden; // what is hidden is not checked
  }
  controls.every.parentElement.hidden = controls.often.value !== "every";
  for (const [one, other] of [[controls.low, controls.high], [controls.high, controls.low]]) {
    one.required = other.value.trim() !== ""; // half a range is none
  }
  controls.every.disabled = controls.often.value !== "every";
  if (!edited) controls.entry.value = JSON.stringify(entryOf(controls.name));
}

async function send(text, answer) {
  say(answer, "sent; the answer comes with an iteration …");
  answer.className = "answer";
  const sentence = await source.ask(text);
  answer.replaceChildren(sentence);
  answer.classList.add(/^(delivered|accepted)/.test(sentence) ? "good" : "bad");
  const file = /"file":\s*"(asked\/[^"{]*\.png)"/.exec(text)?.[1];
  if (file && sentence.startsWith("delivered")) {
    answer.append(" ", make("button", { type: "button", on: { click: () => goTo(file) } }, "Show it"));
  }
  controls.name = `${controls.kind.value}-${id()}`;
  compose(); // the next question has files of its own
}

function build() {
  const all = Object.keys(KINDS);
  const drawn = Object.keys(LAYERS);
  controls.name = `slice-${id()}`;
  controls.kind = choice(Object.entries(KINDS));
  controls.variable = choice([]);
  controls.component = box("0", { pattern: "[0-9]+", title: "the number of a component, from 0" });
  controls.axis = choice(["x", "y", "z"]);
  controls.axis.value = "z";
  controls.position = box("", { placeholder: "middle", title: "left empty: the middle of the mesh, if it is known" });
  controls.values = several("0.5");
  controls.opacity = several("0, 0.05, 0.2, 0.6");
  controls.opacity.title = "opacities from the lowest to the highest value, each from 0 to 1";
  controls.bins = whole("64");
  controls.look = choice([["default", "obliquely from above"], ["[0,0,-1]", "along z"], ["[0,-1,0]", "along y"],
    ["[-1,0,0]", "along x"], ["angles", "angles …"]]);
  controls.phi = box("30");
  controls.theta = box("30");
  controls.zoom = box("1");
  controls.width = whole("800");
  controls.height = whole("600");
  controls.colours = choice(MAPS);
  controls.low = box("", { placeholder: "automatic", title: "left empty at both ends: the range of the values in the picture" });
  controls.high = box("", { placeholder: "automatic", title: "left empty at both ends: the range of the values in the picture" });
  controls.often = choice([["once", "once"], ["every", "from now on, every"]]);
  controls.every = whole("1");
  controls.entry = make("textarea", { rows: "4", spellcheck: "false", "aria-label": "The question as an entry of analyses" });
  const answer = make("p", { class: "answer", role: "status" });
  const angle = (text, control) => { const place = field(text, control, drawn); place.dataset.angles = ""; return place; };
  const component = field("component", controls.component, all);
  component.dataset.components = "";
  const button = make("button", { type: "submit" }, "Ask");
  const form = make("form", { class: "question", on: {
    input: (event) => {
      edited = event.target === controls.entry;
      if (event.target === controls.kind) controls.name = `${controls.kind.value}-${id()}`;
      compose();
    },
    submit: async (event) => {
      event.preventDefault();
      button.disabled = true;
      await send(controls.entry.value, answer);
      button.disabled = false;
    } } },
  make("div", { class: "fields" },
    labelled("what", controls.kind), labelled("variable", controls.variable), component,
    field("across", controls.axis, ["slice", "projection"]), field("at", controls.position, ["slice"]),
    field("values", controls.values, ["isosurface"]),
    field("opacity, low to high", controls.opacity, ["volume"]), field("bins", controls.bins, ["histogram"]),
    field("look", controls.look, drawn), angle("phi", controls.phi), angle("theta", controls.theta),
    field("zoom", controls.zoom, drawn),
    field("width", controls.width, [...drawn, "projection"]), field("height", controls.height, [...drawn, "projection"]),
    field("colours", controls.colours, [...drawn, "projection"]),
    field("from", controls.low, drawn), field("to", controls.high, drawn),
    labelled("how often", controls.often), labelled("iterations", controls.every)),
  make("label", { class: "whole" }, make("span", {}, "The question, which you may change:"), controls.entry),
  make("div", { class: "controls" }, button), answer);
  for (const [name, control] of Object.entries(controls)) if (control instanceof Element) control.name = name;
  byId("questions").append(form, make("div", { id: "running" }));
}

function showRunning() {
  const answer = byId("running").querySelector(".answer") ?? make("p", { class: "answer", role: "status" });
  const rows = (record.running ?? []).map((one) => make("li", {}, make("strong", {}, one.name), " ",
    make("code", {}, one.analysis), " ", make("button", { type: "button", on: { click: async (event) => {
      event.target.disabled = true;
      await send(`end ${one.name}`, answer);
    } } }, "End it")));
  byId("running").replaceChildren(...(rows.length ? [make("h3", {}, "Asked for from now on"), make("ul", {}, ...rows)] : []), answer);
}

export function takeRecord(given) {
  record = given;
  const empty = byId("asking").querySelector(".empty");
  const may = Boolean(record) && options.mayAsk;
  empty.hidden = may;
  say(empty, record ? "This page only looks."
    : "No server takes questions now: no run goes on that has live: {requests: yes} in its configuration.");
  byId("questions").hidden = !may;
  if (!may) return;
  if (!byId("questions").children.length) build();
  const known = record.analyses ?? [];
  fill(controls.kind, Object.entries(KINDS).filter(([kind]) => !known.length || known.includes(LAYERS[kind] ? "render" : kind)));
  fill(controls.variable, (record.variables ?? []).map((one) => [one.name, one.mesh ? `${one.name} (${one.mesh})` : one.name]));
  compose();
  showRunning();
}
