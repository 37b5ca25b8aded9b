// Decompression bombs: small archives that unpack to a huge list or object, most of them of about 62 MiB. There is one
// for every place where a reader parses a JSON value. With limited memory, `validate` has to refuse each archive,
// `import` has to refuse it or report the record as failed, and nothing of the bomb may be stored. For bombs of other
// kinds (`../bombs`), each command only has to end with an answer. Bombs that take long to make are left to `npm run
// campaign -- bombs`.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBomb } from "../bombs/make.mjs";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";
import { zip } from "./generated.mjs";

/** Memory limit of the program, in KiB. */
const MEMORY_KIB = 500_000;
const ZEROS_LIST = `[${"0,".repeat(31 << 20)}0]`;
const MEMBERS_OBJECT = `{${'"a":0,'.repeat(10 << 20)}"a":0}`;
/** Bombs of `../bombs` that are made and read quickly. */
const QUICK_BOMBS = [
  "zip-nested.zip",
  "tar-false-size.tar",
  "mif-aliases.mif.yaml",
  "mif-deep.mif.json",
  "mif-exponent.mif.json",
  "zaxy-deep.json",
  "portable-agent-memory-deep.json",
  "xlsx-entities.xlsx",
  "xlsx-far-cell.xlsx",
  "age-work-factor.alf.age",
  "chatgpt-deep.json",
];
/** Placeholder for the bomb in a fixture's text. */
const PLACEHOLDER = '"@here@"';

const readFixture = (...path) => readFileSync(join(FIXTURES, ...path), "utf8");
const readJson = (...path) => JSON.parse(readFixture(...path));
const insertBomb = (value, bomb = ZEROS_LIST) => JSON.stringify(value).replace(PLACEHOLDER, () => bomb);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/**
 * Returns the entries of a `.mem` archive with these lines in `items/episode.jsonl`. If `more` is not empty, the
 * manifest contains `more` as a bomb.
 */
function memBomb(lines, more = "") {
  const path = "items/episode.jsonl";
  const file = { bytes: Buffer.byteLength(lines), path, sha256: sha256(lines) };
  const sums = `${file.sha256}  ${path}\n`;
  const manifest = {
    ...readJson("mem", "small", "input.mem", "manifest.json"),
    files: [file],
    counts: { episode: 1 },
    bundleDigest: sha256(sums),
  };
  delete manifest.coverage;
  delete manifest.scopes;
  const text = more === "" ? JSON.stringify(manifest) : insertBomb({ ...manifest, acme: "@here@" }, more);
  return { "b.mem/manifest.json": text, "b.mem/CHECKSUMS": sums, [`b.mem/${path}`]: lines };
}

function episodeLine(bomb) {
  const [line] = readFixture("mem", "small", "input.mem", "items", "episode.jsonl").split("\n");
  return `${insertBomb({ ...JSON.parse(line), acme: "@here@" }, bomb)}\n`;
}

/** Entries of a PAM store with a bomb in place of the placeholder that `change` inserts. */
function pamBomb(change, bomb = ZEROS_LIST) {
  const store = readJson("pam", "whole", "input", "memory-store.json");
  delete store.integrity;
  change(store);
  return { "memory-store.json": insertBomb(store, bomb) };
}

function yamlBomb(bomb) {
  const memory = 'id: mem_1, content: x, type: Learning, created_at: "2026-01-01T00:00:00Z"';
  return { "a.mif.yaml": `mif_version: "1.0"\nmemories:\n  - {${memory}, metadata: {x: ${bomb}}}\n` };
}

/** Case name → entries of its archive. */
const BOMBS = {
  "alf manifest": () => ({
    "manifest.json": insertBomb({
      alf_version: "1.0.0",
      created_at: "2026-01-01T00:00:00Z",
      agent: { id: "0197f2a0-1111-7000-8000-00000000000a", name: "n", source_runtime: "r" },
      layers: {},
      x: "@here@",
    }),
  }),
  "mem manifest": () => memBomb(episodeLine("1"), ZEROS_LIST),
  "mem line": () => memBomb(episodeLine(ZEROS_LIST)),
  "mem line of members": () => memBomb(episodeLine(MEMBERS_OBJECT)),
  "mif memory": () => {
    const store = readJson("mif", "v2", "input.json");
    store.memories[0].metadata = "@here@";
    return { "a.mif.json": insertBomb(store) };
  },
  "mif yaml": () => yamlBomb(ZEROS_LIST),
  "mif yaml of members": () => yamlBomb(`{${"a: 0,".repeat(10 << 20)}a: 0}`),
  "mif yaml of anchors": () => yamlBomb(`[&a [${"0,".repeat(1 << 20)}0],${"*a,".repeat(100)}0]`),
  "pam memory": () => pamBomb((store) => (store.memories[0].metadata.x = "@here@")),
  "pam list of memories": () => pamBomb((store) => (store.memories = "@here@")),
  "pam owner": () => pamBomb((store) => (store.owner.x = "@here@")),
  "pam top": () => pamBomb((store) => (store.x = "@here@"), MEMBERS_OBJECT),
  "pam conversation": () => {
    const talk = readJson("pam", "whole", "input", "conversations", "talk-1.json");
    // Each message alone is within the limit; only the whole conversation exceeds it.
    const part = `[${"0,".repeat(1 << 20)}0]`;
    talk.messages = Array.from({ length: 30 }, (_, i) => ({
      ...talk.messages[0],
      id: `m${i}`,
      raw_metadata: { x: "@here@" },
    }));
    return {
      ...pamBomb(() => {}),
      "conversations/talk-1.json": JSON.stringify(talk).replaceAll(PLACEHOLDER, () => part),
    };
  },
  "zaxy entry": () => {
    const bundle = readJson("zaxy", "unsigned", "input.json");
    bundle.entries[0].content.payload.x = "@here@";
    return { "garden.json": insertBomb(bundle) };
  },
  "zaxy head": () => ({ "garden.json": insertBomb({ ...readJson("zaxy", "unsigned", "input.json"), x: "@here@" }) }),
};

/**
 * Runs a command with the memory limit. A program that allocates more is killed, and then its exit code differs from
 * that of a refusal.
 */
function runWithLimit(vault, ...args) {
  const script = `ulimit -d ${MEMORY_KIB}; exec "$@"`;
  return quiet("sh", ["-c", script, "sh", built("mementory"), "--json", ...args], {
    cwd: vault.folder,
    env: vault.env,
  });
}

/** Commands that refuse a bomb: name, arguments after the path, and whether it has the option `--limit-bytes`. */
const REFUSING_COMMANDS = [
  ["validate", [], true],
  ["verify", [], true],
  ["import", ["--dry-run"], true],
  ["convert", ["converted.json", "--format", "mif"], true],
  ["detect", [], false],
  ["push", ["--sink", "file", "--dest", "pushed.zip"], false],
];

/** Returns whether exactly the commands with the option `--limit-bytes` name it when they refuse a bomb. */
function adviseOnlyOwnOptions(vault) {
  const path = join(vault.folder, "zeros.zip");
  const entries = { "a.mif.json": readFixture("mif", "v2", "input.json"), "zeros.bin": "0".repeat(101 << 20) };
  writeFileSync(path, zip(Object.entries(entries), true));
  const wrong = REFUSING_COMMANDS.filter(([command, options, hasOption]) => {
    const { answer } = vault.run(command, path, ...options);
    return answer?.error?.code !== "limit" || answer.error.message.includes("--limit-bytes") !== hasOption;
  });
  wrong.forEach(([command]) => console.log(`  ${command}: not the advice that this command can follow`));
  return wrong.length === 0;
}

/**
 * Validates and imports every bomb. Imports a valid file first, to show that the limit is high enough for the program.
 */
export async function testBombs(count) {
  if (process.platform !== "linux") {
    count.leaveOut("bombs: limiting memory needs `ulimit -d` of Linux");
    return;
  }
  const selectedBombs = Object.entries(BOMBS).filter(([name]) => name.includes(process.env.MEMENTORY_CASE ?? ""));
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    const control = runWithLimit(vault, "import", join(FIXTURES, "pam", "whole", "input"), "--dry-run");
    count.add("bombs: the limit is enough for the program", control.code === 0);
    for (const [name, makeEntries] of selectedBombs) {
      const path = join(folder, `${name.replaceAll(" ", "-")}.zip`);
      writeFileSync(path, zip(Object.entries(makeEntries()), true));
      const problems = [];
      for (const command of [["validate"], ["import", "--dry-run"], ["import"]]) {
        const { code, stdout, stderr } = runWithLimit(vault, command[0], path, ...command.slice(1));
        const outcome = `${command.join(" ")}: ended with ${code}: ${stdout.slice(0, 600)}${stderr.slice(0, 400)}`;
        const isRefused = [1, 6].includes(code) && /"code":\s*"[a-z_]+"/u.test(stdout);
        // An import may also list the large record as failed and import the others.
        const isListedAsFailed = code === 0 && JSON.parse(stdout).failed > 0;
        if (!isRefused && !(command[0] === "import" && isListedAsFailed)) problems.push(outcome);
      }
      const largeRecords = vault
        .must("list", "--limit", "500")
        .items.filter((item) => (item.text ?? "").includes("0,0,0"));
      if (largeRecords.length > 0) problems.push(`${largeRecords.length} records of it are in the vault`);
      for (const batch of vault.must("imports").batches) if (!batch.undone) vault.run("undo", batch.batch);
      problems.forEach((problem) => console.log(`  ${problem}`));
      count.add(`bomb: ${name}`, problems.length === 0);
    }
    if (!process.env.MEMENTORY_CASE) count.add("bombs: advice on limits", adviseOnlyOwnOptions(vault));
    for (const name of QUICK_BOMBS.filter((one) => one.includes(process.env.MEMENTORY_CASE ?? "")))
      count.add(`bomb: ${name}`, answersWithinLimit(vault, makeBomb(folder, name)));
    return Promise.resolve();
  });
}

/** Returns whether every command prints a JSON answer. A program that runs out of memory prints none. */
function answersWithinLimit(vault, path) {
  const results = ["detect", "validate", "import"].map((command) => runWithLimit(vault, command, path));
  const unanswered = results.filter(({ stdout }) => !/^\s*\{[^]*\}\s*$/u.test(stdout));
  unanswered.forEach(({ code, stderr }) => console.log(`  ended with ${code}: ${stderr.slice(0, 400)}`));
  return unanswered.length === 0;
}
