// Interop of the Model Context Protocol: the official clients for Python and JavaScript call each of our tools, with
// every version of the protocol.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { TOOLS, callsOfAllTools } from "../cli/mcp-client.mjs";
import { built } from "../tools/places.mjs";
import { nodePackages, python } from "../tools/setup.mjs";
import { ENV, quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";

const CLIENT_SCRIPT = fileURLToPath(new URL("mcp_client.py", import.meta.url));
const PYTHON_PACKAGES = ["mcp==2.3.0", "fastmcp==4.2.3"];
const NODE_PACKAGES = ["@modelcontextprotocol/sdk@1.32.2", "@modelcontextprotocol/client@2.4.0"];
const BUNDLE_PACKAGES = ["@anthropic-ai/mcpb@2.1.2"];
const BUNDLE_URL = "https://example.org/releases/mementory-mcp.mcpb";
const ZAXY_SCRIPT = fileURLToPath(new URL("zaxy_check.py", import.meta.url));
const ZAXY_PACKAGES = ["zaxy-memory[export]==3.2.0", "jsonschema==4.26.0"];
/**
 * Installs the official clients. Returns `program`, a Python that has the Python client, and `load`, a function that
 * imports the JavaScript clients.
 */
export async function installClients() {
  return { program: await python(PYTHON_PACKAGES), load: await nodePackages(NODE_PACKAGES) };
}

/**
 * Runs of the official clients, by name. There is one run for each way in which a client can agree with the server on a
 * version of the protocol. Each run is a function that starts the server with `command`, lists its tools and makes all
 * `calls`. It returns {tools, answers}.
 */
export async function realClients(command, calls, env) {
  const { program, load } = await installClients();
  const inPython = (mode) => () => pythonClient(program, mode, command, calls, env);
  return {
    "mcp 2.3.0 with initialize": inPython("legacy"),
    "mcp 2.3.0, version 2026-07-28": inPython("2026-07-28"),
    "mcp 2.3.0, finding the version": inPython("auto"),
    "fastmcp 4.2.3 with initialize": inPython("fastmcp-legacy"),
    "fastmcp 4.2.3, version 2026-07-28": inPython("fastmcp-2026-07-28"),
    "@modelcontextprotocol/sdk 1.32.2": async () => {
      const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
      const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
      return nodeClient(Client, StdioClientTransport, {}, command, calls, env);
    },
    "@modelcontextprotocol/client 2.4.0 with initialize": () => newNodeClient(load, "legacy", command, calls, env),
    "@modelcontextprotocol/client 2.4.0, version 2026-07-28": () =>
      newNodeClient(load, { pin: "2026-07-28" }, command, calls, env),
  };
}

/** Whether a client listed exactly our tools (`listsAll`), and the tools that it could not call (`failed`). */
export function missedTools({ tools, answers }) {
  const failed = TOOLS.filter((tool) => {
    const answer = answers?.[tool];
    return answer === undefined || answer.error || answer.result === null;
  });
  return { listsAll: JSON.stringify([...(tools ?? [])].sort()) === JSON.stringify(TOOLS), failed };
}

/** Runs all checks with clients of the Model Context Protocol and counts them. */
export async function mcpInterop(count) {
  if (process.platform === "win32") return count.leaveOut("clients are not answered on this system");
  const zaxyProgram = await python(ZAXY_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-mcp-"));
  const place = (name) => join(folder, name);
  const env = { ...ENV, MEMENTORY_SOCKET: place("run/clients.sock"), MEMENTORY_DATA_DIR: place("data") };
  const global = ["--vault", place("v"), "--passphrase-file", place("p"), "--json"];
  const mementory = (...args) => parseJsonOutput(quiet(built("mementory"), [...global, ...args], { env }));
  let server;
  try {
    writeFileSync(place("p"), "correct horse battery staple\n", { mode: 0o600 });
    writeFileSync(place("memory.txt"), "Has a tortoise called Rui.\n");
    mementory("create", place("v"), "--kdf-floor");
    const { id } = mementory("add", "--text-file", place("memory.txt"));
    mementory("grants", "add", "Interop", "--token-file", place("token"), "--rights", "read,suggest,export");
    server = spawn(built("mementory"), [...global, "serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
    await once(server.stderr, "data");

    const command = { command: built("mementory"), args: ["mcp", "--token-file", place("token")] };
    const calls = callsOfAllTools(id, "tortoise");
    const verify = (name, text) => {
      writeFileSync(place(name), text ?? "");
      return parseJsonOutput(quiet(built("mementory"), ["--json", "verify", place(name)], { env }));
    };
    const clients = await realClients(command, calls, env);
    for (const [name, run] of Object.entries(clients)) {
      const result = await run();
      const { listsAll, failed } = missedTools(result);
      const { answers } = result;
      count.add(`${name} lists the tools`, listsAll);
      for (const tool of TOOLS) {
        if (failed.includes(tool)) console.log(`  ${JSON.stringify(answers?.[tool])}`);
        count.add(`${name} calls ${tool}`, !failed.includes(tool));
      }
      count.add(`${name} finds the memory`, answers?.search?.result?.results?.[0]?.id === id);
      const exported = verify("export.mif.json", answers?.export_memory?.result?.data);
      count.add(`${name} gets a valid document`, exported.ok === true && exported.records === 1);
      const bundle = verify("bundle.json", answers?.memory_export?.result?.bundle);
      count.add(`${name} gets a valid bundle`, bundle.ok === true && bundle.signature?.valid === true);
      const verification = parseJsonOutput(quiet(zaxyProgram, [ZAXY_SCRIPT, "verify", place("bundle.json")]));
      count.add(
        `zaxy-memory 3.2.0 verifies the bundle for ${name}`,
        verification.ok === true && verification.entries === 1,
      );
      const suggestion = answers?.import_memory?.result;
      count.add(`${name} suggests a document`, suggestion?.suggestions?.length === 1);
    }
  } finally {
    if (server && server.exitCode === null) {
      const serverClosed = once(server, "close");
      server.kill("SIGINT");
      await serverClosed;
    }
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Checks that Anthropic's validator accepts the bundle for Claude Desktop, and that `server.json` names this bundle.
 */
export async function bundleInterop(count) {
  const load = await nodePackages(BUNDLE_PACKAGES);
  const { validateManifest, unpackExtension } = await load("@anthropic-ai/mcpb");
  const folder = mkdtempSync(join(tmpdir(), "mementory-mcpb-"));
  try {
    const args = [
      "--json",
      "packaging",
      folder,
      "--registry-name",
      "org.example/mementory",
      "--bundle-url",
      BUNDLE_URL,
    ];
    parseJsonOutput(quiet(built("mementory"), args, { env: ENV }));
    const bundle = join(folder, "mementory.mcpb");
    const outputDir = join(folder, "unpacked");
    count.add(
      "the bundle is unpacked",
      (await unpackExtension({ mcpbPath: bundle, outputDir, silent: true })) === true,
    );
    count.add("the bundle's manifest is valid", validateManifest(join(outputDir, "manifest.json")) === true);
    const { server } = JSON.parse(readFileSync(join(outputDir, "manifest.json"), "utf8"));
    count.add("the bundle has the program that it starts", existsSync(join(outputDir, server.entry_point)));
    const { packages } = JSON.parse(readFileSync(join(folder, "server.json"), "utf8"));
    const digest = createHash("sha256").update(readFileSync(bundle)).digest("hex");
    count.add(
      "server.json names the bundle",
      packages[0].identifier === BUNDLE_URL && packages[0].fileSha256 === digest,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function pythonClient(program, mode, { command, args }, calls, env) {
  return parseJsonOutput(
    quiet(program, [CLIENT_SCRIPT, mode, command, ...args], { env, input: JSON.stringify(calls) }),
  );
}

async function newNodeClient(load, mode, command, calls, env) {
  const { Client } = await load("@modelcontextprotocol/client");
  const { StdioClientTransport } = await load("@modelcontextprotocol/client/stdio");
  return nodeClient(Client, StdioClientTransport, { versionNegotiation: { mode } }, command, calls, env);
}

async function nodeClient(Client, StdioClientTransport, options, command, calls, env) {
  const client = new Client({ name: "interop", version: "1.0.0" }, options);
  await client.connect(new StdioClientTransport({ ...command, env }));
  try {
    const { tools } = await client.listTools();
    const answers = {};
    for (const [name, input] of calls) {
      const { isError, structuredContent } = await client.callTool({ name, arguments: input });
      answers[name] = { error: isError === true, result: structuredContent ?? null };
    }
    return { tools: tools.map((tool) => tool.name), answers };
  } finally {
    await client.close();
  }
}
