// Interop of what we write for memory engines: the reference server of the Model Context Protocol's memory, mem0 and
// Basic Memory load it.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { fileURLToPath } from "node:url";
import { CLEAN_ENV } from "../cli/mementory.mjs";
import { ROOT } from "../tools/places.mjs";
import { nodePackages, python, pythonFiles } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";
import { openVault } from "./vault.mjs";

const CHECK_SCRIPT = fileURLToPath(new URL("engines_check.py", import.meta.url));
const NODE_PACKAGES = ["@modelcontextprotocol/server-memory@2026.8.31", "@modelcontextprotocol/sdk@1.32.2"];
/** mem0, and what the parser of Basic Memory imports. */
const PYTHON_PACKAGES = [
  "mem0ai==2.2.1",
  "aiofiles==25.1.0",
  "dateparser==1.5.0",
  "logfire==5.4.0",
  "loguru==0.7.3",
  "markdown-it-py==4.3.0",
  "pydantic-settings==2.16.3",
  "python-frontmatter==1.3.0",
  "unidecode==1.4.0",
];
/** Installed without its dependencies, because only its parser is used, and most of them are for its server. */
const BASIC_MEMORY_PACKAGE = "basic-memory==0.24.1";
const INPUTS = [
  "samples/chatgpt-export.zip",
  "samples/claude-export.zip",
  "samples/chatgpt-saved-memories.txt",
  "mcp_memory/full/input.jsonl",
].map((name) => join(ROOT, "fixtures", name));

/** Runs all checks with memory engines and counts them. */
export async function enginesInterop(count) {
  const program = await python(PYTHON_PACKAGES);
  const basicMemory = await pythonFiles(program, BASIC_MEMORY_PACKAGE);
  const load = await nodePackages(NODE_PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), "mementory-engines-"));
  const place = (name) => join(folder, name);
  const check = (...args) => parseJsonOutput(quiet(program, [CHECK_SCRIPT, ...args], { env: CLEAN_ENV }));
  try {
    const vault = openVault(place, "v", CLEAN_ENV);
    vault("import", ...INPUTS);
    const write = (format, name) => {
      const { validated, records } = vault("export", "--format", format, place(name));
      count.add(`what we write for ${format} is read back`, validated === true && records > 0);
      return place(name);
    };
    await checkServerMemory(count, load, write("mcp_memory", "memory.jsonl"));
    mkdirSync(place("store"));
    checkMem0(count, write("mem0", "mem0.json"), (file) => check("mem0", file, place("store")));
    const notes = write("basic_memory", "notes");
    checkBasicMemory(count, check("basic-memory", basicMemory, notes), openVault(place, "other", CLEAN_ENV), notes);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The server reads the whole graph of our file, adds to it, and stores it again. */
async function checkServerMemory(count, load, file) {
  const { Client } = await load("@modelcontextprotocol/sdk/client/index.js");
  const { StdioClientTransport } = await load("@modelcontextprotocol/sdk/client/stdio.js");
  const readLines = () => readFileSync(file, "utf8").trim().split("\n").map(JSON.parse);
  const written = graphOf(readLines());
  const client = new Client({ name: "mementory-tests", version: "1.0.0" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [load.resolve("@modelcontextprotocol/server-memory/dist/index.js")],
    env: { ...CLEAN_ENV, MEMORY_FILE_PATH: file },
    stderr: "ignore",
  });
  await client.connect(transport);
  try {
    const call = async (name, args) => (await client.callTool({ name, arguments: args })).structuredContent;
    const graph = await call("read_graph", {});
    const size = `${written.entities.length} entities and ${written.relations.length} relations`;
    const isSame = written.relations.length > 0 && isDeepStrictEqual(sortGraph(graph), sortGraph(written));
    if (!isSame) console.log(`  ${JSON.stringify(graph)}, not ${JSON.stringify(written)}`);
    count.add(`server-memory 2026.8.31 loads all ${size} of our memory.jsonl`, isSame);
    const added = { name: "Tea", entityType: "drink", observations: ["Is drunk black"] };
    await call("create_entities", { entities: [added] });
    const stored = graphOf(readLines());
    const wanted = { ...written, entities: [...written.entities, added] };
    count.add("it adds to our file without losing anything", isDeepStrictEqual(sortGraph(stored), sortGraph(wanted)));
  } finally {
    await client.close();
  }
}

/** The members of our lines that the server knows. */
function graphOf(lines) {
  const entities = lines.filter(({ type }) => type === "entity");
  const relations = lines.filter(({ type }) => type === "relation");
  return {
    entities: entities.map(({ name, entityType, observations }) => ({ name, entityType, observations })),
    relations: relations.map(({ from, to, relationType }) => ({ from, to, relationType })),
  };
}

const sortGraph = ({ entities, relations }) => [entities, relations].map(sorted);
const sorted = (items) => items.map((item) => JSON.stringify(item)).sort();

/** mem0 accepts each of our elements, and its store has every text under its owner. */
function checkMem0(count, file, addAll) {
  const { results } = JSON.parse(readFileSync(file, "utf8"));
  const wanted = results.map(({ user_id: owner, memory }) => [owner || "nobody", memory]);
  const stored = addAll(file);
  const isSame = isDeepStrictEqual(sorted(stored), sorted(wanted));
  if (!isSame) console.log(`  ${JSON.stringify(stored)}, not ${JSON.stringify(wanted)}`);
  count.add(`mem0ai 2.2.1 stores all ${results.length} memories of our file`, isSame);
}

/** The parser of Basic Memory finds the notes and relations that our own reader finds. */
function checkBasicMemory(count, notes, vault, folder) {
  vault("import", "--format", "basic_memory", folder);
  const list = (kind) => vault("list", "--kind", kind, "--limit", "500").items;
  const ours = list("resource").map(({ origin_id: permalink, title, type }) => [permalink, title, type]);
  const theirs = notes.map(({ permalink, title, type }) => [permalink, title, type]);
  const isSame = ours.length > 0 && isDeepStrictEqual(sorted(theirs), sorted(ours));
  if (!isSame) console.log(`  ${JSON.stringify(theirs)}, not ${JSON.stringify(ours)}`);
  count.add(`basic-memory 0.24.1 reads all ${ours.length} notes with title, type and permalink`, isSame);
  const wanted = list("relation").map(({ type }) => type);
  const relations = notes.flatMap((note) => note.relations);
  const types = relations.map(([type]) => type);
  const hasAll = wanted.length > 0 && isDeepStrictEqual(types.sort(), wanted.sort());
  count.add(`it finds our ${wanted.length} relations`, hasAll);
  const dangling = relations.filter(([, target]) => !existsSync(join(folder, `${target}.md`)));
  if (dangling.length > 0) console.log(`  ${JSON.stringify(dangling)}`);
  count.add("every relation leads to a note", dangling.length === 0);
}
