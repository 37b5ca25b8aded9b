// Damaged and forged MIF documents, made from good fixtures. Each case says what is wrong with the file and what
// `import` answers: "taken" if it imports the file, otherwise the code of the error.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "../cli/mementory.mjs";
import { buildBundle } from "./mem_bundle.mjs";
import { buildArchive } from "./zip.mjs";

const fixture = (...path) => readFileSync(join(FIXTURES, "mif", ...path));
const document1 = () => JSON.parse(fixture("v1", "input.mif.json"));
const document2 = () => JSON.parse(fixture("v2", "input.json"));

const setIn = (path, value) => (root) => {
  const at = path.slice(0, -1).reduce((object, key) => object[key], root);
  if (value === undefined) delete at[path.at(-1)];
  else at[path.at(-1)] = value;
};
const setInMemory = (name, value) => setIn(["memories", 0, ...name.split(".")], value);
const setInTodo = (name, value) => setIn(["todos", 0, ...name.split(".")], value);
const setInHeader = (name, value) => setIn(["export", name], value);

/**
 * Each key says what is wrong with a document of version 1. The value is the change to the valid document, and the
 * answer of `import`.
 */
const VERSION_1 = {
  nothing: [() => {}, "taken"],
  // Version and header.
  "a newer minor version": [setIn(["mif_version"], "1.7"), "taken"],
  "a major version to come": [setIn(["mif_version"], "3.0"), "unsupported_version"],
  "version 10.0": [setIn(["mif_version"], "10.0"), "unsupported_version"],
  "a version that is no number": [setIn(["mif_version"], "latest"), "unsupported_version"],
  "version 2.0 on a document of version 1": [setIn(["mif_version"], "2.0"), "taken"],
  "no version": [setIn(["mif_version"], undefined), "taken"],
  "no header": [setIn(["export"], undefined), "taken"],
  "an export id with a hyphen": [setInHeader("id", "exp_a-b"), "taken"],
  "a header without a user": [setInHeader("user_id", undefined), "taken"],
  "a checksum that is no digest": [setInHeader("checksum", "sha256:abc"), "taken"],
  "a checksum of an unknown rule": [setInHeader("checksum", `sha256:${"0".repeat(64)}`), "taken"],
  "a wrong checksum of a known rule": [
    (root) =>
      Object.assign(root.export, {
        checksum: `sha256:${"0".repeat(64)}`,
        checksum_method: "sha256-rfc8785-without-checksum",
      }),
    "checksum_mismatch",
  ],
  "a schema that is no URI": [setIn(["$schema"], "http://[::1"), "taken"],
  "a schema that is a number": [setIn(["$schema"], 1), "taken"],
  "a generator without a version": [setIn(["generator"], { name: "Gartenheft" }), "taken"],
  // Lists of the wrong type, and counts that contradict the content.
  "no memories": [setIn(["memories"], undefined), "taken"],
  "memories in an object": [setIn(["memories"], {}), "taken"],
  "a graph that is a list": [setIn(["graph"], []), "taken"],
  "another number of memories": [setIn(["metadata", "total_memories"], 9), "taken"],
  "another number of todos": [setIn(["metadata", "total_todos"], 9), "taken"],
  "another number of a memory type": [setIn(["metadata", "memory_types", "Pattern"], 9), "taken"],
  "another number of nodes": [setIn(["graph", "node_count"], 9), "taken"],
  "another number of edges": [setIn(["graph", "edge_count"], 9), "taken"],
  "an unknown form of the graph": [setIn(["graph", "format"], "matrix"), "taken"],
  "a date range that ends before it starts": [
    setIn(["metadata", "date_range", "latest"], "2020-01-01T00:00:00Z"),
    "taken",
  ],
  // References and ids.
  "an edge to nothing": [setIn(["graph", "edges", 0, "target"], "mem_00000000-0000-4000-8000-0000000000ff"), "taken"],
  "an edge without a target": [setIn(["graph", "edges", 0, "target"], undefined), "taken"],
  "an edge with a weight of 1.5": [setIn(["graph", "edges", 0, "weight"], 1.5), "taken"],
  "an edge of an unknown type": [setIn(["graph", "edges", 0, "type"], "rumour"), "taken"],
  "a memory related to nothing": [setInMemory("relations.related_memories", ["mem_ff"]), "taken"],
  "a todo related to nothing": [setInTodo("related_memory_ids", ["mem_ff"]), "taken"],
  "two memories with one id": [(root) => root.memories.push({ ...root.memories[0], content: "Other words." }), "taken"],
  "a memory twice": [(root) => root.memories.push(root.memories[0]), "taken"],
  "an id twice, once in capitals": [
    ({ memories }) =>
      memories.push({ ...memories[0], id: `mem_${memories[0].id.slice(4).toUpperCase()}`, content: "Other words." }),
    "taken",
  ],
  "an id that is no UUID": [setInMemory("id", "mem_first"), "taken"],
  "an id without its prefix": [setInMemory("id", "5f0c1d2e-0001-4a00-8a00-000000000001"), "taken"],
  "an id that is a number": [setInMemory("id", 7), "taken"],
  "no id": [setInMemory("id", undefined), "taken"],
  // Values that the specification forbids. The file is imported, and the report lists everything that `validate` lists.
  "an empty content": [setInMemory("content", ""), "taken"],
  "no content": [setInMemory("content", undefined), "taken"],
  "a content that is a number": [setInMemory("content", 5), "taken"],
  "a content of 100,001 characters": [setInMemory("content", "x".repeat(100_001)), "taken"],
  "an unknown memory type": [setInMemory("type", "Hunch"), "taken"],
  "a memory type in lower case": [setInMemory("type", "pattern"), "taken"],
  "a creation time that is no date": [setInMemory("created_at", "yesterday"), "taken"],
  "the 30th of February": [setInMemory("created_at", "2026-02-30T10:00:00Z"), "taken"],
  "a time without a zone": [setInMemory("created_at", "2026-02-03T10:00:00"), "taken"],
  "a year with five digits": [setInMemory("updated_at", "99999-01-01T00:00:00Z"), "taken"],
  "a creation time that is a number": [setInMemory("created_at", 1767225600), "taken"],
  "an importance of 1.7": [setInMemory("importance", 1.7), "taken"],
  "a negative importance": [setInMemory("importance", -0.1), "taken"],
  "an importance that is a text": [setInMemory("importance", "0.5"), "taken"],
  "a negative access count": [setInMemory("access_count", -1), "taken"],
  "an access count of 1e30": [setInMemory("access_count", 1e30), "taken"],
  "a decay rate of 2": [setInMemory("decay_rate", 2), "taken"],
  "tags in one text": [setInMemory("tags", "a,b"), "taken"],
  "a tag that is a number": [setInMemory("tags", [1]), "taken"],
  "an unknown source type": [setInMemory("source.type", "telepathy"), "taken"],
  "a confidence of 1.7": [setInMemory("entities.0.confidence", 1.7), "taken"],
  "an entity without a text": [setInMemory("entities.0.text", undefined), "taken"],
  "an embedding of another length": [setInMemory("embedding.dimensions", 4), "taken"],
  "a vector with a text": [setInMemory("embedding.vector", [0.1, "x", 3]), "taken"],
  "a redaction that ends before it starts": [setIn(["memories", 1, "redactions", 0, "position"], [25, 19]), "taken"],
  "a todo with an unknown status": [setInTodo("status", "someday"), "taken"],
  "a todo with an unknown priority": [setInTodo("priority", "highest"), "taken"],
  "a todo with a malformed short id": [setInTodo("short_id", "bed7"), "taken"],
  "a todo with an unknown recurrence": [setInTodo("recurrence", "hourly"), "taken"],
  "a comment without an id": [setInTodo("comments.0.id", undefined), "taken"],
  "an encryption that is a text": [setIn(["encryption"], "aes-256-gcm"), "taken"],
  "an encryption without a content": [setIn(["encryption"], { algorithm: "aes-256-gcm" }), "taken"],
  "a negative retention": [setIn(["consent", "retention_days"], -1), "taken"],
};

/** The same table as `VERSION_1`, for documents of version 2. */
const VERSION_2 = {
  "version 2: nothing": [() => {}, "taken"],
  "version 2: version 1.0": [setIn(["mif_version"], "1.0"), "taken"],
  "version 2: no generator": [setIn(["generator"], undefined), "taken"],
  "version 2: no checksum": [setIn(["export_meta", "checksum"], undefined), "taken"],
  "version 2: an id that is no UUID": [setInMemory("id", "first"), "taken"],
  "version 2: no memory type": [setInMemory("memory_type", undefined), "taken"],
  "version 2: metadata with a number": [setInMemory("metadata", { a: 1 }), "taken"],
  "version 2: a relationship to nothing": [
    setIn(["knowledge_graph", "relationships", 0, "target_entity_id"], "7d000000-2222-4222-8222-0000000000ff"),
    "taken",
  ],
  "version 2: a reminder with an unknown trigger": [setIn(["reminders", 0, "trigger", "type"], "moon"), "taken"],
};

const ENVELOPE = () => ({
  algorithm: "aes-256-gcm",
  key_derivation: "argon2id",
  encrypted_payload: "AAAAAAAAAAAAAAAA",
  iv: "AAAAAAAAAAAAAAAA",
  auth_tag: "AAAAAAAAAAAAAAAAAAAAAA==",
  salt: "AAAAAAAAAAAAAAAAAAAAAA==",
  kdf_params: { memory_kib: 65536, iterations: 3, parallelism: 4, version: 19, output_length: 32 },
});

/** Each key says what is wrong with an envelope; the value is the change, and the answer without a passphrase. */
const ENVELOPES = {
  "encrypted: nothing": [() => {}, "passphrase_needed"],
  "encrypted: a cost of 64 GiB": [setIn(["kdf_params", "memory_kib"], 64 << 20), "kdf_parameters"],
  "encrypted: a billion passes": [setIn(["kdf_params", "iterations"], 1e9), "kdf_parameters"],
  "encrypted: no lanes": [setIn(["kdf_params", "parallelism"], 0), "kdf_parameters"],
  "encrypted: a cost that is a text": [setIn(["kdf_params", "memory_kib"], "65536"), "encryption_parameters_missing"],
  "encrypted: no parameters": [setIn(["kdf_params"], undefined), "encryption_parameters_missing"],
  "encrypted: no salt": [setIn(["salt"], undefined), "encryption_parameters_missing"],
  "encrypted: a salt of 3 bytes": [setIn(["salt"], "AAAA"), "bad_value"],
  "encrypted: a nonce of 9 bytes": [setIn(["iv"], "AAAAAAAAAAAA"), "bad_value"],
  "encrypted: a tag of 3 bytes": [setIn(["auth_tag"], "AAAA"), "bad_value"],
  "encrypted: a payload that is not base64": [setIn(["encrypted_payload"], "%%%"), "bad_value"],
  "encrypted: no payload": [setIn(["encrypted_payload"], undefined), "missing_field"],
  "encrypted: another cipher": [setIn(["algorithm"], "aes-128-cbc"), "encryption_algorithm"],
  "encrypted: another key derivation": [setIn(["key_derivation"], "pbkdf2"), "encryption_algorithm"],
  "encrypted: Argon2 version 16": [setIn(["kdf_params", "version"], 16), "encryption_algorithm"],
};

/** The passphrase with which the command line encrypts a valid document. */
const PASSPHRASE = "seven marigold lanterns on a heron";
let encryptedDocument;
function encrypted1(vault) {
  if (!encryptedDocument) {
    const secret = vault.write("words.txt", `${PASSPHRASE}\n`);
    const out = vault.write("plain.mif.json", fixture("v1", "input.mif.json")).replace("plain", "sealed");
    const options = ["--format", "mif", "--encrypt", "--export-passphrase-file", secret];
    vault.must("convert", out.replace("sealed", "plain"), out, ...options);
    encryptedDocument = readFileSync(out).toString();
  }
  return JSON.parse(encryptedDocument);
}

/** Flips a bit in the middle byte of a value that is encoded in base64. */
const flipMiddle = (name) => (envelope) => {
  const bytes = Buffer.from(envelope[name], "base64");
  bytes[bytes.length >> 1] ^= 1;
  envelope[name] = bytes.toString("base64");
};
const cutPayload = (change) => (envelope) => {
  envelope.encrypted_payload = change(Buffer.from(envelope.encrypted_payload, "base64")).toString("base64");
};

/**
 * Each key says what is wrong with a valid envelope. The value is the change, the answer of `import`, and the wrong
 * passphrase if one is tried.
 */
const OPENED = {
  "opened: nothing": [() => {}, "taken"],
  "opened: the wrong passphrase": [() => {}, "passphrase_wrong", "another heron with lanterns"],
  "opened: an empty passphrase": [() => {}, "refused", ""],
  "opened: a damaged ciphertext": [flipMiddle("encrypted_payload"), "passphrase_wrong"],
  "opened: a damaged tag": [flipMiddle("auth_tag"), "passphrase_wrong"],
  "opened: a damaged nonce": [flipMiddle("iv"), "passphrase_wrong"],
  "opened: a damaged salt": [flipMiddle("salt"), "passphrase_wrong"],
  "opened: a ciphertext without its last byte": [cutPayload((bytes) => bytes.subarray(0, -1)), "passphrase_wrong"],
  "opened: the first half of the ciphertext": [
    cutPayload((bytes) => bytes.subarray(0, bytes.length / 2)),
    "passphrase_wrong",
  ],
  "opened: no ciphertext left": [setIn(["encrypted_payload"], ""), "refused"],
  "opened: another number of passes": [setIn(["kdf_params", "iterations"], 4), "passphrase_wrong"],
  "opened: a cost of 64 GiB": [setIn(["kdf_params", "memory_kib"], 64 << 20), "kdf_parameters"],
  "opened: a billion passes": [setIn(["kdf_params", "iterations"], 1e9), "kdf_parameters"],
  "opened: a million lanes": [setIn(["kdf_params", "parallelism"], 1e6), "kdf_parameters"],
};

const text1 = () => JSON.stringify(document1());
const memoryWith = (member) => text1().replace('"importance":0.8', member);
const HEADER_LINE = { type: "header", mif_version: "1.0", export: document1().export };
const lines = (change) => () => {
  const all = [HEADER_LINE, ...document1().memories.map((data) => ({ type: "memory", data }))];
  all.push({ type: "footer", counts: { memories: 2 } });
  return change(all.map((line) => JSON.stringify(line))).join("\n") + "\n";
};
const yaml = (change) => () => change(fixture("yaml", "input.mif.yaml").toString());

/** Each key says what is wrong with a text; the value is the file extension, the content and the answer of `import`. */
const TEXTS = {
  "the first half of the file": ["json", () => text1().slice(0, text1().length / 2), "malformed"],
  "the file without its last byte": ["json", () => text1().slice(0, -1), "malformed"],
  "bytes behind the document": ["json", () => `${text1()}junk`, "malformed"],
  "a byte order mark": ["json", () => `\ufeff${text1()}`, "taken"],
  "two byte order marks": ["json", () => `\ufeff\ufeff${text1()}`, "malformed"],
  "UTF-16": ["json", () => Buffer.from(`\ufeff${text1()}`, "utf16le"), "taken"],
  "UTF-16 with a byte more": [
    "json",
    () => Buffer.concat([Buffer.from(`\ufeff${text1()}`, "utf16le"), Buffer.from("}")]),
    "taken",
  ],
  "a number that is NaN": ["json", () => memoryWith('"importance":NaN'), "taken"],
  "a member nested 5,000 levels deep": [
    "json",
    () => memoryWith(`"x":${"[".repeat(5000)}${"]".repeat(5000)}`),
    "taken",
  ],
  "a key twice in a memory": ["json", () => memoryWith('"importance":0.8,"importance":0.9'), "taken"],
  "a key twice at the top": ["json", () => `{"mif_version":"1.0",${text1().slice(1)}`, "taken"],
  "a key twice in a memory, once escaped": [
    "json",
    () => memoryWith('"importance":0.8,"importanc\\u0065":0.9'),
    "taken",
  ],
  "a graph twice": ["json", () => text1().replace('"graph":', '"graph":{},"graph":'), "taken"],
  "a key twice in a foreign member": ["json", () => memoryWith('"x_more":[{"a":1,"a":2}]'), "taken"],
  "JSON lines: a key twice in a memory": [
    "jsonl",
    lines((all) => all.map((line) => line.replace('"importance":0.8', '"importance":0.8,"importance":0.9'))),
    "taken",
  ],
  "JSON lines: nothing": ["jsonl", lines((all) => all), "taken"],
  "JSON lines: two byte order marks": [
    "jsonl",
    lines((all) => [`\ufeff\ufeff${all[0]}`, ...all.slice(1)]),
    "header_missing",
  ],
  "JSON lines: a memory twice": ["jsonl", lines((all) => [all[0], all[1], ...all.slice(1)]), "taken"],
  "JSON lines: a memory behind the footer": ["jsonl", lines((all) => [all[0], ...all.slice(2), all[1]]), "taken"],
  "JSON lines: no header": ["jsonl", lines((all) => [...all.slice(1), all[0]]), "header_missing"],
  "JSON lines: no footer": ["jsonl", lines((all) => all.slice(0, -1)), "taken"],
  "JSON lines: a line less": ["jsonl", lines((all) => [all[0], ...all.slice(2)]), "taken"],
  "JSON lines: a line that is not JSON": ["jsonl", lines((all) => [all[0], "{broken", ...all.slice(1)]), "taken"],
  "JSON lines: a second header": ["jsonl", lines((all) => [all[0], ...all]), "taken"],
  "JSON lines: a second footer": ["jsonl", lines((all) => [...all, all.at(-1)]), "taken"],
  "JSON lines: a footer with a count that is a text": [
    "jsonl",
    lines((all) => [...all.slice(0, -1), '{"type":"footer","counts":{"memories":"2"}}']),
    "taken",
  ],
  "JSON lines: a footer with a list of counts": [
    "jsonl",
    lines((all) => [...all.slice(0, -1), '{"type":"footer","counts":[2]}']),
    "taken",
  ],
  "JSON lines: the data of a memory twice": [
    "jsonl",
    lines((all) => all.map((line) => line.replace('"data":', '"data":{},"data":'))),
    "taken",
  ],
  "JSON lines: a line without a type": ["jsonl", lines((all) => [all[0], '{"data":{}}', ...all.slice(1)]), "taken"],
  "JSON lines: a type that is a number": [
    "jsonl",
    lines((all) => [all[0], '{"type":7,"data":{}}', ...all.slice(1)]),
    "taken",
  ],
  "JSON lines: an unknown line": ["jsonl", lines((all) => [all[0], '{"type":"poem"}', ...all.slice(1)]), "taken"],
  "JSON lines: a line without data": ["jsonl", lines((all) => [all[0], '{"type":"memory"}', ...all.slice(1)]), "taken"],
  "YAML: two byte order marks": ["yaml", yaml((text) => `\ufeff\ufeff${text}`), "taken"],
  "YAML: a key twice": ["yaml", yaml((text) => `${text}todos: []\n`), "taken"],
  "YAML: two documents": ["yaml", yaml((text) => `${text}---\nmif_version: 1.0\n`), "malformed"],
  "YAML: an open quote": ["yaml", yaml((text) => `${text}x: "open\n`), "malformed"],
  "YAML: an alias of nothing": ["yaml", yaml((text) => `${text}x: *nothing\n`), "malformed"],
  "YAML: aliases of aliases": [
    "yaml",
    yaml((text) => {
      const list = (name, of) => `${name}: &${name} [${Array(9).fill(of).join(", ")}]\n`;
      return "bcdefghi"
        .split("")
        .reduce((made, name, i) => made + list(name, `*${"abcdefgh"[i]}`), `${text}${list("a", "x")}`);
    }),
    "yaml_aliases",
  ],
};

const interop = (name) => fixture("interop", name).toString();
const mem0 = (change) => () => {
  const list = JSON.parse(interop("as-mem0.json"));
  return JSON.stringify(change(list) ?? list, null, 2);
};
const generic = (change) => () => {
  const list = JSON.parse(interop("as-generic.json"));
  return JSON.stringify(change(list) ?? list, null, 2);
};
/** Changes the second element, because detection reads only the first one. */
const set = (name, value) => (list) => setIn([1, name], value)(list);
const markdown = (change) => () => change(interop("as-markdown.md"));

/** Like `TEXTS`, but for documents in the formats of other programs. */
const INTEROP = {
  "mem0: nothing": ["json", mem0(() => {}), "taken"],
  "mem0: an element without a memory": ["json", mem0(set("memory", undefined)), "taken"],
  "mem0: an empty memory": ["json", mem0(set("memory", "")), "taken"],
  "mem0: a memory that is a number": ["json", mem0(set("memory", 5)), "taken"],
  "mem0: an element that is a text": ["json", mem0((list) => [...list, "no object"]), "taken"],
  "mem0: an element that is null": ["json", mem0((list) => [...list, null]), "taken"],
  "mem0: a creation time that is no date": ["json", mem0(set("created_at", "yesterday")), "taken"],
  "mem0: metadata that is a list": ["json", mem0(set("metadata", ["a"])), "taken"],
  "mem0: an id twice with other words": [
    "json",
    mem0((list) => [...list, { ...list[0], memory: "Other words." }]),
    "taken",
  ],
  "mem0: the first half": [
    "json",
    () => interop("as-mem0.json").slice(0, interop("as-mem0.json").length / 2),
    "malformed",
  ],
  "generic: nothing": ["json", generic(() => {}), "taken"],
  "generic: an element without a content": ["json", generic(set("content", undefined)), "taken"],
  "generic: a content that is a list": ["json", generic(set("content", ["a"])), "taken"],
  "generic: tags in one text": ["json", generic(set("tags", "a,b")), "taken"],
  "generic: a time that is no date": ["json", generic(set("timestamp", "soon")), "taken"],
  "markdown: nothing": ["md", markdown((text) => text), "taken"],
  "markdown: two byte order marks": ["md", markdown((text) => `\ufeff\ufeff${text}`), "taken"],
  "markdown: a first header without an end": [
    "md",
    markdown((text) => text.replace("comma]\n---\nPrefers", "comma]\nshe says: Prefers")),
    "taken",
  ],
  "markdown: a header without an end": [
    "md",
    markdown((text) => text.replace("tags: [a, b c]\n---\n", "tags: [a, b c]\n")),
    "taken",
  ],
  "markdown: a time that is no date": ["md", markdown((text) => text.replace("2026-02-01T08", "yesterday")), "taken"],
  "markdown: the first half": ["md", markdown((text) => text.slice(0, text.length / 2)), "taken"],
};

const documentEntry = (name, change = () => {}) => {
  const root = document1();
  change(root);
  return { name, data: JSON.stringify(root) };
};

/** Archives that contain a document and other entries. The value is the archive and the answer of `import`. */
const ARCHIVES = {
  "archive: two documents": [() => buildArchive([documentEntry("a.mif.json"), documentEntry("b.mif.json")]), "taken"],
  "archive: two documents, of which the first is invalid": [
    () => buildArchive([documentEntry("a.mif.json", setInMemory("importance", 1.5)), documentEntry("b.mif.json")]),
    "taken",
    "bad_value",
  ],
  "archive: beside a bundle without its manifest": [
    () =>
      buildBundle({
        sealed: ({ "manifest.json": _, ...files }) => files,
        entries: (entries) => [...entries, documentEntry("a.mif.json")],
      }),
    "manifest_missing",
    "manifest_missing",
  ],
};

/**
 * Copies of a document with a checksum of its content. Each copy has one flipped bit, in every 97th byte in turn. The
 * copy is then not JSON, does not match its checksum, or has the same meaning in another spelling.
 */
function* bitFlips() {
  const validBytes = Buffer.from(fixture("every-field", "input.mif.json"));
  for (let at = 0; at < validBytes.length; at += 97) {
    const bytes = Buffer.from(validBytes);
    bytes[at] ^= 1 << (at % 7);
    yield { name: `bit ${at % 7} of byte ${at} flipped`, outcome: "anything", ending: "mif.json", bytes: () => bytes };
  }
}

function* files(vault) {
  const encode = (make, change) => () => {
    const root = make();
    change(root);
    return JSON.stringify(root);
  };
  for (const [name, [change, outcome]] of Object.entries(VERSION_1))
    yield { name, outcome, ending: "mif.json", bytes: encode(document1, change) };
  for (const [name, [change, outcome]] of Object.entries(VERSION_2))
    yield { name, outcome, ending: "mif.json", bytes: encode(document2, change) };
  for (const [name, [change, outcome]] of Object.entries(ENVELOPES)) {
    const document = () => ({
      ...document1(),
      memories: [],
      todos: [],
      graph: {},
      metadata: {},
      encryption: ENVELOPE(),
    });
    yield { name, outcome, ending: "mif.json", bytes: encode(document, (root) => change(root.encryption)) };
  }
  for (const [name, [change, outcome, passphrase = PASSPHRASE]] of Object.entries(OPENED)) {
    const bytes = encode(
      () => encrypted1(vault),
      (root) => change(root.encryption),
    );
    yield { name, outcome, passphrase, ending: "mif.json", bytes };
  }
  const firstHalf = () => {
    const text = JSON.stringify(encrypted1(vault));
    return text.slice(0, text.length / 2);
  };
  const cut = { name: "opened: the first half of the file", outcome: "refused" };
  yield { ...cut, passphrase: PASSPHRASE, ending: "mif.json", bytes: firstHalf };
  for (const [name, [kind, bytes, outcome]] of Object.entries(TEXTS))
    yield { name, outcome, ending: `mif.${kind}`, bytes };
  for (const [name, [ending, bytes, outcome]] of Object.entries(INTEROP))
    yield { name, outcome, ending, bytes, chosen: true };
  for (const [name, [bytes, outcome, finds]] of Object.entries(ARCHIVES))
    yield { name, outcome, finds, ending: "zip", bytes };
  yield* bitFlips();
}

/** The corpus. The vault is empty before each import. */
export const mif = {
  format: "mif",
  about:
    "`verify` also wants a signature, which this format does not have. A passphrase is given to those\nthat are `opened`.",
  files,
  bases: () => [],
  /** An intact envelope is valid, but its content cannot be imported without the passphrase. */
  vaultCodes: ["passphrase_needed"],
};
