// What sending an answer would do, said before it is done.

import { conferred, equals, granted, isTouched, offers } from "./answer.js";
import { h } from "./dom.js";
import { decoded } from "./encode.js";
import { nodes } from "./escape.js";
import { sentence } from "./offers.js";
import { absolute } from "./time.js";
import { endOf, shortDid } from "./words.js";

/**
 * The words on the button, and those above it.
 * @param {any} record @param {import("./answer.js").Draft} draft
 * @param {{owner: string, now: number, fallback: number}} context
 */
export function summary(record, draft, context) {
  const chosen = conferred(record, draft);
  const given = chosen.map((placed) => granted(placed, draft));
  const label = given.length
    ? `Send answer and grant ${given.length === 1 ? "this access" : `these ${given.length}`}`
    : "Send answer";
  const content = [
    ...(given.length ? grants(record, given, endsOf(record, draft, chosen, context), context) : []),
    ...tokens(record, draft, context.owner),
  ];
  if (content.length) return { label, content };
  if (!isTouched(draft)) {
    return { label: "Send without an answer", content: [h("p", {}, "You have answered nothing.")] };
  }
  const nothing = offers(record).length
    ? "Sending this answer grants no access."
    : "Sending this answer grants nothing; it only tells the requester.";
  return { label, content: [h("p", {}, nothing)] };
}

/**
 * When each of what is granted would end: with the nearest end of all equal offers whose choice is made.
 * @param {any} record @param {import("./answer.js").Draft} draft @param {import("./answer.js").Placed[]} chosen
 * @param {{now: number, fallback: number}} context
 */
function endsOf(record, draft, chosen, { now, fallback }) {
  return chosen.map((placed) => {
    const all = [granted(placed, draft), ...equals(record, draft, placed).map((one) => one.offer)];
    return Math.min(...all.map((offer) => endOf(offer, now, fallback) ?? Infinity));
  });
}

/** @param {any} record @param {import("./words.js").Offer[]} given @param {number[]} ends @param {{owner: string}} context */
function grants(record, given, ends, { owner }) {
  const first = Math.min(...ends);
  const end = first === Infinity ? "for ever" : `until ${absolute(first * 1000)}`;
  const differ = new Set(ends).size > 1;
  return [
    h("p", {}, h("strong", {}, "Sending this answer grants"), " to ", name(record.from, owner), `, ${end}:`),
    list(given, owner),
    ...(differ ? [h("p", {}, "They go into one token, which ends with the first of them.")] : []),
  ];
}

/** @param {any} record @param {import("./answer.js").Draft} draft @param {string} owner @returns {any[]} */
function tokens(record, draft, owner) {
  return record.asks
    .filter((/** @type {any} */ ask) => ask.type === "token" && draft.answers[ask.id])
    .flatMap((/** @type {any} */ ask) => {
      const claims = decoded(draft.answers[ask.id]);
      const said = h("strong", {}, "Sending this answer hands over a token that you signed,");
      return [
        h("p", {}, said, " for ", name(claims.aud, owner), `, until ${absolute(claims.exp * 1000)}:`),
        list(claims.att, owner),
      ];
    });
}

/** @param {string} did @param {string} owner */
function name(did, owner) {
  return h("strong", {}, nodes(shortDid(did, owner)));
}

/** @param {any[]} capabilities @param {string} owner */
function list(capabilities, owner) {
  return h("ul", {}, ...capabilities.map((capability) => h("li", {}, sentence(capability, owner))));
}
