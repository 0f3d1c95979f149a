// The public API, as every other client calls it: a bearer signed for each request, and refusals by their code.

import { sign } from "./keys.js";

const PATIENCE = 20_000;
const BEARER = 60;
const STREAM_BEARER = 14 * 60;

/** The venue said no, and why. */
export class Refusal extends Error {
  /** @param {number} status @param {Record<string, any>} body */
  constructor(status, body) {
    super(typeof body.error === "string" ? body.error : `The venue answered ${status}`);
    this.status = status;
    this.code = typeof body.code === "string" ? body.code : "";
    this.body = body;
  }
}

/** Nobody answered. */
export class Unreachable extends Error {}

/** @typedef {import("./keys.js").Identity} Identity */

export class Api {
  /** @param {URL} base where the venue is, with its prefix @param {Identity | null} identity */
  constructor(base, identity) {
    this.base = base;
    this.identity = identity;
    /** @type {Record<string, any> | null} */
    this.about = null;
    this.ahead = 0; // the venue's clock minus ours, in milliseconds
  }

  /** The venue's time in epoch milliseconds: deadlines and bearers are read on its clock, not on this machine's. */
  now() {
    return Date.now() + this.ahead;
  }

  /** Who the venue is, and what time it has. */
  async status() {
    const sent = Date.now();
    this.about = await this.#json(await this.#fetch("status", {}));
    if (typeof this.about?.ts === "number") this.ahead = this.about.ts - (sent + Date.now()) / 2;
    return /** @type {Record<string, any>} */ (this.about);
  }

  /**
   * Run an operation and return its output. `key` makes a repeat safe: the same key never does it twice.
   * @param {string} operation
   * @param {Record<string, any>} input
   * @param {string} [key]
   */
  async run(operation, input, key) {
    /** @type {Record<string, string>} */
    const headers = { "Content-Type": "application/json", ...(await this.#bearer(BEARER)) };
    if (key) headers["Idempotency-Key"] = key;
    const body = JSON.stringify({ operation: `v/ops/${operation}`, input });
    return this.#json(await this.#fetch("run", { method: "POST", headers, body }));
  }

  /** A call without a bearer, for the one-time link. @param {string} path @param {Record<string, any>} input */
  async post(path, input) {
    const headers = { "Content-Type": "application/json" };
    return this.#json(await this.#fetch(path, { method: "POST", headers, body: JSON.stringify(input) }));
  }

  /** The value at a path, or null. @param {string} path */
  async read(path) {
    const query = new URLSearchParams({ path, maxSize: "8000000" });
    const found = await this.#json(await this.#fetch(`values/read?${query}`, { headers: await this.#bearer(BEARER) }));
    return found.exists ? found.value : null;
  }

  /** A job's signed receipt, or null when there is none to see. @param {string} id */
  async receipt(id) {
    try {
      const headers = await this.#bearer(BEARER);
      return (await this.#json(await this.#fetch(`jobs/${id}/receipt`, { headers }))).receipt;
    } catch (error) {
      if (error instanceof Refusal && error.status === 404) return null;
      throw error;
    }
  }

  /** Open the stream of this inbox's changes. @param {number | null} after @param {AbortSignal} signal */
  async stream(after, signal) {
    /** @type {Record<string, string>} */
    const headers = { Accept: "text/event-stream", ...(await this.#bearer(STREAM_BEARER)) };
    if (after !== null) headers["Last-Event-ID"] = String(after);
    const response = await this.#fetch("inbox/sse", { headers }, signal);
    if (!response.ok) await this.#json(response);
    return response;
  }

  /** @param {number} seconds @returns {Promise<Record<string, string>>} */
  async #bearer(seconds) {
    if (!this.identity) return {};
    const about = this.about ?? (await this.status());
    const iat = Math.floor(this.now() / 1000);
    const claims = { iss: this.identity.did, sub: this.identity.subject, aud: about.did, iat, exp: iat + seconds };
    return { Authorization: `Bearer ${await sign(this.identity, claims)}` };
  }

  /** @param {string} path @param {RequestInit} options @param {AbortSignal} [signal] */
  async #fetch(path, options, signal) {
    try {
      return await fetch(new URL(`api/v1/${path}`, this.base), {
        ...options,
        credentials: "omit",
        cache: "no-store",
        redirect: "error",
        referrerPolicy: "no-referrer",
        signal: signal ?? AbortSignal.timeout(PATIENCE),
      });
    } catch (error) {
      throw new Unreachable(String(error));
    }
  }

  /** @param {Response} response */
  async #json(response) {
    let body;
    try {
      body = await response.json();
    } catch {
      if (response.ok) throw new Unreachable("the answer was cut off");
      body = {};
    }
    if (!response.ok) throw new Refusal(response.status, body ?? {});
    return body;
  }
}
