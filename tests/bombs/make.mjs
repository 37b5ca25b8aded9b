// Makes bombs: files that take far more time or memory than their size suggests. They cover every kind of input except
// JSON inside archives, which `../cli/bombs.mjs` covers. `node tests/bombs/make.mjs FOLDER [NAME]` writes all bombs, or
// only those whose name contains NAME.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync, gzipSync } from "node:zlib";
import { FIXTURES } from "../cli/mementory.mjs";
import { buildArchive } from "../corpus/zip.mjs";

const MIB = 1 << 20;
const fixture = (...path) => readFileSync(join(FIXTURES, ...path));
const json = (...path) => JSON.parse(fixture(...path).toString());
const deepArray = (n) => "[".repeat(n) + "]".repeat(n);
const zip = (name, data) => buildArchive([{ name, data, deflate: true }]);
/** Returns the JSON text of `value`, with `text` in place of the string `"@here@"`. */
const withText = (value, text) => JSON.stringify(value).replace('"@here@"', () => text);

/** Returns a tar entry with `data`. Its header states `size`. */
function tarEntry(name, data, size = data.length) {
  const header = Buffer.alloc(512);
  header.write(name, 0);
  header.write("0000644\0", 100);
  header.write("0000000\0".repeat(2), 108);
  header.write(`${size.toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        0", 148);
  header.write("ustar\x0000", 257);
  const checksum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${checksum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([header, data, Buffer.alloc((512 - (data.length % 512)) % 512)]);
}

const tar = (entries) => Buffer.concat([...entries.map((entry) => tarEntry(...entry)), Buffer.alloc(1024)]);

function pngChunk(kind, data) {
  const body = Buffer.concat([Buffer.from(kind), data]);
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([size, body, sum]);
}

/** A character card: a PNG whose header claims that the picture is enormous, and which contains a compressed text. */
function pngCard() {
  const headerData = Buffer.from([0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 8, 6, 0, 0, 0]);
  const text = Buffer.concat([Buffer.from("chara\0\0"), deflateSync(Buffer.alloc(200 * MIB, "A"))]);
  const signature = Buffer.from("\x89PNG\r\n\x1a\n", "latin1");
  return Buffer.concat([
    signature,
    pngChunk("IHDR", headerData),
    pngChunk("zTXt", text),
    pngChunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A ZIP nested in ZIPs: each of the `depth` levels contains `width` copies of the level below. */
function nestedZips(depth, width) {
  let data = zip("conversations.json", Buffer.alloc(10 * MIB, " "));
  for (let level = 0; level < depth; level += 1)
    data = buildArchive(Array.from({ length: width }, (_, i) => ({ name: `${i}.zip`, data, deflate: true })));
  return data;
}

function workbook(part, text) {
  const sheet = '<worksheet><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row></sheetData></worksheet>';
  const parts = {
    "[Content_Types].xml": "<Types/>",
    "xl/workbook.xml": '<workbook><sheets><sheet name="a" sheetId="1" r:id="rId1"/></sheets></workbook>',
    "xl/_rels/workbook.xml.rels":
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/></Relationships>',
    "xl/worksheets/sheet1.xml": sheet,
    "xl/sharedStrings.xml": "<sst><si><t>Query</t></si></sst>",
    [part]: text,
  };
  return buildArchive(Object.entries(parts).map(([name, data]) => ({ name, data, deflate: true })));
}

const ENTITIES = `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x0 "lol">${Array.from(
  { length: 30 },
  (_, i) => `<!ENTITY x${i + 1} "${`&x${i};`.repeat(10)}">`,
).join("")}]><sst><si><t>&x30;</t></si></sst>`;

/** Runs SQL on a copy of a fixture's database. */
function database(path, to, sql) {
  cpSync(join(FIXTURES, ...path), to);
  const script = "import sqlite3,sys\nd=sqlite3.connect(sys.argv[1])\nd.executescript(sys.argv[2])\nd.close()";
  execFileSync("python3", ["-c", script, to, sql]);
}

function memManifest(change) {
  const manifest = json("mem", "small", "input.mem", "manifest.json");
  change(manifest);
  return manifest;
}

function memFolder(to, manifest, lines) {
  cpSync(join(FIXTURES, "mem", "small", "input.mem"), to, { recursive: true });
  if (manifest) writeFileSync(join(to, "manifest.json"), manifest);
  if (lines) writeFileSync(join(to, "items", "episode.jsonl"), lines);
}

function conversation(nodes) {
  const mapping = {};
  for (let i = 0; i < nodes; i += 1) {
    const message = { id: `m${i}`, author: { role: "user" }, content: { content_type: "text", parts: ["x"] } };
    mapping[`n${i}`] = {
      id: `n${i}`,
      parent: i ? `n${i - 1}` : null,
      children: i + 1 < nodes ? [`n${i + 1}`] : [],
      message,
    };
  }
  return JSON.stringify([{ id: "c1", title: "t", create_time: 1, mapping, current_node: `n${nodes - 1}` }]);
}

/**
 * Maps the name of each bomb to a function that returns its bytes, or that writes the bomb to the path passed to it.
 */
export const BOMBS = {
  "zip-ratio.zip": () => zip("conversations.json", Buffer.concat([Buffer.from("["), Buffer.alloc(300 * MIB, " ")])),
  "zip-nested.zip": () => nestedZips(6, 10),
  "zip-entries.zip": () => buildArchive(Array.from({ length: 65_000 }, (_, i) => ({ name: `${i}.md`, data: "# A\n" }))),
  "zip-overlapping.zip": () => {
    const overlapping = Array.from({ length: 20_000 }, (_, i) => ({ name: `${i}.md`, like: 0 }));
    const data = Buffer.alloc(5 * MIB, "a");
    const central = { crc: crc32(data), packed: 5100, size: data.length, method: 8 };
    return buildArchive([{ name: "a.md", data, deflate: true }, ...overlapping.map((one) => ({ ...one, central }))]);
  },
  "zip-notes.zip": () =>
    buildArchive(
      Array.from({ length: 40 }, (_, i) => ({ name: `${i}.md`, data: Buffer.alloc(8 * MIB, "word "), deflate: true })),
    ),
  "gzip-line.jsonl.gz": () => gzipSync(Buffer.alloc(300 * MIB, "a")),
  "gzip-many-parts.jsonl.gz": () => Buffer.concat(Array(200_000).fill(gzipSync(""))),
  "tar-ratio.tar.gz": () => gzipSync(tar([["conversations.json", Buffer.alloc(200 * MIB, " ")]])),
  "tar-false-size.tar": () => tar([["conversations.json", Buffer.from("[]"), 8 ** 11 - 1]]),
  "tar-entries.tar.gz": () => gzipSync(tar(Array.from({ length: 150_000 }, (_, i) => [`${i}.md`, Buffer.from("a")]))),
  "mem-deep.mem": (to) =>
    memFolder(
      to,
      withText(
        memManifest((m) => (m.more = "@here@")),
        deepArray(2_000_000),
      ),
    ),
  "mem-files.mem": (to) => {
    const files = Array.from({ length: 300_000 }, (_, i) => ({
      bytes: 1,
      path: `items/${i}.jsonl`,
      sha256: "0".repeat(64),
    }));
    memFolder(to, JSON.stringify(memManifest((m) => (m.files = files))));
  },
  "mem-line.mem": (to) => memFolder(to, null, Buffer.alloc(200 * MIB, "a")),
  "mif-aliases.mif.yaml": () => {
    const levels = Array.from(
      { length: 30 },
      (_, i) => `  x${i + 1}: &x${i + 1} [${Array(10).fill(`*x${i}`).join(", ")}]\n`,
    );
    return `mif_version: "1.0"\nmore:\n  x0: &x0 lol\n${levels.join("")}memories: []\n`;
  },
  "mif-aliases-of-text.mif.yaml": () =>
    `mif_version: "1.0"\nmore: [&a "${"a".repeat(MIB)}", ${Array(5000).fill("*a").join(", ")}]\nmemories: []\n`,
  "mif-deep.mif.yaml": () => `mif_version: "1.0"\nmore: ${deepArray(1_000_000)}\nmemories: []\n`,
  "mif-indent.mif.yaml": () =>
    `mif_version: "1.0"\nmemories:\n${Array.from({ length: 5000 }, (_, i) => `${" ".repeat(i + 1)}a:\n`).join("")}`,
  "mif-deep.mif.json": () => withText({ ...json("mif", "v2", "input.json"), more: "@here@" }, deepArray(5_000_000)),
  "mif-number.mif.json": () => withText({ ...json("mif", "v2", "input.json"), more: "@here@" }, "9".repeat(40 * MIB)),
  "mif-exponent.mif.json": () => {
    const store = json("mif", "v2", "input.json");
    store.memories[0].confidence = "@here@";
    return withText(store, "1e999999999");
  },
  "mif-line.mif.json": () =>
    withText({ ...json("mif", "v2", "input.json"), more: "@here@" }, `"${"a".repeat(200 * MIB)}"`),
  "mif-keys.mif.json": () =>
    withText(
      { ...json("mif", "v2", "input.json"), more: "@here@" },
      `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":0`).join(",")}}`,
    ),
  "pam-deep.json": () =>
    withText({ ...json("pam", "whole", "input", "memory-store.json"), more: "@here@" }, deepArray(3_000_000)),
  "pam-relations.json": () => {
    const store = json("pam", "whole", "input", "memory-store.json");
    delete store.integrity;
    store.relations = Array.from({ length: 200_000 }, (_, i) => ({ ...store.relations?.[0], id: `r${i}` }));
    return JSON.stringify(store);
  },
  "zaxy-deep.json": () => withText({ ...json("zaxy", "unsigned", "input.json"), more: "@here@" }, deepArray(3_000_000)),
  "zaxy-entries.json": () => {
    const bundle = json("zaxy", "unsigned", "input.json");
    bundle.entries = Array.from({ length: 60_000 }, () => bundle.entries[0]);
    return JSON.stringify(bundle);
  },
  "portable-agent-memory-deep.json": () =>
    withText({ ...json("portable_agent_memory", "full", "input.json"), more: "@here@" }, deepArray(3_000_000)),
  "jsonl-line.jsonl": () =>
    `${fixture("mem0", "account_lines", "input.jsonl")}{"id":"l-3","memory":"${"a".repeat(300 * MIB)}`,
  "jsonl-line-of-space.jsonl": () => `${fixture("mem0", "account_lines", "input.jsonl")}${" ".repeat(300 * MIB)}`,
  "jsonl-short-lines.jsonl": () => `${fixture("mem0", "account_lines", "input.jsonl")}${"{}\n".repeat(5_000_000)}`,
  "sqlite-large-text.db": (to) =>
    database(["open_webui", "database", "input.db"], to, "UPDATE chat SET chat = hex(zeroblob(150000000)); VACUUM;"),
  "sqlite-large-blob.db": (to) =>
    database(["open_webui", "database", "input.db"], to, "UPDATE chat SET title = zeroblob(400000000); VACUUM;"),
  "sqlite-view.db": (to) => {
    const endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, hex(i) AS chat FROM n";
    database(["open_webui", "database", "input.db"], to, `DROP TABLE chat; CREATE VIEW chat AS ${endless};`);
  },
  "xlsx-strings.xlsx": () => workbook("xl/sharedStrings.xml", `<sst><si><t>${"a".repeat(300 * MIB)}</t></si></sst>`),
  "xlsx-many-strings.xlsx": () =>
    workbook("xl/sharedStrings.xml", `<sst>${"<si><t>a</t></si>".repeat(5_000_000)}</sst>`),
  "xlsx-entities.xlsx": () => workbook("xl/sharedStrings.xml", ENTITIES),
  "xlsx-deep.xlsx": () => workbook("xl/worksheets/sheet1.xml", "<a>".repeat(10_000_000)),
  "xlsx-far-cell.xlsx": () =>
    workbook(
      "xl/worksheets/sheet1.xml",
      '<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>',
    ),
  "html-deep.html": () =>
    fixture("html_page", "full", "input.html")
      .toString()
      .replace("<article", `${"<div>".repeat(2_000_000)}<article`),
  "html-unclosed.html": () =>
    fixture("html_page", "full", "input.html")
      .toString()
      .replace("<main>", `<main>${"<".repeat(20 * MIB)}`),
  "html-comments.html": () =>
    fixture("html_page", "full", "input.html")
      .toString()
      .replace("<main>", `<main>${"<!--".repeat(5 * MIB)}`),
  "html-entities.html": () =>
    fixture("html_page", "full", "input.html")
      .toString()
      .replace("<main>", `<main>${"&".repeat(20 * MIB)}`),
  "html-activity.html": () =>
    fixture("gemini", "truncated_page", "input.html")
      .toString()
      .replace("<body>", `<body>${'<div class="outer-cell">'.repeat(MIB)}`),
  "html-chat.html": () =>
    `${fixture("chatgpt", "page", "input", "chat.html").toString()}<script>var jsonData = [${"[".repeat(20 * MIB)}`,
  "markdown-links.md": () => `# Notes\n\n${"[".repeat(10 * MIB)}\n`,
  "markdown-quotes.md": () => `# Notes\n\n${"> ".repeat(10 * MIB)}a\n`,
  "markdown-stars.md": () => `# Notes\n\n${"*a **a ".repeat(2 * MIB)}\n`,
  "markdown-front-matter.md": () => `---\na: ${deepArray(MIB)}\n---\n# Notes\n`,
  "markdown-headings.md": () => `${"# a\n".repeat(3_000_000)}`,
  "csv-quote.csv": () => `${fixture("csv_table", "full", "input.csv")}"${"a".repeat(200 * MIB)}`,
  "csv-columns.csv": () => `${fixture("csv_table", "full", "input.csv")}${",".repeat(50 * MIB)}\n`,
  "csv-rows.csv": () => `${fixture("csv_table", "full", "input.csv")}${",\n".repeat(10 * MIB)}`,
  "age-work-factor.alf.age": () => {
    const salt = Buffer.alloc(16, 7).toString("base64").replaceAll("=", "");
    const body = Buffer.alloc(32, 7).toString("base64").replaceAll("=", "");
    return `age-encryption.org/v1\n-> scrypt ${salt} 40\n${body}\n--- ${body}\n${"x".repeat(64)}`;
  },
  "age-recipients.alf.age": () => `age-encryption.org/v1\n${"-> X25519 AAAA\nAAAA\n".repeat(2_000_000)}`,
  "card.png": pngCard,
  "chatgpt-long-thread.json": () => conversation(60_000),
  "chatgpt-deep.json": () => `[{"id":"c1","title":"t","mapping":{},"more":${deepArray(3_000_000)}}]`,
  "utf16.json": () => Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from("[".repeat(20 * MIB), "utf16le")]),
  "nothing.json": () => Buffer.alloc(200 * MIB),
};

/** Writes a bomb into `folder` and returns its path. */
export function makeBomb(folder, name) {
  const path = join(folder, name);
  const bytes = BOMBS[name](path);
  if (bytes !== undefined) writeFileSync(path, bytes);
  return path;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, wanted = ""] = process.argv.slice(2);
  mkdirSync(folder, { recursive: true });
  for (const name of Object.keys(BOMBS)) if (name.includes(wanted)) console.log(makeBomb(folder, name));
}
