// What happens to a vault from outside while a case plays: damage, another process, a full disk, files of odd kinds.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  statfsSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { has, quiet } from "../tools/sh.mjs";
import { entries } from "./archive.mjs";
import { Vault } from "./mementory.mjs";
import { entriesOf, manyConversations, zip } from "./generated.mjs";

/** How long another process may take to open a vault, in milliseconds. */
const PATIENCE = 30_000;

/** Writes head and body of each request to its first argument and answers with the status in its second. */
const RECEIVER = `
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

/** Why a case that needs this cannot be played here, or nothing. */
export function missing(need) {
  if (need === "unix") return process.platform === "win32" ? "not on this system" : null;
  if (need === "flock") return has("flock") ? null : "flock is not installed";
  if (need === "mount") return canMount() ? null : "a small disk cannot be mounted here (it takes root on Linux)";
  throw new Error(`a case needs ${need}, whatever that is`);
}

/** Things that a step can do, by name. What has to be taken back goes to `stage.undo`. */
export const OUTSIDE = {
  /** Turn one byte round; `at` counts from the start, or is a share of the file. `file` may be a folder: its largest file. */
  flip({ folder }, { file, at = 0.5 }) {
    const path = largest(join(folder, file));
    const bytes = readFileSync(path);
    bytes[at < 1 ? Math.floor(bytes.length * at) : at] ^= 0xff;
    writeFileSync(path, bytes);
  },
  /** Cut the end off. */
  cut({ folder }, { file, keep = 0.5 }) {
    const path = largest(join(folder, file));
    const bytes = readFileSync(path);
    writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * keep)));
  },
  /** Write the header as a later version would, whole by its checksum. */
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
  /** A file that takes all the room but so many bytes. */
  fill({ folder }, { file, leave = 0 }) {
    const path = join(folder, file);
    const { bavail, bsize } = statfsSync(dirname(path));
    writeFileSync(path, Buffer.alloc(Math.max(0, bavail * bsize - leave)));
  },
  /** Another process opens the vault and keeps it open, waiting for queries that do not come. */
  async hold(stage) {
    const lock = join(stage.vault.path, "lock");
    const until = Date.now() + PATIENCE;
    while (Date.now() < until) {
      const holder = new Vault(stage.folder).start(["search", "--queries", "-"], {
        stdio: ["pipe", "ignore", "ignore"],
      });
      const over = new Promise((resolve) => holder.on("close", resolve));
      while (Date.now() < until && holder.exitCode === null) {
        await new Promise(setImmediate);
        // It has the vault when nobody else gets the lock any more.
        if (quiet("flock", ["--nonblock", lock, "true"]).code === 1) {
          stage.undo.push(() => {
            holder.stdin.end();
            return over;
          });
          return [];
        }
      }
      // Asking for the lock was in its way: once more.
      holder.stdin.end();
      await over;
    }
    return ["the other process did not open the vault"];
  },
  /** A command is interrupted, as Ctrl-C does it, once it says that it has begun to work. */
  async interrupt(stage, { command }) {
    const child = new Vault(stage.folder).start(["--progress", ...command], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, said] = ["", ""];
    child.stdout.on("data", (bytes) => (out += bytes));
    child.stderr.on("data", (bytes) => {
      if (said === "") child.kill("SIGINT");
      said += bytes;
    });
    const exit = await new Promise((resolve) => child.on("close", (code, signal) => resolve(code ?? signal)));
    if (said === "") return [`it ended with ${exit} before it had begun`];
    const problems = exit === 130 ? [] : [`it ended with ${exit} instead of 130`];
    return out.includes('"cancelled"') ? problems : [...problems, `it answered ${out.slice(0, 300)}`];
  },
  /** A web server on this machine that answers every request with `status`; `$NAME` is its address. What it got goes to `file`. */
  async receive(stage, { file, name, status = 200 }) {
    const child = spawn(process.execPath, ["-e", RECEIVER, join(stage.folder, file), String(status)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    stage.undo.push(() => child.kill());
    const port = await new Promise((resolve) => child.stdout.once("data", (bytes) => resolve(Number(bytes))));
    stage.known[name] = `http://127.0.0.1:${port}/hook`;
    return [];
  },
  /** A file says this. */
  says({ folder }, { file, match }) {
    const text = readFileSync(join(folder, file), "utf8");
    return new RegExp(match, "u").test(text) ? [] : [`${file} does not say ${match}: ${text.slice(0, 300)}`];
  },
  /** No file in a folder, or in an archive, holds these words; with `but`, this one is there. */
  silent({ folder }, { file, words, but }) {
    const path = join(folder, file);
    const files = statSync(path).isDirectory()
      ? entriesOf(path).map(([, bytes]) => bytes.toString())
      : [readFileSync(path).toString(), ...(file.endsWith(".alf") ? Object.values(entries(path)) : [])];
    const all = files.join("\n");
    const said = words.filter((word) => all.includes(word)).map((word) => `${file} holds ${word}`);
    return but && !all.includes(but) ? [...said, `${file} does not hold ${but}`] : said;
  },
  /** The other process goes. */
  async release(stage) {
    await release(stage);
  },
  /** A disk of `size` with the case's vault on it. */
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
  /** Two files hold the same bytes. */
  same({ folder }, { file, to }) {
    const same = readFileSync(join(folder, file)).equals(readFileSync(join(folder, to)));
    return same ? [] : [`${file} and ${to} differ`];
  },
  /** Nothing is there, or exactly these names. */
  names({ folder }, { file, are }) {
    const got = readdirSync(join(folder, file)).sort();
    return JSON.stringify(got) === JSON.stringify([...are].sort()) ? [] : [`${file} holds ${got}`];
  },
  /** A ChatGPT export with so many conversations. */
  export_of({ folder }, { file, conversations, messages }) {
    writeFileSync(join(folder, file), manyConversations("marigold", conversations, messages));
  },
  /** A folder becomes an archive, as a format wants it. */
  zip({ folder }, { file, to }) {
    writeFileSync(join(folder, to), zip(entriesOf(file)));
  },
  /** Keep a copy of a fixture that can be changed. */
  take({ folder }, { file, to }) {
    copyFileSync(file, join(folder, to));
  },
};

/** Take back what is still in the way. */
export async function release(stage) {
  for (const back of stage.undo.splice(0).reverse()) await back();
}

function largest(path) {
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
