// The page about oneself: the name to give to agents, the key, and the ways out.

import { h } from "./dom.js";
import { forgetting, somebodyElse } from "./entry.js";
import { said } from "./escape.js";
import { copyable } from "./screen.js";

/** @param {URL} base @param {import("./keys.js").Identity} identity */
export function youPage(base, identity) {
  return h(
    "section",
    { class: "you" },
    h("h2", { tabindex: "-1" }, "You"),
    identity.name ? h("p", {}, "You are ", h("strong", {}, said(identity.name)), ", whom this venue manages.") : null,
    h("p", {}, "Give this name to the agents that will ask you:"),
    copyable(identity.subject),
    identity.subject === identity.did
      ? null
      : [h("p", {}, "This browser’s key, which speaks for you:"), copyable(identity.did)],
    h(
      "p",
      {},
      "This browser keeps the key, and nobody can copy it out any more. If you clear this site’s data, it is gone, and only a copy that was saved when it was made brings it back.",
    ),
    h(
      "p",
      { class: "buttons" },
      somebodyElse(base),
      forgetting(base, identity),
    ),
  );
}
