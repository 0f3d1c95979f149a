// Making an offer smaller before it is granted: a narrower path, a lesser ability, a nearer end.

import { outside } from "./capability.js";
import { h, unique } from "./dom.js";
import { span } from "./time.js";

const SPANS = [900, 3_600, 86_400, 7 * 86_400, 30 * 86_400];

/** @typedef {{with?: string, can?: string, exp?: number}} Narrow */

/**
 * A choice of ends that are nearer than `most` seconds; it begins with `first`, or with the whole.
 * @param {number | null} most @param {string} whole @param {(seconds: number | null) => void} change @param {number | null} [first]
 */
export function endChoice(most, whole, change, first = null) {
  const select = h(
    "select",
    { id: unique("end") },
    h("option", { value: "" }, whole),
    SPANS.filter((seconds) => most === null || seconds < most).map((seconds) =>
      h("option", { value: seconds }, span(seconds * 1000))
    ),
  );
  if (first !== null) select.value = String(first);
  select.addEventListener("change", () => change(select.value ? Number(select.value) : null));
  return [h("label", { for: select.id }, "Ends after"), select];
}

/**
 * The form; `most` is how many seconds the offer lives, null for ever, 0 when its end is not chosen here. It tells `change` what is smaller, and why that will not do.
 * @param {{offer: {with: string, can: string}, owner: string, most: number | null, now: () => number,
 *          change: (narrow: Narrow, problem: string | null) => void}} context
 */
export function smallerForm({ offer, owner, most, now, change }) {
  const problem = h("p", { class: "problem", id: unique("narrow"), hidden: true });
  const field = (/** @type {string} */ value) =>
    h("input", {
      type: "text",
      id: unique("narrow"),
      value,
      autocapitalize: "none",
      autocomplete: "off",
      spellcheck: "false",
      "aria-describedby": problem.id,
    });
  const resource = field(offer.with);
  const ability = field(offer.can);
  /** @type {number | null} */
  let seconds = null;
  const update = () => {
    /** @type {Narrow} */
    const narrow = {};
    if (resource.value !== offer.with) narrow.with = resource.value;
    if (ability.value !== offer.can) narrow.can = ability.value;
    if (seconds !== null) narrow.exp = Math.floor(now() / 1000) + seconds;
    const why = outside(offer, { with: resource.value, can: ability.value }, owner);
    problem.textContent = why ?? "";
    problem.hidden = !why;
    change(narrow, why);
  };
  resource.addEventListener("input", update);
  ability.addEventListener("input", update);
  return h(
    "details",
    { class: "smaller" },
    h("summary", {}, "Make it smaller"),
    h("label", { for: resource.id }, "On"),
    resource,
    h("label", { for: ability.id }, "May do"),
    ability,
    most === 0 ? null : endChoice(most, "as offered", (chosen) => {
      seconds = chosen;
      update();
    }),
    problem,
  );
}
