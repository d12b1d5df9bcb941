// The newest messages of the run, the newest first, of the levels that a watcher wants to see.
import { byId, choice, labelled, make, say } from "watch/elements";

const SHOWN = { all: ["error", "warning", "note"], "warnings and errors": ["error", "warning"], errors: ["error"] };

let messages = [];
let number = 0; // of different ones
const rows = new Map(); // by message, so that a selection of text outlives a new line
const level = choice(Object.keys(SHOWN), { on: { change: () => show() } });
const words = make("input", { type: "search", on: { input: () => show() } });
const counted = make("span", { class: "note", role: "status" });
byId("messages").querySelector(".controls").append(labelled("Levels", level), labelled("Find", words), counted);
const body = make("tbody");
byId("lines").append(make("table", {}, make("thead", {},
  make("tr", {}, ...["time (UTC)", "level", "process", "message"].map((text) => make("th", {}, text)))), body));

function rowOf(message) {
  const key = JSON.stringify(message);
  if (!rows.has(key)) {
    const [time, of, process, text] = message;
    const cells = [time.replace("T", " ").replace("Z", ""), of, process, text];
    rows.set(key, make("tr", { "data-level": of }, ...cells.map((one) => make("td", {}, one))));
  }
  return rows.get(key);
}

function show() {
  const wanted = words.value.toLowerCase().split(/\s+/);
  const has = (line) => wanted.every((word) => line.includes(word));
  const found = messages.filter(([, of, process, text]) =>
    SHOWN[level.value].includes(of) && has(`${process} ${text}`.toLowerCase())).reverse();
  const before = [...body.children];
  const after = [...new Set(found.map(rowOf))];
  if (before.length !== after.length || before.some((row, n) => row !== after[n])) body.replaceChildren(...after);
  const none = after.length === 0 && messages.length > 0;
  say(counted, none ? "No message is like that." : after.length < number ? `${after.length} of ${number}` : "");
}

export function takeMessages(found) {
  messages = found ?? [];
  const keys = new Set(messages.map((one) => JSON.stringify(one)));
  number = keys.size;
  for (const key of rows.keys()) if (!keys.has(key)) rows.delete(key);
  const section = byId("messages");
  const empty = section.querySelector(".empty");
  say(empty, "No messages: none was written, or the configuration has output: {messages: none}.");
  empty.hidden = messages.length > 0;
  section.querySelector(".controls").hidden = byId("lines").hidden = !messages.length;
  show();
}
