// Interop of .mem and .alf: reference programs read our exports, and we read theirs.
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARED } from "../cli/mementory.mjs";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";
import { openVault } from "./vault.mjs";

const REFERENCE_SCRIPT = fileURLToPath(new URL("reference.py", import.meta.url));
const MEM_CHECK_SCRIPT = fileURLToPath(new URL("mem_check.py", import.meta.url));
/** Pinned versions of the reference packages. */
export const REFERENCE_PACKAGES = ["portable-memory==0.3.0", "cryptography==50.0.2", "jsonschema==4.26.0"];
/** Seeds of two test keys, in hex. Each consists of 32 equal bytes. */
const [SEED, OTHER_SEED] = ["07", "08"].map((byte) => byte.repeat(32));
const SAMPLE_FOLDER = join(ROOT, "fixtures", "samples");
const SCHEMA_FOLDER = join(ROOT, "schemas", "alf");
const WORKSPACE_FIXTURE = join(ROOT, "fixtures", "openclaw", "workspace", "input");

/** Runs all checks of .mem and .alf and counts them. */
export async function interop(count) {
  const program = await python(REFERENCE_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-interop-"));
  const place = (name) => join(folder, name);
  const reference = (...args) => parseJsonOutput(quiet(program, [REFERENCE_SCRIPT, ...args]));
  const sdk = (...args) => parseJsonOutput(quiet(program, [MEM_CHECK_SCRIPT, ...args]));
  const publicKey = (seed) => quiet(program, [MEM_CHECK_SCRIPT, "key", seed]).stdout.trim();
  try {
    const mementory = openVault(place, "v");
    mementory(
      "import",
      ...readdirSync(SAMPLE_FOLDER)
        .filter((name) => name !== "README.md")
        .map((name) => join(SAMPLE_FOLDER, name)),
    );
    const mem = mementory("export", "--format", "mem", place("out.mem"));
    const alf = mementory("export", "--format", "alf", place("out.alf"));

    const read = reference("mem", place("out.mem"));
    read.issues?.forEach((issue) => console.log(`  ${issue}`));
    count.add("portable-memory 0.3.0 accepts our .mem", read.ok === true);
    const records = Object.values(read.counts ?? {}).reduce((sum, n) => sum + n, 0);
    count.add(`portable-memory finds all ${mem.records} records`, records === mem.records);

    // This memory contains a code fence, which is indented in our text. A reader that mistakes this fence for a fence
    // of the text itself finds too few memories.
    writeFileSync(place("note.txt"), "Runs the tests:\n```sh\nnpm test\n```\n");
    mementory("add", "--text-file", place("note.txt"));
    const text = mementory("export", "--format", "transfer_text", place("out.md"));
    const { episodes } = reference("transfer", place("out.md"));
    count.add(`portable-memory finds all ${text.records} memories of our text`, episodes === text.records);

    reference("make-mem", place("theirs.mem"));
    count.add("we accept a .mem of portable-memory", mementory("validate", place("theirs.mem")).ok === true);
    const imported = mementory("import", place("theirs.mem"));
    count.add(
      "we import all records of a .mem of portable-memory",
      imported.added + imported.unchanged === imported.found && imported.found > 0,
    );

    const sinceTime = "2026-03-01T00:00:00+00:00";
    for (const [name, kind, ...more] of [
      ["signed", "full"],
      ["increment", "incremental", "--since", sinceTime],
      ["evidence", "full", "--evidence"],
    ]) {
      const bundle = place(`${name}.mem`);
      sdk("make", bundle, "--seed", SEED, ...more);
      const validateTrusting = (seed) => mementory("validate", bundle, "--trust", publicKey(seed));
      const validated = validateTrusting(SEED);
      const deletions = validated.signature.tombstones;
      count.add(`we trust a signed ${name} of portable-memory`, validated.ok && validated.kind === kind);
      count.add(
        `we trust the deletions in a signed ${name} of portable-memory`,
        deletions.length > 0 && deletions.every((t) => t.valid && t.trusted),
      );
      count.add(
        `we do not trust a signed ${name} of portable-memory with another key`,
        validateTrusting(OTHER_SEED).ok === false,
      );
    }

    mementory("convert", WORKSPACE_FIXTURE, place("agent.alf"), "--format", "alf");
    const sets = { ours: SCHEMA_FOLDER, published: join(SHARED, "reference", "alf", "schemas") };
    for (const [set, schemas] of Object.entries(sets)) {
      if (!existsSync(schemas)) {
        count.leaveOut(`the ${set} JSON Schemas of .alf are missing`);
        continue;
      }
      for (const [name, what] of [
        ["out.alf", "a vault"],
        ["agent.alf", "an agent's workspace"],
      ]) {
        const checked = reference("schemas", schemas, place(name));
        checked.issues?.forEach((issue) => console.log(`  ${issue}`));
        count.add(`the .alf of ${what} matches the ${set} JSON Schemas`, checked.ok === true && checked.records > 0);
      }
    }
    count.add("our .alf contains records", alf.records > 0);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
