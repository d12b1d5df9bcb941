// Parameters that the configuration marks as steerable: their values, and new ones.
import { byId, make, options, say } from "watch/elements";
import { source } from "watch/source";

const forms = new Map();

function range(parameter) {
  const parts = [parameter.type];
  if (parameter.from !== null) parts.push(`from ${parameter.from}`);
  if (parameter.to !== null) parts.push(`to ${parameter.to}`);
  return parts.join(", ");
}

function formOf(parameter) {
  const value = make("input", { type: "text", inputmode: "decimal", value: parameter.value, autocomplete: "off",
    "aria-label": `New value of ${parameter.name}`, size: "14" });
  const now = make("output", {});
  const facts = make("span", { class: "note" });
  const answer = make("p", { class: "answer", role: "status" });
  const send = make("button", { type: "submit" }, "Set");
  const form = make("form", { class: "parameter", on: { submit: async (event) => {
    event.preventDefault();
    send.disabled = true;
    say(answer, "sent; the answer comes when an iteration ends …");
    answer.className = "answer";
    const sentence = await source.steer(parameter.name, value.value.trim());
    say(answer, sentence);
    answer.classList.add(sentence.startsWith("accepted") ? "good" : "bad");
    send.disabled = false;
  } } }, make("strong", {}, parameter.name), now, value, send, facts, answer);
  form.dataset.parameter = parameter.name;
  for (const control of [value, send]) control.hidden = !options.mayAsk;
  return { form, now, facts };
}

export function takeParameters(parameters) {
  const section = byId("steering");
  const empty = section.querySelector(".empty");
  empty.hidden = Boolean(parameters?.length);
  say(empty, "Nothing can be steered now: no run goes on that has steered parameters in its configuration.");
  const names = new Set((parameters ?? []).map((one) => one.name));
  for (const [name, one] of forms) {
    if (!names.has(name)) {
      one.form.remove();
      forms.delete(name);
    }
  }
  for (const parameter of parameters ?? []) {
    if (!forms.has(parameter.name)) {
      forms.set(parameter.name, formOf(parameter));
      byId("parameters").append(forms.get(parameter.name).form);
    }
    const { now, facts } = forms.get(parameter.name);
    say(now, `= ${parameter.value}`);
    say(facts, range(parameter));
  }
}
