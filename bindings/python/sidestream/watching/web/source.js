// Where the content comes from: a server, or the file of the page itself.
import { options } from "watch/elements";

const wanted = async (address) => {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer.json();
};

async function posted(address, value) {
  try {
    const answer = await fetch(address, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(value),
    });
    return answer.ok ? (await answer.json()).answer : `not sent: ${(await answer.text()).trim()}`;
  } catch {
    return "not sent: the server of this page does not answer";
  }
}

const served = {
  frames: (series, view, from, count) =>
    wanted(`frames?${new URLSearchParams({ series, view, from, count })}`),
  table: (name) => wanted(`table?${new URLSearchParams({ name })}`),
  address: (frame) =>
    `picture/${frame.file.split("/").map(encodeURIComponent).join("/")}?v=${encodeURIComponent(frame.version)}`,
  steer: (name, value) => posted("steer", { name, value }),
  ask: (analysis) => posted("ask", { analysis }),

  // Calls `take` with what has changed, and `tell` with true or false when the connection comes or goes.
  follow(take, tell) {
    const events = new EventSource("events");
    events.onopen = () => tell(true);
    events.onmessage = (event) => take(JSON.parse(event.data));
    events.onerror = () => {
      tell(false);
      if (events.readyState !== EventSource.CLOSED) return; // the browser comes back by itself
      setTimeout(() => this.follow(take, tell), 2000);
    };
  },
};

const content = options.served ? null : JSON.parse(document.getElementById("content").textContent);

const file = {
  frames: async (series, view, from, count) => (content.frames[series]?.[view] ?? []).slice(from, from + count),
  table: async (name) => content.tables[name],
  address: (frame) => frame.data ?? "",
  follow(take) {
    // The sliders of this page go through the frames that are in it.
    for (const [name, views] of Object.entries(content.frames)) {
      const series = content.parts[`series:${name}`];
      if (!series) continue;
      for (const [view, frames] of Object.entries(views)) {
        series.views[view] = frames.length;
        if (frames.length) series.newest[view] = frames[frames.length - 1];
      }
    }
    take({ changed: content.parts, gone: [] });
  },
  written: content ? new Date(content.written * 1000) : null,
};

export const source = options.served ? served : file;
