// When one capability lies inside another, as the venue judges it (D6); here it only guides, there it decides.

const PATH = /^(?:(?!\.{1,2}(?:\/|$))[^/%\\\x00-\x1f\x7f]+(?:\/|$))+$/;
const ABILITY = /^(?:\*|(?:[^/*\s\x00-\x1f\x7f]+(?:\/(?!$)|$))+)$/;
const DID = /^did:[a-z0-9]+(?::(?:[A-Za-z0-9._-]+|%[0-9A-Fa-f]{2})+)+$/;
const UNSEEN = /[\p{Cf}\p{Cc}\p{Zl}\p{Zp}]/u;

/** @typedef {{with: string, can: string}} Capability */

/** An absolute resource in the form that is compared, or null for none. @param {string} text @param {string} owner */
export function canonical(text, owner) {
  if (UNSEEN.test(text)) return null;
  if (text.startsWith("did:")) {
    const slash = text.indexOf("/");
    const did = slash < 0 ? text : text.slice(0, slash);
    const rest = slash < 0 ? "" : text.slice(slash + 1);
    return DID.test(did) && (!rest || PATH.test(rest)) ? text.replace(/\/$/, "") : null;
  }
  const rest = text.replace(/^\//, "");
  return PATH.test(rest) && !rest.split("/")[0].includes(":") ? `${owner}/${rest}`.replace(/\/$/, "") : null;
}

/**
 * Why a capability is not inside another, in words, or null when it is.
 * @param {Capability} outer @param {Capability} inner @param {string} owner
 */
export function outside(outer, inner, owner) {
  const wide = canonical(outer.with, owner);
  const small = canonical(inner.with, owner);
  if (small === null) return "This is no resource: write a path such as w/reports/march.";
  if (!ABILITY.test(inner.can) || UNSEEN.test(inner.can)) {
    return "This is no ability: write names with slashes between them, such as crud/read.";
  }
  if (wide === null || !within(small, wide)) return "The resource is not inside what was offered.";
  const can = outer.can.replace(/\/\*$/, "");
  return can === "*" || within(inner.can, can) ? null : "The ability is not inside what was offered.";
}

/** @param {string} below @param {string} above */
function within(below, above) {
  return below === above || below.startsWith(`${above}/`);
}
