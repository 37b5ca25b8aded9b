// Driving the built command line: one vault with its passphrase, and what a test wants to know of it.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, built } from "../tools/places.mjs";
import { ENV, quiet } from "../tools/sh.mjs";

export const FIXTURES = join(ROOT, "fixtures");
/** Export samples that are kept beside the clone, where they are there. */
export const SHARED = process.env.MEMENTORY_SHARED || join(ROOT, "..", "shared");
export const PASSPHRASE = "correct horse battery staple";

/** Nothing of the person who runs the tests reaches the program. */
export const CLEAN = Object.fromEntries(Object.entries(ENV).filter(([name]) => !name.startsWith("MEMENTORY_")));

/** Run `use(folder)` with a folder of its own, which is gone afterwards. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "mementory-cli-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Is it there, so that what needs it can run? Says so when not. */
export function shared(count, name) {
  const there = existsSync(join(SHARED, name));
  if (!there) count.leaveOut(`${name}: it is not beside the clone`);
  return there;
}

/** A vault of a test and the commands that go to it. */
export class Vault {
  constructor(folder, name = "v") {
    this.path = join(folder, name);
    this.secret = join(folder, "passphrase.txt");
    this.folder = folder;
    writeFileSync(this.secret, `${PASSPHRASE}\n`, { mode: 0o600 });
    // Where its scratch files go, if it makes any, so that a test can look into them.
    this.scratch = join(folder, "scratch");
    mkdirSync(this.scratch, { recursive: true });
    this.env = { ...CLEAN, MEMENTORY_VAULT: this.path, MEMENTORY_PASSPHRASE_FILE: this.secret, TMPDIR: this.scratch };
  }

  /** Create it at the lowest permitted cost. */
  create() {
    this.must("create", this.path, "--kdf-floor");
    return this;
  }

  /** One command: `{code, stdout, stderr, answer}`; `answer` is null when standard output is not one JSON object. */
  run(...args) {
    const result = quiet(built("mementory"), ["--json", ...args], { cwd: this.folder, env: this.env });
    let answer = null;
    try {
      answer = JSON.parse(result.stdout);
    } catch {
      // Judged by the caller.
    }
    return { ...result, answer };
  }

  /** One command that has to succeed; its answer. */
  must(...args) {
    const { code, answer, stdout, stderr } = this.run(...args);
    if (code !== 0 || answer === null)
      throw new Error(`mementory ${args.join(" ")} ended with ${code}: ${stdout.slice(0, 2000)}${stderr}`);
    return answer;
  }

  /** Start one command without waiting for it. */
  start(args, options = {}) {
    return spawn(built("mementory"), ["--json", ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "ignore", "ignore"],
      ...options,
    });
  }

  /** A file beside the vault; its path. */
  write(name, content) {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  /** All pages of a list. */
  list(...filters) {
    const items = [];
    let cursor = null;
    do {
      const page = this.must("list", "--limit", "1000", ...filters, ...(cursor ? ["--cursor", cursor] : []));
      items.push(...page.items);
      cursor = page.next_cursor;
    } while (cursor);
    return items;
  }

  /** Everything a person can see of the vault: records of all kinds, the Trash, tombstones, batches. */
  dump() {
    return {
      records: this.list(),
      trash: this.list("--trash"),
      tombstones: this.must("tombstones").tombstones,
      batches: this.must("imports").batches,
    };
  }
}

/** Where `found` is not the sum of the outcomes, in all and kind by kind. */
export function unreconciled(report) {
  const parts = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];
  const sum = (of) => parts.reduce((total, part) => total + of[part], 0);
  const kinds = Object.entries(report.by_kind);
  return [
    ...[["all", report], ...kinds]
      .filter(([, of]) => of.found !== sum(of))
      .map(([name, of]) => `${name}: ${of.found} found, ${sum(of)} accounted for`),
    ...["found", ...parts]
      .filter((part) => report[part] !== kinds.reduce((total, [, of]) => total + of[part], 0))
      .map((part) => `${part}: ${report[part]} is not the sum over the kinds`),
  ];
}
