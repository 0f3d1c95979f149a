// What somebody had typed for a request that was settled meanwhile: shown, for it cannot be sent any more.

import { h } from "./dom.js";
import { said } from "./escape.js";

/** @param {any} record @param {import("./answer.js").Draft} draft @param {string} fate what became of it */
export function leftover(record, draft, fate) {
  /** @type {[any, any][]} */
  const typed = record.asks.flatMap((/** @type {any} */ ask) => {
    const prompt = () => said(ask.prompt, { lines: true, class: "quoted" });
    return [
      [prompt(), ask.type === "token" ? undefined : draft.answers[ask.id]],
      [["Remark on", prompt()], draft.comments[ask.id]],
    ];
  });
  typed.push(["Remark on the whole", draft.comment || undefined], ["Reason of a rejection", draft.reason || undefined]);
  return h(
    "section",
    { class: "leftover" },
    h("h2", {}, "What you had typed"),
    h("p", { class: "note" }, fate),
    h(
      "dl",
      {},
      typed.filter(([, value]) => value !== undefined).map(([what, value]) => [
        h("dt", {}, what),
        h("dd", {}, said(plain(value), { lines: true })),
      ]),
    ),
  );
}

/** @param {any} value */
function plain(value) {
  if (typeof value === "boolean") return value ? "Yes" : "No";
  return Array.isArray(value) ? value.join(", ") : String(value);
}
