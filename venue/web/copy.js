// A copy of a key: an encrypted file, offered once, while the key is new; and the way back from it.

import { announce, h, save, unique } from "./dom.js";
import { adopt, restored } from "./keys.js";
import { KeyFileError } from "./pem.js";
import { screen } from "./screen.js";

const SHORTEST = 12;
const LARGEST = 16_384;

/**
 * The offer to save a copy, under a passphrase that is typed twice.
 * @param {string} did @param {(passphrase: string) => Promise<string>} copy
 */
export function offerCopy(did, copy) {
  const first = secret("new-password");
  const second = secret("new-password");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const saved = h("p", { class: "note", role: "status" });
  const button = h("button", { type: "submit" }, "Save an encrypted copy");
  const name = `inbox-key-${did.slice(-8)}.pem`;
  const form = h(
    "form",
    { class: "copy" },
    h("h2", {}, "Keep a copy"),
    h(
      "p",
      {},
      "You can save one now, and never again: when you go on, nobody can take the key out of this browser any more. Whoever has the file and its passphrase is you.",
    ),
    h("label", { for: first.id }, `Passphrase, at least ${SHORTEST} characters`),
    first,
    h("label", { for: second.id }, "The same again"),
    second,
    problem,
    h("div", { class: "buttons" }, button),
    saved,
  );
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    const wrong = fault(first.value, second.value);
    problem.textContent = wrong ?? "";
    problem.hidden = !wrong;
    if (wrong) return;
    button.disabled = true;
    saved.textContent = "Encrypting…";
    save(name, await copy(first.value));
    first.value = "";
    second.value = "";
    button.disabled = false;
    saved.textContent =
      `Handed to your browser as ${name}: look whether it is there. Keep it and its passphrase apart; the command line reads it, too.`;
  });
  return form;
}

/** Why this is no passphrase, or null. @param {string} first @param {string} second */
function fault(first, second) {
  if ([...first].length < SHORTEST) return `A passphrase has at least ${SHORTEST} characters. Several words are good.`;
  return first === second ? null : "The two are not the same.";
}

/** Bring a key back from its copy. @param {URL} base @param {() => void} done */
export function restore(base, done) {
  const file = h("input", { type: "file", id: unique("file"), accept: ".pem" });
  const passphrase = secret("current-password");
  const problem = h("p", { class: "problem", role: "alert", hidden: true });
  const button = h("button", { type: "submit", class: "primary" }, "Use this key");
  const form = h(
    "form",
    { class: "copy" },
    h("label", { for: file.id }, "The file"),
    file,
    h("label", { for: passphrase.id }, "Its passphrase"),
    passphrase,
    problem,
    h("div", { class: "buttons" }, button, h("button", { type: "button", on: { click: done } }, "Back")),
  );
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    button.disabled = true;
    problem.hidden = true;
    try {
      const held = await read(file.files?.[0], passphrase.value);
      if (!form.isConnected) return;
      await adopt(base, held);
      announce("The key is here.");
      done();
    } catch (error) {
      button.disabled = false;
      problem.hidden = false;
      problem.textContent = error instanceof KeyFileError
        ? error.message
        : `The key could not be kept: ${String(error)}`;
    }
  });
  screen(
    "restore",
    "Bring your key back",
    h(
      "p",
      {},
      "Choose the file that this page saved, or one that ",
      h("code", {}, "venue key new"),
      " made. It is read here and sent nowhere.",
    ),
    form,
  );
}

/** @param {File | undefined} file @param {string} passphrase */
async function read(file, passphrase) {
  if (!file) throw new KeyFileError("Choose a file first.");
  if (file.size > LARGEST) throw new KeyFileError("This file is too large to be a key.");
  return restored(await file.text(), passphrase);
}

/** A field for a passphrase. @param {"new-password" | "current-password"} autocomplete */
function secret(autocomplete) {
  return h("input", { type: "password", id: unique("passphrase"), autocomplete, spellcheck: "false" });
}
