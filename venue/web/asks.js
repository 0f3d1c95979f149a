// The form of each ask. What is typed goes into the draft; what the draft says about offers comes back by update().

import { h, unique } from "./dom.js";
import { oneLine, said } from "./escape.js";
import { known } from "./answer.js";

/**
 * The form of one ask.
 * @param {import("./answer.js").Ask} ask
 * @param {import("./answer.js").Draft} draft
 * @param {(option: any | null) => any[]} offersOf the offer boxes that hang on a choice
 * @param {() => void} changed
 * @param {(set: (value: any) => void) => any[]} tokenOf the form of a token ask
 * @param {any} end the mark that shows whether the requester's words were read to their end
 */
export function askForm(ask, draft, offersOf, changed, tokenOf, end) {
  const problem = h("p", { class: "problem ask-problem", id: unique("problem"), hidden: true });
  const set = (/** @type {any} */ value) => {
    if (value === undefined) delete draft.answers[ask.id];
    else draft.answers[ask.id] = value;
    changed();
  };
  const required = ask.required
    ? h("span", { class: "required" }, "required")
    : h("span", { class: "optional" }, "optional");
  const group = h("fieldset", {
    class: `ask ask-${known(ask) ? ask.type : "unknown"}`,
    "aria-describedby": problem.id,
  });
  const prompt = said(ask.prompt, { lines: true, tag: "span", class: "quoted" });
  prompt.id = unique("prompt");
  group.append(
    h("legend", {}, required, prompt),
    ...(ask.options ? [] : [end]),
    ...body(ask, draft, set, offersOf, tokenOf, prompt.id),
    ...(ask.options ? [end] : []),
    problem,
  );
  if (ask.comment) group.append(remark(ask, draft, changed));
  return {
    element: group,
    /** @param {string} text */
    complain(text) {
      problem.textContent = text;
      problem.hidden = !text;
    },
  };
}

/** @param {any} ask @param {any} draft @param {(value: any) => void} set @param {(option: any) => any[]} offersOf @param {(set: (value: any) => void) => any[]} tokenOf @param {string} prompt @returns {any[]} */
function body(ask, draft, set, offersOf, tokenOf, prompt) {
  switch (ask.type) {
    case "text":
      return [textForm(ask, draft, set, prompt)];
    case "approval":
      return approvalForm(ask, draft, set, offersOf);
    case "choice":
      return optionForm(ask, draft, set, offersOf, "radio");
    case "checkboxes":
      return optionForm(ask, draft, set, offersOf, "checkbox");
    case "token":
      return tokenOf(set).filter(Boolean);
    default:
      return [
        h(
          "p",
          { class: "note" },
          "This page has no form for this kind of ask. You can read it as it came, and reject the request.",
        ),
        h("pre", { class: "raw" }, said(JSON.stringify(ask, null, 2), { lines: true })),
      ];
  }
}

/** @param {any} ask @param {any} draft @param {(value: any) => void} set @param {string} prompt */
function textForm(ask, draft, set, prompt) {
  const input = h("textarea", { rows: 3, id: unique("answer"), value: draft.answers[ask.id] ?? "" });
  input.addEventListener("input", () => set(input.value === "" ? undefined : input.value));
  const label = h("label", { for: input.id, id: unique("label") }, "Your answer");
  input.setAttribute("aria-labelledby", `${label.id} ${prompt}`);
  return h("div", { class: "text-answer" }, label, input);
}

/** @param {any} ask @param {any} draft @param {(value: any) => void} set @param {(option: any) => any[]} offersOf */
function approvalForm(ask, draft, set, offersOf) {
  const name = unique("approval");
  const chosen = draft.answers[ask.id];
  return [
    choice("radio", name, "Yes, I approve", chosen === true, () => set(true)),
    ...nested(offersOf(null)),
    choice("radio", name, "No, I do not", chosen === false, () => set(false)),
    ask.required ? null : choice("radio", name, "Leave it unanswered", chosen === undefined, () => set(undefined)),
  ].filter(Boolean);
}

/** @param {any} ask @param {any} draft @param {(value: any) => void} set @param {(option: any) => any[]} offersOf @param {string} kind */
function optionForm(ask, draft, set, offersOf, kind) {
  const name = unique("option");
  const many = kind === "checkbox";
  /** @type {any[]} */
  const inputs = [];
  const none = many && ask.required
    ? choice(
      kind,
      name,
      "None of these",
      Array.isArray(draft.answers[ask.id]) && !draft.answers[ask.id].length,
      empty,
    )
    : null;
  function empty() {
    inputs.forEach((input) => (input.checked = false));
    set(none?.querySelector("input").checked ? [] : undefined);
  }
  function gather() {
    const chosen = ask.options
      .filter((/** @type {any} */ _, /** @type {number} */ index) => inputs[index].checked)
      .map((/** @type {any} */ option) => option.id);
    if (none) none.querySelector("input").checked = false;
    set(chosen.length ? (many ? chosen : chosen[0]) : undefined);
  }
  const parts = ask.options.flatMap((/** @type {any} */ option) => {
    const answer = draft.answers[ask.id];
    const on = many ? Array.isArray(answer) && answer.includes(option.id) : answer === option.id;
    const label = h(
      "span",
      { class: "quoted" },
      said(oneLine(option.label || option.id), { tag: "span" }),
      option.description ? said(oneLine(option.description), { tag: "span", class: "option-more" }) : null,
    );
    const row = choice(kind, name, label, on, gather);
    inputs.push(row.querySelector("input"));
    return [row, ...nested(offersOf(option))];
  });
  if (none) parts.push(none);
  if (!many && !ask.required) {
    parts.push(choice("radio", name, "Leave it unanswered", draft.answers[ask.id] === undefined, () => set(undefined)));
  }
  return parts;
}

/** @param {string} kind @param {string} name @param {any} label @param {boolean} on @param {() => void} changed */
function choice(kind, name, label, on, changed) {
  const input = h("input", { type: kind, name, id: unique("choice"), checked: on, on: { change: changed } });
  return h("label", { class: "choice", for: input.id }, input, h("span", { class: "choice-label" }, label));
}

/** @param {any[]} boxes */
function nested(boxes) {
  if (!boxes.length) return [];
  const intro = h(
    "p",
    { class: "offers-intro" },
    boxes.length === 1
      ? "This choice offers an access right. It is granted only if you tick it:"
      : "This choice offers access rights. Only those that you tick are granted:",
  );
  return [h("div", { class: "offers" }, intro, boxes)];
}

/** @param {any} ask @param {any} draft @param {() => void} changed */
function remark(ask, draft, changed) {
  const input = h("textarea", { rows: 2, id: unique("remark"), value: draft.comments[ask.id] ?? "" });
  input.addEventListener("input", () => {
    if (input.value) draft.comments[ask.id] = input.value;
    else delete draft.comments[ask.id];
    changed();
  });
  return remarkBox("A remark on this", input);
}

/** A remark, folded away until somebody wants to make one. @param {string} words @param {any} input */
export function remarkBox(words, input) {
  return h(
    "details",
    { class: "remark", open: input.value !== "" },
    h("summary", {}, words),
    h("label", { for: input.id, class: "unseen" }, words),
    input,
  );
}
