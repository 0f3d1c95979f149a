// A request that is no longer open: who or what settled it, what was said, and what was granted.

import { Refusal, Unreachable } from "./api.js";
import { announce, fill, h } from "./dom.js";
import { decoded } from "./encode.js";
import { exact, nodes, oneLine, said } from "./escape.js";
import { sentence } from "./offers.js";
import { good, signedBox } from "./signed.js";
import { absolute } from "./time.js";
import { shortDid } from "./words.js";

/** @type {Record<string, string>} */
const WORDS = {
  answered: "This was answered",
  rejected: "This was rejected",
  cancelled: "The requester withdrew this",
  expired: "The deadline passed, and nobody answered",
};

const LONGEST_TIMER = 2 ** 31 - 1_000;

/** @type {Record<string, string>} */
const CHANNELS = { web: "in a browser", cli: "on the command line", api: "by a program" };

/**
 * Who settled a request, and when. Only its owner can answer, so another winner is the owner somewhere else; unless
 * this page tried and never heard what became of it.
 * @param {import("./api.js").Api} api @param {any} record @param {"here" | "perhaps" | "elsewhere"} where @param {number | undefined} when
 */
export async function headline(api, record, where, when) {
  const receipt = await receiptOf(api, record.id);
  const at = receipt?.at ?? when ?? (record.status === "expired" ? record.expires : undefined);
  const parts = [h("strong", {}, WORDS[record.status] ?? `This is ${record.status}`)];
  if (record.status === "answered" || record.status === "rejected") {
    const channel = receipt?.channel ? `: ${CHANNELS[receipt.channel] ?? receipt.channel}` : "";
    parts.push({ here: " by you, here", perhaps: " by you", elsewhere: ` by you, somewhere else${channel}` }[where]);
  }
  parts.push(at === undefined ? "." : `, ${absolute(at)}.`);
  return h("p", { class: `outcome ${record.status}`, tabindex: "-1" }, parts);
}

/** The claims of the venue's receipt; only the jobs of one's own agents show theirs. @param {import("./api.js").Api} api @param {string} id */
async function receiptOf(api, id) {
  try {
    const receipt = await api.receipt(id);
    return receipt ? decoded(receipt) : null;
  } catch {
    return null;
  }
}

/** What the response says. @param {any} record @param {string} owner @param {import("./api.js").Api} api */
export function response(record, owner, api) {
  const said_ = record.response;
  if (!said_) return null;
  if (said_.outcome === "reject") {
    return h(
      "section",
      { class: "response" },
      h("h2", {}, "The reason that went to the requester"),
      said_.comment ? said(said_.comment, { lines: true, tag: "p" }) : h("p", {}, "None was given."),
    );
  }
  const answers = record.asks
    .filter((/** @type {any} */ ask) => Object.hasOwn(said_.answers, ask.id))
    .map((/** @type {any} */ ask) => [
      h("dt", {}, said(ask.prompt, { class: "quoted" })),
      h(
        "dd",
        {},
        shown(ask, said_.answers[ask.id]),
        Object.hasOwn(said_.comments ?? {}, ask.id)
          ? h("p", { class: "note" }, "Remark: ", said(said_.comments[ask.id], { lines: true }))
          : null,
      ),
    ]);
  return h(
    "section",
    { class: "response" },
    h("h2", {}, "What was answered"),
    answers.length ? h("dl", {}, answers) : h("p", {}, "No question was answered."),
    said_.comment ? h("p", {}, "Remark: ", said(said_.comment, { lines: true })) : null,
    granted(record, owner, api),
  );
}

/** @param {any} ask @param {any} answer */
function shown(ask, answer) {
  if (ask.type === "token") return "A token that your key signed";
  if (ask.type === "approval") return answer ? "Yes, approved" : "No";
  if (ask.type === "choice" || ask.type === "checkboxes") {
    const chosen = Array.isArray(answer) ? answer : [answer];
    const labels = chosen.map((id) => {
      const label = ask.options.find((/** @type {any} */ option) => option.id === id)?.label || id;
      return said(oneLine(label), { class: "quoted" });
    });
    return labels.length ? labels : "None of these";
  }
  return said(typeof answer === "string" ? answer : JSON.stringify(answer), { lines: true });
}

/** What was granted, whether it is still good, and a way to take it back. @param {any} record @param {string} owner @param {import("./api.js").Api} api */
function granted(record, owner, api) {
  const grants = record.response.grants ?? [];
  const signed = record.asks.filter((/** @type {any} */ ask) =>
    ask.type === "token" && Object.hasOwn(record.response.answers, ask.id)
  );
  if (!grants.length && !signed.length) return h("p", { class: "no-grant" }, "No access was granted.");
  return [
    grants.length ? minted(record, owner, api) : null,
    signed.map((/** @type {any} */ ask) => handedOver(record, ask, owner, api)),
  ];
}

/** A token that was signed and handed over; this browser knows it if it was the one that signed. @param {any} record @param {any} ask @param {string} owner @param {import("./api.js").Api} api */
function handedOver(record, ask, owner, api) {
  const box = h("div", { "data-refresh": "" });
  const look = async () => {
    if (box.contains(document.activeElement)) return;
    const all = await good(api.base, owner, api.now()).catch(() => []);
    const mine = all.find((one) => one.request === record.id && one.ask === ask.id);
    fill(box, mine ? signedBox(api, mine, problemOf) : unseen(ask, record));
  };
  box.addEventListener("refresh", look);
  look();
  return box;
}

/** @param {any} ask @param {any} record */
function unseen(ask, record) {
  const audience = ask.token.audience ?? record.from;
  return h(
    "section",
    { class: "granted" },
    h("p", {}, "A token that your key signed was handed over, for ", exact(audience), "."),
    h(
      "p",
      { class: "note" },
      "This browser has no copy of it: it ended, was revoked here, or was signed elsewhere. The venue keeps none. Whoever has its text can revoke it with ",
      h("code", {}, "venue token revoke"),
      ".",
    ),
  );
}

/** @param {any} record @param {string} owner @param {import("./api.js").Api} api */
function minted(record, owner, api) {
  const { grants } = record.response;
  const state = h(
    "div",
    { class: "grant-state", "data-refresh": "", role: "status" },
    "Asking the venue whether it is still good…",
  );
  const look = async () => {
    try {
      const mint = await mintOf(api, record.id);
      const over = h("p", { tabindex: "-1" }, "It is over: revoked, or past its end.");
      const had = state.contains(document.activeElement);
      fill(state, mint ? live(api, mint, { revoked: look, ended: look }) : over);
      if (had) over.focus();
    } catch (error) {
      fill(state, h("p", { class: "problem" }, problemOf(error)));
    }
  };
  state.addEventListener("refresh", look);
  look();
  return h(
    "section",
    { class: "granted" },
    h("h3", {}, "Access that was granted to ", nodes(shortDid(record.from, owner))),
    h("p", { class: "note" }, exact(record.from)),
    h(
      "ul",
      {},
      grants.map((/** @type {any} */ grant) => h("li", {}, sentence({ ...grant, ...(grant.narrow ?? {}) }, owner))),
    ),
    state,
  );
}

/**
 * Until when a token is good, and a button that revokes it; it says when it ends by itself meanwhile.
 * @param {import("./api.js").Api} api @param {any} mint @param {{revoked: () => void, ended: () => void}} tell
 */
export function live(api, mint, tell) {
  const button = h("button", { type: "button", class: "danger", on: { click: revoke } }, "Revoke");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  async function revoke() {
    button.disabled = true;
    try {
      await api.run("ucan/revoke", { hash: mint.hash });
      announce("Revoked. It opens nothing any more.");
      button.disabled = false;
      button.focus();
      tell.revoked();
    } catch (error) {
      button.disabled = false;
      problem.hidden = false;
      problem.textContent = problemOf(error);
    }
  }
  const end = mint.exp === undefined ? "It never ends by itself." : `Good until ${absolute(mint.exp * 1000)}.`;
  const remains = mint.exp === undefined ? Infinity : mint.exp * 1000 - api.now();
  const box = h("div", { class: "live-grant" }, h("p", {}, end), button, problem);
  if (remains < LONGEST_TIMER) setTimeout(() => box.isConnected && tell.ended(), Math.max(0, remains) + 500);
  return box;
}

/** The live token that an answer minted, or null. @param {import("./api.js").Api} api @param {string} request */
async function mintOf(api, request) {
  let cursor;
  do {
    const page = await api.run("ucan/list", { limit: 1000, ...(cursor ? { cursor } : {}) });
    const found = page.items.find((/** @type {any} */ mint) => mint.request === request);
    if (found) return found;
    cursor = page.cursor;
  } while (cursor);
  return null;
}

/** A failed call in words. @param {any} error */
export function problemOf(error) {
  if (error instanceof Unreachable) return "The venue does not answer. Nothing that you see here is lost; try again.";
  return error instanceof Refusal
    ? `The venue refused this: ${error.message}`
    : `Something went wrong on this page: ${String(error)}`;
}
