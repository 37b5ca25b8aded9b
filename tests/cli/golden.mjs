// Vaults and exports of released versions (`fixtures/vaults`): the current program has to open and read them, and to
// report the same as the version that made them.
import { createHash } from "node:crypto";
import { cpSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { runAlone } from "../tools/count.mjs";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";

const VAULTS_FOLDER = join(FIXTURES, "vaults");
const QUERIES = ["tortoise", "answers", "Ghent", "metric"];

/**
 * A vault that any released version can use. Paths are passed as options, because older versions read other environment
 * variables.
 */
class GoldenVault extends Vault {
  constructor(folder, name, program = built("mementory")) {
    super(folder, name);
    this.program = program;
  }

  run(...args) {
    const vaultArgs = ["--vault", this.path, "--passphrase-file", this.secret, "--json"];
    const result = quiet(this.program, [...vaultArgs, ...args], { cwd: this.folder, env: this.env });
    return { ...result, answer: result.stdout ? JSON.parse(result.stdout) : null };
  }
}

/** Summarises what a program reports about a vault, so that the reports of two programs can be compared. */
function describeVault(vault) {
  const { records, trash, tombstones, batches } = vault.dump();
  return {
    records: records.length,
    digest: digestRows([...records, ...trash]),
    trash: trash.map(({ id }) => id),
    tombstones: tombstones.map(({ id, op, signature }) => ({ id, op, signature })),
    batches: batches.map(({ format, added }) => ({ format, added })),
    search: QUERIES.map((query) => [query, vault.must("search", query).total]),
  };
}

/** Summarises what a program reports about an export that it imported into a new vault. */
function describeImport(folder, program, path) {
  const vault = new GoldenVault(folder, `import-${path.split("/").pop()}`, program).create();
  const { format, found, added, failed } = vault.must("import", path);
  const rows = vault.list().map(({ kind, source, type, title, text, tags, origin_id }) => ({
    ...{ kind, source, type, title, text, tags, origin_id },
  }));
  const byKind = {};
  for (const { kind } of rows) byKind[kind] = (byKind[kind] ?? 0) + 1;
  return { format, found, added, failed, byKind, digest: digestRows(rows) };
}

/** Members of a row that the first released versions did not have. */
const NEWER_MEMBERS = ["said_by", "about", "special"];

/**
 * A digest of the rows that does not depend on their order, because records with the same time may come in any order.
 */
const digestRows = (rows) => {
  const hash = createHash("sha256");
  const withoutNewer = (key, value) => (NEWER_MEMBERS.includes(key) ? undefined : value);
  for (const line of rows.map((row) => JSON.stringify(row, withoutNewer)).sort()) hash.update(`${line}\n`);
  return hash.digest("hex");
};

const vaultVersions = () => readdirSync(VAULTS_FOLDER).filter((name) => !name.endsWith(".md"));

/** Calls `visit` with a copy of each version's vault, because opening a vault may upgrade it. */
async function visitVersions(program, visit) {
  for (const version of vaultVersions()) {
    await inFolder(async (folder) => {
      const versionFolder = join(VAULTS_FOLDER, version);
      const name = readdirSync(versionFolder).find((entry) => entry.startsWith("Golden."));
      cpSync(join(versionFolder, name), join(folder, name), { recursive: true });
      const exports = readdirSync(join(versionFolder, "exports")).sort();
      await visit({
        version,
        expected: join(versionFolder, "expected.json"),
        vault: new GoldenVault(folder, name, program),
        read: (file) => describeImport(folder, program, join(versionFolder, "exports", file)),
        exports,
      });
    });
  }
}

/** Tests that vaults of earlier versions open with the same contents, and that their exports are read as before. */
export async function testGoldenVaults(count) {
  await visitVersions(built("mementory"), ({ version, expected, vault, read, exports }) => {
    const recorded = JSON.parse(readFileSync(expected, "utf8"));
    const described = describeVault(vault);
    for (const [part, value] of Object.entries(recorded.vault))
      if (!isDeepStrictEqual(described[part], value))
        console.log(`  ${part}: ${JSON.stringify(described[part])}, not ${JSON.stringify(value)}`);
    count.add(`the vault of ${version} opens and has the same content`, isDeepStrictEqual(described, recorded.vault));
    count.add(`the vault of ${version} passes its check`, vault.must("check").ok === true);
    const saidBy = (who) => vault.must("list", "--kind", "message", "--said-by", who, "--limit", "1").total;
    const [user, assistant] = ["user", "assistant"].map(saidBy);
    count.add(`the vault of ${version} states who wrote its messages`, user > 0 && assistant > 0);
    const erasedText = vault.write("again.txt", "- Use metric units.\n");
    const { memory } = vault.must("import", "--format", "transfer_text", erasedText).by_kind;
    count.add(`a record erased in ${version} stays blocked`, memory.blocked === 1 && memory.added === 0);
    for (const file of exports) {
      const actual = read(file);
      const isSame = isDeepStrictEqual(actual, recorded.exports[file]);
      if (!isSame) console.log(`  ${JSON.stringify(actual)}, not ${JSON.stringify(recorded.exports[file])}`);
      count.add(`${file} of ${version} is read as it was`, isSame);
    }
  });
}

if (process.argv[2] === "--record") {
  await visitVersions(process.argv[3], ({ expected, vault, read, exports }) => {
    const answers = {
      vault: describeVault(vault),
      exports: Object.fromEntries(exports.map((file) => [file, read(file)])),
    };
    writeFileSync(expected, `${JSON.stringify(answers, null, 2)}\n`);
  });
} else await runAlone(import.meta.url, testGoldenVaults);
