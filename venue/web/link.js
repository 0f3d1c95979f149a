// The one-time link of a managed user: whose it is, and a click that binds a fresh key. Opening it does nothing.

import { Api, Refusal, Unreachable } from "./api.js";
import { h } from "./dom.js";
import { said } from "./escape.js";
import { activate, forget, fresh, keep, sign } from "./keys.js";
import { copyable, screen } from "./screen.js";

const FORM = /^#link=([A-Za-z0-9_][A-Za-z0-9._-]{0,63})\.([0-9a-f]{48})$/;

/** @typedef {{name: string, code: string}} Link */

/** The link in the address, which is taken out of it at once: it must not stay in the history. @returns {Link | null} */
export function taken() {
  if (!location.hash.startsWith("#link=")) return null;
  const [, name = "", code = ""] = FORM.exec(location.hash) ?? [];
  history.replaceState(null, "", location.pathname);
  return { name, code };
}

/** Show whose link it is, and wait for the click. @param {URL} base @param {Link} link @param {() => void} done */
export async function linked(base, link, done) {
  const api = new Api(base, null);
  if (!link.code) {
    refused("This link is not complete. Copy all of it, or ask for a new one.", done);
    return;
  }
  let about;
  try {
    about = await api.status();
  } catch {
    screen(
      "unreachable",
      "The venue does not answer",
      h("p", {}, "The link was not used, and is still good until its 15 minutes are over."),
      again(() => linked(base, link, done)),
    );
    return;
  }
  const button = h("button", { type: "button", class: "primary" }, "Yes, that is me: use this browser");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  /** @type {import("./keys.js").Identity | null} */
  let identity = null;
  button.addEventListener("click", async () => {
    button.disabled = true;
    problem.hidden = true;
    try {
      const subject = `${about.did}:u:${link.name}`;
      identity ??= { ...(await fresh()), subject, name: link.name, venue: about.did, created: Date.now() };
      await keep(base, identity);
      await bind(api, identity, link);
      activate(base, identity);
      done();
    } catch (error) {
      button.disabled = false;
      if (error instanceof Refusal && identity) {
        await forget(base, identity);
        refused(error.message, done);
        return;
      }
      problem.hidden = false;
      problem.textContent = error instanceof Unreachable
        ? "The venue did not answer. Try again: the link works once, and trying twice does no harm."
        : String(error);
    }
  });
  screen(
    "link",
    "Is this you?",
    h("p", {}, "This link is for"),
    h("p", { class: "name-plate" }, said(link.name)),
    h("p", {}, "at ", said(about.name ?? "this venue"), ":"),
    copyable(`${about.did}:u:${link.name}`),
    h(
      "p",
      {},
      "If it is you, this browser makes a key that answers in your name. It stays in this browser. If it is not you, close this page: nothing has happened yet.",
    ),
    button,
    problem,
  );
}

/**
 * Use the link up and bind the key. When it was used before, that may have been this very key, whose answer was lost.
 * @param {Api} api @param {import("./keys.js").Identity} identity @param {Link} link
 */
async function bind(api, identity, link) {
  const iat = Math.floor(api.now() / 1000);
  const proof = await sign(identity, {
    iss: identity.did,
    sub: identity.subject,
    aud: api.about?.did,
    iat,
    exp: iat + 120,
  });
  try {
    await api.post("link", { user: link.name, code: link.code, proof });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const mine = new Api(api.base, identity);
    await mine.run("hitl/list", { limit: 1 }).catch(() => {
      throw error;
    });
  }
}

/** @param {string} why @param {() => void} done */
function refused(why, done) {
  screen(
    "link-refused",
    "This link does not work",
    h("p", {}, said(why)),
    h("p", {}, "Whoever runs the venue can make a new one for you."),
    again(done, "Go on without it"),
  );
}

/** @param {() => void} act */
function again(act, words = "Try again") {
  return h("button", { type: "button", on: { click: act } }, words);
}
