// The inbox itself: header, list and card; what the address says is what is shown, and what the stream says is reread.

import { Refusal, Unreachable } from "./api.js";
import { Card } from "./card.js";
import * as clock from "./clock.js";
import { announce, fill, h } from "./dom.js";
import { visible } from "./escape.js";
import * as help from "./help.js";
import * as inbox from "./inbox.js";
import { List, STATES } from "./list.js";
import { Outbox } from "./outbox.js";
import { blockedPage, grantsPage } from "./pages.js";
import { problemOf } from "./settled.js";
import { follow } from "./stream.js";
import { absolute, left } from "./time.js";
import { top } from "./top.js";
import { shortDid } from "./words.js";
import { youPage } from "./you.js";

const PAGES = ["grants", "blocked", "you"];
const WEEK = 7 * 24 * 60 * 60;
const RETRY = 3_000;
const TOGETHER = 150;

export class Shell {
  /**
   * @param {URL} base @param {import("./api.js").Api} api @param {import("./keys.js").Identity} identity
   * @param {any} info what the venue says of its hitl adapter
   * @param {{refused: (error: Error) => void}} leave
   */
  constructor(base, api, identity, info, leave) {
    this.base = base;
    this.api = api;
    this.identity = identity;
    this.leave = leave;
    const ceiling = info.maxGrantLifetimeSecs;
    this.desk = {
      api,
      owner: identity.subject,
      policy: {
        fallback: typeof ceiling === "number" ? Math.min(WEEK, ceiling) : WEEK,
        unsigned: info.signsFor === "managed" && identity.did === identity.subject,
      },
      outbox: new Outbox(api),
      drafts: new Map(),
      keys: new Map(),
      mine: new Set(),
      tried: new Set(),
      settledAt: new Map(),
    };
    this.list = new List(identity.subject);
    this.list.wantsAll = () => {
      this.wanted = Infinity;
      this.reload();
    };
    /** @type {Card | null} */
    this.card = null;
    /** @type {Map<string, Card>} */
    this.cards = new Map();
    this.status = "open";
    this.turn = 0; // of the address: what was asked for another is not shown
    this.checked = 0;
    this.wanted = 100;
    this.connection = h("p", { class: "connection", role: "status" });
    this.banner = h("div", { class: "banner", role: "alert", hidden: true });
    this.pane = h("div", { class: "pane" });
    /** @type {Map<string, {link: any, count: any}>} */
    this.tabs = new Map();
    /** @type {Promise<void> | undefined} */
    this.reloading = undefined;
    /** @type {number | undefined} */
    this.soon = undefined;
  }

  /** Build the page and keep it true from now on. */
  start() {
    clock.start(() => this.api.now());
    this.#frame();
    globalThis.addEventListener("hashchange", () => this.#route());
    document.addEventListener("visibilitychange", () => document.hidden || this.reload());
    setInterval(() => this.#tick(), 500);
    help.listen({
      j: () => this.#step(1),
      k: () => this.#step(-1),
      ArrowDown: () => this.#step(1),
      ArrowUp: () => this.#step(-1),
      u: () => this.#back(),
      Escape: () => this.#back(),
      e: () => this.card?.form?.focus(),
      x: () => this.card?.form?.askReason(),
      "/": () => this.list.search.focus(),
      "?": () => help.show(),
      send: () => this.#send(),
    });
    follow(this.api, this.identity.subject, {
      change: (change) => this.#changed(change),
      state: (state) => this.#connected(state),
    });
    this.#route();
  }

  #frame() {
    const { header, nav, links } = top(this.api.about?.name ?? "venue", PAGES, this.connection);
    this.tabs = links;
    this.main = h(
      "main",
      { id: "main", tabindex: "-1" },
      h("h1", { class: "unseen" }, "Inbox"),
      this.banner,
      h("div", { class: "columns" }, this.list.element, this.pane),
    );
    fill(/** @type {Element} */ (document.getElementById("page")), header, nav, this.main);
  }

  /** Show what the address says. */
  async #route() {
    this.turn += 1;
    const { turn } = this;
    const [, status = "open", id = ""] = /^#\/([a-z]+)(?:\/([0-9a-f]+))?$/.exec(location.hash) ?? [];
    if (PAGES.includes(status)) {
      await this.#page(status);
      return;
    }
    this.refresh = undefined;
    const changed = this.status !== status;
    this.status = STATES.includes(status) ? status : "open";
    this.main.classList.toggle("one", Boolean(id));
    this.main.classList.remove("page");
    this.#mark(this.status);
    if (changed || !this.checked) {
      this.wanted = 100;
      await this.reload();
      if (turn !== this.turn) return;
    }
    if (id) await this.#open(id);
    else this.#close();
  }

  /** @param {string} current */
  #mark(current) {
    for (const [status, { link }] of this.tabs) {
      if (status === current) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
  }

  /** Ask the venue again what the list holds: one question at a time, so that the last answer is the newest. */
  reload() {
    this.stale = true;
    this.reloading ??= this.#catchUp().finally(() => (this.reloading = undefined));
    return this.reloading;
  }

  async #catchUp() {
    while (this.stale) {
      this.stale = false;
      await this.#load();
    }
  }

  async #load() {
    const { status } = this;
    if (PAGES.includes(status)) {
      await this.#waiting();
      return;
    }
    try {
      const more = () => {
        this.wanted = this.list.items.length + 100;
        this.reload();
      };
      const found = status === "open" ? await inbox.open(this.api) : await inbox.settled(this.api, status, this.wanted);
      this.#reached();
      if (status !== this.status) return;
      const arrived = this.list.show(status, found.items, found.total, found.more ? more : null);
      if (arrived.length && status === "open") announce(news(arrived, this.identity.subject));
      this.list.say(found.total ? "" : this.#nothing(status));
      await this.#count(status, found.total);
    } catch (error) {
      this.#unreached(error);
    }
  }

  /** What can be known on a page without a list. */
  async #waiting() {
    try {
      await this.#count("", 0);
      this.#reached();
    } catch (error) {
      this.#unreached(error);
    }
  }

  #reached() {
    this.checked = Date.now();
    this.failing = false;
    this.banner.hidden = true;
  }

  /** The number of open requests, on its tab and in the title, whatever list is shown. @param {string} status @param {number} total */
  async #count(status, total) {
    const waiting = status === "open" ? total : (await this.api.run("hitl/list", { status: "open", limit: 1 })).count;
    const tab = this.tabs.get("open");
    if (tab) tab.count.textContent = waiting ? String(waiting) : "";
    document.title = waiting ? `(${waiting}) Inbox` : "Inbox";
  }

  /** @param {string} status */
  #nothing(status) {
    const when = h("p", { class: "note" }, `Checked ${absolute(this.api.now())}.`);
    if (status !== "open") return [h("p", { class: "empty" }, `No request was ${status}.`), when];
    return [h("p", { class: "empty" }, "Nothing waits for you."), when];
  }

  /** @param {unknown} error */
  #unreached(error) {
    if (this.left) return;
    if (error instanceof Refusal && error.status === 401) {
      this.left = true; // what still runs behind the screen that says so must not draw it again
      this.leave.refused(error);
      return;
    }
    if (!(error instanceof Unreachable || error instanceof Refusal)) console.error(error);
    this.failing = true;
    const since = this.checked ? ` What you see is from ${absolute(this.checked)}, and may be out of date.` : "";
    this.banner.hidden = false;
    const text = `${
      error instanceof Unreachable ? "The venue does not answer." : problemOf(error)
    }${since} This page keeps trying.`;
    if (this.banner.textContent !== text) this.banner.textContent = text;
    clearTimeout(this.retry);
    this.retry = setTimeout(() => this.reload(), RETRY);
  }

  /** @param {string} id */
  async #open(id) {
    const { turn } = this;
    this.list.select(id);
    if (this.card?.record.id === id && this.card.element.isConnected) return;
    this.card?.close();
    this.card = null;
    const kept = this.cards.get(id);
    if (kept && this.desk.outbox.has(id)) {
      this.card = kept;
      kept.reopen();
      fill(this.pane, kept.element);
      return;
    }
    try {
      const record = await this.api.read(`h/${id}`);
      if (turn !== this.turn) return;
      if (!record) {
        fill(this.pane, h("p", { class: "empty" }, "There is no such request in your inbox."));
        return;
      }
      await this.#show(new Card(this.desk, record));
    } catch (error) {
      if (turn !== this.turn) return;
      fill(
        this.pane,
        h("p", { class: "problem", role: "alert" }, problemOf(error)),
        h("button", { type: "button", on: { click: () => this.#open(id) } }, "Try again"),
      );
    }
  }

  /** @param {Card} card */
  async #show(card) {
    const { turn } = this;
    this.card = card;
    for (const id of this.cards.keys()) if (!this.desk.outbox.has(id)) this.cards.delete(id);
    this.cards.set(card.record.id, card);
    fill(this.pane, card.element);
    await card.draw();
    if (turn !== this.turn) return;
    scrollTo(0, 0);
    card.heading.focus({ preventScroll: true });
  }

  #close() {
    const last = this.card?.record.id;
    this.card?.close();
    this.card = null;
    this.list.select("");
    fill(this.pane, h("p", { class: "note pick" }, "Choose a request to read it."));
    if (last) (this.list.rows.get(last)?.firstElementChild ?? this.list.heading).focus();
  }

  /** A page that is no list of requests. @param {string} name */
  async #page(name) {
    this.status = name;
    this.card?.close();
    this.card = null;
    this.#mark(name);
    this.main.classList.add("page");
    this.main.classList.remove("one");
    const { turn } = this;
    if (!this.checked) await this.#waiting();
    if (turn !== this.turn) return;
    const { element, refresh } = this.#pageOf(name);
    this.refresh = refresh;
    fill(this.pane, element);
    element.querySelector("h2").focus();
  }

  /** @param {string} name @returns {{element: any, refresh?: () => void}} */
  #pageOf(name) {
    if (name === "grants") return grantsPage(this.api, this.identity.subject);
    return name === "blocked" ? blockedPage(this.api) : { element: youPage(this.base, this.identity) };
  }

  /** Something changed in the inbox. @param {import("./stream.js").Change} change */
  #changed(change) {
    if (change.at && change.id) this.desk.settledAt.set(change.id, change.at);
    this.soon ??= setTimeout(() => {
      this.soon = undefined;
      this.refresh?.();
      this.pane.querySelectorAll("[data-refresh]").forEach((/** @type {Element} */ one) =>
        one.dispatchEvent(new Event("refresh"))
      );
      this.reload();
    }, TOGETHER);
    const { card } = this;
    if (card && (change.kind === "resync" || change.id === card.record.id)) this.#reread(card);
  }

  /** @param {Card} card */
  async #reread(card) {
    const { id, status } = card.record;
    if (status !== "open" || this.desk.outbox.isSending(id)) return;
    try {
      const record = await this.api.read(`h/${id}`);
      if (!record || record.status === "open" || this.desk.outbox.isSending(id)) return;
      this.desk.outbox.drop(id);
      await card.settled(record, this.desk.settledAt.get(id));
    } catch {
      // the list says that the venue does not answer, and an answer sent now would be refused
    }
  }

  /** @param {import("./stream.js").State} state */
  #connected(state) {
    const words = {
      connecting: "Connecting…",
      live: "Live",
      lost: "Not connected, trying again",
      refused: "Not signed in",
    };
    const before = this.connection.dataset.state;
    this.connection.dataset.state = state;
    this.connection.textContent = words[state];
    if (state === "refused" || (state === "lost" && before !== "lost")) this.reload();
    if (state === "live" && this.failing) {
      this.reload();
      if (this.card) this.#reread(this.card);
    }
  }

  #tick() {
    const { card } = this;
    if (card?.record.status !== "open") return;
    if (left(card.record.expires, this.api.now()).state === "over") card.lapse();
    else card.form?.tick();
  }

  /** @param {number} step */
  #step(step) {
    if (PAGES.includes(this.status)) return;
    const focused = /** @type {HTMLElement} */ (document.activeElement)?.closest?.("li[data-id]");
    if (focused && !this.card) {
      const next = /** @type {HTMLElement | null} */ (
        step > 0 ? focused.nextElementSibling : focused.previousElementSibling
      );
      /** @type {HTMLElement | null} */ (next?.firstElementChild)?.focus();
      return;
    }
    const id = this.list.beside(step);
    if (!id) announce("There is no other request.");
    else if (this.card) location.hash = `#/${this.status}/${id}`;
    else this.list.rows.get(id)?.firstElementChild.focus();
  }

  #back() {
    const page = PAGES.includes(this.status);
    if (this.card || page) location.hash = `#/${page ? "open" : this.status}`;
  }

  #send() {
    const rejecting = document.activeElement?.closest(".reject-box");
    if (rejecting) /** @type {HTMLElement | null} */ (rejecting.querySelector(".reject-now"))?.click();
    else this.card?.form?.answer();
  }
}

/** What somebody hears who does not look at the list. @param {import("./list.js").Summary[]} arrived @param {string} owner */
function news(arrived, owner) {
  if (arrived.length > 1) return `${arrived.length} new requests.`;
  return `New request from ${visible(shortDid(arrived[0].from, owner))}: ${visible(arrived[0].title)}`;
}
