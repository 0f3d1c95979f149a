// Two more pages: what one has granted and is still good, and whom one does not want to hear from.

import { announce, fill, h, inside } from "./dom.js";
import { exact, nodes } from "./escape.js";
import { sentence } from "./offers.js";
import { live, problemOf } from "./settled.js";
import { good, signedBox } from "./signed.js";
import { absolute } from "./time.js";
import { broad, shortDid } from "./words.js";

/**
 * Every live token that this venue signed at the owner's word, from its ledger, and those that the owner's key signed in
 * this browser.
 * @param {import("./api.js").Api} api @param {string} owner
 */
export function grantsPage(api, owner) {
  const list = h("ul", { class: "rows" });
  const own = h("div", {});
  const note = h("div", {}, h("p", {}, "Asking the venue…"));
  const more = h("button", { type: "button", class: "more", hidden: true }, "Load more");
  const element = h("section", { class: "grants" }, h("h2", { tabindex: "-1" }, "Grants"), note, list, more, own);
  /** @type {Map<string, {element: any, gone: (words: string) => void}>} */
  const rows = new Map();
  /** @type {{from: string | undefined, next: string | undefined}} */
  let place = { from: undefined, next: undefined };
  const load = async (/** @type {string | undefined} */ from) => {
    try {
      const page = await api.run("ucan/list", { limit: 100, ...(from ? { cursor: from } : {}) });
      place = { from, next: page.cursor };
      const live = new Set(page.items.map((/** @type {any} */ mint) => mint.hash));
      if (!from && !page.cursor) {
        for (const [hash, one] of rows) if (!live.has(hash)) one.gone("It is over: revoked, or past its end.");
      }
      for (const mint of page.items.filter((/** @type {any} */ one) => !rows.has(one.hash))) {
        rows.set(mint.hash, row(api, mint, owner));
        list.append(rows.get(mint.hash)?.element);
      }
      more.hidden = !page.cursor;
      await signedHere(api, own, owner);
      fill(
        note,
        summary(list.querySelectorAll(".mint:not(.gone)").length),
        h("p", { class: "note" }, `Checked ${absolute(api.now())}.`),
      );
    } catch (error) {
      fill(note, trouble(error, () => load(from)));
    }
  };
  more.addEventListener("click", () => load(place.next));
  load(undefined);
  return { element, refresh: () => load(place.from) };
}

/** @param {number} count */
function summary(count) {
  return count
    ? h(
      "p",
      {},
      "Each of these opens something now. Revoking one works at once at this venue, also for whatever rests on it.",
    )
    : h("p", { class: "empty" }, "Nothing that the venue granted for you is still good.");
}

/** @param {import("./api.js").Api} api @param {any} box @param {string} owner */
async function signedHere(api, box, owner) {
  const signed = await good(api.base, owner, api.now()).catch(() => []);
  if (box.contains(document.activeElement)) return;
  fill(
    box,
    signed.length ? h("h2", {}, "Signed by your own key, in this browser") : null,
    signed.map((one) => signedBox(api, one, problemOf)),
  );
}

/** @param {unknown} error @param {() => void} again */
function trouble(error, again) {
  return [
    h("p", { class: "problem", role: "alert" }, problemOf(error)),
    h("button", { type: "button", on: { click: again } }, "Try again"),
  ];
}

/** @param {import("./api.js").Api} api @param {any} mint @param {string} owner */
function row(api, mint, owner) {
  const broads = mint.grants.flatMap((/** @type {any} */ grant) => broad(grant, owner));
  const box = h("li", { class: "mint" });
  const gone = (/** @type {string} */ words) => {
    if (box.classList.contains("gone")) return;
    const focused = box.contains(document.activeElement);
    const line = h("p", { role: "status", tabindex: "-1" }, words);
    fill(box, line);
    box.classList.add("gone");
    if (focused) line.focus();
  };
  const tell = {
    revoked: () => gone("Revoked: it opens nothing any more."),
    ended: () => gone("It came to its end, and opens nothing any more."),
  };
  box.append(
    h("p", {}, h("strong", {}, nodes(shortDid(mint.audience, owner)))),
    ...mint.grants.map((/** @type {any} */ grant) => h("p", { class: "offer-words" }, sentence(grant, owner))),
    ...(broads.length
      ? [h("p", { class: "broad-mark" }, h("strong", {}, "Broad: "), [...new Set(broads)].join(", "), ".")]
      : []),
    h(
      "dl",
      { class: "exactly" },
      h("dt", {}, "For"),
      h("dd", {}, exact(mint.audience)),
      mint.grants.map((/** @type {any} */ grant) => [
        h("dt", {}, "Exactly"),
        h("dd", {}, exact(grant.can), " on ", exact(grant.with)),
      ]),
      h("dt", {}, "Granted"),
      h(
        "dd",
        {},
        absolute(mint.created),
        mint.request ? [", ", inside(`/answered/${mint.request}`, {}, "by answering this request")] : null,
      ),
    ),
    live(api, mint, tell),
  );
  return { element: box, gone };
}

/** Whom the owner has blocked. @param {import("./api.js").Api} api */
export function blockedPage(api) {
  const list = h("ul", { class: "rows" });
  const note = h("div", {}, h("p", {}, "Asking the venue…"));
  const load = async () => {
    try {
      const { items } = await api.run("hitl/blocked", {});
      fill(
        list,
        items.map((/** @type {any} */ item) => blockedRow(api, item, load)),
      );
      fill(
        note,
        items.length
          ? h("p", {}, "You hear nothing from these, nor from their agents. They are not told.")
          : h("p", { class: "empty" }, "You have blocked nobody."),
        h("p", { class: "note" }, `Checked ${absolute(api.now())}.`),
      );
    } catch (error) {
      fill(note, trouble(error, load));
    }
  };
  load();
  const element = h("section", { class: "blocked" }, h("h2", { tabindex: "-1" }, "Blocked"), note, list);
  return { element, refresh: load };
}

/** @param {import("./api.js").Api} api @param {any} item @param {() => void} again */
function blockedRow(api, item, again) {
  const lift = h("button", { type: "button" }, "Unblock");
  lift.addEventListener("click", async () => {
    lift.disabled = true;
    try {
      await api.run("hitl/unblock", { requester: item.requester });
      announce("Unblocked.");
      /** @type {HTMLElement | null | undefined} */ (lift.closest("section")?.querySelector("h2"))?.focus();
      again();
    } catch (error) {
      lift.disabled = false;
      lift.after(h("p", { class: "problem", role: "alert" }, problemOf(error)));
    }
  });
  return h(
    "li",
    { class: "mint" },
    h("p", {}, exact(item.requester)),
    h("p", { class: "note" }, `Since ${absolute(item.created)}`),
    lift,
  );
}
