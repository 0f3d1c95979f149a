// An Ed25519 key under a passphrase, as the file that `venue key new` writes too: encrypted PKCS 8 in PEM
// (RFC 8018, PBES2 with PBKDF2, HMAC-SHA-256 and AES-256-CBC).

/** Something is wrong with a file or its passphrase; the message is for a person. */
export class KeyFileError extends Error {}

const LABEL = "ENCRYPTED PRIVATE KEY";
const ROUNDS = 600_000;
const MOST_ROUNDS = 10_000_000;
const LONGEST = 16_384;

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OCTETS = 0x04;
const NULL = 0x05;
const OID = 0x06;

const PBES2 = "2a864886f70d01050d";
const PBKDF2 = "2a864886f70d01050c";
const HMAC_SHA256 = "2a864886f70d0209";
const AES_256_CBC = "60864801650304012a";

/**
 * Encrypt a key. Takes as long as a guess at the passphrase shall take.
 * @param {ArrayBuffer} pkcs8 @param {string} passphrase @returns {Promise<string>}
 */
export async function lock(pkcs8, passphrase) {
  const salt = crypto.getRandomValues(new Uint8Array(16));
  const iv = crypto.getRandomValues(new Uint8Array(16));
  const key = await derived(passphrase, salt, ROUNDS, "encrypt");
  const data = new Uint8Array(await crypto.subtle.encrypt({ name: "AES-CBC", iv }, key, pkcs8));
  const rounds = [ROUNDS >> 16, (ROUNDS >> 8) & 0xff, ROUNDS & 0xff];
  const function_ = der(SEQUENCE, der(OID, bytes(HMAC_SHA256)), der(NULL));
  const derivation = der(
    SEQUENCE,
    der(OID, bytes(PBKDF2)),
    der(SEQUENCE, der(OCTETS, salt), der(INTEGER, rounds), function_),
  );
  const cipher = der(SEQUENCE, der(OID, bytes(AES_256_CBC)), der(OCTETS, iv));
  const scheme = der(SEQUENCE, der(OID, bytes(PBES2)), der(SEQUENCE, derivation, cipher));
  const lines = btoa(String.fromCharCode(...der(SEQUENCE, scheme, der(OCTETS, data)))).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${LABEL}-----`, ...lines, `-----END ${LABEL}-----`, ""].join("\n");
}

/**
 * Decrypt a key.
 * @param {string} text @param {string} passphrase @returns {Promise<ArrayBuffer>} PKCS 8
 * @throws {KeyFileError} for a file of another kind, and for another passphrase
 */
export async function unlock(text, passphrase) {
  const { salt, rounds, iv, data } = parameters(text);
  const key = await derived(passphrase, salt, rounds, "decrypt");
  try {
    return await crypto.subtle.decrypt({ name: "AES-CBC", iv }, key, data);
  } catch {
    throw new KeyFileError("The passphrase is another, or the file was changed.");
  }
}

/** @param {string} text */
function parameters(text) {
  try {
    const [scheme, data] = inner(only(decoded(text), SEQUENCE), SEQUENCE, OCTETS);
    const [kind, chosen] = inner(scheme, OID, SEQUENCE);
    const [derivation, cipher] = inner(chosen, SEQUENCE, SEQUENCE);
    const [function_, how] = inner(derivation, OID, SEQUENCE);
    const [salt, count, ...rest] = elements(how);
    const [hash] = inner(only(rest.at(-1), SEQUENCE), OID, NULL);
    const [algorithm, iv] = inner(cipher, OID, OCTETS);
    const names = [kind, function_, hash, algorithm].map(hex);
    const rounds = only(count, INTEGER).reduce((sum, byte) => sum * 256 + byte, 0);
    if (names.join() !== [PBES2, PBKDF2, HMAC_SHA256, AES_256_CBC].join()) throw new RangeError();
    if (rounds < 1 || rounds > MOST_ROUNDS || rest.length > 2) throw new RangeError();
    return { salt: only(salt, OCTETS), rounds, iv, data };
  } catch {
    throw new KeyFileError(
      "This is no key file that can be read here: it must be one that this page or `venue key new` made, with a passphrase.",
    );
  }
}

/** @param {string} text */
function decoded(text) {
  const found = new RegExp(`^\\s*-----BEGIN ${LABEL}-----([A-Za-z0-9+/=\\s]+)-----END ${LABEL}-----\\s*$`).exec(text);
  if (!found || text.length > LONGEST) throw new RangeError();
  const [only_, ...more] = elements(Uint8Array.from(atob(found[1].replace(/\s/g, "")), (char) => char.charCodeAt(0)));
  if (more.length) throw new RangeError();
  return only_;
}

/**
 * @param {string} passphrase @param {Uint8Array<ArrayBuffer>} salt @param {number} iterations @param {"encrypt" | "decrypt"} use
 */
async function derived(passphrase, salt, iterations, use) {
  const secret = await crypto.subtle.importKey("raw", new TextEncoder().encode(passphrase), "PBKDF2", false, [
    "deriveKey",
  ]);
  const how = { name: "PBKDF2", hash: "SHA-256", salt, iterations };
  return crypto.subtle.deriveKey(how, secret, { name: "AES-CBC", length: 256 }, false, [use]);
}

/** One element of DER. @param {number} tag @param {...ArrayLike<number>} parts @returns {Uint8Array<ArrayBuffer>} */
function der(tag, ...parts) {
  const body = parts.flatMap((part) => [...Array.from(part)]);
  const size = body.length < 128 ? [body.length] : body.length < 256 ? [0x81, body.length] : [
    0x82,
    body.length >> 8,
    body.length & 0xff,
  ];
  return Uint8Array.from([tag, ...size, ...body]);
}

/** @typedef {{tag: number, body: Uint8Array<ArrayBuffer>}} Element */

/** The elements that follow each other. @param {Uint8Array<ArrayBuffer>} data @returns {Element[]} */
function elements(data) {
  const found = [];
  for (let at = 0; at < data.length;) {
    const tag = data[at];
    let size = data[at + 1];
    at += 2;
    if (size > 0x82 || size === 0x80) throw new RangeError();
    if (size > 0x80) {
      const digits = size - 0x80;
      size = data.slice(at, at + digits).reduce((sum, byte) => sum * 256 + byte, 0);
      at += digits;
    }
    if (!(at + size <= data.length)) throw new RangeError();
    found.push({ tag, body: data.slice(at, at + size) });
    at += size;
  }
  return found;
}

/** The body of an element that must be of a kind. @param {Element | undefined} element @param {number} tag */
function only(element, tag) {
  if (element?.tag !== tag) throw new RangeError();
  return element.body;
}

/** The bodies of exactly these elements. @param {Uint8Array<ArrayBuffer>} data @param {...number} tags */
function inner(data, ...tags) {
  const found = elements(data);
  if (found.length !== tags.length) throw new RangeError();
  return tags.map((tag, index) => only(found[index], tag));
}

/** @param {string} text */
function bytes(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** @param {Uint8Array} data */
function hex(data) {
  return [...data].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
