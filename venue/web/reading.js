// How far a request was read: which ends of its texts were on the screen, or were scrolled past.

import { h } from "./dom.js";

const ABOVE = { rootMargin: "10000000px 0px 0px 0px" }; // what was scrolled past counts as well

export class Reading {
  constructor() {
    /** @type {Set<string>} */
    this.seen = new Set();
    /** @type {Map<Element, string>} */
    this.ends = new Map();
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {IntersectionObserver | null} */
    this.observer = null;
  }

  /** An end that has to be seen. @param {string} name */
  end(name) {
    const end = h("div", { class: "end", "aria-hidden": "true" });
    this.ends.set(end, name);
    return end;
  }

  /** Whether everything up to the end of an ask was on the screen. @param {any} record @param {any} ask */
  reached(record, ask) {
    const before = record.asks.slice(0, record.asks.indexOf(ask) + 1);
    return this.seen.has("description") && before.every((/** @type {any} */ one) => this.seen.has(`ask ${one.id}`));
  }

  /** Watch what stands on the page now. */
  watch() {
    this.stop();
    const observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        this.seen.add(this.ends.get(entry.target) ?? "");
        observer.unobserve(entry.target);
      }
      for (const listener of this.listeners) listener();
    }, ABOVE);
    for (const end of this.ends.keys()) observer.observe(end);
    this.observer = observer;
  }

  /** Watch no longer; what was seen stays seen. */
  stop() {
    this.observer?.disconnect();
  }
}
