// The key of whoever uses this browser: made here, never to be taken out, and kept in IndexedDB.

import { base64url, didKey } from "./encode.js";

/**
 * Who somebody is here: `did` is the key's own, `subject` whom it speaks for (the same, or a managed user).
 * @typedef {{did: string, subject: string, name: string | null, venue: string, key: CryptoKey, created: number}} Identity
 */

const STORE = "identity";
const ACTIVE = "active";

/** One set of keys per venue, also where two share an origin below different prefixes. @param {URL} base */
function place(base) {
  return `venue-inbox:${base.pathname}`;
}

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

/** A fresh key that cannot be read, not even by this page. Nothing is stored yet. @returns {Promise<{did: string, key: CryptoKey}>} */
export async function fresh() {
  const pair = /** @type {CryptoKeyPair} */ (await crypto.subtle.generateKey({ name: "Ed25519" }, false, ["sign", "verify"]));
  const raw = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
  return { did: didKey(raw), key: pair.privateKey };
}

/** Keep an identity and make it the active one. @param {URL} base @param {Identity} identity */
export async function keep(base, identity) {
  const database = await open(base);
  await request(database, "readwrite", (store) => store.put(identity, ACTIVE));
  database.close();
  localStorage.setItem(place(base), identity.subject);
  await navigator.storage?.persist?.().catch(() => false);
}

/**
 * The identity of this browser; `lost` names the one that was here before, when its key is gone.
 * @param {URL} base
 * @returns {Promise<{identity: Identity | null, lost: string | null}>}
 */
export async function load(base) {
  const database = await open(base);
  const identity = /** @type {Identity | undefined} */ (await request(database, "readonly", (store) => store.get(ACTIVE)));
  database.close();
  return { identity: identity ?? null, lost: identity ? null : localStorage.getItem(place(base)) };
}

/** Remove the key from this browser, for good. @param {URL} base */
export async function forget(base) {
  const database = await open(base);
  await request(database, "readwrite", (store) => store.delete(ACTIVE));
  database.close();
  localStorage.removeItem(place(base));
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

/** @param {URL} base @returns {Promise<IDBDatabase>} */
function open(base) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(place(base), 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}

/**
 * @param {IDBDatabase} database
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} act
 */
function request(database, mode, act) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, mode);
    const asked = act(transaction.objectStore(STORE));
    transaction.oncomplete = () => resolve(asked.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}
