// Imports realistic exports and compares the counts. These exports are the samples next to the clone, edge cases, and
// larger exports from the generator, which also writes the expected counts (`*.truth.json`). The samples are also
// detected under other names.
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readFileSync, readdirSync, statSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { has, quiet } from "../tools/sh.mjs";
import { CLEAN_ENV, SHARED, Vault, inFolder, hasShared, sumProblems } from "./mementory.mjs";

const EXPORTS_FOLDER = "exports";
/**
 * The format of every sample. `counts` and `kinds` compute the expected numbers from counts made by hand, for samples
 * that the generator could not count or counts differently: for an MCP server, for example, it counts entities, whereas
 * we count their observations. `named`: files and folders keep their names, because readers of agent folders and note
 * vaults recognise files by name.
 */
const SAMPLES = {
  "01-chatgpt-classic-2024.zip": { format: "chatgpt" },
  "02-chatgpt-2026-sharded.zip": { format: "chatgpt" },
  "03-chatgpt-privacy-portal.zip": { format: "chatgpt" },
  "04-chatgpt-unzipped-folder": { format: "chatgpt" },
  "05-claude-flat-2025.zip": { format: "claude" },
  "06-claude-batches-2026": { format: "claude" },
  "07-claude-parts-2026-09": { format: "claude" },
  "08-gemini-takeout-json.zip": { format: "gemini" },
  "08b-gemini-takeout-html.zip": { format: "gemini" },
  "09-copilot": { format: "copilot" },
  "10-grok.zip": { format: "grok" },
  "11-deepseek_data-2026-09-16.zip": { format: "deepseek" },
  "12-mistral-chat-export-1787777208552.zip": { format: "mistral" },
  "13-claude-code": {
    format: "claude_code",
    named: true,
    counts: () => ({ conversations: 1, messages: 6, memories: 6 }),
  },
  "14-langmem": { format: "langmem", counts: ({ memories_total: memories }) => ({ memories }) },
  "14-letta": { format: "letta" },
  "14-mcp-memory": { format: "mcp_memory", counts: ({ observations: memories }) => ({ memories }) },
  "14-mem0": { format: "mem0", counts: ({ memories_total: memories }) => ({ memories }) },
  "14-openmemory": { format: "openmemory", counts: ({ memories_total: memories }) => ({ memories }) },
  "14-zep": { format: "zep", counts: ({ memories_total: memories }) => ({ memories }) },
  "15-basic-memory": { format: "basic_memory", kinds: ({ notes }) => ({ resource: notes }) },
  "16-openclaw-workspace": { format: "openclaw", named: true },
  "17-obsidian-vault": { format: "obsidian", named: true, kinds: ({ markdown_notes: notes }) => ({ resource: notes }) },
  "18-pasted-text": {
    format: "transfer_text",
    counts: (by) => ({
      conversations: 1,
      messages: by.transcript_turns,
      memories: by.claude_prompt_entries + by.chatgpt_saved_memories,
    }),
  },
  "19-cursor-windsurf": { format: "agent_rules", named: true, counts: ({ rule_files: memories }) => ({ memories }) },
  "20-meta-ai": { format: "meta_ai", counts: ({ conversations, messages }) => ({ conversations, messages }) },
  "21-perplexity": { format: "perplexity", counts: ({ conversations, messages }) => ({ conversations, messages }) },
  "22-zeroclaw-workspace": { format: "zeroclaw", named: true },
};
/** Pasted texts, with counts made by hand. */
const PASTED_TEXTS = {
  "chatgpt-saved-memories.txt": ({ chatgpt_saved_memories: memories }) => ({ conversations: 0, messages: 0, memories }),
  "claude-import-prompt-answer.md": ({ claude_prompt_entries: memories }) => ({
    conversations: 0,
    messages: 0,
    memories,
  }),
  "role-transcript.txt": ({ transcript_turns: messages }) => ({ conversations: 1, messages, memories: 0 }),
};
/**
 * Expected outcome of the edge cases that have more to check than the number of messages: `says` is a code that the
 * report contains, `mentions` a text in the answer, `refused` the reason for which the import is refused.
 */
const EDGE_CASES = {
  "raw-control-chars.json": { messages: 2, says: "control_character" },
  "ndjson-conversations.jsonl": { messages: 2, says: "duplicate" },
  "one-bad-conversation.json": { messages: 2, says: "malformed", failed: 1 },
  "empty-array.json": { messages: 0, says: "empty_export" },
  "truncated-conversations.json": { messages: 2, says: "truncated", failed: 1, mentions: "byte 1242" },
  "truncated.zip": { messages: 2, says: "truncated_archive" },
  "nested-5-deep.zip": { refused: "archive_depth" },
  "duplicate-members.zip": { messages: 2, says: "duplicate_name" },
  "zip-slip.zip": { messages: 2, says: "unsafe_name" },
};
/** Exports to generate: [assistant, layout, file extension]. */
const GENERATED_EXPORTS = [
  ["chatgpt", "classic", ".zip"],
  ["chatgpt", "sharded", ".zip"],
  ["chatgpt", "portal", ".zip"],
  ["claude", "flat", ".zip"],
  ["claude", "batch", ""],
  ["claude", "parts", ""],
];
const SIZE_OPTIONS = ["--conversations", "250", "--mb", "3", "--batches", "2"];

/** Imports samples, pasted texts, edge cases and generated exports, and compares the counts. */
export async function testExports(count) {
  if (!hasShared(count, EXPORTS_FOLDER)) return;
  const folder = join(SHARED, EXPORTS_FOLDER);
  const expected = JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
  for (const [name, counted] of Object.entries(expected.samples)) {
    const sample = SAMPLES[name];
    if (!sample) {
      count.add(`sample ${name} has a format in this test`, false);
      continue;
    }
    const { wanted, kinds } = expectedCounts(sample, counted);
    await importTwice(count, `sample ${name}`, join(folder, name), wanted, kinds);
    await detectUnderOtherNames(count, name, join(folder, name), sample);
  }
  for (const [name, counts] of Object.entries(PASTED_TEXTS)) {
    const wanted = counts(expected.samples["18-pasted-text"].by_hand);
    await importTwice(count, `pasted ${name}`, join(folder, "18-pasted-text", name), wanted);
  }
  for (const name of readdirSync(join(folder, "edge")).sort())
    await importEdgeCase(count, name, join(folder, "edge", name), expected);
  if (!has("python3")) return count.leaveOut("generated exports: python3 is not installed");
  for (const kind of GENERATED_EXPORTS) await importGenerated(count, ...kind);
}

/** The expected counts in the report of a sample, and the expected numbers of records of some kinds. */
function expectedCounts({ counts, kinds, named }, counted) {
  const byHand = counted.by_hand ?? {};
  if (kinds) return { wanted: { conversations: 0, messages: 0 }, kinds: kinds(byHand) };
  if (counts) return { wanted: counts(byHand), kinds: {} };
  return { wanted: named ? {} : normalizedCounts(counted), kinds: {} };
}

/** Detects a copy of a sample under other file and folder names, with and without file extensions. */
async function detectUnderOtherNames(count, name, path, { format, named }) {
  await inFolder((folder) => {
    const vault = new Vault(folder);
    const detect = (input) => vault.must("detect", input).results[0];
    const problems = [];
    const check = (what, input) => {
      const { format: found, candidates } = detect(input);
      const others = candidates.map(({ format: other }) => other).join(", ");
      if (found !== format) problems.push(`${what}: ${found ?? `no format (${others})`}, not ${format}`);
    };
    check("as it is", path);
    if (!named) check("under other names", copyUnderOtherName(path, folder, true));
    // Notes and copied texts are recognised only by their file extension.
    if (!named && !TEXT_FORMATS.includes(format)) check("without endings", copyUnderOtherName(path, folder, false));
    report(count, `detection of ${name}`, problems);
  });
}

const TEXT_FORMATS = ["basic_memory", "transfer_text"];

/** Copies a file or folder and names the copy by a digest, with or without file extensions. Returns the copy's path. */
function copyUnderOtherName(path, folder, keepsEnding) {
  const isFolder = statSync(path).isDirectory();
  const digest = createHash("sha256")
    .update(`${basename(path)} ${keepsEnding}`)
    .digest("hex")
    .slice(0, 12);
  const copyPath = join(folder, keepsEnding && !isFolder ? `${digest}${extname(path)}` : digest);
  if (!isFolder) {
    copyFileSync(path, copyPath);
    return copyPath;
  }
  mkdirSync(copyPath);
  for (const name of readdirSync(path)) copyUnderOtherName(join(path, name), copyPath, keepsEnding);
  return copyPath;
}

function normalizedCounts({ conversations, messages, memories, attachments_referenced, attachments_present }) {
  const attachments = { referenced: attachments_referenced, present: attachments_present };
  return { conversations, messages, memories, attachments };
}

/**
 * Previews and imports an export, then imports it again. Compares counts and sums; the second import must add nothing.
 */
async function importTwice(count, name, path, wanted, kinds = {}) {
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    const problems = [];
    const preview = vault.must("import", path, "--dry-run");
    const imported = vault.must("import", path);
    problems.push(
      ...differingCounts(wanted, preview).map((text) => `preview: ${text}`),
      ...differingCounts(wanted, imported),
    );
    for (const [kind, number] of Object.entries(kinds))
      if (imported.by_kind[kind]?.found !== number)
        problems.push(`${imported.by_kind[kind]?.found} records of the kind ${kind}, not ${number}`);
    problems.push(...sumProblems(imported));
    if (preview.added !== imported.added)
      problems.push(`the preview said ${preview.added} added, it was ${imported.added}`);
    const storedCounts = vault.must("info").counts;
    for (const [kind, part] of Object.entries(imported.by_kind))
      if ((storedCounts[kind] ?? 0) !== part.added)
        problems.push(`${part.added} ${kind} added, ${storedCounts[kind]} in the vault`);
    const reimport = vault.must("import", path);
    if (reimport.added + reimport.updated > 0)
      problems.push(`reimport: ${reimport.added} added, ${reimport.updated} updated`);
    problems.push(...sumProblems(reimport).map((text) => `reimport: ${text}`));
    report(count, name, problems);
  });
}

async function importEdgeCase(count, name, path, expected) {
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    const expectedMessages = expected.edge_messages[name];
    const { messages, says, failed = 0, mentions, refused } = EDGE_CASES[name] ?? { messages: expectedMessages };
    const { code, answer } = vault.run("import", path);
    const text = JSON.stringify(answer);
    const problems = [];
    if (refused) {
      if (code !== 6 || answer.error?.details.reason !== refused) problems.push(`${code}, not refused: ${text}`);
      const { counts } = vault.must("info");
      if (Object.keys(counts).length > 0) problems.push(`refused, but records were stored: ${JSON.stringify(counts)}`);
      return report(count, `edge ${name}`, problems);
    }
    if (typeof messages !== "number") problems.push(`there is no expected count for this file: ${expectedMessages}`);
    if (code !== 0) return report(count, `edge ${name}`, [`exit code ${code}: ${text}`]);
    if (answer.messages !== messages) problems.push(`${answer.messages} messages, not ${messages}`);
    if (answer.failed !== failed) problems.push(`${answer.failed} failed, not ${failed}`);
    const codes = [...answer.warnings.map((w) => w.code), ...answer.items.map((item) => item.reason.split(":")[0])];
    if (says && !codes.includes(says)) problems.push(`does not say ${says}: ${text}`);
    if (mentions && !text.includes(mentions)) problems.push(`does not mention ${mentions}: ${text}`);
    report(count, `edge ${name}`, [...problems, ...sumProblems(answer)]);
  });
}

async function importGenerated(count, kind, layout, ending) {
  await inFolder(async (folder) => {
    const path = join(folder, `made${ending}`);
    const args = [
      join(SHARED, EXPORTS_FOLDER, "gen_exports.py"),
      kind,
      "--layout",
      layout,
      ...SIZE_OPTIONS,
      "--out",
      path,
    ];
    const { code, stderr } = quiet("python3", args, { env: CLEAN_ENV });
    if (code !== 0) throw new Error(`the generator ended with ${code}: ${stderr}`);
    const truth = JSON.parse(readFileSync(`${path}.truth.json`, "utf8"));
    const { distinct_memory_texts: distinct, custom_instructions: custom } = truth.memories;
    const memories = kind === "chatgpt" ? distinct + custom : Object.values(truth.memories).reduce((a, b) => a + b, 0);
    await importTwice(count, `generated ${kind} ${layout}`, path, normalizedCounts({ ...truth, memories }));
    await searchNeedles(count, `needles of ${kind} ${layout}`, path, truth);
  });
}

/** Checks that 95 % of the queries with a single right answer find that answer among the first ten hits. */
async function searchNeedles(count, name, path, truth) {
  await inFolder((folder) => {
    const vault = new Vault(folder).create();
    vault.must("import", path);
    const questions = vault.write("questions.txt", truth.needles.map(({ query }) => query).join("\n"));
    const { results } = vault.must("search", "--queries", questions, "--limit", "10");
    const places = truth.needles.map(({ message_id: id }, i) =>
      results[i].hits.findIndex((hit) => hit.origin_id === id),
    );
    const foundCount = places.filter((place) => place >= 0).length;
    const firstPlaceCount = places.filter((place) => place === 0).length;
    console.log(`  ${name}: ${foundCount} of ${places.length} among the first ten, ${firstPlaceCount} first`);
    report(count, name, foundCount < places.length * 0.95 ? [`only ${foundCount} of ${places.length} found`] : []);
  });
}

function differingCounts(wanted, got) {
  return Object.entries(wanted)
    .filter(([key, value]) => JSON.stringify(sortMembers(value)) !== JSON.stringify(sortMembers(got[key])))
    .map(([key, value]) => `${key}: ${JSON.stringify(got[key])}, not ${JSON.stringify(value)}`);
}

const sortMembers = (value) =>
  value && typeof value === "object" ? Object.fromEntries(Object.entries(value).sort()) : value;

function report(count, name, problems) {
  problems.forEach((problem) => console.log(`  ${name}: ${problem}`));
  count.add(name, problems.length === 0);
}
