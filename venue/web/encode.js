// Bytes as text: base64url, base58btc, did:key, and the canonical JSON that digests are taken over (RFC 8785).

const ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const ED25519 = [0xed, 0x01];

/** @param {Uint8Array} bytes */
export function base64url(bytes) {
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} text @returns {Uint8Array} */
export function fromBase64url(text) {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

/** The claims of a compact JWS, as they stand in it. @param {string} token */
export function decoded(token) {
  return JSON.parse(new TextDecoder().decode(fromBase64url(token.split(".")[1])));
}

/** @param {Uint8Array} bytes */
export function base58(bytes) {
  let number = 0n;
  for (const byte of bytes) number = number * 256n + BigInt(byte);
  let text = "";
  for (; number > 0n; number /= 58n) text = ALPHABET[Number(number % 58n)] + text;
  for (const byte of bytes) {
    if (byte !== 0) break;
    text = `1${text}`;
  }
  return text;
}

/** The did:key of an Ed25519 key of 32 bytes. @param {Uint8Array} raw */
export function didKey(raw) {
  return `did:key:z${base58(Uint8Array.from([...ED25519, ...raw]))}`;
}

/** @param {unknown} value @returns {string} */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
    return `{${entries.map(([name, inner]) => `${JSON.stringify(name)}:${canonical(inner)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

/** SHA-256 in hex. @param {string} text */
export async function sha256(text) {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(hash)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The digest of a record as it is shown: over all of it but its state (D13). @param {Record<string, any>} record */
export async function digestOf(record) {
  const { digest: _digest, status: _status, response: _response, ...body } = record;
  return `sha256:${await sha256(canonical(body))}`;
}
