// Tokens that the person's own key signed here: what they say, and a way to take them back.

import { announce, fill, h } from "./dom.js";
import { decoded } from "./encode.js";
import { exact, nodes } from "./escape.js";
import { sentence } from "./offers.js";
import { act, SIGNED } from "./store.js";
import { absolute } from "./time.js";
import { shortDid } from "./words.js";

const GRACE = 86_400_000; // a clock that is wrong for a while forgets nothing

/**
 * A token that this browser signed for a request. It is kept to be shown and revoked: only its text names it to the
 * venue, which has no copy. Nobody but its audience can use it.
 * @typedef {{request: string, ask: string, owner: string, token: string, exp: number}} Signed
 */

/**
 * Keep what was signed for a request, once it was handed over.
 * @param {URL} base @param {string} owner @param {string} request @param {[string, string][]} tokens by ask
 */
export async function keep(base, owner, request, tokens) {
  for (const [ask, token] of tokens) {
    const one = { request, ask, owner, token, exp: decoded(token).exp };
    await act(base, SIGNED, "readwrite", (store) => store.put(one));
  }
}

/** What somebody signed here and has not ended by `now`, in epoch milliseconds; what has is forgotten. @param {URL} base @param {string} owner @param {number} now @returns {Promise<Signed[]>} */
export async function good(base, owner, now) {
  const all = /** @type {Signed[]} */ (await act(base, SIGNED, "readonly", (store) => store.getAll()));
  for (const one of all) if (one.exp * 1000 + GRACE <= now) await forget(base, one);
  return all.filter((one) => one.owner === owner && one.exp * 1000 > now);
}

/** Forget a token that was revoked, or that nobody took. @param {URL} base @param {{request: string, ask: string}} signed */
export async function forget(base, { request, ask }) {
  await act(base, SIGNED, "readwrite", (store) => store.delete([request, ask]));
}

/**
 * What one token says, until when, and a button that revokes it.
 * @param {import("./api.js").Api} api @param {Signed} one @param {(error: any) => string} problemOf
 */
export function signedBox(api, one, problemOf) {
  const claims = decoded(one.token);
  const state = h("p", { role: "status", tabindex: "-1" }, `Good until ${absolute(claims.exp * 1000)}.`);
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "button", class: "danger" }, "Revoke");
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      await api.run("ucan/revoke", { token: one.token });
      await forget(api.base, one);
      button.remove();
      state.textContent = "Revoked. This venue no longer honours it; another service may not hear of that.";
      state.focus();
      announce("Revoked.");
    } catch (error) {
      button.disabled = false;
      problem.hidden = false;
      problem.textContent = problemOf(error);
    }
  });
  const list = h("ul", {});
  fill(list, claims.att.map((/** @type {any} */ cap) => h("li", {}, sentence(cap, one.owner))));
  return h(
    "section",
    { class: "granted signed-token" },
    h("h3", {}, "A token that you signed for ", nodes(shortDid(claims.aud, one.owner))),
    h("p", { class: "note" }, exact(claims.aud)),
    list,
    h("div", { class: "live-grant" }, state, button, problem),
  );
}
