// One request: the verified frame, the requester's words, the form, and the answer.

import { Refusal } from "./api.js";
import { blank, isTouched, known, offers } from "./answer.js";
import { announce, fill, h, inside } from "./dom.js";
import { digestOf } from "./encode.js";
import { oneLine, said, visible } from "./escape.js";
import { Form } from "./form.js";
import { badge, blocking, smallPrint, title, unverified, verified } from "./frame.js";
import { leftover } from "./leftover.js";
import { sentence } from "./offers.js";
import { isUnknown, undoSeconds } from "./outbox.js";
import { prose } from "./prose.js";
import { Reading } from "./reading.js";
import { headline, problemOf, response } from "./settled.js";
import { forget, keep } from "./signed.js";
import { left } from "./time.js";

/**
 * @typedef {object} Desk what a card needs from the page around it
 * @property {import("./api.js").Api} api
 * @property {string} owner
 * @property {{fallback: number, unsigned: boolean}} policy
 * @property {import("./outbox.js").Outbox} outbox
 * @property {Map<string, import("./answer.js").Draft>} drafts
 * @property {Map<string, string>} keys
 * @property {Set<string>} mine answered on this page
 * @property {Set<string>} tried sent from this page, without hearing what became of it
 * @property {Map<string, number>} settledAt
 */

const LOOKS = 100;
const LOOK_PAUSE = 3_000;

export class Card {
  /** @param {Desk} desk @param {any} record */
  constructor(desk, record) {
    this.desk = desk;
    this.record = record;
    this.draft = desk.drafts.get(record.id) ?? blank();
    desk.drafts.set(record.id, this.draft);
    this.reading = new Reading();
    /** @type {Form | null} */
    this.form = null;
    this.heading = title(record.title);
    this.heading.tabIndex = -1;
    this.closed = false;
    this.again = false; // whether it was closed and opened since its form was drawn
    this.state = h("div", { class: "card-state" });
    this.element = h("article", { class: `card ${record.status}`, "data-id": record.id });
  }

  /** Fill the card; the record is checked against its own digest before anything of it can be answered. */
  async draw() {
    const { record } = this;
    const sound = (await digestOf(record)) === record.digest;
    const open = record.status === "open";
    const lapsed = open && left(record.expires, this.desk.api.now()).state === "over";
    fill(
      this.element,
      inside(`/${record.status}`, { class: "back" }, "← Back to the list"),
      this.state,
      verified(record, this.desk.owner),
      unverified(),
      h(
        "section",
        { class: "theirs-box", "aria-label": "Written by the requester" },
        this.heading,
        record.description ? prose(record.description) : null,
        this.reading.end("description"),
      ),
      open && sound && !lapsed ? this.#form().element : h(
        "section",
        { class: "asked" },
        record.asks.map((/** @type {any} */ ask) => this.#asked(ask)),
      ),
      smallPrint(record),
      blocking(record, this.desk.owner, this.desk.api),
    );
    if (!sound) {
      fill(
        this.state,
        h(
          "p",
          { class: "problem", role: "alert" },
          "This record does not match its own digest. Do not rely on it; it cannot be answered here.",
        ),
      );
    } else if (!open) {
      await this.#settled();
      if (isTouched(this.draft)) this.state.append(leftover(record, this.draft, this.#fate()));
    } else if (lapsed) {
      fill(
        this.state,
        h("p", { class: "outcome expired", role: "alert" }, h("strong", {}, "The deadline has passed.")),
      );
    }
    if (record.status === "open" && !this.closed) this.reading.watch();
    if (this.desk.outbox.has(record.id)) this.#freeze("Your answer is on its way.");
  }

  /** It was closed while its answer waits, and is shown again; undone, it is drawn afresh. */
  reopen() {
    this.closed = false;
    this.again = true;
  }

  /** Stop watching; the draft stays for when the card is opened again. */
  close() {
    this.closed = true;
    this.reading.stop();
    if (!isTouched(this.draft)) this.desk.drafts.delete(this.record.id);
  }

  /**
   * Somebody or something settled it: say so, and leave what was typed where it is, read-only.
   * @param {any} record as it stands now @param {number} [when]
   */
  async settled(record, when) {
    if (when !== undefined) this.desk.settledAt.set(record.id, when);
    const typed = isTouched(this.draft) && !this.desk.mine.has(record.id);
    const focused = this.element.contains(document.activeElement);
    this.record = record;
    this.element.className = `card ${record.status}`;
    if (typed && this.form) {
      this.form.retire();
      this.element.querySelector(".badge")?.replaceWith(badge(record.status));
      await this.#settled();
      this.state.append(h("p", { class: "note" }, `${this.#fate()} What you had typed still stands below, read-only.`));
    } else {
      await this.draw();
    }
    if (focused) this.#showState();
  }

  /** What became of what was typed, when something else settled the request. */
  #fate() {
    return this.desk.tried.has(this.record.id)
      ? "It may have been your answer that did it."
      : "Nothing of yours was sent.";
  }

  /** Go to what is said of the state, at the top of the card. */
  #showState() {
    const line = /** @type {HTMLElement | null} */ (this.state.querySelector(".outcome"));
    line?.focus({ preventScroll: true });
    line?.scrollIntoView({ block: "center" });
  }

  /** The deadline passed by the venue's clock: whatever was typed, it can no longer be sent. */
  async lapse() {
    if (this.lapsed || this.desk.outbox.isSending(this.record.id)) return;
    this.lapsed = true;
    await this.desk.api.status().catch(() => {}); // this machine's clock may have jumped
    this.lapsed = left(this.record.expires, this.desk.api.now()).state === "over";
    if (!this.lapsed || this.record.status !== "open") return;
    this.desk.outbox.drop(this.record.id);
    this.#freeze("");
    fill(
      this.state,
      h(
        "p",
        { class: "outcome expired", role: "alert" },
        h("strong", {}, "The deadline has passed."),
        " What you had typed still stands below; it can no longer be sent.",
      ),
    );
    await this.#again();
  }

  async #settled() {
    const { record, desk } = this;
    const where = desk.mine.has(record.id) ? "here" : desk.tried.has(record.id) ? "perhaps" : "elsewhere";
    const line = await headline(desk.api, record, where, desk.settledAt.get(record.id));
    line.setAttribute("role", "status");
    fill(this.state, line, response(record, desk.owner, desk.api));
    announce(line.textContent ?? "");
  }

  #form() {
    this.form = new Form(this.desk, this.record, this.draft, this.reading, (what, input) => this.#take(what, input));
    return this.form;
  }

  /** An ask as it was asked, where there is nothing to answer any more. @param {any} ask */
  #asked(ask) {
    const { owner } = this.desk;
    const placed = offers({ asks: [ask] });
    return h(
      "div",
      { class: "ask" },
      said(ask.prompt, { lines: true, tag: "p", class: "quoted prompt" }),
      ask.options
        ? h(
          "ul",
          {},
          ask.options.map((/** @type {any} */ option) =>
            h("li", {}, said(oneLine(option.label || option.id), { class: "quoted" }))
          ),
        )
        : null,
      placed.map(({ offer }) => h("p", { class: "offer-words" }, "Offered: ", sentence(offer, owner))),
      known(ask) ? null : h("pre", { class: "raw" }, said(JSON.stringify(ask, null, 2), { lines: true })),
    );
  }

  /** @param {string} what @param {Record<string, any>} said */
  #take(what, said) {
    const { desk, record } = this;
    const text = JSON.stringify(said);
    const input = JSON.parse(text); // what is sent is what was there at this moment, whatever is typed or signed later
    const key = desk.keys.get(text) ?? crypto.randomUUID();
    desk.keys.set(text, key);
    this.form?.complain("");
    this.#freeze("Nothing is sent yet. You can still undo.");
    desk.outbox.take({
      title: visible(record.title),
      what,
      input,
      key,
      seconds: undoSeconds(record.expires, desk.api.now()),
      undone: () => this.#thaw(true),
      sending: () => {
        this.#freeze("Sending…");
        keep(desk.api.base, desk.owner, record.id, this.#tokens(input)).catch(() => {});
      },
      sent: () => this.#sent(),
      failed: (error) => this.#failed(error, input),
    });
  }

  /** The tokens in an answer, by ask. @param {Record<string, any>} input @returns {[string, string][]} */
  #tokens({ answers = {} }) {
    const asks = this.record.asks.filter((/** @type {any} */ ask) => ask.type === "token" && answers[ask.id]);
    return asks.map((/** @type {any} */ { id }) => [id, answers[id]]);
  }

  async #sent() {
    const { desk, record } = this;
    desk.mine.add(record.id);
    desk.drafts.delete(record.id);
    this.draft = blank();
    fill(this.state, h("p", { class: "outcome", tabindex: "-1" }, h("strong", {}, "Sent.")));
    await this.#again();
    if (this.element.isConnected) this.#showState();
  }

  /** What to say of an answer that was not taken, if this card cannot show it any more. @param {any} error @param {Record<string, any>} input */
  async #failed(error, input) {
    const { desk, record } = this;
    if (isUnknown(error)) {
      desk.tried.add(record.id);
      this.#lookAgain();
    } else {
      for (const [ask] of this.#tokens(input)) forget(desk.api.base, { request: record.id, ask }).catch(() => {});
    }
    const gone = error instanceof Refusal && ["not_open", "expired", "not_found"].includes(error.code);
    if (gone && (await this.#again(error.body.when))) {
      return this.element.isConnected ? null : `Not sent: “${visible(record.title)}” was settled before.`;
    }
    await this.#thaw(false);
    const text = notSent(error);
    this.form?.complain(text);
    return this.element.isConnected ? null : `“${visible(record.title)}”: ${text}`;
  }

  /** While nobody knows what became of an answer, ask now and then. */
  async #lookAgain() {
    for (let tries = 0; tries < LOOKS; tries += 1) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_PAUSE));
      if (this.desk.outbox.has(this.record.id) || this.record.status !== "open" || (await this.#again())) return;
    }
  }

  /** Read the record again; says whether it is settled. @param {number} [when] */
  async #again(when) {
    try {
      const record = await this.desk.api.read(`h/${this.record.id}`);
      if (!record || record.status === "open") return false;
      await this.settled(record, when);
      return true;
    } catch {
      return false;
    }
  }

  /** @param {string} text */
  #freeze(text) {
    this.form?.freeze();
    if (text) fill(this.state, h("p", { class: "note" }, text));
  }

  /** @param {boolean} undone */
  async #thaw(undone) {
    if (this.again) await this.draw();
    this.again = false;
    fill(this.state, undone ? h("p", { class: "note" }, "Undone. Nothing was sent.") : "");
    this.form?.thaw();
  }
}

/** Why an answer was not taken, or that nobody knows. @param {any} error */
function notSent(error) {
  if (isUnknown(error)) {
    return "The venue did not answer, so it is not known whether your answer arrived. Once it answers again, this page shows what holds.";
  }
  return error instanceof Refusal && error.code === "stale_digest"
    ? "This is not what the venue holds any more. Nothing was sent. Load the page again and read it afresh."
    : `Not sent. ${problemOf(error)}`;
}
