// Files of some kilobytes that say gigabytes: 62 MB of `0,` at every place where a format takes a JSON value apart. Each is
// given to the validator and to an import, with little memory to go by: it is refused or listed, and nothing of it is kept.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { built } from "../tools/places.mjs";
import { quiet } from "../tools/sh.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";
import { zip } from "./generated.mjs";

/** What the program may take, in KiB: data and everything else that it writes to. */
const MEMORY = 500_000;
const ZEROS = `[${"0,".repeat(31 << 20)}0]`;
const MEMBERS = `{${'"a":0,'.repeat(10 << 20)}"a":0}`;
/** Stands in a fixture's text where the bomb goes. */
const HERE = '"@here@"';

const fixture = (...path) => readFileSync(join(FIXTURES, ...path), "utf8");
const json = (...path) => JSON.parse(fixture(...path));
const armed = (value, bomb = ZEROS) => JSON.stringify(value).replace(HERE, () => bomb);
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** A `.mem` with these lines in `items/episode.jsonl`, and something more in its manifest. */
function mem(lines, more = "") {
  const path = "items/episode.jsonl";
  const file = { bytes: Buffer.byteLength(lines), path, sha256: sha256(lines) };
  const sums = `${file.sha256}  ${path}\n`;
  const manifest = {
    ...json("mem", "small", "input.mem", "manifest.json"),
    files: [file],
    counts: { episode: 1 },
    bundleDigest: sha256(sums),
  };
  delete manifest.coverage;
  delete manifest.scopes;
  const text = more === "" ? JSON.stringify(manifest) : armed({ ...manifest, acme: "@here@" }, more);
  return { "b.mem/manifest.json": text, "b.mem/CHECKSUMS": sums, [`b.mem/${path}`]: lines };
}

function episode(more) {
  const [line] = fixture("mem", "small", "input.mem", "items", "episode.jsonl").split("\n");
  return `${armed({ ...JSON.parse(line), acme: "@here@" }, more)}\n`;
}

/** The store of PAM with something in the place of a member. */
function pam(change, bomb = ZEROS) {
  const store = json("pam", "whole", "input", "memory-store.json");
  delete store.integrity;
  change(store);
  return { "memory-store.json": armed(store, bomb) };
}

function yaml(bomb) {
  const memory = 'id: mem_1, content: x, type: Learning, created_at: "2026-01-01T00:00:00Z"';
  return { "a.mif.yaml": `mif_version: "1.0"\nmemories:\n  - {${memory}, metadata: {x: ${bomb}}}\n` };
}

/** Name of a case → the entries of its archive. */
const BOMBS = {
  "alf manifest": () => ({
    "manifest.json": armed({
      alf_version: "1.0.0",
      created_at: "2026-01-01T00:00:00Z",
      agent: { id: "0197f2a0-1111-7000-8000-00000000000a", name: "n", source_runtime: "r" },
      layers: {},
      x: "@here@",
    }),
  }),
  "mem manifest": () => mem(episode("1"), ZEROS),
  "mem line": () => mem(episode(ZEROS)),
  "mem line of members": () => mem(episode(MEMBERS)),
  "mif memory": () => {
    const store = json("mif", "v2", "input.json");
    store.memories[0].metadata = "@here@";
    return { "a.mif.json": armed(store) };
  },
  "mif yaml": () => yaml(ZEROS),
  "mif yaml of members": () => yaml(`{${"a: 0,".repeat(10 << 20)}a: 0}`),
  "mif yaml of anchors": () => yaml(`[&a [${"0,".repeat(1 << 20)}0],${"*a,".repeat(100)}0]`),
  "pam memory": () => pam((store) => (store.memories[0].metadata.x = "@here@")),
  "pam list of memories": () => pam((store) => (store.memories = "@here@")),
  "pam owner": () => pam((store) => (store.owner.x = "@here@")),
  "pam top": () => pam((store) => (store.x = "@here@"), MEMBERS),
  "pam conversation": () => {
    const talk = json("pam", "whole", "input", "conversations", "talk-1.json");
    // None is too large by itself.
    const part = `[${"0,".repeat(1 << 20)}0]`;
    talk.messages = Array.from({ length: 30 }, (_, i) => ({
      ...talk.messages[0],
      id: `m${i}`,
      raw_metadata: { x: "@here@" },
    }));
    return {
      ...pam(() => {}),
      "conversations/talk-1.json": JSON.stringify(talk).replaceAll(HERE, () => part),
    };
  },
  "zaxy entry": () => {
    const bundle = json("zaxy", "unsigned", "input.json");
    bundle.entries[0].content.payload.x = "@here@";
    return { "garden.json": armed(bundle) };
  },
  "zaxy head": () => ({ "garden.json": armed({ ...json("zaxy", "unsigned", "input.json"), x: "@here@" }) }),
};

/** Run with no more memory than that: an allocation beyond it ends the program, and is neither of its exit codes. */
function confined(vault, ...args) {
  const script = `ulimit -d ${MEMORY}; exec "$@"`;
  return quiet("sh", ["-c", script, "sh", built("mementory"), "--json", ...args], {
    cwd: vault.folder,
    env: vault.env,
  });
}

/** Every bomb through the validator and an import; a real file under the same limit as the control. */
export async function bombs(count) {
  if (process.platform !== "linux") {
    count.leaveOut("bombs: memory is measured by `ulimit -d` of Linux");
    return;
  }
  const wanted = Object.entries(BOMBS).filter(([name]) => name.includes(process.env.MEMENTORY_CASE ?? ""));
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    const control = confined(vault, "import", join(FIXTURES, "pam", "whole", "input"), "--dry-run");
    count.add("bombs: the limit is enough for the program", control.code === 0);
    for (const [name, made] of wanted) {
      const path = join(folder, `${name.replaceAll(" ", "-")}.zip`);
      writeFileSync(path, zip(Object.entries(made()), true));
      const problems = [];
      for (const command of [["validate"], ["import", "--dry-run"], ["import"]]) {
        const { code, stdout, stderr } = confined(vault, command[0], path, ...command.slice(1));
        const said = `${command.join(" ")}: ended with ${code}: ${stdout.slice(0, 600)}${stderr.slice(0, 400)}`;
        const refused = [1, 6].includes(code) && /"code":\s*"[a-z_]+"/u.test(stdout);
        // A record that is too large is listed; the others come.
        const listed = code === 0 && JSON.parse(stdout).failed > 0;
        if (!refused && !(command[0] === "import" && listed)) problems.push(said);
      }
      const large = vault.must("list", "--limit", "500").items.filter((item) => (item.text ?? "").includes("0,0,0"));
      if (large.length > 0) problems.push(`${large.length} records of it are in the vault`);
      for (const batch of vault.must("imports").batches) if (!batch.undone) vault.run("undo", batch.batch);
      problems.forEach((problem) => console.log(`  ${problem}`));
      count.add(`bomb: ${name}`, problems.length === 0);
    }
    return Promise.resolve();
  });
}
