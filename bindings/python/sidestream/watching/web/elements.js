// Elements of the page. Texts are set as texts, so that no name of a file is taken for a tag.

export function make(tag, facts = {}, ...inner) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (name === "on") for (const [event, call] of Object.entries(value)) element.addEventListener(event, call);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...inner.filter((part) => part !== null && part !== undefined));
  return element;
}

export const byId = (id) => document.getElementById(id);

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A select with these [value, text] pairs, or texts.
export function choice(values, facts = {}) {
  const list = make("select", facts);
  fill(list, values);
  return list;
}

// Replaces the options of a select and keeps what is chosen, if it is still there.
export function fill(list, values) {
  const before = list.value;
  const key = JSON.stringify(values);
  if (list.dataset.values === key) return;
  list.dataset.values = key;
  list.replaceChildren(...values.map((one) => {
    const [value, text] = Array.isArray(one) ? one : [one, one];
    return make("option", { value }, text);
  }));
  if (values.some((one) => (Array.isArray(one) ? one[0] : one) === before)) list.value = before;
}

export function labelled(text, control) {
  return make("label", {}, make("span", {}, text), control);
}

export function short(number) {
  if (number === null || number === undefined) return "";
  return Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(5)));
}

export function moment(facts) {
  const parts = [];
  if (facts.iteration !== null && facts.iteration !== undefined) parts.push(`iteration ${facts.iteration}`);
  if (facts.cycle !== null && facts.cycle !== undefined && facts.cycle !== facts.iteration) parts.push(`cycle ${facts.cycle}`);
  if (facts.time !== null && facts.time !== undefined) parts.push(`time ${short(facts.time)}`);
  return parts.join(", ");
}

export const options = JSON.parse(document.body.dataset.options);
