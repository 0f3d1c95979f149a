// What changes in the inbox, live. One tab holds the stream and tells the others, for a browser opens only a few
// connections to one place; when that tab goes, the next one takes over.

import { Refusal } from "./api.js";

const SILENCE = 16_000; // three heartbeats of the venue
const SOONEST = 400;
const LATEST = 8_000;

/**
 * @typedef {{kind: string, id?: string, version?: number, at?: number}} Change
 * @typedef {"connecting" | "live" | "lost" | "refused"} State
 */

/**
 * Frames out of a stream of server-sent events, cut anywhere.
 * @returns {(text: string) => {event: string, data: string, id: string}[]}
 */
export function frames() {
  let rest = "";
  return (text) => {
    rest += text;
    const parts = rest.split("\n\n");
    rest = /** @type {string} */ (parts.pop());
    return parts.map((part) => {
      const frame = { event: "", data: "", id: "" };
      for (const line of part.split("\n")) {
        const [, name, value] = /^([a-z]+): ?(.*)$/.exec(line) ?? [];
        if (name === "event" || name === "data" || name === "id") frame[name] += value;
      }
      return frame;
    });
  };
}

/**
 * Follow an inbox for as long as this page lives.
 * @param {import("./api.js").Api} api
 * @param {string} name whose
 * @param {{change: (change: Change) => void, state: (state: State) => void}} tell
 */
export function follow(api, name, tell) {
  const channel = new BroadcastChannel(`venue-inbox ${api.base.href} ${name}`);
  /** @type {State} */
  let state = "connecting";
  let leading = false;
  const say = (/** @type {State} */ next) => {
    state = next;
    tell.state(next);
    channel.postMessage({ state: next });
  };
  channel.onmessage = ({ data }) => {
    if (data.hello && leading) channel.postMessage({ state });
    if (data.state && !leading) tell.state(data.state);
    if (data.change) tell.change(data.change);
  };
  const lead = async () => {
    leading = true;
    await hold(api, {
      state: say,
      change: (change) => {
        tell.change(change);
        channel.postMessage({ change });
      },
    });
  };
  channel.postMessage({ hello: true });
  if (navigator.locks) navigator.locks.request(`venue-inbox ${api.base.href} ${name}`, lead);
  else lead();
}

/**
 * Keep a stream open, for ever: connect, read, and connect again from where it broke.
 * @param {import("./api.js").Api} api
 * @param {{change: (change: Change) => void, state: (state: State) => void}} tell
 */
async function hold(api, tell) {
  /** @type {number | null} */
  let version = null;
  let wait = SOONEST;
  for (;;) {
    try {
      for await (const frame of read(api, version)) {
        if (wait !== SOONEST || version === null) tell.state("live");
        wait = SOONEST;
        if (frame.id) version = Number(frame.id);
        if (frame.event === "resync") tell.change({ kind: "resync" });
        if (frame.event === "change") tell.change(JSON.parse(frame.data));
      }
      tell.state("connecting");
    } catch (error) {
      tell.state(error instanceof Refusal && error.status < 500 && error.status !== 429 ? "refused" : "lost");
      wait = Math.min(wait * 2, LATEST);
    }
    await pause(wait);
  }
}

/** @param {import("./api.js").Api} api @param {number | null} after */
async function* read(api, after) {
  const stop = new AbortController();
  let timer = setTimeout(() => stop.abort(), SILENCE);
  try {
    const response = await api.stream(after, stop.signal);
    const reader = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader();
    const decoder = new TextDecoder();
    const cut = frames();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => stop.abort(), SILENCE);
      yield* cut(decoder.decode(value, { stream: true }));
    }
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** Wait a while, or until the network is said to be back. @param {number} milliseconds */
function pause(milliseconds) {
  return new Promise((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      globalThis.removeEventListener("online", wake);
      resolve(null);
    };
    const timer = setTimeout(wake, milliseconds);
    globalThis.addEventListener("online", wake);
  });
}
