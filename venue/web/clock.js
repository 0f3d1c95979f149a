// Elements that show an age or a deadline, and are kept right by one timer.

import { h } from "./dom.js";
import { ago, inFull, left } from "./time.js";

let now = () => Date.now();

/** Run all of them on this clock, once a second. @param {() => number} clock */
export function start(clock) {
  now = clock;
  setInterval(
    () => document.querySelectorAll("time[data-kind]").forEach((element) => show(/** @type {any} */ (element))),
    1000,
  );
}

/** @param {number} at */
export function age(at) {
  return shown(at, "age");
}

/** @param {number | undefined} at */
export function deadline(at) {
  return at === undefined ? h("span", { class: "deadline none" }, "no deadline") : shown(at, "deadline");
}

/** @param {number} at @param {string} kind */
function shown(at, kind) {
  const datetime = new Date(at).toISOString();
  const element = h("time", { datetime, title: inFull(at), "data-kind": kind, class: kind });
  show(element);
  return element;
}

/** @param {HTMLTimeElement} element */
function show(element) {
  const at = Date.parse(element.dateTime);
  let text = ago(at, now());
  if (element.dataset.kind === "deadline") {
    const standing = left(at, now());
    text = standing.text;
    element.className = `deadline ${standing.state}`;
  }
  if (element.textContent !== text) element.textContent = text;
}

/** Both times of a record, and in full on demand. @param {{created: number, expires?: number, status: string}} record */
export function times(record) {
  const full = h("dl", {}, h("dt", {}, "Asked"), h("dd", {}, inFull(record.created)));
  if (record.expires !== undefined) full.append(h("dt", {}, "Expires"), h("dd", {}, inFull(record.expires)));
  return h(
    "details",
    { class: "times" },
    h("summary", {}, "Asked ", age(record.created), record.status === "open" ? [", ", deadline(record.expires)] : null),
    full,
  );
}
