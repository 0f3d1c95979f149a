// A small, strict Markdown: text in, tree out. No HTML and no images; what is not understood stays as text.
//
// Depth is bounded and every search that failed is remembered, so that no text makes it slow.

/** @typedef {{t: string, c?: any[], text?: string, url?: string, level?: number, ordered?: boolean, start?: number, items?: any[][]}} Node */

const DEEPEST = 6;
const BULLET = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;

/** @param {string} source @returns {Node[]} */
export function parse(source) {
  return blocks(source.replace(/\r\n?/g, "\n").split("\n"), 0);
}

/** @param {string[]} lines @param {number} depth @returns {Node[]} */
function blocks(lines, depth) {
  /** @type {Node[]} */
  const found = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    if (!line.trim()) {
      at += 1;
      continue;
    }
    const taken = depth < DEEPEST ? special(lines, at, depth, found) : 0;
    if (taken) {
      at += taken;
      continue;
    }
    const end = paragraphEnd(lines, at, depth);
    const text = lines
      .slice(at, end)
      .map((part) => part.trimStart())
      .join("\n");
    found.push({ t: "p", c: inline(text, 0) });
    at = end;
  }
  return found;
}

/** Take one block that is no paragraph; returns how many lines it took. */
function special(
  /** @type {string[]} */ lines,
  /** @type {number} */ at,
  /** @type {number} */ depth,
  /** @type {Node[]} */ found,
) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) {
    let end = at + 1;
    while (end < lines.length && !lines[end].trim().startsWith(fence[1])) end += 1;
    found.push({ t: "code", text: lines.slice(at + 1, end).join("\n") });
    return Math.min(end + 1, lines.length) - at;
  }
  const heading = HEADING.exec(line);
  if (heading) {
    found.push({ t: "h", level: heading[1].length, c: inline(heading[2], 0) });
    return 1;
  }
  if (RULE.test(line)) {
    found.push({ t: "hr" });
    return 1;
  }
  if (QUOTE.test(line)) {
    let end = at;
    while (end < lines.length && QUOTE.test(lines[end])) end += 1;
    found.push({
      t: "quote",
      c: blocks(
        lines.slice(at, end).map((part) => part.replace(QUOTE, "")),
        depth + 1,
      ),
    });
    return end - at;
  }
  return BULLET.test(line) ? list(lines, at, depth, found) : 0;
}

/** @param {string[]} lines @param {number} at @param {number} depth @param {Node[]} found */
function list(lines, at, depth, found) {
  const first = /** @type {RegExpExecArray} */ (BULLET.exec(lines[at]));
  const ordered = /\d/.test(first[2]);
  /** @type {any[][]} */
  const items = [];
  let end = at;
  while (end < lines.length) {
    const bullet = BULLET.exec(lines[end]);
    if (!bullet || /\d/.test(bullet[2]) !== ordered || RULE.test(lines[end])) break;
    const indent = bullet[1].length + bullet[2].length + Math.max(1, Math.min(bullet[3].length, 4));
    const inner = [lines[end].slice(indent)];
    end += 1;
    while (end < lines.length && belongs(lines, end, indent)) {
      inner.push(lines[end].slice(Math.min(indent, lines[end].length - lines[end].trimStart().length)));
      end += 1;
    }
    items.push(blocks(inner, depth + 1));
    while (end + 1 < lines.length && !lines[end].trim() && BULLET.test(lines[end + 1])) end += 1;
  }
  found.push({ t: "list", ordered, start: ordered ? Number.parseInt(first[2], 10) : 1, items });
  return end - at;
}

/** @param {string[]} lines @param {number} at @param {number} indent */
function belongs(lines, at, indent) {
  const line = lines[at];
  const own = line.length - line.trimStart().length;
  if (line.trim()) {
    return own >= indent || (own > 0 && !BULLET.test(line)) || (!starts(line) && Boolean(lines[at - 1].trim()));
  }
  const next = lines[at + 1];
  return next !== undefined && Boolean(next.trim()) && next.length - next.trimStart().length >= indent;
}

/** @param {string} line */
function starts(line) {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || BULLET.test(line);
}

/** @param {string[]} lines @param {number} at @param {number} depth */
function paragraphEnd(lines, at, depth) {
  let end = at + 1;
  while (end < lines.length && lines[end].trim() && !(depth < DEEPEST && starts(lines[end]))) end += 1;
  return end;
}

/** @param {string} text @param {number} depth @returns {Node[]} */
function inline(text, depth) {
  /** @type {Node[]} */
  const found = [];
  /** @type {Set<string>} */
  const hopeless = new Set();
  let plain = "";
  const flush = () => {
    if (plain) found.push({ t: "text", text: plain });
    plain = "";
  };
  let at = 0;
  while (at < text.length) {
    const char = text[at];
    if (char === "\\" && at + 1 < text.length) {
      if (text[at + 1] === "\n") {
        flush();
        found.push({ t: "br" });
      } else {
        plain += /[!-/:-@[-`{-~]/.test(text[at + 1]) ? text[at + 1] : char + text[at + 1];
      }
      at += 2;
      continue;
    }
    if (char === "\n") {
      plain = plain.trimEnd();
      flush();
      found.push({ t: "br" });
      at += 1;
      continue;
    }
    const taken = "`*_[!<".includes(char) ? span(text, at, depth, hopeless) : null;
    if (taken) {
      flush();
      found.push(taken.node);
      at = taken.end;
    } else {
      const run = char === "`" ? /** @type {RegExpExecArray} */ (/^`+/.exec(text.slice(at, at + 100)))[0].length : 1;
      plain += text.slice(at, at + run);
      at += run;
    }
  }
  flush();
  return found;
}

/** A code span, emphasis, link or image that begins here, if one does. */
function span(
  /** @type {string} */ text,
  /** @type {number} */ at,
  /** @type {number} */ depth,
  /** @type {Set<string>} */ hopeless,
) {
  const char = text[at];
  if (char === "`") return code(text, at, hopeless);
  if (depth >= DEEPEST) return null;
  if (char === "<") {
    const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]{1,2000})>/.exec(text.slice(at, at + 2100));
    return auto
      ? { node: { t: "link", c: [{ t: "text", text: auto[1] }], url: auto[1] }, end: at + auto[0].length }
      : null;
  }
  if (char === "!" && text[at + 1] !== "[") return null;
  if (char === "[" || char === "!") return link(text, at, depth, hopeless);
  return emphasis(text, at, depth, hopeless);
}

/** @param {string} text @param {number} at @param {Set<string>} hopeless */
function code(text, at, hopeless) {
  let run = at;
  while (text[run] === "`") run += 1;
  const ticks = text.slice(at, run);
  if (hopeless.has(ticks)) return null;
  let end = run;
  for (;;) {
    end = text.indexOf(ticks, end);
    if (end < 0) {
      hopeless.add(ticks);
      return null;
    }
    let after = end;
    while (text[after] === "`") after += 1;
    if (after - end === ticks.length) {
      return { node: { t: "code-span", text: text.slice(run, end).replace(/\n/g, " ") }, end: after };
    }
    end = after;
  }
}

/** @param {string} text @param {number} at @param {number} depth @param {Set<string>} hopeless */
function emphasis(text, at, depth, hopeless) {
  const char = text[at];
  const marker = text[at + 1] === char ? char + char : char;
  const open = at + marker.length;
  if (hopeless.has(marker) || open >= text.length || /\s/.test(text[open])) return null;
  if (char === "_" && at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1])) return null;
  let end = open;
  for (;;) {
    end = text.indexOf(marker, end + 1);
    if (end < 0) {
      hopeless.add(marker);
      return null;
    }
    const closes = !/[\s\\]/.test(text[end - 1]) &&
      (marker.length === 2 || (text[end + 1] !== char && text[end - 1] !== char));
    if (closes && !(char === "_" && /[\p{L}\p{N}]/u.test(text[end + marker.length] ?? ""))) break;
    if (end - open > 4000) return null;
  }
  const inner = inline(text.slice(open, end), depth + 1);
  return { node: { t: marker.length === 2 ? "strong" : "em", c: inner }, end: end + marker.length };
}

/** @param {string} text @param {number} at @param {number} depth @param {Set<string>} hopeless */
function link(text, at, depth, hopeless) {
  if (hopeless.has("](")) return null;
  const image = text[at] === "!";
  const open = at + (image ? 2 : 1);
  const middle = text.indexOf("](", open);
  if (middle < 0) {
    hopeless.add("](");
    return null;
  }
  const label = text.slice(open, middle);
  if (label.length > 1000 || label.includes("[") || label.includes("\n\n")) return null;
  const target = /^\]\(([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,2000})?)\)/.exec(
    text.slice(middle, middle + 5000),
  );
  if (!target) return null;
  const url = target[1].trim();
  const node = image ? { t: "image", text: label, url } : { t: "link", c: inline(label, depth + 1), url };
  return { node, end: middle + target[0].length };
}
