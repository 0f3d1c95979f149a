// What the screens before the inbox share: a heading, and a DID that can be copied.

import { announce, fill, h } from "./dom.js";
import { exact } from "./escape.js";

/** Show one screen with a heading, and move there. @param {string} name @param {string} title @param {...any} content */
export function screen(name, title, ...content) {
  const heading = h("h1", { tabindex: "-1" }, title);
  const main = h("main", { id: "main", class: `screen ${name}`, tabindex: "-1" }, heading, ...content);
  fill(/** @type {Element} */ (document.getElementById("page")), main);
  document.title = `${title} · Inbox`;
  heading.focus({ preventScroll: true });
}

/** A DID in full, with a button that copies it. @param {string} did */
export function copyable(did) {
  const button = h("button", { type: "button", class: "quiet", on: { click: copy } }, "Copy");
  async function copy() {
    try {
      await navigator.clipboard.writeText(did);
      button.textContent = "Copied";
      announce("Copied");
    } catch {
      getSelection()?.selectAllChildren(text);
      button.textContent = "Selected: copy it now";
    }
  }
  const text = exact(did);
  return h("div", { class: "copyable" }, text, button);
}
