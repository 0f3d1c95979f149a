// Elements from values. Text becomes text nodes and nothing else; there is no way from here to HTML.

const PROPERTIES = new Set([
  "checked",
  "disabled",
  "value",
  "hidden",
  "open",
  "indeterminate",
  "tabIndex",
  "maxLength",
]);

/**
 * An element with attributes, listeners (`on`) and children; null and false children are left out.
 * @param {string} tag
 * @param {Record<string, any>} [attributes]
 * @param {...any} children strings, nodes, or lists of them
 * @returns {any}
 */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "on") {
      for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    } else if (name === "href") {
      throw new TypeError("a link is made by link()");
    } else if (PROPERTIES.has(name)) {
      /** @type {any} */ (element)[name] = value;
    } else {
      element.setAttribute(name, value === true ? "" : String(value));
    }
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/**
 * A link within this page, by its fragment.
 * @param {string} fragment
 * @param {Record<string, any>} attributes
 * @param {...any} children
 */
export function inside(fragment, attributes, ...children) {
  const element = h("a", attributes, ...children);
  element.setAttribute("href", `#${fragment}`);
  return element;
}

/**
 * A link to somewhere else; only ever a parsed http, https or mailto address. It carries no referrer and no opener.
 * @param {URL} url
 * @param {...any} children
 */
export function outside(url, ...children) {
  if (!["https:", "http:", "mailto:"].includes(url.protocol)) throw new TypeError("this scheme is inert");
  const element = h("a", { rel: "noopener noreferrer nofollow", target: "_blank", class: "outside" }, ...children);
  element.setAttribute("href", url.href);
  return element;
}

/** Let the browser save a text as a file. @param {string} name @param {string} text */
export function save(name, text) {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const element = h("a", { download: name });
  element.setAttribute("href", address);
  element.click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** @param {Element} element @param {...any} children */
export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
}

let counter = 0;

/** A name that no other element has. @param {string} prefix */
export function unique(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}

/** Say something to whoever listens instead of looking. @param {string} text */
export function announce(text) {
  const live = document.getElementById("live");
  if (!live) return;
  live.textContent = "";
  setTimeout(() => (live.textContent = text), 50);
}
