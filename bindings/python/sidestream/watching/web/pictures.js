// Series of pictures: the newest one, a slider back through the series, and the series as a film.
import { byId, choice, fill, make, moment, say } from "watch/elements";
import { source } from "watch/source";

const cards = new Map();
const CHUNK = 100;

class Card {
  constructor(name) {
    this.name = name;
    this.known = new Map(); // facts of frames by view and number
    this.wanted = 0;
    this.count = 0;
    this.follows = true;
    this.image = make("img", { alt: "", decoding: "async" });
    this.caption = make("figcaption", { "aria-live": "off" });
    this.slider = make("input", { type: "range", min: "0", max: "0", value: "0", "aria-label": `Frame of ${name}`,
      on: { input: () => this.choose(Number(this.slider.value)) } });
    this.play = make("button", { type: "button", on: { click: () => this.film() } }, "Film");
    this.newest = make("button", { type: "button", on: { click: () => this.choose(this.count - 1) } }, "Newest");
    this.view = choice([""], { "aria-label": `View of ${name}`, on: { change: () => this.changeView() } });
    this.controls = make("div", { class: "controls" }, this.play, this.slider, this.newest);
    this.view.hidden = true;
    const large = make("button", { type: "button", class: "picture", "aria-label": `Enlarge ${name}`,
      on: { click: () => this.enlarge() } }, this.image);
    this.card = make("article", { class: "card" }, make("h3", {}, name), make("figure", {}, large, this.caption),
      this.view, this.controls);
    this.card.dataset.series = name;
  }

  take(facts) {
    const views = Object.keys(facts.views);
    fill(this.view, views);
    this.view.hidden = views.length < 2;
    this.facts = facts;
    if (!views.includes(this.view.value)) this.view.value = views[0];
    this.setCount();
    if (this.follows) this.show(facts.newest[this.view.value], this.count - 1);
  }

  setCount() {
    const count = this.facts.views[this.view.value] ?? 0;
    if (count < this.count) this.known.clear(); // another run
    this.count = count;
    this.slider.max = String(Math.max(count - 1, 0));
    this.controls.hidden = count < 2;
    if (this.follows) this.slider.value = this.slider.max;
  }

  changeView() {
    this.known.clear();
    this.setCount();
    this.choose(this.follows ? this.count - 1 : Math.min(Number(this.slider.value), this.count - 1));
  }

  async choose(number) {
    this.follows = number >= this.count - 1;
    this.newest.disabled = this.follows;
    this.slider.value = String(number);
    this.wanted = number;
    if (this.follows) {
      await this.show(this.facts.newest[this.view.value], number);
      return;
    }
    const frame = await this.frame(number);
    if (frame && this.wanted === number) await this.show(frame, number);
  }

  async frame(number) {
    const key = () => `${this.view.value} ${number}`;
    if (!this.known.has(key())) {
      const from = Math.floor(number / CHUNK) * CHUNK;
      const view = this.view.value;
      const frames = await source.frames(this.name, view, from, CHUNK).catch(() => []);
      if (this.known.size > 20000) this.known.clear();
      frames.forEach((one, n) => this.known.set(`${view} ${from + n}`, one));
    }
    return this.known.get(key());
  }

  // Replaces the picture when the new one is there, so that nothing flickers.
  async show(frame, number) {
    if (!frame) return;
    const address = source.address(frame);
    this.shows = address;
    const next = new Image();
    next.src = address;
    try {
      await next.decode();
    } catch {
      if (this.shows === address) say(this.caption, `${frame.file} cannot be shown`);
      return;
    }
    if (this.shows !== address) return; // a newer one is on its way
    this.image.src = address;
    this.image.alt = `${this.name}, ${moment(frame) || frame.file}`;
    this.image.dataset.file = frame.file;
    this.image.dataset.shownAt = String(Date.now());
    say(this.caption, [moment(frame) || frame.file, this.count > 1 ? `${number + 1} of ${this.count}` : ""]
      .filter(Boolean).join(" · "));
    if (byId("large")?.dataset.series === this.name) byId("large").querySelector("img").src = address;
  }

  async film() {
    if (this.playing) {
      this.playing = false;
      return;
    }
    this.playing = true;
    say(this.play, "Stop");
    let number = this.follows ? 0 : Number(this.slider.value);
    while (this.playing && number < this.count) {
      const began = performance.now();
      await this.choose(number);
      number += Math.max(1, Math.floor(this.count / 600));
      await new Promise((done) => setTimeout(done, Math.max(10, 80 - (performance.now() - began))));
    }
    this.playing = false;
    say(this.play, "Film");
    if (number >= this.count) this.choose(this.count - 1);
  }

  enlarge() {
    const image = make("img", { src: this.image.src, alt: this.image.alt });
    const dialog = make("dialog", { id: "large", on: { click: () => dialog.close(), close: () => dialog.remove() } },
      make("button", { type: "button", class: "close", "aria-label": "Close" }, "Close"), image);
    dialog.dataset.series = this.name;
    document.body.append(dialog);
    dialog.showModal();
  }
}

export function takeSeries(name, facts) {
  if (!cards.has(name)) {
    const card = new Card(name);
    cards.set(name, card);
    const later = [...cards.keys()].sort().find((other) => other > name);
    byId("pictures").querySelector(".cards").insertBefore(card.card, later ? cards.get(later).card : null);
  }
  cards.get(name).take(facts);
  byId("pictures").querySelector(".empty").hidden = true;
}

export function dropSeries(name) {
  cards.get(name)?.card.remove();
  cards.delete(name);
  byId("pictures").querySelector(".empty").hidden = cards.size > 0;
}

// Shows the card of the series that has a file.
export function goTo(file) {
  for (const [name, card] of cards) {
    if (name === file || Object.values(card.facts.newest).some((frame) => frame.file === file)) {
      card.card.scrollIntoView({ block: "center" });
      card.card.classList.add("found");
      setTimeout(() => card.card.classList.remove("found"), 2000);
      return true;
    }
  }
  return false;
}
