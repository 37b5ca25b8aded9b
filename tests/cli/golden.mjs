// Vaults and exports of released versions (`fixtures/vaults`): today's program opens and reads them, and says of them what
// the version that made them said.
import { createHash } from "node:crypto";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { byItself } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";

const VAULTS = join(FIXTURES, "vaults");
const QUERIES = ["tortoise", "answers", "Ghent", "metric"];

/** A vault driven by any program, also by one that reads its environment under another name. */
class GoldenVault extends Vault {
  constructor(folder, name, program = built("mementory")) {
    super(folder, name);
    this.program = program;
  }

  run(...args) {
    const where = ["--vault", this.path, "--passphrase-file", this.secret, "--json"];
    const result = quiet(this.program, [...where, ...args], { cwd: this.folder, env: this.env });
    return { ...result, answer: result.stdout ? JSON.parse(result.stdout) : null };
  }
}

/** What a version says of its own vault. */
function described(vault) {
  const { records, trash, tombstones, batches } = vault.dump();
  return {
    records: records.length,
    digest: digest([...records, ...trash]),
    trash: trash.map(({ id }) => id),
    tombstones: tombstones.map(({ id, op, signature }) => ({ id, op, signature })),
    batches: batches.map(({ format, added }) => ({ format, added })),
    search: QUERIES.map((query) => [query, vault.must("search", query).total]),
  };
}

/** What a version says of an export after importing it into a new vault. */
function imported(folder, program, path) {
  const vault = new GoldenVault(folder, `import-${path.split("/").pop()}`, program).create();
  const { format, found, added, failed } = vault.must("import", path);
  const rows = vault.list().map(({ kind, source, type, title, text, tags, origin_id }) => ({
    ...{ kind, source, type, title, text, tags, origin_id },
  }));
  const byKind = {};
  for (const { kind } of rows) byKind[kind] = (byKind[kind] ?? 0) + 1;
  return { format, found, added, failed, byKind, digest: digest(rows) };
}

/** Order is no promise here: records of the same time may change places. */
const digest = (rows) => {
  const hash = createHash("sha256");
  for (const line of rows.map((row) => JSON.stringify(row)).sort()) hash.update(`${line}\n`);
  return hash.digest("hex");
};

const versions = () => readdirSync(VAULTS).filter((name) => !name.endsWith(".md"));

/** Each version's folder, in a copy: opening a vault may upgrade it. */
async function everyVersion(program, visit) {
  for (const version of versions()) {
    await inFolder(async (folder) => {
      const kept = join(VAULTS, version);
      const name = readdirSync(kept).find((entry) => entry.startsWith("Golden."));
      cpSync(join(kept, name), join(folder, name), { recursive: true });
      const exports = readdirSync(join(kept, "exports")).sort();
      await visit({
        version,
        expected: join(kept, "expected.json"),
        vault: new GoldenVault(folder, name, program),
        read: (file) => imported(folder, program, join(kept, "exports", file)),
        exports,
      });
    });
  }
}

/** Vaults of before open and say the same; exports of before are read as they were. */
export async function goldenVaults(count) {
  await everyVersion(built("mementory"), ({ version, expected, vault, read, exports }) => {
    const recorded = JSON.parse(readFileSync(expected, "utf8"));
    const now = described(vault);
    for (const [part, value] of Object.entries(recorded.vault))
      if (!isDeepStrictEqual(now[part], value))
        console.log(`  ${part}: ${JSON.stringify(now[part])}, not ${JSON.stringify(value)}`);
    count.add(`the vault of ${version} opens and says what it said`, isDeepStrictEqual(now, recorded.vault));
    count.add(`the vault of ${version} passes its check`, vault.must("check").ok === true);
    const hand = vault.write("again.txt", "- Use metric units.\n");
    const { memory } = vault.must("import", "--format", "transfer_text", hand).by_kind;
    count.add(`what was erased in ${version} stays blocked`, memory.blocked === 1 && memory.added === 0);
    for (const file of exports) {
      const got = read(file);
      const same = isDeepStrictEqual(got, recorded.exports[file]);
      if (!same) console.log(`  ${JSON.stringify(got)}, not ${JSON.stringify(recorded.exports[file])}`);
      count.add(`${file} of ${version} is read as it was`, same);
    }
  });
}

if (process.argv[2] === "--record") {
  await everyVersion(process.argv[3], ({ expected, vault, read, exports }) => {
    const said = { vault: described(vault), exports: Object.fromEntries(exports.map((file) => [file, read(file)])) };
    writeFileSync(expected, `${JSON.stringify(said, null, 2)}\n`);
  });
} else await byItself(import.meta.url, goldenVaults);
