// The frame of a card: what the venue verified, above and apart from what the requester wrote.

import { times } from "./clock.js";
import { h } from "./dom.js";
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
      h("dd", {}, agent ? ["Agent ", h("strong", {}, exact(agent))] : yours ? "You, yourself" : "A person or a service"),
      h("dt", {}, "On behalf of"),
      h("dd", {}, yours ? h("strong", {}, "you") : [h("strong", { class: "theirs" }, "somebody else"), " ", exact(person)]),
      record.origin === undefined ? null : [h("dt", {}, "Came through"), h("dd", {}, exact(typeof record.origin === "string" ? record.origin : JSON.stringify(record.origin)))],
      h("dt", {}, "Full name"),
      h("dd", {}, exact(record.from)),
    ),
    times(record),
  );
}

/** What kind of thing the requester's own words are. */
export function unverified() {
  return h("p", { class: "their-words" }, "From here on, these are the requester’s own words. The venue did not check them.");
}

/** The small print: what names the request. @param {any} record */
export function smallPrint(record) {
  return h(
    "details",
    { class: "small-print" },
    h("summary", {}, "Record and digest"),
    h("dl", {}, h("dt", {}, "Request and job"), h("dd", {}, exact(record.id)), h("dt", {}, "Digest of what is shown"), h("dd", {}, exact(record.digest))),
  );
}

/** @param {string} status */
export function badge(status) {
  return h("span", { class: `badge ${status}` }, status);
}

/** @param {any} text */
export function title(text) {
  return said(text, { tag: "h2", class: "title" });
}
