// The frame of a card: what the venue verified, above and apart from what the requester wrote.

import { times } from "./clock.js";
import { fill, h, inside } from "./dom.js";
import { exact, said } from "./escape.js";
import { cutAgent } from "./words.js";

/** Who asks, on whose behalf, and since when. @param {any} record @param {string} owner */
export function verified(record, owner) {
  const [person, agent] = cutAgent(record.from);
  const yours = person === owner;
  return h(
    "section",
    { class: "verified", "aria-label": "Verified by the venue" },
    h("p", { class: "seal" }, h("span", {}, "Verified by the venue"), badge(record.status)),
    h(
      "dl",
      {},
      h("dt", {}, "Asked by"),
      h(
        "dd",
        {},
        agent ? ["Agent ", h("strong", {}, exact(agent))] : yours ? "You, yourself" : "A person or a service",
      ),
      h("dt", {}, "On behalf of"),
      h(
        "dd",
        {},
        yours ? h("strong", {}, "you") : [h("strong", { class: "theirs" }, "somebody else"), " ", exact(person)],
      ),
      record.origin === undefined ? null : [
        h("dt", {}, "Came through"),
        h("dd", {}, exact(typeof record.origin === "string" ? record.origin : JSON.stringify(record.origin))),
      ],
      h("dt", {}, "Full name"),
      h("dd", {}, exact(record.from)),
    ),
    times(record),
  );
}

/** What kind of thing the requester's own words are, and how they look on the whole card. */
export function unverified() {
  return h(
    "p",
    { class: "their-words" },
    "What stands behind a double line, here and below, are the requester’s own words. Nobody checked them.",
  );
}

/** The small print: what names the request. @param {any} record */
export function smallPrint(record) {
  return h(
    "details",
    { class: "small-print" },
    h("summary", {}, "Record and digest"),
    h(
      "dl",
      {},
      h("dt", {}, "Request and job"),
      h("dd", {}, exact(record.id)),
      h("dt", {}, "Digest of what is shown"),
      h("dd", {}, exact(record.digest)),
    ),
  );
}

/** A way to hear no more from somebody else, and all who act for them. @param {any} record @param {string} owner @param {import("./api.js").Api} api */
export function blocking(record, owner, api) {
  const [person] = cutAgent(record.from);
  if (person === owner) return null;
  const box = h("div", { class: "buttons" });
  const ask = h("button", { type: "button", class: "quiet block", on: { click: sure } }, "Block this requester…");
  function sure() {
    const yes = h("button", { type: "button", class: "danger", on: { click: block } }, "Block");
    fill(
      box,
      h(
        "p",
        {},
        "You will hear no more from ",
        exact(person),
        ", its agents, and whoever it speaks through. It is not told.",
      ),
      yes,
      h("button", { type: "button", on: { click: () => (fill(box, ask), ask.focus()) } }, "Do not block"),
    );
    yes.focus();
  }
  async function block() {
    try {
      await api.run("hitl/block", { requester: record.from });
      const said_ = h(
        "p",
        { role: "status", tabindex: "-1" },
        "Blocked. You can lift it under ",
        inside("/blocked", {}, "Blocked"),
        ". This request still waits for an answer.",
      );
      fill(box, said_);
      said_.focus();
    } catch (error) {
      fill(
        box,
        h("p", { class: "problem", role: "alert" }, error instanceof Error ? error.message : String(error)),
        ask,
      );
    }
  }
  box.append(ask);
  return box;
}

/** @param {string} status */
export function badge(status) {
  return h("span", { class: `badge ${status}` }, status);
}

/** @param {any} text */
export function title(text) {
  return said(text, { tag: "h2", class: "title" });
}
