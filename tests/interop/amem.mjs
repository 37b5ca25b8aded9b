// Interop of ApertoMemory: its program opens the exports that we write, and we import the exports that it writes.
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";
import { openVault } from "./vault.mjs";

const CHECK_SCRIPT = fileURLToPath(new URL("amem_check.py", import.meta.url));
const PYTHON_PACKAGES = ["apertomemory==0.2.3"];
const SAMPLE_EXPORT = join(ROOT, "fixtures", "samples", "chatgpt-export.zip");
const [OUR_WORDS, THEIR_WORDS] = ["harbour copper nineteen kite", "four words of it"];

/** Runs all checks of ApertoMemory and counts them. */
export async function amemInterop(count) {
  const program = await python(PYTHON_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-amem-"));
  const place = (name) => join(folder, name);
  const check = (...args) => parseJsonOutput(quiet(program, [CHECK_SCRIPT, ...args]));
  try {
    const mementory = openVault(place, "v");
    const write = (name, words, ...more) =>
      mementory(
        ...["export", "--format", "amem", place(name)],
        ...["--encrypt", "--export-passphrase-file", place(words), ...more],
      );
    writeFileSync(place("ours.txt"), `${OUR_WORDS}\n`, { mode: 0o600 });
    writeFileSync(place("theirs.txt"), `${THEIR_WORDS}\n`, { mode: 0o600 });
    mementory("import", SAMPLE_EXPORT);
    writeFileSync(place("memory.txt"), "Learns to sail on Thursdays 🚤");
    mementory("add", "--text-file", place("memory.txt"));

    const written = write("ours.amem", "ours.txt");
    count.add("our .amem is written and read back", written.validated === true && written.records > 1);
    const ownImport = check("take", place("new"), place("ours.amem"), OUR_WORDS);
    const memories = ownImport.memories ?? [];
    count.add(
      `apertomemory 0.2.3 opens all ${written.records} memories of our .amem in a new vault`,
      ownImport.ok === true && ownImport.added === written.records && memories.length === written.records,
    );
    count.add(
      "apertomemory finds that our owner signed the memories and that every value is allowed",
      memories.every(({ trust, schema_violation: violation }) => trust === "self" && violation === null),
    );
    const memory = memories.find(({ content }) => content === "Learns to sail on Thursdays 🚤");
    count.add(
      "apertomemory reads the text of a memory unchanged",
      memory?.type === "semantic" && memory.scope === "default",
    );
    const wrongPassphrase = check("take", place("none"), place("ours.amem"), THEIR_WORDS);
    count.add(
      "apertomemory does not open our .amem with another passphrase",
      wrongPassphrase.ok === false && !existsSync(place("none")),
    );

    const theirVault = check("make", place("theirs"), place("theirs.amem"), THEIR_WORDS);
    const unlock = ["--import-passphrase-file", place("theirs.txt")];
    const validated = mementory("validate", place("theirs.amem"), ...unlock);
    count.add("we accept an .amem of apertomemory", validated.ok === true);
    const imported = mementory("import", place("theirs.amem"), ...unlock);
    count.add(
      "we import all memories of an .amem of apertomemory",
      imported.added === theirVault.memories && imported.failed === 0,
    );

    const foreignImport = check("take", place("theirs"), place("ours.amem"), OUR_WORDS);
    count.add("a vault of apertomemory refuses the .amem of another owner", foreignImport.ok === false);
    const merged = write("merged.amem", "theirs.txt", "--base", place("theirs.amem"));
    const mergedImport = check("take", place("theirs"), place("merged.amem"), THEIR_WORDS);
    count.add(
      "a vault of apertomemory merges the .amem that we write for its owner",
      mergedImport.ok === true &&
        mergedImport.added === merged.records - theirVault.memories &&
        mergedImport.memories.length === merged.records,
    );
    const theirMemory = (mergedImport.memories ?? []).find(({ content }) => content === "Painted the hull in April");
    count.add(
      "the memories that the vault of apertomemory had are unchanged",
      theirMemory?.scope === "boat" && theirMemory.created === 1_775_000_000,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
