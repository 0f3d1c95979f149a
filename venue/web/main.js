// The way in, and the one place where the parts of the page are put together.

import { Api, Refusal, Unreachable } from "./api.js";
import * as entry from "./entry.js";
import * as keys from "./keys.js";
import { linked, taken } from "./link.js";
import { Shell } from "./shell.js";

const base = new URL("..", import.meta.url);
const AGAIN = 5_000;
let timer = 0;

/** Whether a screen is there already; drawn again it would take the focus from whoever reads it. @param {string} name */
function isShown(name) {
  return document.querySelector(`main.screen.${name}`) !== null;
}

/** Look at what this browser has, and go where that leads. */
async function begin() {
  const link = taken();
  const why = await keys.obstacle();
  if (why) {
    entry.obstructed(why);
    return;
  }
  let found;
  try {
    found = await keys.load(base);
  } catch {
    entry.obstructed("no_storage");
    return;
  }
  if (link) await linked(base, link, begin);
  else if (found.identity) await enter(found.identity);
  else if (found.lost) entry.lost(base, found.lost, begin);
  else if (found.all.length) entry.choose(base, found.all, begin);
  else entry.welcome(base, begin);
}

/** Ask the venue whether it knows us; then the inbox, or why not. @param {keys.Identity} identity */
async function enter(identity) {
  const api = new Api(base, identity);
  const again = () => {
    clearTimeout(timer);
    enter(identity);
  };
  try {
    const about = await api.status();
    if (identity.venue && identity.venue !== about.did) {
      entry.otherVenue(base, identity.venue, about.did, again);
      return;
    }
    const info = await api.read("v/info/adapters/hitl");
    await api.run("hitl/list", { status: "open", limit: 1 });
    if (!identity.venue) await keys.keep(base, { ...identity, venue: about.did });
    new Shell(base, api, identity, info ?? {}, {
      refused: (error) => entry.refused(base, error.message, identity, () => location.reload()),
    }).start();
  } catch (error) {
    if (error instanceof Refusal && error.code === "not_admitted") {
      if (!isShown("not-admitted")) entry.notAdmitted(base, identity.subject, api.about?.name ?? "The venue", again);
      timer = setTimeout(again, AGAIN);
    } else if (error instanceof Refusal && error.status === 401) {
      entry.refused(base, error.message, identity, again);
    } else {
      if (!(error instanceof Unreachable || error instanceof Refusal)) console.error(error);
      if (!isShown("unreachable")) entry.unreachable(again);
      timer = setTimeout(again, AGAIN);
    }
  }
}

keys.watch(base, () => location.reload());
begin();
