// The tree of a requester's Markdown as elements. Every text goes through escape.js; links show where they lead.

import { h, outside } from "./dom.js";
import { exact, nodes, said } from "./escape.js";
import { parse } from "./markdown.js";

/** @param {string} source */
export function prose(source) {
  return h("div", { class: "prose said", dir: "auto" }, parse(source).map(block));
}

/** @param {any} node @returns {any} */
function block(node) {
  switch (node.t) {
    case "h":
      // One level for all of them, below their title: nothing that they write stands above the headings of the page.
      return h("h3", { dir: "auto", class: node.level > 2 ? "minor" : "" }, node.c.map(span));
    case "list":
      return h(
        node.ordered ? "ol" : "ul",
        node.ordered && node.start !== 1 ? { start: node.start } : {},
        node.items.map((/** @type {any} */ item) => h("li", {}, item.map(block))),
      );
    case "quote":
      return h("blockquote", {}, node.c.map(block));
    case "code":
      return h("pre", {}, h("code", { dir: "ltr" }, nodes(node.text, { lines: true })));
    case "hr":
      return h("p", { class: "rule" }, "* * *"); // no line that could look like the end of the frame
    default:
      return h("p", { dir: "auto" }, node.c.map(span));
  }
}

/** @param {any} node @returns {any} */
function span(node) {
  switch (node.t) {
    case "text":
      return nodes(node.text, { lines: true });
    case "br":
      return h("br");
    case "em":
    case "strong":
      return h(node.t, {}, node.c.map(span));
    case "code-span":
      return h("code", { dir: "ltr" }, nodes(node.text));
    case "image":
      return h("span", { class: "inert" }, "[picture, not loaded: ", said(node.text), " ", exact(node.url), "]");
    case "link":
      return anchor(node);
    default:
      return null;
  }
}

/** A link that leads where it says, or its text and its target when the scheme is not one that we follow. */
function anchor(/** @type {any} */ node) {
  const url = followed(node.url);
  const label = node.c.map(span);
  if (!url) return h("span", { class: "inert" }, label, " [not a link: ", exact(node.url), "]");
  return h("span", {}, outside(url, label), " ", h("span", { class: "target" }, "(", exact(url.href), ")"));
}

/** @param {string} text @returns {URL | null} */
export function followed(text) {
  if (!/^(?:https?:\/\/|mailto:)[\x21-\x7e]+$/i.test(text)) return null;
  try {
    const url = new URL(text);
    return url.username || url.password ? null : url;
  } catch {
    return null;
  }
}
