// What a capability lets somebody do, in words, and whether it is broad. The exact form always stands beside it.

/** @typedef {{with: string, can: string, exp?: number | null, lifetime?: number, nb?: Record<string, any>}} Offer */

// Maps, not objects: a requester may call an ability `constructor`.
const ABILITIES = new Map(
  Object.entries({
    "*": "do anything at all with",
    crud: "read, change and delete",
    "crud/read": "read",
    "crud/write": "write",
    "crud/list": "list",
    "crud/append": "add to",
    "crud/delete": "delete",
    hitl: "do anything to do with requests in",
    "hitl/request": "put requests into",
    grant: "pass on, to whomever they like, any right over",
  }),
);

const NAMESPACES = new Map([
  ["w", "workspace"],
  ["h", "inbox"],
  ["j", "jobs"],
]);

/** The absolute resource: a bare path is the owner's own. @param {string} resource @param {string} owner */
export function absoluteResource(resource, owner) {
  return resource.startsWith("did:") ? resource : `${owner}/${resource.replace(/^\//, "")}`;
}

/** The verb of an ability. A name that this page does not know is quoted, never guessed at. @param {string} can @returns {string} */
function verb(can) {
  const bare = can.replace(/\/\*$/, "");
  const known = ABILITIES.get(bare);
  if (known) return known;
  if (bare.startsWith("grant/")) return `pass on to others the right to ${verb(bare.slice(6))}`;
  return `do “${can}” (a name that this page does not know) with`;
}

/**
 * The parts of a sentence: `may <verb> <before> <name> <after>`. `verb` and `name` may hold the requester's words.
 * @param {Offer} offer
 * @param {string} owner
 * @returns {{verb: string, before: string, name: string | null, after: string}}
 */
export function inWords(offer, owner) {
  const resource = absoluteResource(offer.with, owner).replace(/\/$/, "");
  const slash = resource.indexOf("/");
  const did = slash < 0 ? resource : resource.slice(0, slash);
  const segments = slash < 0 ? [] : resource.slice(slash + 1).split("/");
  const yours = did === owner;
  const whose = yours ? "your" : "somebody else’s";
  const said = verb(offer.can);
  if (!segments.length) {
    return {
      verb: said,
      before: yours ? "everything you have here" : "everything of",
      name: yours ? null : did,
      after: "",
    };
  }
  const space = NAMESPACES.get(segments[0]);
  const rest = segments.slice(1).join("/");
  if (space && !rest) return { verb: said, before: `all of ${whose} ${space}`, name: null, after: "" };
  if (space) return { verb: said, before: "", name: rest, after: `and everything below it, in ${whose} ${space}` };
  return { verb: said, before: "", name: segments.join("/"), after: `and everything below it, in ${whose} namespace` };
}

/**
 * Why an offer is broad; empty when it is not.
 * @param {Offer} offer
 * @param {string} owner
 * @returns {string[]}
 */
export function broad(offer, owner) {
  const resource = absoluteResource(offer.with, owner).replace(/\/$/, "");
  const segments = resource.split("/").slice(1);
  const found = [];
  if (offer.can === "*") found.push("every ability");
  if (!segments.length) found.push("everything you own here");
  if (segments.length === 1) found.push(`the whole namespace ${segments[0]}/`);
  if (/^grant(\/|$)/.test(offer.can)) found.push("may be passed on to others");
  if (offer.exp === null) found.push("never ends");
  return found;
}

/**
 * When an offer ends, in unix seconds, if it is approved now; null for never.
 * @param {Offer} offer
 * @param {number} now epoch milliseconds
 * @param {number} fallback seconds that an offer lives that says nothing
 */
export function endOf(offer, now, fallback) {
  if (offer.exp !== undefined) return offer.exp;
  return Math.floor(now / 1000) + (offer.lifetime ?? fallback);
}

/** The parts of a DID that a person can tell apart. @param {string} did @param {string} you */
export function shortDid(did, you) {
  const [owner, agent] = cutAgent(did);
  if (owner === you) return agent ? `${agent}, your agent` : "you";
  const managed = /^(.*):u:([A-Za-z0-9_][A-Za-z0-9._-]{0,63})$/.exec(owner);
  const name = managed ? `${managed[2]} @ ${middle(managed[1])}` : middle(owner);
  return agent ? `${agent} of ${name}` : name;
}

/** The owner and, for an agent, its id. @param {string} did @returns {[string, string | null]} */
export function cutAgent(did) {
  const found = /^(.*):g:([A-Za-z0-9_][A-Za-z0-9._-]{0,63})$/.exec(did);
  return found ? [found[1], found[2]] : [did, null];
}

/** @param {string} did */
function middle(did) {
  return did.length > 32 ? `${did.slice(0, 16)}…${did.slice(-8)}` : did;
}
