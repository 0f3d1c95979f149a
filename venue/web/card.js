// One request: the verified frame, the requester's words, the form, and the answer.

import { Refusal } from "./api.js";
import { blank, conferred, isTouched, isTriggered, known, missing, offers, rejection, reply } from "./answer.js";
import { askForm } from "./asks.js";
import { announce, fill, h, inside, unique } from "./dom.js";
import { digestOf } from "./encode.js";
import { said, visible } from "./escape.js";
import { badge, blocking, smallPrint, title, unverified, verified } from "./frame.js";
import { offerBox, sentence } from "./offers.js";
import { prose } from "./prose.js";
import { Reading } from "./reading.js";
import { headline, problemOf, response } from "./settled.js";
import { summary } from "./summary.js";
import { left } from "./time.js";
import { tokenForm } from "./token.js";

/**
 * @typedef {object} Desk what a card needs from the page around it
 * @property {import("./api.js").Api} api
 * @property {string} owner
 * @property {{fallback: number, unsigned: boolean}} policy
 * @property {import("./outbox.js").Outbox} outbox
 * @property {Map<string, import("./answer.js").Draft>} drafts
 * @property {Map<string, string>} keys
 * @property {Set<string>} mine
 * @property {Map<string, number>} settledAt
 */

export class Card {
  /** @param {Desk} desk @param {any} record */
  constructor(desk, record) {
    this.desk = desk;
    this.record = record;
    this.draft = desk.drafts.get(record.id) ?? blank();
    desk.drafts.set(record.id, this.draft);
    this.reading = new Reading();
    this.reading.listeners.push(() => this.#updateBoxes());
    this.busy = false;
    /** @type {Map<string, {element: any, update: (ticked: boolean) => void}>} */
    this.boxes = new Map();
    /** @type {Map<string, {element: any, complain: (text: string) => void}>} */
    this.forms = new Map();
    this.heading = title(record.title);
    this.heading.tabIndex = -1;
    this.state = h("div", { class: "card-state" });
    this.answerArea = h("div", { class: "answer-area" });
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
      h(
        "section",
        { class: "theirs-box", "aria-label": "Written by the requester" },
        unverified(),
        this.heading,
        record.description ? prose(record.description) : null,
        this.reading.end("description"),
      ),
      open && sound && !lapsed
        ? this.#form()
        : h(
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
    } else if (lapsed) {
      fill(
        this.state,
        h("p", { class: "outcome expired", role: "alert" }, h("strong", {}, "The deadline has passed.")),
      );
    }
    if (record.status === "open") this.reading.watch();
    if (this.desk.outbox.has(record.id)) this.#freeze("Your answer is on its way.");
  }

  /** Stop watching; the draft stays for when the card is opened again. */
  close() {
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
    this.record = record;
    this.element.className = `card ${record.status}`;
    if (!typed) {
      await this.draw();
      return;
    }
    this.#freeze("");
    fill(this.answerArea);
    this.element.querySelector(".badge")?.replaceWith(badge(record.status));
    await this.#settled();
    this.state.append(
      h(
        "p",
        { class: "note" },
        "Nothing of yours was sent. What you had typed still stands below; it is read-only now.",
      ),
    );
  }

  /** The deadline passed by the venue's clock: whatever was typed, it can no longer be sent. */
  async lapse() {
    if (this.lapsed || this.desk.outbox.isSending(this.record.id)) return;
    this.lapsed = true;
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
    const line = await headline(desk.api, record, desk.mine.has(record.id), desk.settledAt.get(record.id));
    line.setAttribute("role", "status");
    fill(this.state, line, response(record, desk.owner, desk.api));
    announce(line.textContent ?? "");
  }

  #form() {
    const { record } = this;
    const placed = offers(record);
    const form = h("form", { class: "asks", on: { submit: (/** @type {Event} */ event) => event.preventDefault() } });
    this.fields = h("fieldset", { class: "bare" });
    for (const ask of record.asks) {
      const boxesOf = (/** @type {any} */ option) =>
        placed.filter((one) => one.ask === ask && one.option === option).map((one) => this.#offer(one));
      const built = askForm(
        ask,
        this.draft,
        boxesOf,
        () => this.#changed(),
        (set) => tokenForm(ask, set, this.#signing(ask)),
      );
      this.forms.set(ask.id, built);
      this.fields.append(built.element, this.reading.end(`ask ${ask.id}`));
    }
    this.fields.append(this.answerArea);
    form.append(this.fields);
    this.form = form;
    this.#drawAnswerArea();
    return form;
  }

  /** An ask as it was asked, where there is nothing to answer any more. @param {any} ask */
  #asked(ask) {
    const { owner } = this.desk;
    const placed = offers({ asks: [ask] });
    return h(
      "div",
      { class: "ask" },
      said(ask.prompt, { lines: true, tag: "p", class: "prompt" }),
      ask.options
        ? h(
            "ul",
            {},
            ask.options.map((/** @type {any} */ option) => h("li", {}, said(option.label || option.id))),
          )
        : null,
      placed.map(({ offer }) => h("p", { class: "offer-words" }, "Offered: ", sentence(offer, owner))),
      known(ask) ? null : h("pre", { class: "raw" }, said(JSON.stringify(ask, null, 2), { lines: true })),
    );
  }

  /** @param {import("./answer.js").Placed} placed */
  #offer(placed) {
    if (Object.keys(this.draft.narrow[placed.place] ?? {}).length) {
      // The form opens with the whole offer: what was ticked smaller must be ticked again.
      this.draft.echoed = this.draft.echoed.filter((place) => place !== placed.place);
      delete this.draft.narrow[placed.place];
      delete this.draft.bad[placed.place];
    }
    const box = offerBox(placed, {
      owner: this.desk.owner,
      audience: this.record.from,
      now: () => this.desk.api.now(),
      fallback: this.desk.policy.fallback,
      ticked: this.draft.echoed.includes(placed.place),
      state: () => this.#whyNot(placed),
      change: (on) => {
        this.draft.echoed = this.draft.echoed.filter((place) => place !== placed.place);
        if (on) this.draft.echoed.push(placed.place);
        this.#changed();
      },
      narrowed: (narrow, problem) => {
        this.draft.narrow[placed.place] = narrow;
        if (problem) this.draft.bad[placed.place] = problem;
        else delete this.draft.bad[placed.place];
        this.#changed();
      },
    });
    this.boxes.set(placed.place, box);
    return box.element;
  }

  /** What the form of a token ask has to know. @param {any} ask */
  #signing(ask) {
    const { api } = this.desk;
    delete this.draft.answers[ask.id]; // what was signed before the card was closed is signed again, not sent unseen
    return {
      identity: /** @type {import("./keys.js").Identity} */ (api.identity),
      audience: this.record.from,
      venue: api.about?.did ?? "",
      requester: this.record.from,
      now: () => api.now(),
      isRead: () => this.reading.reached(this.record, ask),
      whenRead: (/** @type {() => void} */ act) => this.reading.listeners.push(act),
    };
  }

  /** Why an offer cannot be ticked now, or null. @param {import("./answer.js").Placed} placed */
  #whyNot(placed) {
    if (this.desk.policy.unsigned)
      return "This venue signs only for users whom it manages, and you have a key of your own: it cannot grant this for you. The requester can ask for a token that you sign yourself.";
    if (!isTriggered(placed, this.draft)) return "Make this choice first; then you can grant what it offers.";
    return this.reading.reached(this.record, placed.ask)
      ? null
      : "Read on first: scroll until you have seen the end of this question, and of everything before it.";
  }

  #changed() {
    const { record, draft } = this;
    const live = new Set(
      offers(record)
        .filter((one) => isTriggered(one, draft))
        .map((one) => one.place),
    );
    draft.echoed = draft.echoed.filter((place) => live.has(place));
    this.desk.drafts.set(record.id, draft);
    this.#updateBoxes();
    for (const ask of record.asks) if (!missing(record, draft).includes(ask.id)) this.forms.get(ask.id)?.complain("");
    this.#summarise();
  }

  #updateBoxes() {
    for (const [place, box] of this.boxes) box.update(this.draft.echoed.includes(place));
  }

  #drawAnswerArea() {
    const unknown = this.record.asks.some((/** @type {any} */ ask) => !known(ask));
    this.summary = h("div", { class: "summary", id: unique("summary") });
    this.message = h("p", { class: "problem", role: "alert", hidden: true });
    this.send = h(
      "button",
      {
        type: "button",
        class: "primary send",
        "aria-describedby": this.summary.id,
        on: { click: () => this.answer() },
      },
      "Send answer",
    );
    const comment = h("textarea", { rows: 2, id: unique("comment"), value: this.draft.comment });
    comment.addEventListener("input", () => {
      this.draft.comment = comment.value;
      this.#changed();
    });
    this.rejectBox = h("div", { class: "reject-box" });
    fill(
      this.answerArea,
      unknown
        ? null
        : h("div", { class: "remark" }, h("label", { for: comment.id }, "A remark on the whole, if you like"), comment),
      unknown ? null : this.summary,
      this.message,
      h(
        "div",
        { class: "buttons" },
        unknown ? null : this.send,
        h("button", { type: "button", class: "reject", on: { click: () => this.askReason() } }, "Reject the request…"),
      ),
      this.rejectBox,
    );
    this.#summarise();
  }

  /** What sending would do, said before it is done. */
  #summarise() {
    if (!this.summary) return;
    const { record, draft, desk } = this;
    const context = { owner: desk.owner, now: desk.api.now(), fallback: desk.policy.fallback };
    const { label, content } = summary(record, draft, context);
    this.send.textContent = label;
    fill(this.summary, content);
  }

  /** Send the answer, if nothing is missing. */
  answer() {
    if (this.busy || !this.send?.isConnected) return;
    const lacking = missing(this.record, this.draft);
    for (const ask of this.record.asks) {
      this.forms.get(ask.id)?.complain(lacking.includes(ask.id) ? "This needs an answer before you can send." : "");
    }
    if (lacking.length) {
      const first = this.forms.get(lacking[0])?.element;
      first?.scrollIntoView({ block: "center" });
      first?.querySelector("input, textarea")?.focus();
      announce(lacking.length === 1 ? "One answer is missing." : `${lacking.length} answers are missing.`);
      return;
    }
    const wrong = conferred(this.record, this.draft).find((placed) => this.draft.bad[placed.place]);
    if (wrong) {
      this.#complain(`Not sent: what you made smaller is not right. ${this.draft.bad[wrong.place]}`);
      return;
    }
    const given = conferred(this.record, this.draft).length;
    this.#take(
      given ? `Answer with ${given === 1 ? "one grant" : `${given} grants`} to` : "Answer to",
      reply(this.record, this.draft, this.record.digest),
    );
  }

  /** Ask for the reason of a rejection; it goes to the requester word for word. */
  askReason() {
    if (this.busy || !this.rejectBox?.isConnected) return;
    const reason = h("textarea", { rows: 3, id: unique("reason") });
    const no = h(
      "button",
      {
        type: "button",
        class: "danger reject-now",
        on: { click: () => this.#take("Rejection of", rejection(this.record, reason.value, this.record.digest)) },
      },
      "Reject it",
    );
    fill(
      this.rejectBox,
      h("label", { for: reason.id }, "Why? The requester gets this word for word. You may leave it empty."),
      reason,
      h(
        "div",
        { class: "buttons" },
        no,
        h("button", { type: "button", on: { click: () => fill(this.rejectBox) } }, "Do not reject"),
      ),
    );
    reason.focus();
  }

  /** @param {string} what @param {Record<string, any>} input */
  #take(what, input) {
    const { desk, record } = this;
    const text = JSON.stringify(input);
    const key = desk.keys.get(text) ?? crypto.randomUUID();
    desk.keys.set(text, key);
    this.#complain("");
    this.#freeze("Nothing is sent yet. You can still undo.");
    desk.outbox.take({
      title: visible(record.title),
      what,
      input,
      key,
      undone: () => this.#thaw(true),
      sending: () => this.#freeze("Sending…"),
      sent: async () => {
        desk.mine.add(record.id);
        desk.drafts.delete(record.id);
        this.draft = blank();
        await this.#again();
        this.heading.focus();
      },
      failed: (error) => this.#failed(error),
    });
  }

  /** @param {any} error */
  async #failed(error) {
    if (error instanceof Refusal && ["not_open", "expired", "not_found"].includes(error.code)) {
      if (await this.#again(error.body.when)) return;
    }
    this.#thaw(false);
    const stale = error instanceof Refusal && error.code === "stale_digest";
    this.#complain(
      stale
        ? "This is not what the venue holds any more. Nothing was sent. Load the page again and read it afresh."
        : `Not sent. ${problemOf(error)}`,
    );
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
  #complain(text) {
    if (!this.message) return;
    this.message.textContent = text;
    this.message.hidden = !text;
  }

  /** @param {string} text */
  #freeze(text) {
    this.busy = true;
    if (this.fields) this.fields.disabled = true;
    if (text) fill(this.state, h("p", { class: "note" }, text));
  }

  /** @param {boolean} undone */
  #thaw(undone) {
    this.busy = false;
    if (this.fields) this.fields.disabled = false;
    fill(this.state, undone ? h("p", { class: "note" }, "Undone. Nothing was sent.") : "");
    (this.rejectBox?.querySelector(".reject-now") ?? this.send)?.focus();
  }
}
