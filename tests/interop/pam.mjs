// Interop of PAM: the Python SDK and JSON Schemas validate our exports, and we import what the SDK writes.
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { SHARED } from "../cli/mementory.mjs";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";
import { openVault } from "./vault.mjs";

const CHECK_SCRIPT = fileURLToPath(new URL("pam_check.py", import.meta.url));
const PYTHON_PACKAGES = ["portable-ai-memory==1.0.0", "jsonschema==4.26.0", "rfc8785==0.1.4", "cryptography==50.0.2"];
const SAMPLE_EXPORT = join(ROOT, "fixtures", "samples", "chatgpt-export.zip");
const SCHEMA_FOLDER = join(ROOT, "schemas", "pam");
// The folder of the published schemas. They may not be copied into this repository, so this folder is outside of it.
const PUBLISHED_SCHEMA_FOLDER = join(SHARED, "reference", "pam");

/** Runs all checks of PAM and counts them. */
export async function pamInterop(count) {
  const program = await python(PYTHON_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-pam-"));
  const place = (name) => join(folder, name);
  const check = (...args) => parseJsonOutput(quiet(program, [CHECK_SCRIPT, ...args]));
  const out = place("out");
  try {
    mkdirSync(out);
    const mementory = openVault(place, "v");
    mementory("import", SAMPLE_EXPORT);
    const full = mementory("export", "--format", "pam", join(out, "full"));
    const signed = mementory("export", "--format", "pam", join(out, "signed"), "--sign");
    writeFileSync(place("memory.txt"), "Learns to sail on Thursdays.");
    mementory("add", "--type", "goal", "--text-file", place("memory.txt"));
    const delta = mementory("export", "--format", "pam", join(out, "delta"), "--base", join(out, "full"));
    count.add("the exports validate", full.validated && signed.validated && delta.validated);

    for (const [name, schemas] of [
      ["ours", SCHEMA_FOLDER],
      ["the published ones", PUBLISHED_SCHEMA_FOLDER],
    ]) {
      if (!existsSync(schemas)) {
        count.leaveOut(`PAM JSON Schemas: ${name} are missing`);
        continue;
      }
      const result = check("judge", out, schemas);
      result.issues.forEach((issue) => console.log(`  ${issue}`));
      count.add(
        `portable-ai-memory 1.0.0 and JSON Schemas (${name}) accept full, signed and delta`,
        result.ok === true,
      );
      count.add("the signature is valid by the specification", result.bundles?.signed?.signed === true);
      count.add("the delta contains one memory", result.bundles?.delta?.memories === 1);
      count.add("the delta is marked as incremental", result.bundles?.delta?.export_type === "incremental");
    }

    check("make", place("theirs"));
    count.add("we accept a store of the SDK", mementory("validate", place("theirs")).ok === true);
    const imported = mementory("import", place("theirs"));
    count.add(
      "we import all records of the store of the SDK",
      imported.memories === 2 && imported.conversations === 1 && imported.messages === 2,
    );

    check("resave", join(out, "full"), place("resaved"));
    const secondImport = mementory("import", place("resaved"), "--dry-run");
    // The document around the records is a passthrough file (kind `foreign`), which counts as new because the SDK
    // changed it.
    const addedKinds = Object.entries(secondImport.by_kind).filter(([kind, n]) => kind !== "foreign" && n.added > 0);
    count.add(
      "our own store, saved by the SDK, adds nothing new",
      addedKinds.length === 0 && secondImport.failed === 0,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
