// The one owner of what somebody else wrote: whatever a requester can set is shown through here.
//
// Characters that hide, reorder or erase text become visible escapes such as \u{200b}; everything else stays as it
// came. Nothing is ever read as HTML: the result is text nodes.

import { h } from "./dom.js";

const HIDDEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u;
const MARK = /\p{M}/u;
const MOST_MARKS = 4;

/** @typedef {{text: string, hidden: boolean}} Piece */

/**
 * Cut a text into what shows as it is and what shows as an escape.
 * @param {unknown} text
 * @param {{lines?: boolean}} [options] lines: whether line breaks and tabs are part of the layout
 * @returns {Piece[]}
 */
export function pieces(text, { lines = false } = {}) {
  /** @type {Piece[]} */
  const found = [];
  let plain = "";
  let marks = 0;
  let before = "";
  for (const char of String(text)) {
    marks = MARK.test(char) ? marks + 1 : 0;
    if (isHidden(char, before, lines) || marks > MOST_MARKS) {
      if (plain) found.push({ text: plain, hidden: false });
      plain = "";
      found.push({ text: escaped(char), hidden: true });
    } else {
      plain += char;
    }
    before = char;
  }
  if (plain) found.push({ text: plain, hidden: false });
  return found;
}

/** A text in which nothing is hidden, for labels and titles. @param {unknown} text */
export function visible(text) {
  return pieces(text)
    .map((piece) => piece.text)
    .join("");
}

/** A label has one line; its breaks could set words where they look like the page's own. @param {string} text */
export function oneLine(text) {
  return text.replace(/[\n\r\t ]+/g, " ");
}

/**
 * What somebody else wrote, as an element: isolated, so that it cannot reorder what stands beside it.
 * @param {unknown} text
 * @param {{lines?: boolean, tag?: string, class?: string}} [options]
 */
export function said(text, options = {}) {
  const element = h(options.tag ?? "bdi", { class: `said ${options.class ?? ""}`.trim(), dir: "auto" });
  element.append(...nodes(text, options));
  return element;
}

/** The text nodes and escapes of a text. @param {unknown} text @param {{lines?: boolean}} [options] */
export function nodes(text, options = {}) {
  return pieces(text, options).map((piece) =>
    piece.hidden
      ? h("span", { class: "escape", title: "A character that does not show" }, piece.text)
      : document.createTextNode(piece.text)
  );
}

/**
 * An identifier or a path, letter for letter and from left to right; beyond ASCII its code points are named, for two
 * letters that look alike are not the same resource.
 * @param {unknown} text
 */
export function exact(text) {
  const element = h("code", { class: "exact", dir: "ltr" });
  element.append(...nodes(text));
  const strange = [...new Set([...String(text)].filter((char) => char > "\u007e" && !HIDDEN.test(char)))];
  if (strange.length) {
    const named = strange.slice(0, 8).map((char) => `${char} ${escaped(char)}`);
    element.append(h("span", { class: "warn-inline" }, ` beyond ASCII: ${named.join(", ")}`));
  }
  return element;
}

/** @param {string} char @param {string} before @param {boolean} lines */
function isHidden(char, before, lines) {
  if (lines && (char === "\n" || char === "\t")) return false;
  if (char === "\ufe0f" && /\p{Extended_Pictographic}/u.test(before)) return false; // the usual form of an emoji
  return HIDDEN.test(char);
}

/** @param {string} char */
function escaped(char) {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}}`;
}
