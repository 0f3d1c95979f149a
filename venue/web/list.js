// The list of one state of the inbox: rows that are kept, moved and removed by their id, never redrawn as a whole.

import { age, deadline } from "./clock.js";
import { fill, h, inside } from "./dom.js";
import { said, visible } from "./escape.js";
import { shortDid } from "./words.js";

export const STATES = ["open", "answered", "rejected", "expired", "cancelled"];

const AT_ONCE = 100;

/** @typedef {{id: string, from: string, title: string, status: string, created: number, expires?: number}} Summary */

/**
 * Whether a record is one that is looked for: all words in its title or its requester's name, or a DID in full.
 * @param {Summary} item @param {string} query @param {string} from @param {string} owner
 */
export function matches(item, query, from, owner) {
  const text = `${item.title} ${shortDid(item.from, owner)}`.toLowerCase();
  const words = query.toLowerCase().split(/\s+/);
  return (
    (!from || item.from === from) &&
    words.every((word) => (word.startsWith("did:") ? item.from.toLowerCase().includes(word) : text.includes(word)))
  );
}

export class List {
  /** @param {string} owner */
  constructor(owner) {
    this.owner = owner;
    this.rows = new Map();
    this.most = AT_ONCE;
    this.heading = h("h2", { id: "list-heading", tabindex: "-1" });
    this.note = h("div", { class: "list-note" });
    this.query = "";
    this.from = "";
    this.search = h("input", {
      type: "search",
      id: "search",
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.#filter() },
    });
    this.who = h("select", { id: "who", on: { change: () => this.#filter() } });
    this.found = h("p", { class: "note", role: "status" });
    this.filters = h(
      "div",
      { class: "filters" },
      h("label", { for: "search" }, "Search"),
      this.search,
      h("label", { for: "who" }, "From"),
      this.who,
      this.found,
    );
    this.list = h("ul", { class: "rows", "aria-labelledby": "list-heading" });
    this.more = h("button", { type: "button", class: "more", hidden: true, on: { click: () => this.#longer() } });
    this.element = h(
      "section",
      { class: "list", "aria-labelledby": "list-heading" },
      this.heading,
      this.filters,
      this.note,
      this.list,
      this.more,
    );
    /** @type {Summary[]} */
    this.items = [];
    this.status = "open";
    this.shown = false;
    this.selected = "";
    /** @type {(() => void) | null} */
    this.wantsMore = null;
    /** Called when something is looked for, and the rest has to be loaded. @type {() => void} */
    this.wantsAll = () => {};
  }

  /**
   * Show these records; returns those that have come since this list was last shown. `total` is how many there are in
   * all, by the same query.
   * @param {string} status @param {Summary[]} items @param {number} total @param {(() => void) | null} wantsMore
   */
  show(status, items, total, wantsMore) {
    const before = status === this.status && this.shown ? new Set(this.items.map((item) => item.id)) : null;
    this.shown = true;
    if (status !== this.status) this.most = AT_ONCE;
    this.status = status;
    this.items = items;
    this.wantsMore = wantsMore;
    this.#requesters();
    this.filters.hidden = !total && !this.query && !this.from;
    this.heading.textContent = `${status[0].toUpperCase()}${status.slice(1)} · ${total}`;
    this.#draw();
    return before ? items.filter((item) => !before.has(item.id)) : [];
  }

  /** Mark the row of the record that is open. @param {string} id */
  select(id) {
    this.selected = id;
    for (const [other, row] of this.rows) {
      const link = row.firstElementChild;
      if (other === id) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
  }

  /** The id beside the one that is open, or the first. @param {number} step */
  beside(step) {
    const ids = this.#shown()
      .slice(0, this.most)
      .map((item) => item.id);
    const at = ids.indexOf(this.selected);
    return at < 0 ? (ids[0] ?? null) : (ids[at + step] ?? null);
  }

  #draw() {
    const shown = this.#shown();
    const wanted = shown.slice(0, this.most);
    this.found.textContent = this.query || this.from ? `${shown.length} of ${this.items.length} shown.` : "";
    const ids = new Set(wanted.map((item) => item.id));
    for (const [id, row] of this.rows) {
      if (ids.has(id) && row.dataset.status === this.status) continue;
      row.remove();
      this.rows.delete(id);
    }
    let previous = null;
    for (const item of wanted) {
      const row = this.rows.get(item.id) ?? this.#row(item);
      const next = previous ? previous.nextElementSibling : this.list.firstElementChild;
      if (row !== next) this.list.insertBefore(row, next);
      previous = row;
    }
    const rest = shown.length - wanted.length;
    this.more.hidden = rest <= 0 && !this.wantsMore;
    this.more.textContent = rest > 0 ? `Show ${Math.min(rest, AT_ONCE)} more` : "Load older ones";
    this.select(this.selected);
  }

  #shown() {
    return this.items.filter((item) => matches(item, this.query, this.from, this.owner));
  }

  #filter() {
    this.query = this.search.value;
    this.from = this.who.value;
    this.most = AT_ONCE;
    this.#draw();
    if (this.wantsMore) this.wantsAll();
  }

  /** Whom one can choose among: whoever asked something of this list. */
  #requesters() {
    const all = [...new Set(this.items.map((item) => item.from))].sort();
    if (this.from && !all.includes(this.from)) all.push(this.from);
    fill(
      this.who,
      h("option", { value: "" }, "everybody"),
      all.map((did) => h("option", { value: did }, visible(shortDid(did, this.owner)))),
    );
    this.who.value = this.from;
  }

  #longer() {
    this.most += AT_ONCE;
    if (this.items.length < this.most && this.wantsMore) this.wantsMore();
    else this.#draw();
  }

  /** @param {Summary} item */
  #row(item) {
    const link = inside(
      `/${this.status}/${item.id}`,
      { class: "row" },
      said(item.title, { tag: "span", class: "row-title" }),
      h("span", { class: "row-meta" }, said(shortDid(item.from, this.owner)), " · ", age(item.created)),
      item.status === "open" ? h("span", { class: "row-meta" }, deadline(item.expires)) : null,
    );
    const row = h("li", { "data-id": item.id, "data-status": this.status }, link);
    this.rows.set(item.id, row);
    return row;
  }

  /** What stands where no rows are. @param {...any} content */
  say(...content) {
    fill(this.note, ...content);
  }
}
