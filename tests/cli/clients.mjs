// Actions of test cases with connected clients: run the server that answers them, and run a client.
import { spawn } from "node:child_process";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { built } from "../tools/places.mjs";
import { Vault } from "./mementory.mjs";
import { differences } from "./match.mjs";

/** Longest time, in milliseconds, that a program may take to answer. */
const TIMEOUT_MS = 60_000;

/** The environment of the server and of the client, with the path of their socket. */
const withSocket = ({ folder, env }) => ({ ...env, MEMENTORY_SOCKET: join(folder, "run", "clients.sock") });

export const CLIENT_ACTIONS = {
  /** Starts `mementory serve` and waits until it answers. */
  async serve(stage) {
    const child = new Vault(stage.folder).start(["serve"], {
      env: withSocket(stage),
      stdio: ["ignore", "pipe", "pipe"],
    });
    const closed = new Promise((resolve) => child.on("close", resolve));
    stage.server = { child, closed };
    stage.undo.push(async () => {
      child.kill("SIGKILL");
      await closed;
    });
    const [first] = await lines(child.stderr, 1, closed);
    return first?.startsWith("Clients are answered at ") ? [] : [`it did not begin: ${first}`];
  },
  /** Lets other users read a file. */
  open_to_others({ folder }, { file }) {
    chmodSync(join(folder, file), 0o644);
  },
  /** Makes a file read-only for all users. `open_to_others` makes the file writable again. */
  write_protect({ folder }, { file }) {
    chmodSync(join(folder, file), 0o444);
  },
  /** Interrupts `mementory serve` like Ctrl-C; it has to end with exit code 0. */
  async stop_serving({ server }) {
    server.child.kill("SIGINT");
    const exit = await server.closed;
    return exit === 0 ? [] : [`serving ended with ${exit}`];
  },
  /**
   * Starts the program of a client with the token in `token_file` and sends `messages` one after another. A message is
   * {send, json, save}: `send` is a JSON-RPC message, or a text that is sent unchanged; `json` is a subset of the
   * answer (none for a notification); `save` gives names to values of the answer, by JSON pointer. A pointer that
   * begins with `@` starts at the structured result. With `exit`, the program has to end at once with this code.
   */
  async mcp(stage, { token_file, messages = [], exit }) {
    const child = spawn(built("mementory"), ["mcp", "--token-file", join(stage.folder, token_file)], {
      env: withSocket(stage),
      stdio: ["pipe", "pipe", "pipe"],
    });
    const closed = new Promise((resolve) => child.on("close", resolve));
    child.stdin.on("error", () => {}); // The program may have ended already.
    if (exit !== undefined) {
      const code = await closed;
      return code === exit ? [] : [`it ended with ${code}, not ${exit}`];
    }
    const answers = lines(child.stdout, Infinity, closed);
    const problems = [];
    try {
      for (const { send, json, save = {} } of messages) {
        child.stdin.write(`${typeof send === "string" ? send : JSON.stringify(send)}\n`);
        if (json === undefined) continue;
        const answer = JSON.parse((await answers.next()) ?? "null");
        problems.push(...differences(json, answer, `answer to ${JSON.stringify(send).slice(0, 120)} `));
        for (const [name, pointer] of Object.entries(save)) stage.known[name] = valueAt(answer, pointer);
      }
    } finally {
      child.stdin.end();
    }
    const code = await closed;
    return code === 0 ? problems : [...problems, `the program ended with ${code}`];
  },
};

function valueAt(answer, pointer) {
  const from = pointer.startsWith("@") ? answer?.result?.structuredContent : answer;
  return pointer
    .replace("@", "")
    .split("/")
    .slice(1)
    .reduce((value, key) => value?.[key], from);
}

/**
 * The lines of a stream. If `count` is Infinity, returns an object whose `next` resolves with the next line, or with
 * undefined at the end. Otherwise returns a promise of the first `count` lines.
 */
function lines(stream, count, closed) {
  const [waiting, ready] = [[], []];
  let [text, ended] = ["", false];
  const deliver = (line) => (waiting.length > 0 ? waiting.shift()(line) : ready.push(line));
  stream.setEncoding("utf8").on("data", (piece) => {
    const parts = (text + piece).split("\n");
    text = parts.pop();
    parts.forEach(deliver);
  });
  closed.then(() => {
    ended = true;
    waiting.splice(0).forEach((resolve) => resolve(undefined));
  });
  const next = () =>
    new Promise((resolve, reject) => {
      if (ready.length > 0) return resolve(ready.shift());
      if (ended) return resolve(undefined);
      const timer = setTimeout(() => reject(new Error("no answer in time")), TIMEOUT_MS);
      waiting.push((line) => {
        clearTimeout(timer);
        resolve(line);
      });
    });
  if (count === Infinity) return { next };
  return Promise.all(Array.from({ length: count }, next));
}
