// The key of whoever uses this browser: made here, never to be taken out, and kept in IndexedDB.

import { base64url, didKey, fromBase64url } from "./encode.js";
import { KeyFileError, lock, unlock } from "./pem.js";
import { act, IDENTITIES, place } from "./store.js";

/**
 * Who somebody is here: `did` is the key's own, `subject` whom it speaks for (the same, or a managed user).
 * @typedef {{did: string, subject: string, name: string | null, venue: string, key: CryptoKey, created: number}} Identity
 */

/** Why keys cannot work here, or null. @returns {Promise<"insecure" | "no_ed25519" | "no_storage" | null>} */
export async function obstacle() {
  if (!globalThis.isSecureContext || !globalThis.crypto?.subtle) return "insecure";
  try {
    await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]);
  } catch {
    return "no_ed25519";
  }
  return globalThis.indexedDB ? null : "no_storage";
}

/** @typedef {{did: string, key: CryptoKey}} Held a key that cannot be read, not even by this page */

/** A fresh key that was never readable. Nothing is stored yet. @returns {Promise<Held>} */
export async function fresh() {
  const pair = /** @type {CryptoKeyPair} */ (
    await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"])
  );
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  return { did: didKey(raw), key: pair.privateKey };
}

/**
 * A fresh key, and the one chance to have a copy of it: until `drop`, `copy` encrypts it under a passphrase.
 * @returns {Promise<Held & {copy: (passphrase: string) => Promise<string>, drop: () => Promise<void>}>}
 */
export async function exportable() {
  const pair = /** @type {CryptoKeyPair} */ (
    await crypto.subtle.generateKey({ name: "Ed25519" }, true, ["sign", "verify"])
  );
  const secret = await crypto.subtle.exportKey("pkcs8", pair.privateKey);
  const held = await sealed(secret);
  /** @type {Promise<unknown>} */
  let copying = Promise.resolve();
  const copy = (/** @type {string} */ passphrase) => {
    const made = lock(secret, passphrase);
    copying = made.catch(() => {});
    return made;
  };
  return { ...held, copy, drop: () => copying.then(() => void new Uint8Array(secret).fill(0)) };
}

/**
 * The key of a file. Nothing is stored yet.
 * @param {string} text @param {string} passphrase @returns {Promise<Held>}
 * @throws {KeyFileError} for a file of another kind, another passphrase, and another kind of key
 */
export async function restored(text, passphrase) {
  const secret = await unlock(text, passphrase);
  try {
    return await sealed(secret);
  } catch {
    throw new KeyFileError("The file holds another kind of key than the inbox uses.");
  } finally {
    new Uint8Array(secret).fill(0);
  }
}

/** Make a key unreadable. @param {ArrayBuffer} secret PKCS 8 @returns {Promise<Held>} */
async function sealed(secret) {
  const open = await crypto.subtle.importKey("pkcs8", secret, { name: "Ed25519" }, true, ["sign"]);
  const { x = "" } = await crypto.subtle.exportKey("jwk", open);
  const key = await crypto.subtle.importKey("pkcs8", secret, { name: "Ed25519" }, false, ["sign"]);
  return { did: didKey(fromBase64url(x)), key };
}

/** Keep an identity, beside those that are here already. @param {URL} base @param {Identity} identity */
export async function keep(base, identity) {
  await act(base, IDENTITIES, "readwrite", (store) => store.put(identity, identity.did));
  await navigator.storage?.persist?.().catch(() => false);
}

/** Make an identity the one that this browser uses. @param {URL} base @param {Identity} identity */
export function activate(base, { did, subject }) {
  localStorage.setItem(place(base), JSON.stringify({ did, subject }));
}

/** Keep a key as an identity of its own, and use it. @param {URL} base @param {Held} held */
export async function adopt(base, { did, key }) {
  const identity = { did, key, subject: did, name: null, venue: "", created: Date.now() };
  await keep(base, identity);
  activate(base, identity);
}

/** Use none of them, until one is chosen. @param {URL} base */
export function signOut(base) {
  localStorage.removeItem(place(base));
}

/**
 * Who this browser is: the active identity, all that it has, and the one that was active and whose key is gone.
 * @param {URL} base
 * @returns {Promise<{identity: Identity | null, all: Identity[], lost: string | null}>}
 */
export async function load(base) {
  const all = /** @type {Identity[]} */ (await act(base, IDENTITIES, "readonly", (store) => store.getAll()));
  const active = remembered(localStorage.getItem(place(base)));
  const identity = all.find((one) => one.did === active?.did) ?? null;
  return { identity, all, lost: active && !identity ? active.subject : null };
}

/** @param {string | null} text @returns {{did: string, subject: string} | null} */
function remembered(text) {
  try {
    return JSON.parse(text ?? "null");
  } catch {
    return null;
  }
}

/** Call `changed` when another tab signs in, out, or as somebody else. @param {URL} base @param {() => void} changed */
export function watch(base, changed) {
  globalThis.addEventListener("storage", (event) => event.key === place(base) && changed());
}

/** Remove a key from this browser, for good. @param {URL} base @param {{did: string}} identity */
export async function forget(base, identity) {
  await act(base, IDENTITIES, "readwrite", (store) => store.delete(identity.did));
  if (remembered(localStorage.getItem(place(base)))?.did === identity.did) signOut(base);
}

/**
 * A compact JWS over claims, by an identity's key.
 * @param {{did: string, key: CryptoKey}} identity
 * @param {Record<string, any>} claims
 */
export async function sign({ did, key }, claims) {
  const header = { alg: "EdDSA", typ: "JWT", kid: did.slice("did:key:".length) };
  const text = [header, claims].map((part) => base64url(new TextEncoder().encode(JSON.stringify(part)))).join(".");
  const signature = await crypto.subtle.sign({ name: "Ed25519" }, key, new TextEncoder().encode(text));
  return `${text}.${base64url(new Uint8Array(signature))}`;
}
