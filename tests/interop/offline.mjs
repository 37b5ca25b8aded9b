// Clients get answers without a network. The server, and the program that clients start, run in a network namespace
// that has no working interface, not even loopback. A trace of their system calls shows that they open no internet
// socket.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { McpClient, TOOLS, callsOfAllTools } from "../cli/mcp-client.mjs";
import { reportStep, runInSubprocess } from "../e2e/subprocess.mjs";
import { UNSHARE, findNamespaceProblem } from "../tools/no_network.mjs";
import { built } from "../tools/places.mjs";
import { ENV, has, quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";

const HERE = fileURLToPath(import.meta.url);
/**
 * Matches the creation of a socket, or a socket address, of a family that can reach beyond this computer or listen to
 * its network. AF_NETLINK is not among these families: GTK uses it to ask the kernel for the routes, which stays inside
 * this computer. A routing family that is named in the kernel's reply does not match either.
 */
const NETWORK_SOCKET = /(?:\bsocket\(|\bsa_family=)AF_(?:INET6?|PACKET|VSOCK|BLUETOOTH)\b/;

/**
 * The command that runs a program under strace. The network calls of the program, and of all programs that it starts,
 * are written to a file.
 */
export const traced = (file) => [
  "strace",
  "--follow-forks",
  "--seccomp-bpf",
  "--quiet=all",
  "--trace=%network",
  `--output=${file}`,
];

/** Returns the reason why no program can be traced on this machine, or null if tracing works. */
export function findTraceProblem() {
  if (process.platform !== "linux") return "only on Linux";
  if (!has("strace")) return "strace is not installed";
  return quiet("strace", ["--output=/dev/null", "true"]).code === 0 ? null : "no program can be traced here";
}

/**
 * Returns the lines of a trace that have a network socket, and whether the trace has a local socket. A trace without
 * a local socket may have missed the network sockets too.
 */
export function readTrace(file) {
  const lines = readFileSync(file, "utf8").split("\n");
  return {
    network: lines.filter((line) => NETWORK_SOCKET.test(line)),
    seesLocalSocket: lines.some((line) => line.includes("AF_UNIX")),
  };
}

/** Starts a subprocess in an empty network namespace. In it, the server answers a client. */
export async function clientsOffline(count) {
  const skipReason = findTraceProblem() ?? findNamespaceProblem();
  if (skipReason) return count.leaveOut(`clients without a network: ${skipReason}`);
  await runInSubprocess(count, "clients without a network", UNSHARE, HERE);
}

async function runInside() {
  const folder = mkdtempSync(join(tmpdir(), "mementory-offline-"));
  const place = (name) => join(folder, name);
  const env = { ...ENV, MEMENTORY_SOCKET: place("run/clients.sock"), MEMENTORY_DATA_DIR: place("data") };
  const global = ["--vault", place("v"), "--passphrase-file", place("p"), "--json"];
  const mementory = (...args) => parseJsonOutput(quiet(built("mementory"), [...global, ...args], { env }));
  let server;
  try {
    const interfaces = readFileSync("/proc/net/dev", "utf8").trim().split("\n").slice(2);
    const activeInterfaces = interfaces.filter((line) => !/^ *lo:( +0)+$/.test(line));
    reportStep("the namespace has no network", activeInterfaces.length === 0);

    // Make sure that a trace would show an internet socket. Otherwise an empty trace would pass the test.
    const [tool, ...options] = traced(place("connect.trace"));
    quiet(tool, [
      ...options,
      process.execPath,
      "-e",
      'require("node:net").connect(9, "192.0.2.1").on("error", () => {})',
    ]);
    reportStep("a trace shows an internet socket", readTrace(place("connect.trace")).network.length > 0);

    mkdirSync(place("data"));
    writeFileSync(place("p"), "correct horse battery staple\n", { mode: 0o600 });
    writeFileSync(place("memory.txt"), "Has a tortoise called Rui.\n");
    mementory("create", place("v"), "--kdf-floor");
    const { id } = mementory("add", "--text-file", place("memory.txt"));
    mementory("grants", "add", "Offline", "--token-file", place("token"), "--rights", "read,suggest,export");
    const command = [...traced(place("serve.trace")), built("mementory"), ...global, "serve"];
    server = spawn(command[0], command.slice(1), { env, stdio: ["ignore", "ignore", "pipe"] });
    await once(server.stderr, "data");

    const [program, ...args] = [...traced(place("mcp.trace")), built("mementory"), "mcp"];
    const client = await McpClient.start(program, [...args, "--token-file", place("token")], env);
    const { tools } = await client.request("tools/list", {});
    reportStep("all tools are listed without a network", tools.length === TOOLS.length);
    const failed = [];
    for (const [name, input] of callsOfAllTools(id, "tortoise"))
      if ((await client.call(name, input)) === null) failed.push(name);
    reportStep("all tools answer without a network", failed.length === 0);
    reportStep("the program of the client ends with success", (await client.close()) === 0);
    const serverClosed = once(server, "close");
    process.kill(childOf(server.pid), "SIGINT");
    await serverClosed;

    for (const [name, what] of [
      ["serve", "the server"],
      ["mcp", "the program that clients start"],
    ]) {
      const { network, seesLocalSocket } = readTrace(place(`${name}.trace`));
      network.slice(0, 5).forEach((line) => console.log(line.slice(0, 160)));
      reportStep(`${what} opens no internet socket, only a local one`, seesLocalSocket && network.length === 0);
    }
  } finally {
    if (server && server.exitCode === null) server.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Returns the id of the process that strace runs. An interrupt is sent to this process, because strace would not pass
 * it on.
 */
const childOf = (pid) => Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);

if (process.argv[1] === HERE && process.argv[2] === "inside")
  await runInside().catch((error) => {
    console.log(error.stack);
    process.exitCode = 1;
  });
