// One offer: what may be done, in words and exactly, on what, until when, by whom; and the tick that repeats it.

import { fill, h, unique } from "./dom.js";
import { exact, nodes, said } from "./escape.js";
import { smallerForm } from "./smaller.js";
import { absolute, span } from "./time.js";
import { absoluteResource, broad, endOf, inWords, shortDid } from "./words.js";

/** What an offer allows, as a sentence. @param {any} offer @param {string} owner */
export function sentence(offer, owner) {
  const words = inWords(offer, owner);
  return [
    "May ",
    h("strong", {}, nodes(words.verb)),
    words.before ? ` ${words.before}` : "",
    words.name ? [" ", exact(words.name)] : "",
    words.after ? ` ${words.after}` : "",
    ".",
  ];
}

/** Until when, if it is approved now. @param {any} offer @param {number} now @param {number} fallback */
export function until(offer, now, fallback) {
  const end = endOf(offer, now, fallback);
  if (end === null) return "for ever: it never ends by itself";
  if (offer.exp !== undefined) return `${absolute(end * 1000)}, ${span(end * 1000 - now)} from now`;
  const why = offer.lifetime === undefined ? " (the offer does not say; this is the venue’s rule)" : "";
  return `${span((offer.lifetime ?? fallback) * 1000)} after you approve: about ${absolute(end * 1000)}${why}`;
}

/**
 * The box of an offer. `state()` says whether it may be ticked, and why not.
 * @param {import("./answer.js").Placed} placed
 * @param {{owner: string, audience: string, now: () => number, fallback: number,
 *          state: () => string | null, change: (on: boolean) => void,
 *          narrowed: (narrow: import("./smaller.js").Narrow, problem: string | null) => void}} context
 */
export function offerBox(placed, context) {
  const { offer } = placed;
  const why = h("p", { class: "why", id: unique("why") });
  const tick = h("input", {
    type: "checkbox",
    id: unique("offer"),
    "aria-describedby": why.id,
  });
  const words = h("p", { class: "offer-words", id: unique("words") }, sentence(offer, context.owner));
  const label = h("span", { id: unique("label") }, "I grant this");
  tick.setAttribute("aria-labelledby", `${label.id} ${words.id}`);
  const reasons = broad(offer, context.owner);
  const untilText = h("dd", {}, until(offer, context.now(), context.fallback));
  const smallerNow = h("div", { class: "smaller-now", role: "status" });
  const end = endOf(offer, context.now(), context.fallback);
  const smaller = smallerForm({
    offer,
    owner: context.owner,
    most: end === null ? null : Math.floor(end - context.now() / 1000),
    now: context.now,
    change: (narrow, problem) => {
      context.narrowed(narrow, problem);
      const is = !problem && Object.keys(narrow).length > 0;
      const part = { ...offer, ...narrow };
      fill(
        smallerNow,
        is
          ? [
            h("p", {}, h("strong", {}, "Smaller, as you grant it: ")),
            h("p", { class: "offer-words" }, sentence(part, context.owner)),
            h(
              "p",
              {},
              exact(part.can),
              " on ",
              exact(absoluteResource(part.with, context.owner)),
              narrow.exp === undefined ? "" : `, until ${absolute(narrow.exp * 1000)}`,
            ),
          ]
          : "",
      );
    },
  });
  const box = h(
    "div",
    { class: `offer${reasons.length ? " broad" : ""}` },
    reasons.length ? h("p", { class: "broad-mark" }, h("strong", {}, "Broad: "), reasons.join(", "), ".") : null,
    words,
    exactly(offer, context, untilText),
    h("label", { class: "tick", for: tick.id }, tick, label),
    why,
    smaller,
    smallerNow,
  );
  tick.addEventListener("click", (/** @type {Event} */ event) => {
    if (tick.getAttribute("aria-disabled") !== "true") return;
    event.preventDefault();
    why.classList.add("insist");
  });
  tick.addEventListener("change", () => context.change(tick.checked));
  /** Bring the box to what the form says now. */
  const update = (/** @type {boolean} */ ticked) => {
    const reason = context.state();
    tick.checked = ticked && !reason;
    tick.setAttribute("aria-disabled", reason ? "true" : "false");
    fill(why, reason ?? "");
    why.hidden = !reason;
    box.classList.toggle("ticked", tick.checked);
    untilText.textContent = until(offer, context.now(), context.fallback);
  };
  update(false);
  return { element: box, update };
}

/** A resource letter for letter, its path set apart from its owner. @param {string} text */
function resource(text) {
  const slash = text.indexOf("/");
  if (slash < 0) return exact(text);
  return h(
    "span",
    { class: "resource" },
    exact(text.slice(0, slash)),
    h("wbr"),
    h("strong", {}, exact(text.slice(slash))),
  );
}

/** @param {any} offer @param {{owner: string, audience: string}} context @param {any} untilText */
function exactly(offer, { owner, audience }, untilText) {
  return h(
    "dl",
    { class: "exactly" },
    h("dt", {}, "May do"),
    h("dd", {}, exact(offer.can)),
    h("dt", {}, "On"),
    h("dd", {}, resource(absoluteResource(offer.with, owner))),
    h("dt", {}, "Until"),
    untilText,
    h("dt", {}, "For"),
    h("dd", {}, h("strong", {}, nodes(shortDid(audience, owner))), ", who asks this"),
    offer.nb
      ? [h("dt", {}, "Caveats"), h("dd", {}, h("pre", {}, said(JSON.stringify(offer.nb, null, 2), { lines: true })))]
      : null,
  );
}
