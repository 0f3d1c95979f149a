// What the inbox holds, as the venue tells it: open requests by a query of their own, settled ones page by page.

import { sorted } from "./answer.js";

const WHOLE = 1_000;
const PAGE = 100;

/** @typedef {import("./list.js").Summary} Summary */

/**
 * Every open request, the most urgent first, and how many there are.
 * @param {import("./api.js").Api} api
 * @returns {Promise<{items: Summary[], total: number, more: null}>}
 */
export async function open(api) {
  /** @type {Summary[]} */
  const items = [];
  let total = 0;
  let cursor;
  do {
    const page = await api.run("hitl/list", { status: "open", limit: WHOLE, ...(cursor ? { cursor } : {}) });
    items.push(...page.items);
    total = page.count;
    cursor = page.cursor;
  } while (cursor);
  return { items: sorted(items), total, more: null };
}

/**
 * Settled requests of one kind, the newest first; `more` fetches the page after.
 * @param {import("./api.js").Api} api @param {string} status @param {number} least how many are wanted
 */
export async function settled(api, status, least) {
  /** @type {Summary[]} */
  const items = [];
  /** @type {string | undefined} */
  let cursor;
  let total = 0;
  do {
    const page = await api.run("hitl/list", {
      status,
      newest: true,
      limit: least > PAGE ? WHOLE : PAGE,
      ...(cursor ? { cursor } : {}),
    });
    items.push(...page.items);
    total = page.count;
    cursor = page.cursor;
  } while (cursor && items.length < least);
  return { items, total, more: cursor ?? null };
}
