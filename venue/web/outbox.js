// Answers on their way: five seconds in which nothing has been sent and everything can be undone, then the sending.

import { Unreachable } from "./api.js";
import { announce, h } from "./dom.js";
import { said } from "./escape.js";

export const UNDO_SECONDS = 5;
const RETRIES = [0, 1_000, 3_000];

/** @typedef {{title: string, what: string, input: Record<string, any>, key: string, undone: () => void, sending: () => void, sent: (output: any) => void, failed: (error: any) => void}} Letter */

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
    const { id } = letter.input;
    let seconds = UNDO_SECONDS;
    const count = h("span", { class: "count", "aria-hidden": "true" }, String(seconds));
    const words = h(
      "p",
      {},
      h("strong", {}, letter.what),
      " “",
      said(letter.title),
      "” ",
      h("span", { class: "phase" }, "Sending in ", count, " s"),
    );
    const undo = h("button", { type: "button", class: "undo", on: { click: () => back() } }, "Undo");
    const bar = h("div", { class: "letter" }, words, undo);
    const timer = setInterval(() => {
      seconds -= 1;
      count.textContent = String(Math.max(0, seconds));
      if (seconds <= 0) go();
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
    const go = async () => {
      clearInterval(timer);
      undo.remove();
      words.querySelector(".phase").textContent = "Sending…";
      letter.sending();
      this.waiting.set(id, { phase: "sending", cancel: () => {} });
      try {
        const output = await this.#send(letter);
        leave();
        letter.sent(output);
      } catch (error) {
        leave();
        letter.failed(error);
      }
    };
    this.waiting.set(id, { phase: "undo", cancel: leave });
    this.element.append(bar);
    undo.focus();
    announce(`${letter.what}: it is sent in ${UNDO_SECONDS} seconds unless you undo.`);
  }

  /** Send it; while nobody answers, again, under the same key, so that it can land only once. @param {Letter} letter */
  async #send(letter) {
    let last;
    for (const wait of RETRIES) {
      if (wait) await new Promise((resolve) => setTimeout(resolve, wait));
      try {
        return await this.api.run("hitl/respond", letter.input, letter.key);
      } catch (error) {
        if (!(error instanceof Unreachable)) throw error;
        last = error;
      }
    }
    throw last;
  }
}
