import { writeFileSync } from "node:fs";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";

/**
 * Makes a vault. Returns a function that runs a command on it and returns the answer. `place` makes a path in the folder
 * of the test. `env` is the environment of the commands.
 */
export function openVault(place, name, env) {
  writeFileSync(place("p"), "correct horse battery staple\n", { mode: 0o600 });
  const global = ["--vault", place(name), "--passphrase-file", place("p"), "--json"];
  const mementory = (...args) => parseJsonOutput(quiet(built("mementory"), [...global, ...args], env && { env }));
  mementory("create", place(name), "--kdf-floor");
  return mementory;
}
