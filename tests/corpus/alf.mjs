// Damaged and forged `.alf` and `.alf-delta` files, made from good fixtures. Each case says what is wrong with the file
// and what `import` answers: "taken" if it imports the file, otherwise the code of the error.
import { join } from "node:path";
import { entriesOf } from "../cli/generated.mjs";
import { FIXTURES } from "../cli/mementory.mjs";
import { DELTAS, validDeltaEntries } from "./alf_deltas.mjs";
import {
  OTHER_AGENT_ID,
  PARTITION_NAME,
  entryText,
  changeEntry,
  removeEntry,
  damageEntry,
  editJson,
  editManifest,
  editLines,
  editFirstRecord,
  stateFlags,
  stateMethod,
  keepOnlyMemories,
  addEntries,
  applyInTurn,
} from "./alf_edits.mjs";
import { READINGS } from "./alf_readings.mjs";
import { sha256 } from "./signing.mjs";
import {
  ENTRY_COUNTS,
  buildArchive,
  buildTar,
  unlistedEntry,
  withStatedDirectorySize,
  withStatedEntries,
} from "./zip.mjs";

/**
 * Entries of a valid archive: every layer, an artifact, files of a runtime, an index, vectors, an entry of another
 * program.
 */
function validEntries() {
  const entries = entriesOf(join(FIXTURES, "alf", "every-field", "input")).map(([name, data]) => ({ name, data }));
  const manifest = JSON.parse(entries.find((entry) => entry.name === "manifest.json").data.toString());
  return [
    ...entries,
    { name: "memory/index.json", data: JSON.stringify({ partitions: manifest.layers.memory.partitions }) },
    { name: "memory/embeddings/vectors.bin", data: Buffer.alloc(64, 7) },
    { name: "raw/openclaw/SOUL.md", data: "# Imker\n\nCalm and exact.\n" },
    { name: "raw/openclaw/MEMORY.md", data: "# Memory\n\n## Bees\n\nKeeps bees on the roof.\n" },
    { name: "notes-of-another-program.txt", data: "Nothing that this format knows.\n" },
  ];
}

const TOKEN = ["ghp", "q7Xw2LkP9sVbT4nRz8JcYd5MfHg3uE6AoKiN"].join("_");
const EXTRA_ENTRY = { name: "more.txt", data: "More text of nobody.\n" };
/** Another entry that states these flags in both headers. */
const flaggedEntry = (flags) => ({ ...EXTRA_ENTRY, central: { flags }, local: { flags } });

/**
 * Each key says what is wrong with an archive. The value is the change to the valid entries and the answer of `import`.
 */
const ARCHIVES = {
  nothing: [(entries) => entries, "taken"],
  // The bytes of an entry do not match their checksum.
  "damage in manifest.json": [damageEntry("manifest.json"), "damaged_entry"],
  "damage in identity.json": [damageEntry("identity.json"), "damaged_entry"],
  "damage in principals.json": [damageEntry("principals.json"), "damaged_entry"],
  "damage in credentials.json": [damageEntry("credentials.json"), "damaged_entry"],
  "damage in attachments.json": [damageEntry("attachments.json"), "damaged_entry"],
  "damage in a partition": [damageEntry(PARTITION_NAME), "damaged_entry"],
  "damage in memory/index.json": [damageEntry("memory/index.json"), "damaged_entry"],
  "damage in an artifact": [damageEntry("artifacts/data/hives.csv"), "damaged_entry"],
  "damage in raw/": [damageEntry("raw/openclaw/SOUL.md"), "damaged_entry"],
  "damage in vectors.bin": [damageEntry("memory/embeddings/vectors.bin"), "damaged_entry"],
  "damage in an entry of another program": [damageEntry("notes-of-another-program.txt"), "damaged_entry"],
  "a compressed manifest that does not unpack": [
    changeEntry("manifest.json", (entry) => ({
      ...entry,
      deflate: true,
      damage: (packed) => packed.fill(0xff, 4, 12),
    })),
    "damaged_entry",
  ],
  "a compressed partition that does not unpack": [
    changeEntry(PARTITION_NAME, (entry) => ({
      ...entry,
      deflate: true,
      damage: (packed) => packed.fill(0xff, 40, 60),
    })),
    "damaged_entry",
  ],
  // The directory and the local headers contradict each other.
  "a local header with an escaping name": [
    addEntries({ ...EXTRA_ENTRY, local: { name: "../../.bashrc" } }),
    "container_header_differs",
  ],
  "a local header with another name": [
    changeEntry("identity.json", (entry) => ({ ...entry, local: { name: "identitY.json" } })),
    "container_header_differs",
  ],
  "a local header with another size": [addEntries({ ...EXTRA_ENTRY, local: { size: 5 } }), "container_header_differs"],
  "a local header with another checksum": [
    addEntries({ ...EXTRA_ENTRY, local: { crc: 5 } }),
    "container_header_differs",
  ],
  "a local header with another method": [
    addEntries({ ...EXTRA_ENTRY, local: { method: 8 } }),
    "container_header_differs",
  ],
  "two names on the same data": [
    (entries) => [...entries, { ...entries.at(-1), like: entries.length - 1, name: "twin.txt" }],
    "container_header_differs",
  ],
  "an entry inside another": [
    (entries) => {
      const data = "Hidden in another entry.\n";
      const inner = buildArchive([{ name: "inner.txt", data }]);
      return [
        ...entries,
        { name: "outer.bin", data: inner },
        { name: "inner.txt", data, inside: 30 + "outer.bin".length },
      ];
    },
    "container_overlap",
  ],
  "data that reaches into the directory": [
    addEntries({ ...EXTRA_ENTRY, central: { packed: 4096, size: 4096 }, local: { packed: 4096, size: 4096 } }),
    "container_overlap",
  ],
  // Names of entries that are unsafe or ambiguous.
  "the name of a device": [addEntries({ ...EXTRA_ENTRY, name: "raw/openclaw/nul.md" }), "container_reserved_name"],
  "the name of a port": [addEntries({ ...EXTRA_ENTRY, name: "COM1" }), "container_reserved_name"],
  "a name that ends with a dot": [addEntries({ ...EXTRA_ENTRY, name: "raw/notes." }), "container_reserved_name"],
  "a name with a control character": [addEntries({ ...EXTRA_ENTRY, name: "raw/a\x01b" }), "container_reserved_name"],
  "a name that only begins like a device": [addEntries({ ...EXTRA_ENTRY, name: "raw/console.md" }), "taken"],
  "a name that is a file and a folder": [
    addEntries({ ...EXTRA_ENTRY, name: "raw/x" }, { ...EXTRA_ENTRY, name: "raw/x/y" }),
    "container_file_and_folder",
  ],
  "a name that is a file and, in capitals, a folder": [
    addEntries({ ...EXTRA_ENTRY, name: "raw/x" }, { ...EXTRA_ENTRY, name: "raw/X/y" }),
    "container_file_and_folder",
  ],
  "a folder": [addEntries({ name: "raw/openclaw/", data: "" }), "taken"],
  "a folder with data": [addEntries({ name: "raw/openclaw/", data: "Hidden.\n" }), "container_folder_with_data"],
  "a folder that leads out": [addEntries({ name: "raw/../../x/", data: "" }), "container_unsafe_folder"],
  "an absolute folder": [addEntries({ name: "/etc/", data: "" }), "container_unsafe_folder"],
  "a name with an empty part": [addEntries({ ...EXTRA_ENTRY, name: "x//more.txt" }), "container_empty_name_part"],
  "names that differ by case": [addEntries({ ...EXTRA_ENTRY, name: "IDENTITY.json" }), "container_similar_names"],
  "names that differ by normalisation": [
    addEntries({ ...EXTRA_ENTRY, name: "caf\u00e9.txt" }, { ...EXTRA_ENTRY, name: "cafe\u0301.txt" }),
    "container_similar_names",
  ],
  "a name twice": [addEntries({ name: "identity.json", data: "{}" }), "refused_input"],
  "a name that leads out": [addEntries({ ...EXTRA_ENTRY, name: "../more.txt" }), "refused_input"],
  "an absolute name": [addEntries({ ...EXTRA_ENTRY, name: "/etc/more.txt" }), "refused_input"],
  "a name with backslashes": [addEntries({ ...EXTRA_ENTRY, name: "x\\more.txt" }), "refused_input"],
  "a link": [addEntries({ ...EXTRA_ENTRY, mode: 0o120777 }), "refused_input"],
  "an entry that is compressed with bzip2": [
    addEntries({ ...EXTRA_ENTRY, central: { method: 12 }, local: { method: 12 } }),
    "refused_input",
  ],
  "a partition beside the manifest that is compressed with bzip2": [
    applyInTurn(keepOnlyMemories, stateMethod(PARTITION_NAME, 12)),
    "refused_input",
  ],
  "a manifest that is compressed with bzip2": [stateMethod("manifest.json", 12), "refused_input"],
  "an entry that says it is encrypted": [addEntries(flaggedEntry(0x801)), "refused_input"],
  "an entry that only the directory says is encrypted": [
    addEntries({ ...EXTRA_ENTRY, central: { flags: 0x801 } }),
    "container_header_differs",
  ],
  "an entry whose header is masked": [addEntries(flaggedEntry(0x2800)), "refused_input"],
  "an entry with strong encryption": [addEntries(flaggedEntry(0x840)), "refused_input"],
  "an entry that is a patch": [addEntries(flaggedEntry(0x820)), "refused_input"],
  "a partition that is a patch": [stateFlags(PARTITION_NAME, 0x820), "refused_input"],
  "a manifest that is a patch": [stateFlags("manifest.json", 0x820), "refused_input"],
  "an entry that only the local header says is a patch": [
    addEntries({ ...EXTRA_ENTRY, local: { flags: 0x820 } }),
    "container_header_differs",
  ],
  // Parts are missing, or contradict the manifest.
  "no identity.json": [removeEntry("identity.json"), "layer_missing"],
  "no principals.json": [removeEntry("principals.json"), "layer_missing"],
  "no credentials.json": [removeEntry("credentials.json"), "layer_missing"],
  "no attachments.json": [removeEntry("attachments.json"), "layer_missing"],
  "no partition": [removeEntry(PARTITION_NAME), "partition_missing"],
  "nothing but a manifest": [applyInTurn(keepOnlyMemories, removeEntry(PARTITION_NAME)), "partition_missing"],
  "a partition listed twice": [
    editManifest((m) => m.layers.memory.partitions.push(m.layers.memory.partitions[0])),
    "partition_twice",
  ],
  "an emptied partition": [changeEntry(PARTITION_NAME, (entry) => ({ ...entry, data: "" })), "count_differs"],
  "a partition without its last line": [editLines((all) => all.slice(0, -1)), "count_differs"],
  "a partition with a line more": [editLines((all) => [...all, all[0].replace("0002", "0009")]), "count_differs"],
  "a partition that ends inside a line": [
    changeEntry(PARTITION_NAME, (entry) => ({ ...entry, data: entryText(entry).trimEnd().slice(0, -40) })),
    "partition_truncated",
  ],
  "another number in the partition's row": [
    editManifest((m) => (m.layers.memory.partitions[0].record_count = 4)),
    "count_differs",
  ],
  "another number of all records": [editManifest((m) => (m.layers.memory.record_count = 4)), "count_differs"],
  "another number of credentials": [editManifest((m) => (m.layers.credentials.count = 7)), "count_differs"],
  "an identity of another agent": [editJson("identity.json", (i) => (i.agent_id = OTHER_AGENT_ID)), "foreign_agent_id"],
  "a record of another agent": [editFirstRecord((r) => (r.agent_id = OTHER_AGENT_ID)), "foreign_agent_id"],
  "a credential of another agent": [
    editJson("credentials.json", (c) => (c.credentials[0].agent_id = OTHER_AGENT_ID)),
    "taken",
  ],
  "a manifest of another agent": [editManifest((m) => (m.agent.id = OTHER_AGENT_ID)), "foreign_agent_id"],
  "no manifest.json": [removeEntry("manifest.json"), "manifest_missing"],
  "a manifest with its layers twice": [
    changeEntry("manifest.json", (entry) => ({ ...entry, data: entryText(entry).replace("{", '{"layers":{},') })),
    "manifest_invalid",
  ],
  "a manifest that is not JSON": [
    changeEntry("manifest.json", (entry) => ({ ...entry, data: entryText(entry).slice(0, 300) })),
    "manifest_invalid",
  ],
  "a manifest with two byte order marks": [
    changeEntry("manifest.json", (entry) => ({ ...entry, data: `\ufeff\ufeff${entryText(entry)}` })),
    "manifest_invalid",
  ],
  "an identity that is not JSON": [
    changeEntry("identity.json", (entry) => ({ ...entry, data: "{" })),
    "malformed_document",
  ],
  "an identity that is a list": [
    changeEntry("identity.json", (entry) => ({ ...entry, data: `[${entryText(entry)}]` })),
    "malformed_document",
  ],
  "principals without a list": [editJson("principals.json", (p) => delete p.principals), "malformed_document"],
  "identity and principals in one file": [
    editManifest((m) => (m.layers.identity.file = "principals.json")),
    "manifest_invalid",
  ],
  "an identity in the manifest": [editManifest((m) => (m.layers.identity.file = "manifest.json")), "manifest_invalid"],
  "a version to come": [editManifest((m) => (m.alf_version = "2.0.0")), "unsupported_version"],
  // Values that the specification forbids. The file is imported, and the report lists everything that `validate` lists.
  "a confidence of 1.7": [editFirstRecord((r) => (r.confidence = 1.7)), "taken"],
  "an id that is no UUID": [editFirstRecord((r) => (r.id = "first")), "taken"],
  "an empty content": [editFirstRecord((r) => (r.content = "")), "taken"],
  "an embedding of another length": [
    editFirstRecord(
      (r) =>
        (r.embeddings = [
          { model: "m", dimensions: 3, vector: [1, 2], computed_at: "2026-01-01T00:00:00Z", source: "runtime" },
        ]),
    ),
    "taken",
  ],
  "an artifact that is not what its row says": [
    changeEntry("artifacts/data/hives.csv", (entry) => ({ ...entry, data: "hive,weight\n1,12\n" })),
    "taken",
  ],
  "a partition with a byte order mark": [
    changeEntry(PARTITION_NAME, (entry) => ({ ...entry, data: `\ufeff${entryText(entry)}` })),
    "taken",
    "",
  ],
  "a partition with two byte order marks": [
    changeEntry(PARTITION_NAME, (entry) => ({ ...entry, data: `\ufeff\ufeff${entryText(entry)}` })),
    "taken",
    "malformed",
  ],
  "a line that is no record": [
    applyInTurn(
      editLines((all) => ["{broken", ...all.slice(1)]),
      (entries) => entries,
    ),
    "taken",
  ],
  // Entries that unpack to far more than they take up.
  "1 GB of zeros": [
    addEntries({ name: "raw/openclaw/zeros.bin", data: Buffer.alloc(1 << 30), deflate: true }),
    "limit",
  ],
};

const editElement = (name, change) => editJson(`${name}.json`, (document) => change(document[name][0], document));
const editText = (name, from, to) =>
  changeEntry(name, (entry) => ({ ...entry, data: entryText(entry).replace(from, to) }));
const repeatId = (name) =>
  applyInTurn(
    editJson(`${name}.json`, (document) => document[name].push({ ...document[name][0], label: "again" })),
    editManifest((m) => (m.layers[name].count += 1)),
  );

/**
 * Wrong values, unusual values and optional parts that the specification mentions. The key says what is wrong or
 * unusual. The value is the change, the answer of `import`, and the error code that `validate` reports ("" if none).
 */
const VALUES = {
  "a number of included files that is wrong": [
    editManifest((m) => (m.layers.attachments.included_count = 9)),
    "taken",
    "",
  ],
  "a size of included files that is wrong": [
    editManifest((m) => (m.layers.attachments.included_size_bytes = 9)),
    "taken",
    "",
  ],
  "a partition that ends before it starts": [
    editManifest((m) => (m.layers.memory.partitions[0].to = "2025-01-01")),
    "taken",
    "partition_range",
  ],
  "no version": [editManifest((m) => delete m.alf_version), "manifest_invalid", "manifest_invalid"],
  "a version that is a number": [editManifest((m) => (m.alf_version = 1)), "manifest_invalid", "manifest_invalid"],
  "no layers": [editManifest((m) => delete m.layers), "manifest_invalid", "manifest_invalid"],
  "no list of partitions": [
    editManifest((m) => delete m.layers.memory.partitions),
    "partitions_not_listed",
    "partitions_not_listed",
  ],
  "null in place of the memory layer": [
    editManifest((m) => (m.layers.memory = null)),
    "partitions_not_listed",
    "partitions_not_listed",
  ],
  "an identity whose file is not named": [
    editManifest((m) => delete m.layers.identity.file),
    "layer_missing",
    "layer_missing",
  ],
  "all files in a folder of the archive": [
    (entries) => entries.map((entry) => ({ ...entry, name: `agent/${entry.name}` })),
    "manifest_missing",
    "manifest_missing",
  ],
  "an offset of 24 hours": [editManifest((m) => (m.created_at = "2026-02-20T10:00:00+24:00")), "taken", "bad_value"],
  "a leap second in the evening": [editManifest((m) => (m.created_at = "2026-02-20T22:00:60Z")), "taken", "bad_value"],
  "an id without hyphens": [editFirstRecord((r) => (r.id = r.id.replaceAll("-", ""))), "taken", "bad_value"],
  "an id of another version": [editFirstRecord((r) => (r.id = r.id.replace("-7", "-4"))), "taken", ""],
  "dimensions of 2.0": [editText(PARTITION_NAME, '"dimensions":2', '"dimensions":2.0'), "taken", ""],
  "a size of 17.0": [editText("attachments.json", '"size_bytes": 17', '"size_bytes": 17.0'), "taken", ""],
  "two principals with one id": [repeatId("principals"), "taken", "duplicate_id"],
  "two credentials with one id": [repeatId("credentials"), "taken", "duplicate_id"],
  "two attachments with one id": [repeatId("attachments"), "taken", "duplicate_id"],
  "projects of a principal in one text": [
    editElement("principals", (p) => (p.profile.structured.work_context.projects = "Rye")),
    "taken",
    "wrong_type",
  ],
  "a token in place of a ciphertext": [
    editElement("credentials", (c) => (c.encrypted_payload = ["sk", "live", "51H8f0bKx2Qw9eRt"].join("-"))),
    "taken",
    "credential_looks_unencrypted",
  ],
  "a token in the label of a credential": [
    editElement("credentials", (c) => (c.label = `Old key ${TOKEN}`)),
    "taken",
    "credential_looks_unencrypted",
  ],
  "a credential whose algorithm is plaintext": [
    editElement("credentials", (c) => (c.encryption.algorithm = "plaintext")),
    "taken",
    "credential_looks_unencrypted",
  ],
  "a credential whose algorithm is none": [
    editElement("credentials", (c) => (c.encryption.algorithm = "none")),
    "taken",
    "credential_looks_unencrypted",
  ],
  "a nonce that is not base64": [
    editElement("credentials", (c) => (c.encryption.nonce = "%%% no base64 %%%")),
    "taken",
    "credential_nonce",
  ],
  "a nonce that is too short": [
    editElement("credentials", (c) => (c.encryption.nonce = "AAAA")),
    "taken",
    "credential_nonce",
  ],
  "no nonce beside a ciphertext": [
    editElement("credentials", (c) => (c.encryption.nonce = "")),
    "taken",
    "credential_nonce",
  ],
  "a nonce of another cipher": [
    editElement("credentials", (c) => Object.assign(c.encryption, { algorithm: "aes-256-gcm", nonce: "A".repeat(16) })),
    "taken",
    "",
  ],
  "a nonce in the URL alphabet": [
    editElement("credentials", (c) => (c.encryption.nonce = "-_".repeat(16))),
    "taken",
    "",
  ],
  "one nonce for two credentials": [
    applyInTurn(
      editJson("credentials.json", (d) => d.credentials.push({ ...d.credentials[0], id: OTHER_AGENT_ID })),
      editManifest((m) => (m.layers.credentials.count += 1)),
    ),
    "taken",
    "",
  ],
  "an empty ciphertext": [
    editElement("credentials", (c) => (c.encrypted_payload = "")),
    "taken",
    "credential_payload_empty",
  ],
  "a token in raw/": [
    addEntries({ name: "raw/openclaw/TOOLS.md", data: `Token: ${TOKEN}\n` }),
    "taken",
    "secret_in_the_clear",
  ],
  "a password in a settings file in raw/": [
    addEntries({ name: "raw/zeroclaw/config.toml", data: '[mail]\npassword = "Lindwurm-auf-dem-Dach"\n' }),
    "taken",
    "",
  ],
  "a key file in raw/": [addEntries({ name: "raw/zeroclaw/.secret_key", data: "0a1b2c3d4e5f6071\n" }), "taken", ""],
  "a token in an artifact": [
    addEntries({ name: "artifacts/env.txt", data: `Token: ${TOKEN}\n` }),
    "taken",
    "secret_in_the_clear",
  ],
  "a token in the prose of the identity": [
    editJson("identity.json", (identity) => (identity.prose = { soul: `Use ${TOKEN}.` })),
    "taken",
    "secret_in_the_clear",
  ],
  "a token in the notes of the manifest": [
    editManifest(
      (manifest) => (manifest.runtime_hints = { primary_model: "a/b", last_model: "a/b", notes: `Use ${TOKEN}.` }),
    ),
    "taken",
    "secret_in_the_clear",
  ],
  "a token in a memory": [editFirstRecord((r) => (r.content = `My token is ${TOKEN}.`)), "taken", ""],
  "an artifact that the index does not name": [
    addEntries({ name: "artifacts/other.txt", data: "Other.\n" }),
    "taken",
    "",
  ],
  "an artifact of a memory that is not there": [
    editElement("attachments", (a) => (a.referenced_by = [OTHER_AGENT_ID])),
    "taken",
    "",
  ],
  "a memory that supersedes nothing": [editFirstRecord((r) => (r.supersedes = OTHER_AGENT_ID)), "taken", ""],
  "a memory that supersedes an empty id": [editFirstRecord((r) => (r.supersedes = "")), "taken", "bad_value"],
  "two embeddings of one model": [
    editFirstRecord((r) => {
      const time = "2026-01-01T00:00:00Z";
      const vector = { model: "m", dimensions: 1, vector: [1], computed_at: time, source: "runtime" };
      r.embeddings = [vector, { ...vector, vector: [2] }];
    }),
    "taken",
    "",
  ],
  "a human principal with an agent": [
    editElement("principals", (p) => Object.assign(p, { principal_type: "human", agent_id: OTHER_AGENT_ID })),
    "taken",
    "",
  ],
  "a memory that supersedes itself": [editFirstRecord((r) => (r.supersedes = r.id)), "taken", ""],
  "a memory of a principal that is not there": [
    editFirstRecord((r) => (r.namespace = `principal_context:${OTHER_AGENT_ID}`)),
    "taken",
    "",
  ],
  "an id twice, once in capitals": [
    editLines(([first, second, ...others]) => [
      first,
      JSON.stringify({ ...JSON.parse(second), id: JSON.parse(first).id.toUpperCase() }),
      ...others,
    ]),
    "taken",
    "duplicate_id",
  ],
  "a version with a letter": [editManifest((m) => (m.alf_version = "v1.0.0")), "manifest_invalid", "manifest_invalid"],
  "a version with a zero before it": [editManifest((m) => (m.alf_version = "01.0.0")), "taken", ""],
  "a credential that only names its secret": [
    editElement("credentials", (c) => {
      c.encrypted_payload = "<not-exported>";
      c.encryption = { algorithm: "none", nonce: "" };
    }),
    "taken",
    "",
  ],
  "an artifact path that leads out": [
    editElement("attachments", (a) => (a.archive_path = "../../.bashrc")),
    "taken",
    "unsafe_path",
  ],
  "an artifact path in raw/": [
    editElement("attachments", (a) => {
      const soul = validEntries().find(({ name }) => name === "raw/openclaw/SOUL.md").data;
      Object.assign(a, { archive_path: "raw/openclaw/SOUL.md", size_bytes: Buffer.byteLength(soul) });
      a.hash = { algorithm: "sha256", value: sha256(soul) };
    }),
    "taken",
    "",
  ],
  "an empty artifact path": [editElement("attachments", (a) => (a.archive_path = "")), "taken", "unsafe_path"],
  "an empty remote reference": [editElement("attachments", (a) => (a.remote_ref = "")), "taken", "bad_value"],
  "an empty name of the memory index": [editManifest((m) => (m.layers.memory.index_file = "")), "taken", "unsafe_path"],
  "a memory index whose path leads out": [
    editManifest((m) => (m.layers.memory.index_file = "../index.json")),
    "taken",
    "unsafe_path",
  ],
  "a reference that is no URI": [
    editElement("attachments", (a) => (a.remote_ref = "over there")),
    "taken",
    "bad_value",
  ],
  "a digest of another algorithm": [editElement("attachments", (a) => (a.hash.algorithm = "blake3")), "taken", ""],
  "an index that lists other partitions": [
    editJson("memory/index.json", (index) => (index.partitions = [])),
    "taken",
    "",
  ],
  "an index that is not JSON": [changeEntry("memory/index.json", (e) => ({ ...e, data: "{" })), "taken", ""],
  "an identity that no layer names": [editManifest((m) => delete m.layers.identity), "taken", ""],
  "a runtime without raw files": [editManifest((m) => (m.raw_sources = ["zeroclaw"])), "taken", ""],
  "an agent in upper case": [editManifest((m) => (m.agent.id = m.agent.id.toUpperCase())), "taken", ""],
  "a number of records beyond 64 bits": [
    editManifest((m) => (m.layers.memory.record_count = 2 ** 64)),
    "count_differs",
    "count_differs",
  ],
  "a sequence number beyond 64 bits": [editManifest((m) => (m.sync.last_sequence = 2 ** 64)), "taken", ""],
};

/**
 * Each key says what is wrong with a file. The value is the change to the valid archive's bytes, and the answer of
 * `import`.
 */
const CHANGED_BYTES = {
  "the first half of the file": [(bytes) => bytes.subarray(0, bytes.length / 2), "truncated_archive"],
  "the file without its directory": [(bytes) => bytes.subarray(0, bytes.indexOf("PK\x01\x02")), "truncated_archive"],
  "bytes before the archive": [(bytes) => Buffer.concat([Buffer.from("#!/bin/sh\n"), bytes]), "not_recognised"],
  "bytes behind the archive": [(bytes) => Buffer.concat([bytes, Buffer.from("junk")]), "taken"],
  "the files in a tar archive": [() => buildTar(validEntries()), "taken"],
  "an entry before all others that is not listed": [
    (bytes) => Buffer.concat([unlistedEntry({ name: "manifest.json", data: "{}" }), bytes]),
    "container_hidden_entry",
  ],
  "an end record of the second disk": [
    (bytes) => {
      bytes.writeUInt16LE(1, bytes.lastIndexOf("PK\x05\x06") + 4);
      return bytes;
    },
    "container_split_archive",
  ],
  "an end record that states an entry less": [
    (bytes) => withStatedEntries(bytes, (n) => n - 1),
    "container_directory_differs",
  ],
  "an end record that states an entry less on this disk": [
    (bytes) => withStatedEntries(bytes, (n) => n - 1, [ENTRY_COUNTS[0]]),
    "container_directory_differs",
  ],
  "an end record that states an entry less on all disks": [
    (bytes) => withStatedEntries(bytes, (n) => n - 1, [ENTRY_COUNTS[1]]),
    "container_directory_differs",
  ],
  "an end record that states a longer directory": [
    (bytes) => withStatedDirectorySize(bytes, (n) => n + 1),
    "container_directory_differs",
  ],
};

function* files() {
  for (const [name, [change, outcome, finds]] of Object.entries({ ...ARCHIVES, ...VALUES, ...READINGS }))
    yield { name, outcome, finds, ending: "alf", bytes: () => buildArchive(change(validEntries())) };
  for (const [name, [change, outcome]] of Object.entries(CHANGED_BYTES))
    yield { name, outcome, ending: "alf", bytes: () => change(buildArchive(validEntries())) };
  for (const [name, [change, outcome]] of Object.entries(DELTAS))
    yield {
      name,
      outcome,
      ending: "alf-delta",
      format: "alf_delta",
      bytes: () => buildArchive(change(validDeltaEntries())),
    };
}

/** The corpus. Before its files, the test imports the base of the deltas, which has the sequence number 41. */
export const alf = {
  format: "alf",
  about:
    "`verify` also wants a signature, which this format does not have. Before each import the vault has the\nbase of the deltas, at sequence 41.",
  files,
  bases: () => [
    buildArchive(entriesOf(join(FIXTURES, "alf", "delta", "base")).map(([name, data]) => ({ name, data }))),
  ],
  /** Errors of import that validate cannot find, because they depend on the content of the vault. */
  vaultCodes: ["wrong_agent", "wrong_base", "sequence_gap", "already_applied"],
};
