// What stands above every list and card: whose venue this is, whether the page is live, and where one can go.

import { h, inside } from "./dom.js";
import { said } from "./escape.js";
import * as help from "./help.js";
import { STATES } from "./list.js";

/**
 * The head of the page, and its links by name with the place of a count beside each.
 * @param {string} venue its name @param {string[]} pages @param {any} connection
 */
export function top(venue, pages, connection) {
  /** @type {Map<string, {link: any, count: any}>} */
  const links = new Map();
  const item = (/** @type {string} */ name) => {
    const count = h("span", { class: "tab-count" });
    const words = name[0].toUpperCase() + name.slice(1);
    const link = inside(`/${name}`, { class: "tab", "data-status": name }, words, " ", count);
    links.set(name, { link, count });
    return h("li", { class: name === pages[0] ? "first-page" : "" }, link);
  };
  const header = h(
    "header",
    { class: "top" },
    h(
      "p",
      { class: "brand" },
      inside("/open", {}, "Inbox"),
      " ",
      h("span", { class: "venue-name" }, "at ", said(venue)),
    ),
    connection,
    h("button", { type: "button", class: "quiet help", "aria-label": "Keys", on: { click: () => help.show() } }, "?"),
  );
  const list = h("ul", { class: "tabs" }, [...STATES, ...pages].map(item));
  return { header, nav: h("nav", { "aria-label": "Inbox" }, list), links };
}
