// What a person has decided so far, and what that comes to. Pure: records and drafts in, values out.

/**
 * @typedef {{id: string, type: string, prompt: string, required?: boolean, comment?: boolean, options?: any[], grants?: any[], token?: any}} Ask
 * @typedef {{answers: Record<string, any>, comments: Record<string, string>, comment: string, reason: string, echoed: string[],
 *   narrow: Record<string, import("./smaller.js").Narrow>, bad: Record<string, string>}} Draft
 * @typedef {{place: string, ask: Ask, option: any | null, offer: import("./words.js").Offer}} Placed
 */

const KNOWN = ["text", "approval", "choice", "checkboxes", "token"];

/** Nothing decided. An ask may be called `__proto__` or `constructor`, so these have no prototype. @returns {Draft} */
export function blank() {
  const [answers, comments] = [Object.create(null), Object.create(null)];
  return { answers, comments, comment: "", reason: "", echoed: [], narrow: {}, bad: {} };
}

/** Whether this page has a form for an ask. @param {Ask} ask */
export function known(ask) {
  return KNOWN.includes(ask.type);
}

/** Every offer of a request with its place. @param {{asks: Ask[]}} record @returns {Placed[]} */
export function offers(record) {
  return record.asks.flatMap((ask, index) => [
    ...(ask.grants ?? []).map((offer, number) => ({ place: `${index}/${number}`, ask, option: null, offer })),
    ...(ask.options ?? []).flatMap((option, position) =>
      (option.grants ?? []).map((/** @type {any} */ offer, /** @type {number} */ number) => ({
        place: `${index}/${position}/${number}`,
        ask,
        option,
        offer,
      }))
    ),
  ]);
}

/** Whether the choice that an offer hangs on is made. @param {Placed} placed @param {Draft} draft */
export function isTriggered({ ask, option }, draft) {
  const answer = draft.answers[ask.id];
  if (!option) return ask.type === "approval" && answer === true;
  return ask.type === "choice" ? answer === option.id : Array.isArray(answer) && answer.includes(option.id);
}

/** The offers that would be conferred: ticked, and their choice made. @param {{asks: Ask[]}} record @param {Draft} draft */
export function conferred(record, draft) {
  return offers(record).filter((placed) => draft.echoed.includes(placed.place) && isTriggered(placed, draft));
}

/** The offers that are for the same as another and whose choice is made, itself among them: the nearest end counts (D14). @param {{asks: Ask[]}} record @param {Draft} draft @param {Placed} placed */
export function equals(record, draft, { offer }) {
  return offers(record).filter((one) =>
    one.offer.with === offer.with && one.offer.can === offer.can && isTriggered(one, draft)
  );
}

/** What keeps an answer from being sent, ask by ask. @param {{asks: Ask[]}} record @param {Draft} draft */
export function missing(record, draft) {
  return record.asks.filter((ask) => ask.required && !isAnswered(draft.answers[ask.id])).map((ask) => ask.id);
}

/** A text of nothing but spaces is no answer to a person who must give one. @param {any} answer */
function isAnswered(answer) {
  if (answer === undefined || answer === null) return false;
  return typeof answer === "string" ? answer.trim() !== "" : true;
}

/** Whether anything was typed or chosen. @param {Draft} draft */
export function isTouched(draft) {
  const { answers, comments, comment, reason, echoed } = draft;
  return Boolean(Object.keys(answers).length || Object.keys(comments).length || comment || reason || echoed.length);
}

/**
 * The input of `hitl:respond`: answers, remarks, and an echo of each offer that was ticked, as it was offered.
 * @param {any} record @param {Draft} draft @param {string} digest
 */
export function reply(record, draft, digest) {
  const comments = Object.fromEntries(Object.entries(draft.comments).filter(([, remark]) => remark.trim()));
  /** @type {Record<string, any>} */
  const said = { id: record.id, outcome: "answer", answers: draft.answers, digest };
  if (Object.keys(comments).length) said.comments = comments;
  if (draft.comment.trim()) said.comment = draft.comment;
  const echoes = conferred(record, draft).map((placed) => echo(placed, draft));
  if (echoes.length) said.grants = echoes;
  return said;
}

/** An offer as it was offered, with how it is to be smaller. @param {Placed} placed @param {Draft} draft */
function echo({ place, offer }, draft) {
  const narrow = draft.narrow[place];
  return narrow && Object.keys(narrow).length ? { ...offer, narrow } : offer;
}

/** An offer as it would be granted. @param {Placed} placed @param {Draft} draft */
export function granted({ place, offer }, draft) {
  const narrow = draft.narrow[place] ?? {};
  const { lifetime: _lifetime, ...rest } = offer;
  return narrow.exp === undefined ? { ...offer, ...narrow } : { ...rest, ...narrow };
}

/** The input of `hitl:respond` for a rejection; the reason goes word for word. @param {any} record @param {string} reason @param {string} digest */
export function rejection(record, reason, digest) {
  return { id: record.id, outcome: "reject", digest, ...(reason.trim() ? { comment: reason } : {}) };
}

/**
 * Open requests as a person wants them: the nearest deadline first, then the oldest.
 * @template {{created: number, expires?: number, id: string}} T
 * @param {T[]} items
 * @returns {T[]}
 */
export function sorted(items) {
  return [...items].sort(
    (a, b) => (a.expires ?? Infinity) - (b.expires ?? Infinity) || a.created - b.created || (a.id < b.id ? -1 : 1),
  );
}
