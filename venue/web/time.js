// Times in words. All are epoch milliseconds on the venue's clock unless a name says seconds.

const LAST = 8.64e15; // of what a Date can say

const UNITS = /** @type {[string, number][]} */ ([
  ["day", 86_400_000],
  ["hour", 3_600_000],
  ["minute", 60_000],
  ["second", 1_000],
]);

/** A duration in at most two units. @param {number} milliseconds */
export function span(milliseconds) {
  let left = Math.max(0, Math.round(milliseconds / 1000) * 1000);
  /** @type {string[]} */
  const parts = [];
  for (const [name, size] of UNITS) {
    const count = Math.floor(left / size);
    if (count > 0 && parts.length < 2) {
      parts.push(`${count} ${name}${count === 1 ? "" : "s"}`);
      left -= count * size;
    } else if (parts.length) break;
  }
  return parts.join(" ") || "0 seconds";
}

/** @param {number} then @param {number} now */
export function ago(then, now) {
  const passed = now - then;
  if (passed < 5_000) return "just now";
  const [name, size] = UNITS.find(([, unit]) => passed >= unit) ?? UNITS[3];
  const count = Math.floor(passed / size);
  return `${count} ${name}${count === 1 ? "" : "s"} ago`;
}

/** How a deadline stands. @param {number | undefined} deadline @param {number} now */
export function left(deadline, now) {
  if (deadline === undefined) return { text: "no deadline", state: "none" };
  const remains = deadline - now;
  if (remains <= 0) return { text: "expired", state: "over" };
  return { text: `${span(remains)} left`, state: remains < 300_000 ? "soon" : "ahead" };
}

/** An instant to the second, in the reader's zone, which it names. @param {number} at */
export function absolute(at) {
  if (!(Math.abs(at) <= LAST)) return "a time beyond every calendar";
  return new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" }).format(at);
}

/** The same, and in UTC. @param {number} at */
export function inFull(at) {
  if (!(Math.abs(at) <= LAST)) return absolute(at);
  return `${absolute(at)} (${new Date(at).toISOString().replace(/\.\d+Z$/, "Z")})`;
}
