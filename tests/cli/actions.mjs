// Actions of test cases that do not use the command line: damage, another process, a full disk, special files.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { built } from "../tools/places.mjs";
import { has, quiet } from "../tools/sh.mjs";
import { readEntries } from "./archive.mjs";
import { CLIENT_ACTIONS } from "./clients.mjs";
import { Vault } from "./mementory.mjs";
import { entriesOf, manyConversations, zip } from "./generated.mjs";

/** Longest time, in milliseconds, that another process may take to open a vault. */
const TIMEOUT_MS = 30_000;

/** A device that refuses every byte as a full disk does. */
const FULL_DEVICE = "/dev/full";

/** Source of a web server. Arguments: the file to which it writes each request, and the status of its answers. */
const RECEIVER_SCRIPT = `
  const { createServer } = require("node:http");
  const { writeFileSync } = require("node:fs");
  const [, file, status] = process.argv;
  const server = createServer(async (request, answer) => {
    const body = [];
    for await (const piece of request) body.push(piece);
    writeFileSync(file, request.method + " " + request.url + " " + JSON.stringify(request.headers) + "\\n" + Buffer.concat(body));
    answer.writeHead(Number(status), { location: "http://127.0.0.1:1/" }).end();
  });
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/** Returns the reason why a case with this requirement cannot run here, or null if it can. */
export function missingRequirement(need) {
  if (need === "unix") return process.platform === "win32" ? "not on this system" : null;
  if (need === "flock") return has("flock") ? null : "flock is not installed";
  if (need === "mount") return canMount() ? null : "a small disk cannot be mounted here (it takes root on Linux)";
  if (need === "full_device") return existsSync(FULL_DEVICE) ? null : "this system has no device that is always full";
  throw new Error(`unknown need of a case: ${need}`);
}

const isZip = (path) => readFileSync(path).subarray(0, 4).toString("latin1") === "PK\x03\x04";

/** Actions by name. Functions that undo them go to `stage.undo`. */
export const ACTIONS = {
  ...CLIENT_ACTIONS,
  /**
   * Inverts one byte of a file, or of the largest file in a folder. `at`: an offset, or if below 1 a fraction of the
   * length.
   */
  flip({ folder }, { file, at = 0.5 }) {
    const path = largestFile(join(folder, file));
    const bytes = readFileSync(path);
    bytes[at < 1 ? Math.floor(bytes.length * at) : at] ^= 0xff;
    writeFileSync(path, bytes);
  },
  /** Cuts a file, or the largest file of a folder, down to the fraction `keep`. */
  cut({ folder }, { file, keep = 0.5 }) {
    const path = largestFile(join(folder, file));
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * keep)));
  },
  /** Raises the version in the header of a vault to 99, with a correct checksum. */
  later_header({ folder }, { file }) {
    const path = join(folder, file);
    const text = readFileSync(path, "utf8").replace('"version": 1', '"version": 99');
    const covered = text.slice(0, text.lastIndexOf('"', text.length - 5) + 1);
    const domain = Buffer.from("keepsake/v1/header-checksum");
    const length = Buffer.alloc(8);
    length.writeBigUInt64LE(BigInt(domain.length));
    const checksum = createHash("sha256").update(length).update(domain).update(covered).digest("hex");
    writeFileSync(path, `${covered}${checksum}"\n}\n`);
  },
  /** Runs a command that cannot write its answer, and checks its exit code and standard error. */
  full_output({ folder, env }, { args, exit, stderr: pattern }) {
    const output = openSync(FULL_DEVICE, "w");
    const options = { cwd: folder, env, stdio: ["ignore", output, "pipe"] };
    const { code, stderr } = quiet(built("mementory"), args, options);
    closeSync(output);
    return code === exit && new RegExp(pattern).test(stderr) ? [] : [`exit code ${code}, not ${exit}: ${stderr}`];
  },
  remove({ folder }, { file }) {
    rmSync(join(folder, file), { recursive: true });
  },
  copy({ folder }, { file, to }) {
    cpSync(join(folder, file), join(folder, to), { recursive: true });
  },
  link({ folder }, { file, to }) {
    symlinkSync(join(folder, file), join(folder, to));
  },
  pipe({ folder }, { file }) {
    return quiet("mkfifo", [join(folder, file)]).code === 0 ? [] : ["no pipe could be made"];
  },
  /** Writes a file so large that only `leave` bytes stay free on the disk. */
  fill({ folder }, { file, leave = 0 }) {
    const path = join(folder, file);
    const { bavail, bsize } = statfsSync(dirname(path));
    writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leave)));
  },
  /** Another process opens the vault and keeps it open, waiting for queries. */
  async hold(stage) {
    const lock = join(stage.vault.path, "lock");
    const deadline = Date.now() + TIMEOUT_MS;
    while (Date.now() < deadline) {
      const holder = new Vault(stage.folder).start(["search", "--queries", "-"], {
        stdio: ["pipe", "ignore", "ignore"],
      });
      const closed = new Promise((resolve) => holder.on("close", resolve));
      while (Date.now() < deadline && holder.exitCode === null) {
        await new Promise(setImmediate);
        // The vault's lock is taken, so the other process has opened the vault.
        if (quiet("flock", ["--nonblock", lock, "true"]).code === 1) {
          stage.undo.push(() => {
            holder.stdin.end();
            return closed;
          });
          return [];
        }
      }
      // The `flock` above may have taken the lock just when the other process tried to take it, so start that process
      // again.
      holder.stdin.end();
      await closed;
    }
    return ["the other process did not open the vault"];
  },
  /** Interrupts a command like Ctrl-C as soon as it reports progress. */
  async interrupt(stage, { command }) {
    const child = new Vault(stage.folder).start(["--progress", ...command], { stdio: ["ignore", "pipe", "pipe"] });
    let [stdout, progress] = ["", ""];
    child.stdout.on("data", (bytes) => (stdout += bytes));
    child.stderr.on("data", (bytes) => {
      if (progress === "") child.kill("SIGINT");
      progress += bytes;
    });
    const exit = await new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
    if (progress === "") return [`it ended with ${exit} before it had begun`];
    const problems = exit === 130 ? [] : [`it ended with ${exit} instead of 130`];
    return stdout.includes('"cancelled"') ? problems : [...problems, `it answered ${stdout.slice(0, 300)}`];
  },
  /**
   * Starts a local web server that answers with `status`. Its address is saved as `$NAME`, and requests are written to
   * `file`.
   */
  async receive(stage, { file, name, status = 200 }) {
    const child = spawn(process.execPath, ["-e", RECEIVER_SCRIPT, join(stage.folder, file), String(status)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    stage.undo.push(() => child.kill());
    const port = await new Promise((resolve) => child.stdout.once("data", (bytes) => resolve(Number(bytes))));
    stage.known[name] = `http://127.0.0.1:${port}/hook`;
    return [];
  },
  /** Checks that the text of a file matches a pattern. */
  says({ folder }, { file, match }) {
    const text = readFileSync(join(folder, file), "utf8");
    return new RegExp(match, "u").test(text) ? [] : [`${file} does not match ${match}: ${text.slice(0, 300)}`];
  },
  /**
   * Checks that a file, the entries of an archive or the files of a folder contain none of `words`, and that
   * they contain `but`, if it is given.
   */
  silent({ folder }, { file, words, but }) {
    const path = join(folder, file);
    const files = statSync(path).isDirectory()
      ? entriesOf(path).map(([, bytes]) => bytes.toString())
      : [readFileSync(path).toString(), ...(isZip(path) ? Object.values(readEntries(path)) : [])];
    const all = files.join("\n");
    const found = words.filter((word) => all.includes(word)).map((word) => `${file} contains ${word}`);
    return but && !all.includes(but) ? [...found, `${file} does not contain ${but}`] : found;
  },
  /** Undoes earlier actions: ends the processes that they started and unmounts disks. */
  async release(stage) {
    await release(stage);
  },
  /** Moves the vault to a disk of `size`. */
  small_disk(stage, { size }) {
    const place = join(stage.folder, "disk");
    mkdirSync(place);
    const { code, stderr } = quiet("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", place]);
    if (code !== 0) return [stderr];
    stage.undo.push(() => quiet("umount", [place]));
    cpSync(stage.vault.path, join(place, "v"), { recursive: true });
    stage.vault.path = join(place, "v");
    stage.vault.env.MEMENTORY_VAULT = stage.vault.path;
    return [];
  },
  /** Makes the disk of `small_disk` read-only, or writable again. */
  remount(stage, { options }) {
    const { code, stderr } = quiet("mount", ["-o", `remount,${options}`, join(stage.folder, "disk")]);
    return code === 0 ? [] : [stderr];
  },
  /** Checks that two files are equal. */
  same({ folder }, { file, to }) {
    const isSame = readFileSync(join(folder, file)).equals(readFileSync(join(folder, to)));
    return isSame ? [] : [`${file} and ${to} differ`];
  },
  /** Checks that a folder contains exactly these names. */
  names({ folder }, { file, are }) {
    const found = readdirSync(join(folder, file)).sort();
    return JSON.stringify(found) === JSON.stringify([...are].sort()) ? [] : [`${file} holds ${found}`];
  },
  /** Writes a ChatGPT export with `conversations` conversations of `messages` messages each. */
  export_of({ folder }, { file, conversations, messages }) {
    writeFileSync(join(folder, file), manyConversations("marigold", conversations, messages));
  },
  /** Packs a folder as an archive. */
  zip({ folder }, { file, to }) {
    writeFileSync(join(folder, to), zip(entriesOf(file)));
  },
  /** Copies a fixture, so that it can be changed later. */
  take({ folder }, { file, to }) {
    copyFileSync(file, join(folder, to));
  },
};

/** Undoes all actions, the last one first. */
export async function release(stage) {
  for (const undo of stage.undo.splice(0).reverse()) await undo();
}

function largestFile(path) {
  if (!statSync(path).isDirectory()) return path;
  const files = readdirSync(path).map((name) => join(path, name));
  return files.sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

let mountable;
function canMount() {
  if (mountable === undefined) {
    const place = quiet("mktemp", ["-d"]).stdout.trim();
    mountable =
      process.platform === "linux" && quiet("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", place]).code === 0;
    if (mountable) quiet("umount", [place]);
    rmSync(place, { recursive: true, force: true });
  }
  return mountable;
}
