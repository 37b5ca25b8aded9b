// Runs the built command line on a vault for tests.
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, built } from "../tools/places.mjs";
import { ENV, quiet } from "../tools/sh.mjs";

export const FIXTURES = join(ROOT, "fixtures");
/** Folder next to the clone with export samples; may be missing. */
export const SHARED = process.env.MEMENTORY_SHARED || join(ROOT, "..", "shared");
export const PASSPHRASE = "correct horse battery staple";

/** Environment without the MEMENTORY_ variables of the person who runs the tests. */
export const CLEAN_ENV = Object.fromEntries(Object.entries(ENV).filter(([name]) => !name.startsWith("MEMENTORY_")));

/** Calls `use` with a temporary folder, removes the folder and returns the result. */
export async function inFolder(use) {
  const folder = mkdtempSync(join(tmpdir(), "mementory-cli-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Whether this shared data exists. If not, the tests that need it are counted as skipped. */
export function hasShared(count, name) {
  const exists = existsSync(join(SHARED, name));
  if (!exists) count.leaveOut(`${name}: it is not beside the clone`);
  return exists;
}

/** A vault for tests. Its methods run the command line on it. */
export class Vault {
  constructor(folder, name = "v") {
    this.path = join(folder, name);
    this.secret = join(folder, "passphrase.txt");
    this.folder = folder;
    writeFileSync(this.secret, `${PASSPHRASE}\n`, { mode: 0o600 });
    // The program writes its temporary files here, where tests can inspect them.
    this.scratch = join(folder, "scratch");
    mkdirSync(this.scratch, { recursive: true });
    // The program stores lists of erasures here, so that the tests do not write into the data folder of the person who
    // runs them.
    this.data = `${this.path}.data`;
    this.env = {
      ...CLEAN_ENV,
      MEMENTORY_VAULT: this.path,
      MEMENTORY_PASSPHRASE_FILE: this.secret,
      MEMENTORY_DATA_DIR: this.data,
      TMPDIR: this.scratch,
    };
  }

  /** Creates the vault with the cheapest permitted key derivation. */
  create() {
    this.must("create", this.path, "--kdf-floor");
    return this;
  }

  /**
   * Runs a command. Returns `{code, stdout, stderr, answer}`; `answer` is null if standard output is not a JSON object.
   */
  run(...args) {
    const result = quiet(built("mementory"), ["--json", ...args], { cwd: this.folder, env: this.env });
    let answer = null;
    try {
      answer = JSON.parse(result.stdout);
    } catch {
      // The output is not JSON, so `answer` stays null.
    }
    return { ...result, answer };
  }

  /** Runs a command that has to succeed. Returns its answer. */
  must(...args) {
    const { code, answer, stdout, stderr } = this.run(...args);
    if (code !== 0 || answer === null)
      throw new Error(`mementory ${args.join(" ")} ended with ${code}: ${stdout.slice(0, 2000)}${stderr}`);
    return answer;
  }

  /** Starts a command without waiting for it. */
  start(args, options = {}) {
    return spawn(built("mementory"), ["--json", ...args], {
      cwd: this.folder,
      env: this.env,
      stdio: ["ignore", "ignore", "ignore"],
      ...options,
    });
  }

  /** Writes a file next to the vault; returns its path. */
  write(name, content) {
    const path = join(this.folder, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  }

  /** Items of all pages of a list. */
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

  /** Everything visible in the vault: records of all kinds, the Trash, tombstones, batches. */
  dump() {
    return {
      records: this.list(),
      trash: this.list("--trash"),
      tombstones: this.must("tombstones").tombstones,
      batches: this.must("imports").batches,
    };
  }
}

/**
 * Checks that the counts of an import report add up: `found` must be the sum of the outcomes, and each total the sum
 * over the kinds. Returns the problems.
 */
export function sumProblems(report) {
  const parts = ["added", "updated", "unchanged", "blocked", "skipped", "failed"];
  const sum = (counts) => parts.reduce((total, part) => total + counts[part], 0);
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
