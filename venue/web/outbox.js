// Answers on their way: seconds in which nothing has been sent and everything can be undone, then the sending, for as
// long as it takes. What became of an answer is said here, wherever its card is by then.

import { Refusal, Unreachable } from "./api.js";
import { announce, fill, h, inside } from "./dom.js";
import { said } from "./escape.js";

const UNDO_SECONDS = 5;
const PAUSES = [0, 1_000, 3_000, 8_000];
const MARGIN = 1_500;

/**
 * @typedef {object} Letter
 * @property {string} title of the request
 * @property {string} what is done with it: "Answering" or "Rejecting"
 * @property {Record<string, any>} input of `hitl:respond`
 * @property {string} key under which it can land only once
 * @property {number} seconds in which it can be undone
 * @property {() => void} undone
 * @property {() => void} sending
 * @property {() => void} sent
 * @property {(error: any) => Promise<string | null>} failed what to say about it, if the card does not say it
 */

/** How long there is to undo, in seconds: five, or less when the deadline is nearer. @param {number | undefined} expires @param {number} now */
export function undoSeconds(expires, now) {
  if (expires === undefined) return UNDO_SECONDS;
  return Math.max(0, Math.min(UNDO_SECONDS, Math.floor((expires - now - MARGIN) / 1000)));
}

/** Whether nobody can tell what became of a call: no answer, or one of something that failed. @param {unknown} error */
export function isUnknown(error) {
  return error instanceof Unreachable || (error instanceof Refusal && error.status >= 500);
}

export class Outbox {
  /** @param {import("./api.js").Api} api */
  constructor(api) {
    this.api = api;
    this.element = /** @type {HTMLElement} */ (document.getElementById("outbox"));
    /** @type {Map<string, {phase: "undo" | "sending", cancel: () => void}>} */
    this.waiting = new Map();
    globalThis.addEventListener("beforeunload", (event) => {
      if (this.waiting.size) event.preventDefault();
    });
  }

  /** Whether an answer to this request is on its way. @param {string} id */
  has(id) {
    return this.waiting.has(id);
  }

  /** Whether it is under way already, and can no longer be undone. @param {string} id */
  isSending(id) {
    return this.waiting.get(id)?.phase === "sending";
  }

  /** Withdraw what was not sent yet, because it has become pointless. @param {string} id */
  drop(id) {
    this.waiting.get(id)?.cancel();
  }

  /** Take an answer, and send it unless it is undone in time. @param {Letter} letter */
  take(letter) {
    const phase = h("span", { class: "phase" });
    const words = h("p", { tabindex: "-1" }, h("strong", {}, letter.what), " “", said(letter.title), "” ", phase);
    const bar = h("div", { class: "letter" }, words);
    this.element.append(bar);
    if (letter.seconds > 0) this.#wait(letter, bar, phase);
    else this.#go(letter, bar, phase);
  }

  /** @param {Letter} letter @param {any} bar @param {any} phase */
  #wait(letter, bar, phase) {
    const { id } = letter.input;
    let { seconds } = letter;
    const count = h("span", { class: "count", "aria-hidden": "true" }, String(seconds));
    fill(phase, "Sending in ", count, " s");
    const undo = h("button", { type: "button", class: "undo", on: { click: () => back() } }, "Undo");
    bar.append(undo);
    const timer = setInterval(() => {
      seconds -= 1;
      count.textContent = String(Math.max(0, seconds));
      if (seconds > 0) return;
      clearInterval(timer);
      const focused = document.activeElement === undo;
      undo.remove();
      if (focused) bar.firstElementChild.focus();
      this.#go(letter, bar, phase);
    }, 1000);
    const leave = () => {
      clearInterval(timer);
      bar.remove();
      this.waiting.delete(id);
    };
    const back = () => {
      leave();
      announce("Undone. Nothing was sent.");
      letter.undone();
    };
    this.waiting.set(id, { phase: "undo", cancel: leave });
    undo.focus();
    announce(`${letter.what} “${letter.title}”. It is sent in ${seconds} seconds, unless you undo.`);
  }

  /** @param {Letter} letter @param {any} bar @param {any} phase */
  async #go(letter, bar, phase) {
    const { id } = letter.input;
    fill(phase, "Sending…");
    letter.sending();
    this.waiting.set(id, { phase: "sending", cancel: () => {} });
    const leave = () => {
      bar.remove();
      this.waiting.delete(id);
    };
    try {
      await this.#send(letter, bar, phase);
      leave();
      announce("Sent.");
      letter.sent();
    } catch (error) {
      leave();
      const text = await letter.failed(error);
      if (text) this.#notice(id, text);
    }
  }

  /**
   * Send it; while nobody answers, again, under the same key, until somebody does or the person has enough of it.
   * @param {Letter} letter @param {any} bar @param {any} phase
   */
  async #send(letter, bar, phase) {
    let stopped = false;
    let wake = () => {};
    const stop = h("button", { type: "button", on: { click: () => ((stopped = true), wake()) } }, "Stop trying");
    for (let tries = 0;; tries += 1) {
      try {
        return await this.api.run("hitl/respond", letter.input, letter.key);
      } catch (error) {
        if (!isUnknown(error) || stopped) throw error;
        if (tries > 0 && !stop.isConnected) {
          fill(phase, "The venue does not answer, so it is not known whether this arrived. Trying again…");
          bar.append(stop);
          announce(phase.textContent);
        }
        await new Promise((resolve) => {
          wake = () => (globalThis.removeEventListener("online", wake), resolve(null));
          globalThis.addEventListener("online", wake);
          setTimeout(wake, PAUSES[Math.min(tries, PAUSES.length - 1)]);
        });
        if (stopped) throw error;
      }
    }
  }

  /** What became of an answer whose card is closed; it stays until it is put away. @param {string} id @param {string} text */
  #notice(id, text) {
    const away = h("button", { type: "button", on: { click: () => bar.remove() } }, "Dismiss");
    const bar = h(
      "div",
      { class: "letter failed", role: "alert" },
      h("p", {}, said(text), " ", inside(`/open/${id}`, {}, "Open the request")),
      away,
    );
    this.element.append(bar);
  }
}
