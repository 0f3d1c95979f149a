// What this browser keeps, in IndexedDB: the keys, and the tokens that they signed.

export const IDENTITIES = "identity";
export const SIGNED = "signed";

/** One store per venue, also where two share an origin below different prefixes. @param {URL} base */
export function place(base) {
  return `venue-inbox:${base.pathname}`;
}

/**
 * One act on a store, and wait until it is done.
 * @param {URL} base
 * @param {string} name
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest} work
 */
export async function act(base, name, mode, work) {
  const database = await open(base);
  try {
    return await new Promise((resolve, reject) => {
      const transaction = database.transaction(name, mode);
      const asked = work(transaction.objectStore(name));
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onerror = () => reject(transaction.error);
      transaction.onabort = () => reject(transaction.error);
    });
  } finally {
    database.close();
  }
}

/** @param {URL} base @returns {Promise<IDBDatabase>} */
function open(base) {
  return new Promise((resolve, reject) => {
    const opening = indexedDB.open(place(base), 2);
    opening.onupgradeneeded = ({ oldVersion }) => {
      if (oldVersion < 1) opening.result.createObjectStore(IDENTITIES);
      opening.result.createObjectStore(SIGNED, { keyPath: ["request", "ask"] });
    };
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
}
