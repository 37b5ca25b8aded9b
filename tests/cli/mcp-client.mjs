// A small client of the Model Context Protocol over standard input and output, for tests that measure or watch our
// program. Other tests, in tests/interop, show that real clients can talk to the program.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** Longest time for one answer, in milliseconds. */
const TIMEOUT_MS = Number(process.env.MEMENTORY_DEADLINE_MS ?? 60_000);

/** All tools, in the order of their names. */
export const TOOLS = [
  "about",
  "export_memory",
  "fetch",
  "import_memory",
  "list_memories",
  "memory_export",
  "search",
  "suggest_change",
  "suggest_forgetting",
  "suggest_memory",
];

/** A document with one memory. */
const MIF_DOCUMENT = JSON.stringify({
  mif_version: "1.0",
  export: { id: "exp_1", created_at: "2026-01-01T00:00:00.000Z", user_id: "x" },
  memories: [{ id: "mem_0a", content: "Likes boats.", type: "Observation", created_at: "2026-01-01T00:00:00.000Z" }],
});

/** Returns one call of each tool: [name, arguments]. `id` is the id of a memory that contains the word `query`. */
export const callsOfAllTools = (id, query) => [
  ["search", { query }],
  ["fetch", { id }],
  ["list_memories", {}],
  ["about", {}],
  ["suggest_memory", { text: "Likes trains." }],
  ["suggest_change", { id, text: "Has two tortoises." }],
  ["suggest_forgetting", { id }],
  ["export_memory", { format: "json", redact_pii: true }],
  ["import_memory", { data: MIF_DOCUMENT }],
  ["memory_export", { sign: true }],
];

/** A client that started a server. */
export class McpClient {
  #child;
  #waiting = new Map();
  #last = 0;

  /** Starts the server and sends `initialize`, which determines the version of the protocol. */
  static async start(program, args, env) {
    const client = new McpClient();
    client.#child = spawn(program, args, { env, stdio: ["pipe", "pipe", "inherit"] });
    client.over = new Promise((resolve) => client.#child.on("close", resolve));
    client.#child.on("error", () => {});
    client.#child.stdin.on("error", () => {}); // The program may have ended already.
    createInterface({ input: client.#child.stdout }).on("line", (line) => {
      const answer = JSON.parse(line);
      client.#waiting.get(answer.id)?.(answer);
      client.#waiting.delete(answer.id);
    });
    client.over.then(() => client.#waiting.forEach((answer) => answer({ error: { message: "it ended" } })));
    await client.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1.0.0" },
    });
    client.#send({ method: "notifications/initialized" });
    return client;
  }

  get pid() {
    return this.#child.pid;
  }

  /** Sends a request and returns its result. */
  async request(method, params) {
    const id = ++this.#last;
    const answered = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer to ${method} in time`)), TIMEOUT_MS);
      this.#waiting.set(id, (answer) => (clearTimeout(timer), resolve(answer)));
    });
    this.#send({ id, method, params });
    const { result, error } = await answered;
    if (error) throw new Error(`${method}: ${error.message}`);
    return result;
  }

  /** Calls a tool. Returns its structured result, or null if the tool has none or refused the call. */
  async call(name, args) {
    const { isError, structuredContent } = await this.request("tools/call", { name, arguments: args });
    return isError ? null : (structuredContent ?? null);
  }

  /** Closes the server's input and waits until the server has ended. Returns the exit code. */
  close() {
    this.#child.stdin.end();
    return this.over;
  }

  #send(message) {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}
