// The keys. None of them alone approves or grants anything; single keys can be switched off (WCAG 2.1.4).

import { h } from "./dom.js";

const SWITCH = "venue-inbox:single-keys";

/** @type {[string, string][]} */
const KEYS = [
  ["j or ↓", "next request in the list"],
  ["k or ↑", "previous request in the list"],
  ["Enter", "open the request that has the focus"],
  ["u or Esc", "back to the list"],
  ["e", "to the first question of the request"],
  ["x", "write the reason of a rejection"],
  ["/", "search"],
  ["?", "these keys"],
  ["Ctrl+Enter or ⌘+Enter", "send the answer, or the rejection whose reason you are writing; five seconds to undo"],
  ["Space", "tick or untick what has the focus: the only way to grant is to tick it"],
];

/** Whether single keys act. */
export function enabled() {
  return localStorage.getItem(SWITCH) !== "off";
}

/** Show the list of keys. */
export function show() {
  const box = h("input", {
    type: "checkbox",
    checked: enabled(),
    on: { change: () => localStorage.setItem(SWITCH, box.checked ? "on" : "off") },
  });
  const close = h("button", { type: "button", class: "primary" }, "Close");
  const dialog = h(
    "dialog",
    { class: "keys", "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keys"),
    h(
      "dl",
      {},
      KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]),
    ),
    h("label", { class: "choice" }, box, h("span", {}, "Single keys act (the last two always do)")),
    h("div", { class: "buttons" }, close),
  );
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove()); // the browser has given the focus back by then
  document.body.append(dialog);
  dialog.showModal();
  close.focus();
}

/**
 * Listen for the keys.
 * @param {Record<string, () => void>} actions by key; `send` for the chord
 */
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    // A key that is held presses a button once, not one button after the other.
    if (event.repeat && target.closest("button") && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
    }
    if (document.querySelector("dialog[open]")) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
      event.preventDefault();
      if (target === document.body || target.closest(".card")) actions.send();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = target.matches("textarea, select, input:not([type=radio]):not([type=checkbox])");
    if (typing && event.key === "Escape") target.blur();
    if (typing || !enabled()) return;
    const arrow = event.key.startsWith("Arrow");
    if (arrow && !target.closest(".rows")) return; // arrows scroll, and move between radio buttons
    const action = actions[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}
