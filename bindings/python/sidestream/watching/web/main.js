// Takes what has changed, and gives each part of it to the part of the page that shows it.
import { takeRecord } from "watch/asking";
import { byId, moment, options, say } from "watch/elements";
import { dropSeries, takeSeries } from "watch/pictures";
import { source } from "watch/source";
import { takeMessages } from "watch/messages";
import { takeParameters } from "watch/steering";
import { dropTable, takeTable } from "watch/tables";
import { takeOutcomes, takeProgress, takeTimes } from "watch/times";

const STATES = { waiting: "waiting for a run", running: "running", ended: "ended", stopped: "stopped without closing",
  unrecorded: "no record of a run" };

function takeRun(run) {
  const state = byId("state");
  const failed = (run.account?.failed ?? 0) + (run.account?.refused ?? 0);
  state.dataset.state = document.body.dataset.run = run.state;
  const losses = run.state === "ended" && failed ? `ended, ${failed} iterations not delivered or with failures` : "";
  say(state, run.there ? losses || (STATES[run.state] ?? run.state) : "no such directory yet");
  say(byId("directory"), run.directory);
  say(byId("moment"), moment(run.moment));
  document.title = `${run.directory.split("/").filter(Boolean).pop() ?? "Sidestream"}: ${STATES[run.state] ?? run.state}`;
  const counted = (number, what) => `${number} ${what}${number === 1 ? "" : "s"}`;
  const ranks = run.clients === undefined ? ""
    : [counted(run.clients, "client"), counted(run.servers, "server"), counted(run.nodes, "node")].join(", ");
  say(byId("ran"), [run.placement ? `placement ${run.placement}` : "", ranks].filter(Boolean).join(": "));
}

const parts = {
  run: takeRun, progress: takeProgress, times: takeTimes, iterations: takeOutcomes, messages: takeMessages,
  steering: takeParameters, asking: takeRecord,
};

function take({ changed, gone }) {
  for (const key of gone) {
    if (key.startsWith("series:")) dropSeries(key.slice(7));
    else if (key.startsWith("table:")) dropTable(key.slice(6));
    else parts[key]?.(key === "progress" ? [] : null);
  }
  // Pictures come first: they are what a watcher waits for.
  for (const [key, value] of Object.entries(changed)) {
    if (!key.startsWith("series:")) continue;
    takeSeries(key.slice(7), value);
  }
  for (const [key, value] of Object.entries(changed)) {
    if (key.startsWith("table:")) takeTable(key.slice(6), value);
    else if (!key.startsWith("series:")) parts[key]?.(value);
  }
}

const link = byId("link");
if (options.served) {
  source.follow(take, (is) => {
    link.hidden = is;
    say(link, is ? "" : "not connected; trying again");
  });
  link.hidden = true;
} else {
  source.follow(take);
  say(link, `written ${source.written.toLocaleString()}`);
  for (const id of ["steering", "asking"]) {
    byId(id).hidden = true;
    document.querySelector(`nav a[href="#${id}"]`).hidden = true;
  }
  // Reads the file again, unless somebody looks at something on it.
  if (options.again) {
    setInterval(() => {
      const busy = document.querySelector("dialog") || document.activeElement !== document.body;
      if (!busy) location.reload();
    }, 1000 * options.again);
  }
}
