// The screens before the inbox: getting in, and what keeps somebody out.

import { offerCopy, restore } from "./copy.js";
import { fill, h } from "./dom.js";
import { said } from "./escape.js";
import { activate, adopt, exportable, forget, signOut } from "./keys.js";
import { copyable, screen } from "./screen.js";
import { absolute } from "./time.js";
import { shortDid } from "./words.js";

/** Why this browser cannot hold a key. @param {"insecure" | "no_ed25519" | "no_storage"} why */
export function obstructed(why) {
  if (why === "insecure") {
    screen(
      "insecure",
      "This connection is not secure",
      h(
        "p",
        {},
        "Your browser gives a page keys only over https, or on this very machine. At this address it would have to do without, and anybody on the way could read and change what you approve.",
      ),
      h("p", {}, "Ask whoever runs this venue for its https address."),
    );
  } else if (why === "no_ed25519") {
    screen(
      "no-ed25519",
      "This browser cannot make the key",
      h(
        "p",
        {},
        "The inbox signs with an Ed25519 key, which this browser does not know. Chrome and Edge from version 137, Firefox from 129 and Safari from 17 do.",
      ),
    );
  } else {
    screen(
      "no-storage",
      "This browser keeps nothing",
      h(
        "p",
        {},
        "The key has to be kept in this browser, and it allows no storage here. A private window is often the reason.",
      ),
    );
  }
}

/** First visit: say what a key is, and make one on a click. @param {URL} base @param {() => void} done */
export function welcome(base, done) {
  const button = h(
    "button",
    { type: "button", class: "primary", on: { click: () => make(base, button, done) } },
    "Make my key",
  );
  screen(
    "welcome",
    "Your inbox",
    h(
      "p",
      {},
      "Agents ask here, and you decide. To show that it is you who decides, this browser makes a key and keeps it.",
    ),
    h(
      "ul",
      {},
      h("li", {}, "It stays in this browser. Once, right after it is made, you can save an encrypted copy of it."),
      h("li", {}, "After that nobody can copy it out, not even this page. Without a copy it cannot be recovered."),
    ),
    h("p", { class: "buttons" }, button, haveCopy(base, done)),
  );
}

/** The key that was here is gone. @param {URL} base @param {string} did @param {() => void} done */
export function lost(base, did, done) {
  const button = h("button", { type: "button", on: { click: () => make(base, button, done) } }, "Make a new key");
  screen(
    "lost",
    "The key is gone from this browser",
    h("p", {}, "This browser was the inbox of"),
    copyable(did),
    h(
      "p",
      {},
      "Its key is no longer here: the browser’s data for this page was cleared. If you saved a copy, bring it back with that. Without one, what waits in that inbox can no longer be answered. Tell whoever runs the venue.",
    ),
    h("p", {}, "A new key is a new identity, with an empty inbox."),
    h(
      "p",
      { class: "buttons" },
      haveCopy(base, done),
      button,
      h("button", { type: "button", on: { click: () => (signOut(base), done()) } }, "Set this aside"),
    ),
  );
}

/** Several identities in one browser, and none in use. @param {URL} base @param {import("./keys.js").Identity[]} all @param {() => void} done */
export function choose(base, all, done) {
  const use = (/** @type {import("./keys.js").Identity} */ identity) => (activate(base, identity), done());
  const fresh_ = h(
    "button",
    { type: "button", class: "quiet", on: { click: () => make(base, fresh_, done) } },
    "Make another key",
  );
  screen(
    "choose",
    "Who are you today?",
    h(
      "ul",
      { class: "rows" },
      all.map((identity) =>
        h(
          "li",
          {},
          h(
            "button",
            { type: "button", class: "who", on: { click: () => use(identity) } },
            said(identity.name ?? shortDid(identity.subject, "")),
            h("span", { class: "note" }, ` key made ${absolute(identity.created)}`),
          ),
        )
      ),
    ),
    h("p", { class: "buttons" }, fresh_, haveCopy(base, done)),
  );
}

/** @param {URL} base @param {() => void} done */
function haveCopy(base, done) {
  return h(
    "button",
    { type: "button", class: "quiet", on: { click: () => restore(base, done) } },
    "I have a copy of my key",
  );
}

/** @param {URL} base @param {any} button @param {() => void} done */
async function make(base, button, done) {
  button.disabled = true;
  try {
    const { did, key, copy, drop } = await exportable();
    await adopt(base, { did, key });
    made(did, copy, () => drop().then(done));
  } catch (error) {
    button.disabled = false;
    button.after(h("p", { class: "problem", role: "alert" }, `The key could not be kept: ${String(error)}`));
  }
}

/**
 * The key was made: whom agents ask, what losing it means, and a copy of it, now or never.
 * @param {string} did @param {(passphrase: string) => Promise<string>} copy @param {() => void} done
 */
function made(did, copy, done) {
  screen(
    "made",
    "This is you",
    h("p", {}, "Give this name to the agents that will ask you:"),
    copyable(did),
    h("h2", {}, "If you lose it"),
    h(
      "p",
      {},
      "The key lives in this browser only. If you clear this site’s data, or lose the machine, nobody can answer as you again, and what waits for you stays unanswered. What you granted before stays valid until it ends.",
    ),
    offerCopy(did, copy),
    h("button", { type: "button", class: "primary", on: { click: done } }, "Open my inbox"),
  );
}

/** A way to be another of the identities of this browser, or a new one. @param {URL} base */
export function somebodyElse(base) {
  const leave = () => {
    signOut(base);
    location.hash = "";
    location.reload();
  };
  return h("button", { type: "button", class: "quiet", on: { click: leave } }, "Sign out, or be somebody else");
}

/** @param {URL} base @param {string} did @param {string} venue @param {() => void} again */
export function notAdmitted(base, did, venue, again) {
  screen(
    "not-admitted",
    "You are not admitted yet",
    h(
      "p",
      {},
      "Your key is fine. ",
      said(venue),
      " does not know it yet: whoever runs it has to give it an inbox, with this command:",
    ),
    h("pre", {}, h("code", {}, `venue user add ${did}`)),
    h("p", {}, "This is you:"),
    copyable(did),
    h("p", { class: "note" }, "This page looks again every few seconds."),
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "button", on: { click: again } }, "Look again now"),
      somebodyElse(base),
    ),
  );
}

/** @param {() => void} again */
export function unreachable(again) {
  screen(
    "unreachable",
    "The venue does not answer",
    h(
      "p",
      {},
      "This says nothing about what waits for you: your inbox could not be asked. The page tries again by itself.",
    ),
    h("button", { type: "button", class: "primary", on: { click: again } }, "Try again now"),
  );
}

/** The venue does not accept the key. @param {URL} base @param {string} reason @param {import("./keys.js").Identity} identity @param {() => void} again */
export function refused(base, reason, identity, again) {
  screen(
    "refused",
    "You are not signed in",
    h("p", {}, "The venue does not accept this browser’s key. It says:"),
    h("blockquote", {}, said(reason)),
    h("p", {}, "This is the key:"),
    copyable(identity.did),
    h("p", {}, "If the clock of this machine is right, the key was probably revoked."),
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "button", class: "primary", on: { click: again } }, "Try again"),
      somebodyElse(base),
      forgetting(base, identity),
    ),
  );
}

/** Another venue answers at this address. @param {URL} base @param {string} before @param {string} now @param {() => void} again */
export function otherVenue(base, before, now, again) {
  screen(
    "other-venue",
    "Another venue answers here",
    h("p", {}, "This browser’s key was made for the venue"),
    copyable(before),
    h("p", {}, "but at this address there is now"),
    copyable(now),
    h("p", {}, "Nothing was sent to it. Ask whoever runs it, before you go on."),
    h(
      "p",
      { class: "buttons" },
      h("button", { type: "button", on: { click: again } }, "Look again"),
      somebodyElse(base),
    ),
  );
}

/** A button that removes a key, after a second question. @param {URL} base @param {{did: string}} identity */
export function forgetting(base, identity) {
  const box = h("span", { class: "buttons" });
  const ask = h(
    "button",
    { type: "button", class: "quiet danger", on: { click: sure } },
    "Remove the key from this browser",
  );
  function sure() {
    const yes = h("button", { type: "button", class: "danger", on: { click: gone } }, "Remove it for good");
    fill(
      box,
      h("strong", {}, "Without a saved copy, nobody can answer as you again."),
      yes,
      h("button", { type: "button", on: { click: () => (fill(box, ask), ask.focus()) } }, "Keep it"),
    );
    yes.focus();
  }
  async function gone() {
    await forget(base, identity);
    location.hash = "";
    location.reload();
  }
  box.append(ask);
  return box;
}
