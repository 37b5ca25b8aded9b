// Interop of Zaxy: the reference verifies our signatures and disclosures, and we verify those of the reference.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";
import { openVault } from "./vault.mjs";

const CHECK_SCRIPT = fileURLToPath(new URL("zaxy_check.py", import.meta.url));
const PYTHON_PACKAGES = ["zaxy-memory[export]==3.2.0", "jsonschema==4.26.0"];
const SAMPLE_EXPORT = join(ROOT, "fixtures", "samples", "chatgpt-export.zip");
const SCHEMA_FOLDER = join(ROOT, "schemas", "zaxy");
const ALGORITHM_NAMES = ["ed25519", "ml-dsa-65"];

/** Runs all checks of Zaxy and counts them. */
export async function zaxyInterop(count) {
  const program = await python(PYTHON_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-zaxy-"));
  const place = (name) => join(folder, name);
  const check = (...args) => parseJsonOutput(quiet(program, [CHECK_SCRIPT, ...args]));
  try {
    mkdirSync(place("ours"));
    const mementory = openVault(place, "v");
    mementory("import", SAMPLE_EXPORT);
    for (const algorithm of ALGORITHM_NAMES) {
      const [pem, hex] = [place(`${algorithm}.pem`), place(`${algorithm}.pub`)];
      const keyPair = mementory("keys", "make", "--algorithm", algorithm, "--out-private", pem, "--out-public", hex);
      const bundle = join(place("ours"), `${algorithm}.json`);
      const written = mementory("export", "--format", "zaxy", bundle, "--signing-key-file", pem);
      const verification = check("verify", bundle, keyPair.public_key);
      count.add(
        `zaxy-memory 3.2.0 verifies our bundle signed with ${algorithm}`,
        written.validated && verification.ok === true && verification.entries === written.records,
      );
      const disclosure = join(place("ours"), `${algorithm}.part.json`);
      const disclosed = mementory("disclose", bundle, disclosure, "--grains", "event", "--max-seq", "3");
      const partVerification = check("verify", disclosure, keyPair.public_key);
      count.add(
        `zaxy-memory verifies the disclosed part of our bundle (${algorithm})`,
        partVerification.ok === true && disclosed.disclosed > 0 && partVerification.entries === disclosed.disclosed,
      );
      count.add(
        `our bundle and its disclosed part match our schemas (${algorithm})`,
        [bundle, disclosure].every((f) => check("schemas", SCHEMA_FOLDER, f).ok),
      );
      count.add(
        `mementory verifies its own bundle (${algorithm})`,
        mementory("verify", bundle, "--trust", keyPair.public_key).ok,
      );
    }

    const theirSamples = check("make", place("theirs"));
    for (const algorithm of ALGORITHM_NAMES) {
      for (const kind of ["signed", "subset"]) {
        const file = join(place("theirs"), `${kind}.${algorithm}.json`);
        const verification = mementory("verify", file, "--trust", theirSamples.keys[algorithm]);
        const text = readFileSync(file, "utf8");
        const changedFile = place(`changed.${kind}.${algorithm}.json`);
        writeFileSync(changedFile, text.replace("two coats of primer", "two coats of prim3r"));
        const forgedAnswer = mementory("verify", changedFile, "--trust", theirSamples.keys[algorithm]);
        const isTrusted =
          verification.ok && verification.signature.valid === true && verification.signature.trusted === true;
        count.add(
          `a ${kind} bundle of zaxy-memory verifies, a changed one does not (${algorithm})`,
          isTrusted && !forgedAnswer.ok,
        );
      }
    }
    const unsignedFile = join(place("theirs"), "unsigned.json");
    const imported = mementory("import", unsignedFile);
    count.add(
      "we import all entries of an unsigned bundle of zaxy-memory",
      imported.failed === 0 && imported.found >= theirSamples.entries,
    );
    mementory("export", "--format", "zaxy", place("back.json"), "--source", "zaxy");
    const entries = (file) => JSON.stringify(JSON.parse(readFileSync(file, "utf8")).entries);
    count.add(
      "we export the unsigned bundle again without changes",
      entries(place("back.json")) === entries(unsignedFile),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
