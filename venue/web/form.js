// The form of an open request: its questions, what is offered beside them, and what sending it would do.

import { conferred, isTriggered, known, missing, offers, rejection, reply } from "./answer.js";
import { askForm, remarkBox } from "./asks.js";
import { announce, fill, h, unique } from "./dom.js";
import { offerBox } from "./offers.js";
import { summary } from "./summary.js";
import { tokenForm } from "./token.js";
import { endOf } from "./words.js";

export class Form {
  /**
   * @param {import("./card.js").Desk} desk @param {any} record @param {import("./answer.js").Draft} draft
   * @param {import("./reading.js").Reading} reading
   * @param {(what: string, input: Record<string, any>) => void} take what a complete answer is given to
   */
  constructor(desk, record, draft, reading, take) {
    this.desk = desk;
    this.record = record;
    this.draft = draft;
    this.reading = reading;
    this.take = take;
    this.busy = false;
    // A tick is for what is on the screen now: whoever opens a request again reads again, and ticks again.
    draft.echoed = [];
    draft.narrow = {};
    draft.bad = {};
    /** @type {Map<string, {element: any, update: (ticked: boolean) => void}>} */
    this.boxes = new Map();
    /** @type {Map<string, {element: any, complain: (text: string) => void}>} */
    this.forms = new Map();
    this.fields = h("fieldset", { class: "bare" });
    this.answerArea = h("div", { class: "answer-area" });
    this.element = h(
      "form",
      { class: "asks", on: { submit: (/** @type {Event} */ event) => event.preventDefault() } },
      this.fields,
    );
    reading.listeners.push(() => this.#updateBoxes());
    this.#fill();
  }

  #fill() {
    const { record } = this;
    const placed = offers(record);
    for (const ask of record.asks) {
      const boxesOf = (/** @type {any} */ option) =>
        placed.filter((one) => one.ask === ask && one.option === option).map((one) => this.#offer(one));
      const built = askForm(
        ask,
        this.draft,
        boxesOf,
        () => this.#changed(),
        (set) => tokenForm(ask, set, this.#signing(ask)),
        this.reading.end(`ask ${ask.id}`),
      );
      this.forms.set(ask.id, built);
      this.fields.append(built.element);
    }
    this.fields.append(this.answerArea);
    this.#drawAnswerArea();
  }

  /** @param {import("./answer.js").Placed} placed */
  #offer(placed) {
    const box = offerBox(placed, {
      owner: this.desk.owner,
      audience: this.record.from,
      now: () => this.desk.api.now(),
      fallback: this.desk.policy.fallback,
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
      venue: api.about?.did ?? "",
      requester: this.record.from,
      now: () => api.now(),
      isRead: () => this.reading.reached(this.record, ask),
      whenRead: (/** @type {() => void} */ act) => this.reading.listeners.push(act),
    };
  }

  /** Why an offer cannot be ticked now, or null. @param {import("./answer.js").Placed} placed */
  #whyNot(placed) {
    if (this.desk.policy.unsigned) {
      return "This venue signs only for users whom it manages, and you have a key of your own: it cannot grant this for you. The requester can ask for a token that you sign yourself.";
    }
    if (!isTriggered(placed, this.draft)) return "Make this choice first; then you can grant what it offers.";
    const end = endOf(placed.offer, this.desk.api.now(), this.desk.policy.fallback);
    if (end !== null && end * 1000 <= this.desk.api.now()) return "What is offered here has ended meanwhile.";
    return this.reading.reached(this.record, placed.ask)
      ? null
      : "Read on first: scroll until you have seen the end of this question, and of everything before it.";
  }

  #changed() {
    const { record, draft } = this;
    const live = new Set(offers(record).filter((one) => !this.#whyNot(one)).map((one) => one.place));
    draft.echoed = draft.echoed.filter((place) => live.has(place));
    this.desk.drafts.set(record.id, draft);
    this.#updateBoxes();
    const lacking = missing(record, draft);
    for (const ask of record.asks) if (!lacking.includes(ask.id)) this.forms.get(ask.id)?.complain("");
    this.#summarise();
  }

  /** Keep what is said of ends true while time passes. */
  tick() {
    if (!this.busy && this.element.isConnected && this.boxes.size) this.#changed();
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
    this.reject = h(
      "button",
      { type: "button", class: "reject", on: { click: () => this.askReason() } },
      "Reject the request…",
    );
    this.buttons = h("div", { class: "buttons" }, unknown ? null : this.send, this.reject);
    this.rejectBox = h("div", { class: "reject-box" });
    fill(
      this.answerArea,
      unknown ? null : remarkBox("A remark on the whole", comment),
      unknown ? null : this.summary,
      this.message,
      this.buttons,
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
    const next = h("div", {}, content);
    if (this.send.textContent !== label) this.send.textContent = label;
    if (next.textContent === this.summary.textContent) return;
    this.summary.replaceChildren(...next.childNodes);
  }

  /** Send the answer, if nothing is missing. */
  answer() {
    if (this.busy || !this.send.isConnected) return;
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
    const wrong = this.#fault();
    if (wrong) {
      this.complain(`Not sent: ${wrong}`);
      return;
    }
    const given = conferred(this.record, this.draft).length;
    const what = given ? `Answering, with ${given === 1 ? "one grant" : `${given} grants`}:` : "Answering";
    this.take(what, reply(this.record, this.draft, this.record.digest));
  }

  /** Why what would be granted cannot be granted so, or null. */
  #fault() {
    for (const placed of conferred(this.record, this.draft)) {
      const bad = this.draft.bad[placed.place];
      if (bad) return `what you made smaller is not right. ${bad}`;
      const reason = this.#whyNot(placed);
      if (reason) return reason;
    }
    return null;
  }

  /** Ask for the reason of a rejection; it goes to the requester word for word. */
  askReason() {
    if (this.busy || !this.rejectBox.isConnected) return;
    const { draft, record } = this;
    const reason = h("textarea", { rows: 3, id: unique("reason"), value: draft.reason });
    reason.addEventListener("input", () => (draft.reason = reason.value));
    const no = h("button", { type: "button", class: "danger reject-now" }, "Reject it");
    no.addEventListener("click", () => this.take("Rejecting", rejection(record, reason.value, record.digest)));
    const back = h("button", { type: "button" }, "Do not reject");
    back.addEventListener("click", () => {
      draft.reason = "";
      fill(this.rejectBox);
      this.reject.focus();
    });
    fill(
      this.rejectBox,
      h("label", { for: reason.id }, "Why? The requester gets this word for word. You may leave it empty."),
      reason,
      h("div", { class: "buttons" }, no, back),
    );
    reason.focus();
  }

  /** Say under the form why nothing was sent; nothing, to take it back. @param {string} text */
  complain(text) {
    this.message.textContent = text;
    this.message.hidden = !text;
  }

  /** Let nothing be changed or sent. */
  freeze() {
    this.busy = true;
    this.fields.disabled = true;
  }

  /** Go on where it was. */
  thaw() {
    this.busy = false;
    this.fields.disabled = false;
    (this.rejectBox.querySelector(".reject-now") ?? this.send).focus();
  }

  /** Take away what would send it; what was typed stays to be read. */
  retire() {
    this.freeze();
    for (const part of [this.summary, this.message, this.buttons, this.rejectBox.querySelector(".buttons")]) {
      part?.remove();
    }
  }

  /** Go to the first question. */
  focus() {
    this.fields.querySelector("input, textarea")?.focus();
  }
}
