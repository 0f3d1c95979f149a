// A token ask: the person's own key signs, for what they tick, and what was signed is shown decoded before it goes.

import { absoluteResource, broad, shortDid } from "./words.js";
import { fill, h, unique } from "./dom.js";
import { decoded } from "./encode.js";
import { exact, nodes, said } from "./escape.js";
import { sign } from "./keys.js";
import { sentence } from "./offers.js";
import { endChoice, smallerForm } from "./smaller.js";
import { absolute, span } from "./time.js";

const DAY = 86_400;
const LONG = 30 * DAY;
const LONGEST = 3_650 * DAY;

/**
 * The form of a token ask.
 * @param {any} ask @param {(value: string | undefined) => void} set
 * @param {{identity: import("./keys.js").Identity, venue: string, requester: string, now: () => number, isRead: () => boolean, whenRead: (act: () => void) => void}} context
 */
export function tokenForm(ask, set, context) {
  const { identity, requester } = context;
  const audience = ask.token.audience ?? requester;
  if (identity.did !== identity.subject) {
    return [
      h(
        "p",
        { class: "note" },
        "This needs a token signed by a key of your own, and this venue signs for you. You cannot answer this question here; you can leave it, or reject the request.",
      ),
    ];
  }
  if (audience === context.venue) {
    return [h("p", { class: "problem" }, "This would be a credential for the venue itself. It cannot be signed here.")];
  }
  /** @type {{cap: any, on: boolean, narrow: import("./smaller.js").Narrow, problem: string | null}[]} */
  const wanted = ask.token.caps.map((/** @type {any} */ cap) => ({ cap, on: false, narrow: {}, problem: null }));
  const asked = Math.min(ask.token.lifetime ?? DAY, LONGEST);
  const long = asked > LONG;
  let lifetime = long ? LONG : asked;
  const out = h("div", { class: "signed", role: "status" });
  const why = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "button", class: "sign" }, "Sign the token");
  let turn = 0; // what is being signed is for the ticks of one moment: any change makes it worthless
  const stale = () => {
    turn += 1;
    set(undefined);
    fill(out);
    why.hidden = true;
  };
  context.whenRead(() => (why.hidden = true));
  button.addEventListener("click", async () => {
    const chosen = wanted.filter((one) => one.on);
    const reason = !context.isRead()
      ? "Read on first: scroll until you have seen the end of this question, and of everything before it."
      : !chosen.length
      ? "Tick what the token shall say; a token that says nothing is none."
      : (chosen.find((one) => one.problem)?.problem ?? null);
    why.textContent = reason ?? "";
    why.hidden = !reason;
    if (reason) return;
    stale();
    const mine = turn;
    const token = await signed(chosen, identity, audience, Math.floor(context.now() / 1000) + lifetime);
    if (mine !== turn || !out.isConnected) return;
    fill(out, shown(token, identity.did));
    set(token);
  });
  return [
    h(
      "p",
      { class: "offers-intro" },
      "Here it is your own key that signs, not the venue. Only what you tick goes into the token.",
    ),
    h(
      "dl",
      { class: "exactly" },
      h("dt", {}, "For"),
      h("dd", {}, h("strong", {}, nodes(shortDid(audience, identity.subject))), " ", exact(audience)),
      ask.token.venue === undefined
        ? null
        : [h("dt", {}, "To be used at"), h("dd", {}, exact(ask.token.venue), " (says the requester)")],
    ),
    audience === requester
      ? null
      : h("p", { class: "broad-mark" }, h("strong", {}, "Not for the requester: "), "whoever this is could use it."),
    ...wanted.map((one) => capBox(one, identity.subject, stale)),
    h(
      "div",
      { class: "remark" },
      long ? h("p", { class: "broad-mark" }, h("strong", {}, "Long: "), `asked for is ${span(asked * 1000)}.`) : null,
      endChoice(
        asked,
        `${span(asked * 1000)}, as asked`,
        (seconds) => {
          lifetime = seconds ?? asked;
          stale();
        },
        long ? LONG : null,
      ),
    ),
    h("div", { class: "buttons" }, button),
    why,
    out,
  ];
}

/** One capability that is asked for. @param {any} one @param {string} owner @param {() => void} stale */
function capBox(one, owner, stale) {
  const [label, said_] = [unique("label"), unique("words")];
  const tick = h("input", { type: "checkbox", id: unique("cap"), "aria-labelledby": `${label} ${said_}` });
  const words = h("div", {});
  const draw = () => {
    const cap = { ...one.cap, ...one.narrow };
    const reasons = broad(cap, owner);
    fill(
      words,
      reasons.length ? h("p", { class: "broad-mark" }, h("strong", {}, "Broad: "), reasons.join(", "), ".") : null,
      h(
        "p",
        { class: "offer-words", id: said_ },
        one.problem ? "That is not inside what was asked for." : sentence(cap, owner),
      ),
      h("p", {}, exact(cap.can), " on ", exact(absoluteResource(cap.with, owner))),
      cap.nb ? h("pre", {}, said(JSON.stringify(cap.nb, null, 2), { lines: true })) : null,
    );
  };
  tick.addEventListener("change", () => {
    one.on = tick.checked;
    stale();
  });
  const smaller = smallerForm({
    offer: one.cap,
    owner,
    most: 0,
    now: Date.now,
    change: (narrow, problem) => {
      one.narrow = narrow;
      one.problem = problem;
      draw();
      stale();
    },
  });
  draw();
  return h(
    "div",
    { class: "offer" },
    words,
    h("label", { class: "tick", for: tick.id }, tick, h("span", { id: label }, "I sign this")),
    smaller,
  );
}

/**
 * @param {{cap: any, narrow: any}[]} chosen @param {import("./keys.js").Identity} identity @param {string} audience @param {number} exp
 */
function signed(chosen, identity, audience, exp) {
  const att = chosen.map(({ cap, narrow }) => {
    const { with: resource, can } = { ...cap, ...narrow };
    return { with: absoluteResource(resource, identity.subject), can, ...(cap.nb ? { nb: cap.nb } : {}) };
  });
  const nnc = crypto.randomUUID().replaceAll("-", "");
  return sign(identity, { iss: identity.did, aud: audience, ucv: "0.10.0", att, prf: [], exp, nnc });
}

/** A signed token, read back from its own text. @param {string} token @param {string} owner */
function shown(token, owner) {
  const claims = decoded(token);
  return h(
    "section",
    { class: "granted" },
    h("p", {}, h("strong", {}, "Signed, and not sent yet."), " This is what it says:"),
    h(
      "ul",
      {},
      claims.att.map((/** @type {any} */ cap) =>
        h("li", {}, sentence(cap, owner), " ", exact(cap.can), " on ", exact(cap.with))
      ),
    ),
    h(
      "dl",
      { class: "exactly" },
      h("dt", {}, "For"),
      h("dd", {}, exact(claims.aud)),
      h("dt", {}, "Until"),
      h("dd", {}, absolute(claims.exp * 1000)),
    ),
    h(
      "details",
      {},
      h("summary", {}, "All of it, decoded"),
      h("pre", {}, said(JSON.stringify(claims, null, 2), { lines: true })),
    ),
  );
}
