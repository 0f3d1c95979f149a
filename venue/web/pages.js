// Two more pages: what one has granted and is still good, and whom one does not want to hear from.

import { announce, fill, h, inside } from "./dom.js";
import { exact, nodes } from "./escape.js";
import { sentence } from "./offers.js";
import { live, problemOf } from "./settled.js";
import { absolute } from "./time.js";
import { broad, shortDid } from "./words.js";

/** Every live token that this venue signed at the owner's word, from its ledger. @param {import("./api.js").Api} api @param {string} owner */
export function grantsPage(api, owner) {
  const list = h("ul", { class: "rows" });
  const note = h("div", {}, h("p", {}, "Asking the venue…"));
  const more = h("button", { type: "button", class: "more", hidden: true }, "Load more");
  /** @type {string | undefined} */
  let cursor;
  const load = async () => {
    try {
      const page = await api.run("ucan/list", { limit: 100, ...(cursor ? { cursor } : {}) });
      cursor = page.cursor;
      list.append(...page.items.map((/** @type {any} */ mint) => row(api, mint, owner)));
      more.hidden = !cursor;
      fill(
        note,
        list.children.length
          ? h(
            "p",
            {},
            "Each of these opens something now. Revoking one works at once at this venue, also for whatever rests on it.",
          )
          : h("p", { class: "empty" }, "Nothing that you granted is still good."),
        h("p", { class: "note" }, `Checked ${absolute(api.now())}.`),
      );
    } catch (error) {
      fill(
        note,
        h("p", { class: "problem", role: "alert" }, problemOf(error)),
        h("button", { type: "button", on: { click: load } }, "Try again"),
      );
    }
  };
  more.addEventListener("click", load);
  load();
  return h("section", { class: "grants" }, h("h2", { tabindex: "-1" }, "Grants"), note, list, more);
}

/** @param {import("./api.js").Api} api @param {any} mint @param {string} owner */
function row(api, mint, owner) {
  const broads = mint.grants.flatMap((/** @type {any} */ grant) => broad(grant, owner));
  const box = h("li", { class: "mint" });
  const gone = () => {
    fill(box, h("p", { role: "status" }, "Revoked: it opens nothing any more."));
    box.classList.add("gone");
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
    live(api, mint, gone),
  );
  return box;
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
      fill(
        note,
        h("p", { class: "problem", role: "alert" }, problemOf(error)),
        h("button", { type: "button", on: { click: load } }, "Try again"),
      );
    }
  };
  load();
  return h("section", { class: "blocked" }, h("h2", { tabindex: "-1" }, "Blocked"), note, list);
}

/** @param {import("./api.js").Api} api @param {any} item @param {() => void} again */
function blockedRow(api, item, again) {
  const lift = h("button", { type: "button" }, "Unblock");
  lift.addEventListener("click", async () => {
    lift.disabled = true;
    try {
      await api.run("hitl/unblock", { requester: item.requester });
      announce("Unblocked.");
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
