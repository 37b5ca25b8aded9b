// Damaged and forged PAM exports, made from a good fixture. Each case has the steps for `buildExport`, the answer of
// `import` ("taken" or the code of the error), and the code of an error that `validate` reports ("" if it reports
// none).
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "../cli/mementory.mjs";
import {
  CONVERSATION,
  EMBEDDINGS,
  STORE,
  addEntries,
  buildExport,
  checksumOf,
  contentHash,
  editEntry,
  editText,
  multikey,
  signatureOf,
} from "./pam_store.mjs";
import { valueCases } from "./pam_values.mjs";
import { STRANGER_KEY, TRUSTED_KEY, changeMiddleDigit } from "./signing.mjs";
import { flipMiddleBit } from "./zip.mjs";

const NOTE = { name: "notes.txt", data: "A line of nobody.\n" };
const refusedAs = (code) => [code, code];
const editStore = (change) => ({ store: (store) => void change(store) });
const editSealed = (change) => ({ sealed: (store) => void change(store) });
const editSigned = (change) => ({ key: TRUSTED_KEY, signed: (store) => void change(store) });
const editMember = (name, change) => editText(STORE, (text) => text.replace(`"${name}":`, change));

/** States these flags in both headers of an entry. */
const stateFlags = (name, flags) => editEntry(name, { central: { flags }, local: { flags } });

const CONTAINER = {
  nothing: [{}, "taken", ""],
  ...Object.fromEntries(
    [STORE, CONVERSATION, EMBEDDINGS].map((name) => [
      `a flipped bit in the entry ${name}`,
      [editEntry(name, { damage: flipMiddleBit }), ...refusedAs("damaged_entry")],
    ]),
  ),
  ...Object.fromEntries(
    [STORE, CONVERSATION, EMBEDDINGS].flatMap((name) => [
      [`an entry ${name} that says it is encrypted`, [stateFlags(name, 0x801), ...refusedAs("encrypted")]],
      [
        `an entry ${name} that is compressed with bzip2`,
        [editEntry(name, { central: { method: 12 }, local: { method: 12 } }), ...refusedAs("unsupported_compression")],
      ],
      [`an entry ${name} that is a patch`, [stateFlags(name, 0x820), ...refusedAs("unsupported_compression")]],
      [`a link in place of ${name}`, [editEntry(name, { mode: 0o120777 }), ...refusedAs("link")]],
    ]),
  ),
  "a compressed store that does not unpack": [
    editEntry(STORE, { deflate: true, damage: (packed) => packed.fill(0xff, 400, 420) }),
    ...refusedAs("damaged_entry"),
  ],
  "damage in a file of another program": [
    addEntries({ ...NOTE, damage: flipMiddleBit }),
    ...refusedAs("damaged_entry"),
  ],
  "a local header with an escaping name": [
    addEntries({ ...NOTE, local: { name: "../../.bashrc" } }),
    ...refusedAs("container_header_differs"),
  ],
  "a local header with another checksum": [
    addEntries({ ...NOTE, local: { crc: 5 } }),
    ...refusedAs("container_header_differs"),
  ],
  "two names on the same data": [
    { entries: (entries) => [...entries, { ...entries[0], like: 0, name: "twin.json" }] },
    "container_header_differs",
    "container_shared_data",
  ],
  "data that reaches into the directory": [
    addEntries({ ...NOTE, central: { packed: 4096, size: 4096 }, local: { packed: 4096, size: 4096 } }),
    ...refusedAs("container_overlap"),
  ],
  "names that differ by case": [
    addEntries({ ...NOTE, name: "Memory-Store.json" }),
    ...refusedAs("container_similar_names"),
  ],
  "a name with an empty part": [
    addEntries({ ...NOTE, name: "x//notes.txt" }),
    ...refusedAs("container_empty_name_part"),
  ],
  "1 GB of zeros": [addEntries({ ...NOTE, data: Buffer.alloc(1 << 30), deflate: true }), ...refusedAs("limit")],
  "the first half of the archive": [
    { bytes: (bytes) => bytes.subarray(0, bytes.length / 2) },
    ...refusedAs("truncated_archive"),
  ],
  "the archive without its directory": [
    { bytes: (bytes) => bytes.subarray(0, bytes.indexOf("PK\x01\x02")) },
    ...refusedAs("truncated_archive"),
  ],
};

const DOCUMENTS = {
  "a store that ends early": [editText(STORE, (text) => text.slice(0, -400)), ...refusedAs("malformed")],
  "a store with text behind it": [editText(STORE, (text) => `${text}{}`), ...refusedAs("malformed")],
  "a store that is not UTF-8": [
    editText(STORE, (text) => Buffer.from(text.replace("dawn", "d\u00e4wn"), "latin1")),
    ...refusedAs("malformed"),
  ],
  "a store with a byte order mark": [editText(STORE, (text) => `\ufeff${text}`), "taken", ""],
  "a store with two byte order marks": [editText(STORE, (text) => `\ufeff\ufeff${text}`), ...refusedAs("malformed")],
  "a store with NaN": [editText(STORE, (text) => text.replace("7.5", "NaN")), ...refusedAs("malformed")],
  "a store with a number beyond a double": [
    editText(STORE, (text) => text.replace("7.5", "1e999")),
    ...refusedAs("checksum_mismatch"),
  ],
  "a store with a lone surrogate": [
    editText(STORE, (text) => text.replace("Lena rows at dawn", "Lena rows at dawn\\ud800")),
    "checksum_mismatch",
    "lone_surrogate",
  ],
  "a title with a lone surrogate": [
    editText(CONVERSATION, (text) => text.replace('"title":"', '"title":"\\ud800')),
    "taken",
    "lone_surrogate",
  ],
  "a relation with a lone surrogate": [
    editText(STORE, (text) => text.replace(/("id": "r-1)/, "$1\\ud800")),
    "taken",
    "lone_surrogate",
  ],
  "a memory that is nested 100,000 deep": [
    editText(STORE, (text) => text.replace("7.5", "[".repeat(100_000) + "]".repeat(100_000))),
    "refused",
  ],
  "a memory with its content twice": [
    editMember("content", '"content":"Lena rows at night.","content":'),
    "taken",
    "duplicate_key",
  ],
  "a store with its owner twice": [editMember("owner", '"owner":{"id":"someone"},"owner":'), "taken", "duplicate_key"],
  "a store with its memories twice": [editMember("memories", '"memories":[],"memories":'), "taken", "duplicate_key"],
  "a memory with a key of its metadata twice": [
    editText(STORE, (text) => text.replace('"length": 7.5', '"length": 7, "length": 7.5')),
    "taken",
    "duplicate_key",
  ],
  "a store of another schema": [
    {
      ...editStore((store) => (store.schema = "portable-ai-memory-v2")),
      texts: ({ [STORE]: text }) => ({ [STORE]: text }),
    },
    ...refusedAs("not_recognised"),
  ],
  "a store whose memories are an object": [editSealed((store) => (store.memories = {})), "refused", "wrong_type"],
  "a store without memories": [editSealed((store) => delete store.memories), "refused", "missing_field"],
  "the next major version": [editStore((store) => (store.schema_version = "2.0")), ...refusedAs("unsupported_version")],
  "a major version beyond 64 bits": [
    editStore((store) => (store.schema_version = "99999999999999999999.0")),
    ...refusedAs("unsupported_version"),
  ],
  "version 0.9": [editStore((store) => (store.schema_version = "0.9")), ...refusedAs("unsupported_version")],
  "a version that is none": [editStore((store) => (store.schema_version = "one")), ...refusedAs("version_malformed")],
  "a version of three numbers": [
    editStore((store) => (store.schema_version = "1.0.0")),
    ...refusedAs("version_malformed"),
  ],
  "a version that is a list": [editStore((store) => (store.schema_version = [])), ...refusedAs("version_malformed")],
  "the next minor version, with a new member": [
    {
      store: (store) => ({ ...store, schema_version: "1.1", mood: "calm" }),
      conversation: (value) => ({ ...value, schema_version: "1.1" }),
      embeddings: (value) => ({ ...value, schema_version: "1.1" }),
    },
    "taken",
    "",
  ],
  "a conversation that ends early": [editText(CONVERSATION, (text) => text.slice(0, -40)), ...refusedAs("malformed")],
  "embeddings that end early": [editText(EMBEDDINGS, (text) => text.slice(0, -40)), ...refusedAs("malformed")],
  "no conversation file": [editText(CONVERSATION, () => undefined), "taken", ""],
  "no embeddings file": [editText(EMBEDDINGS, () => undefined), "taken", ""],
  "a store with a comment": [editText(STORE, (text) => `// A store\n${text}`), ...refusedAs("malformed")],
  "a store in UTF-16": [editText(STORE, (text) => Buffer.from(`\ufeff${text}`, "utf16le")), ...refusedAs("malformed")],
  "an empty store": [editText(STORE, () => ""), ...refusedAs("malformed")],
  "a conversation without its schema": [{ conversation: (value) => void delete value.schema }, "taken", "wrong_schema"],
  "embeddings of another schema": [{ embeddings: (value) => void (value.schema = "vectors") }, "taken", "wrong_schema"],
  "an embedding of another memory": [
    editStore(({ memories }) => (memories[0].embedding_ref = memories.findLast((m) => m.embedding_ref).embedding_ref)),
    "taken",
    "",
  ],
  "an index that names a file that is not here": [
    editStore((store) => (store.conversations_index[0].storage.ref = "conversations/none.json")),
    "taken",
    "",
  ],
  "an index that names the store": [
    editStore((store) => (store.conversations_index[0].storage.ref = STORE)),
    "taken",
    "wrong_schema",
  ],
  "an index with two entries of one file": [
    editStore(({ conversations_index: index }) => index.push({ ...index[0], id: "talk-b", derived_memories: [] })),
    "taken",
    "",
  ],
  "derived memories that do not name the conversation": [
    editStore((store) => store.conversations_index[0].derived_memories.push("m-03")),
    "taken",
    "",
  ],
  "two files with one conversation": [
    {
      entries: (entries) => {
        const { data } = entries.find(({ name }) => name === CONVERSATION);
        return [...entries, { name: "conversations/talk-b.json", data: data.replace("Boats", "Other boats") }];
      },
    },
    "taken",
    "",
  ],
  "a conversation that the index does not list": [editStore((store) => (store.conversations_index = [])), "taken", ""],
};

/** Exports whose memories were changed after the checksum was made (integrity, §15). */
const mismatch = (change) => [{ signed: (store) => void change(store) }, ...refusedAs("checksum_mismatch")];
const INTEGRITY = {
  "a memory that is gone": mismatch((store) => store.memories.pop()),
  "no memories left": mismatch((store) => (store.memories = [])),
  "a memory more": mismatch((store) => store.memories.push({ ...store.memories[2], id: "m-12" })),
  "a memory twice": mismatch((store) => store.memories.push(store.memories[2])),
  "another content": mismatch((store) => (store.memories[1].content = "Lena rows at night.")),
  "another content with its hash": mismatch((store) => {
    store.memories[1].content = "Lena rows at night.";
    store.memories[1].content_hash = contentHash("Lena rows at night.");
  }),
  "another status": mismatch((store) => (store.memories[3].status = "active")),
  "another confidence": mismatch((store) => (store.memories[0].confidence.current = 0.9)),
  "another time": mismatch((store) => (store.memories[0].temporal.valid_until = "2027-06-01T00:00:00Z")),
  "two ids exchanged": mismatch(({ memories }) => {
    [memories[2].id, memories[3].id] = [memories[3].id, memories[2].id];
  }),
  "another checksum": mismatch((store) => (store.integrity.checksum = changeMiddleDigit(store.integrity.checksum))),
  "memories in another order": [{ signed: (store) => void store.memories.reverse() }, "taken", ""],
  "a checksum in upper case": [
    editSealed(
      (store) => (store.integrity.checksum = store.integrity.checksum.toUpperCase().replace("SHA256", "sha256")),
    ),
    "checksum_mismatch",
    "bad_value",
  ],
  "a checksum of another algorithm": [
    editSealed((store) => (store.integrity.checksum = "sha512:00")),
    ...refusedAs("checksum_mismatch"),
  ],
  "no checksum": [editSealed((store) => delete store.integrity.checksum), "refused", "missing_field"],
  "no integrity": [editSealed((store) => delete store.integrity), "taken", ""],
  "another canonicalization": [
    editSealed((store) => (store.integrity.canonicalization = "JSON")),
    "taken",
    "bad_value",
  ],
  "a number of memories that is too high": [
    editSealed((store) => (store.integrity.total_memories = 12)),
    "taken",
    "count_mismatch",
  ],
  "a number of memories below 0": [editSealed((store) => (store.integrity.total_memories = -1)), "taken", "bad_value"],
  "no number of memories": [editSealed((store) => delete store.integrity.total_memories), "taken", "missing_field"],
};

const badSignature = (change) => [editSigned(change), ...refusedAs("signature_invalid")];
const SIGNATURES = {
  signed: [{ key: TRUSTED_KEY }, "taken", "", true],
  "signed by a stranger": [{ key: STRANGER_KEY }, "taken", ""],
  "the signature is removed": [editSigned((store) => delete store.signature), "taken", ""],
  "the signature is null": [editSigned((store) => (store.signature = null)), "taken", ""],
  "a relation that was changed after the store was signed": [
    editSigned((store) => (store.relations[0].type = "extends")),
    "taken",
    "",
    true,
  ],
  "a padded signature": [editSigned((store) => (store.signature.value += "==")), "taken", "", true],
  "a changed bit in the signature": badSignature(({ signature: s }) => (s.value = changeMiddleDigit(s.value))),
  "the key of a stranger": badSignature(({ signature: s }) => (s.public_key = multikey(STRANGER_KEY))),
  "a signature by a stranger under the trusted key": badSignature((store) => {
    store.signature = { ...signatureOf(store, STRANGER_KEY), public_key: multikey(TRUSTED_KEY) };
  }),
  "a key that is none": badSignature(({ signature: s }) => (s.public_key = "z6MkNone")),
  "an algorithm that the key is not of": badSignature(({ signature: s }) => (s.algorithm = "ES256")),
  "an unknown algorithm": badSignature(({ signature: s }) => (s.algorithm = "none")),
  "an algorithm in lower case": badSignature(({ signature: s }) => (s.algorithm = "ed25519")),
  "no algorithm": badSignature(({ signature: s }) => delete s.algorithm),
  "no key": badSignature(({ signature: s }) => delete s.public_key),
  "no value": badSignature(({ signature: s }) => delete s.value),
  "an empty value": badSignature(({ signature: s }) => (s.value = "")),
  "a value in plain base64": badSignature(({ signature: s }) => (s.value = `+/${s.value.slice(2)}`)),
  "a value that is too short": badSignature(({ signature: s }) => (s.value = s.value.slice(0, -4))),
  "a signature that is a text": badSignature((store) => (store.signature = "signed")),
  "a signature that is empty": badSignature((store) => (store.signature = {})),
  "another export_id": badSignature((store) => (store.export_id = "1b0f3c52-2222-4000-8000-00000000000f")),
  "no export_id": badSignature((store) => delete store.export_id),
  "another export_date": badSignature((store) => (store.export_date = "2026-02-28T00:00:00Z")),
  "the same export_date in another spelling": badSignature(
    (store) => (store.export_date = "2026-03-01T00:00:00+00:00"),
  ),
  "another owner": badSignature((store) => (store.owner.id = "someone-else")),
  "other memories with a checksum that fits": badSignature((store) => {
    const otherStore = buildStoreWithout(store);
    store.memories = otherStore.memories;
    store.integrity = otherStore.integrity;
  }),
  "no integrity under a signature": badSignature((store) => delete store.integrity),
  "signed before it was exported": [
    editSigned((store) => (store.signature.signed_at = "2026-02-01T00:00:00Z")),
    "taken",
    "signature_before_export",
  ],
  "signed at no time": [editSigned((store) => delete store.signature.signed_at), "taken", "missing_field"],
  "a signature with a member more": [editSigned((store) => (store.signature.note = "x")), "taken", "unknown_field"],
};

/** Returns all memories of a store except the last, with an integrity block that matches them. */
function buildStoreWithout(store) {
  const memories = store.memories.slice(0, -1);
  return {
    memories,
    integrity: { ...store.integrity, checksum: checksumOf(memories), total_memories: memories.length },
  };
}

const BASE_ID = "1b0f3c52-2222-4000-8000-000000000002";
const increment = (change) => ({
  ...editStore((store) => {
    const { owner, memories } = store;
    const content = "Lena rows at noon.";
    const changedMemory = { ...memories[2], content, content_hash: contentHash(content) };
    Object.assign(store, { owner, export_type: "incremental", base_export_id: BASE_ID, since: "2026-03-01T00:00:00Z" });
    Object.assign(store, { export_id: "1b0f3c52-2222-4000-8000-000000000003", export_date: "2026-04-01T00:00:00Z" });
    Object.assign(store, { memories: [changedMemory], relations: [], conversations_index: [] });
    change?.(store);
  }),
  texts: ({ [STORE]: text }) => ({ [STORE]: text }),
});

/** Incremental exports (§16). The vault already contains the export that they are based on. */
const INCREMENTS = {
  "an increment": [increment(), "taken", ""],
  "an increment of an unknown base": [increment((store) => (store.base_export_id = "nobody")), "taken", ""],
  "an increment without a base": [increment((store) => delete store.base_export_id), "taken", ""],
  "an increment without a start": [increment((store) => delete store.since), "taken", ""],
  "an increment that retracts": [increment((store) => (store.memories[0].status = "retracted")), "taken", ""],
  "an increment that names a memory of the base": [
    increment((store) => (store.memories[0].temporal.superseded_by = "m-01")),
    "taken",
    "",
  ],
  "an increment older than its base": [increment((store) => (store.export_date = "2026-01-01T00:00:00Z")), "taken", ""],
  "an increment of another owner": [increment((store) => (store.owner = { id: "someone-else" })), "taken", ""],
  "an increment with a wrong checksum": [
    { ...increment(), signed: (store) => void (store.memories[0].status = "active") },
    ...refusedAs("checksum_mismatch"),
  ],
};

const signedFixtures = () => {
  const folder = join(FIXTURES, "pam");
  return readdirSync(folder)
    .filter((name) => name.startsWith("signed-"))
    .sort()
    .map((name) => {
      const { signature } = JSON.parse(readFileSync(join(folder, name, "case.json"), "utf8"));
      return { name, signature, bytes: () => readFileSync(join(folder, name, "input", STORE)) };
    });
};

function* files() {
  const cases = { ...CONTAINER, ...DOCUMENTS, ...INTEGRITY, ...valueCases(), ...INCREMENTS, ...SIGNATURES };
  for (const [name, [steps, outcome, finds, signed]] of Object.entries(cases))
    yield {
      name,
      outcome,
      finds,
      signed,
      ending: "zip",
      bytes: () => steps.bytes?.(buildExport(steps)) ?? buildExport(steps),
    };
  for (const { name, signature, bytes } of signedFixtures()) {
    const outcome = signature.valid ? "taken" : signature.finding;
    yield { name, outcome, finds: signature.valid ? "" : outcome, signed: signature.valid, ending: "json", bytes };
  }
}

/** The corpus. The vault contains the base of the increments, and `verify` trusts the keys of the valid signatures. */
export const pam = {
  format: "pam",
  about:
    "`verify` trusts the keys of the valid signatures. Before each import the vault has the base of the increments.",
  files,
  bases: () => [buildExport()],
  trust: [
    TRUSTED_KEY.publicKey.toString("hex"),
    ...signedFixtures().flatMap(({ signature }) => (signature.valid ? signature.keys.slice(0, 1) : [])),
  ],
  vaultCodes: [],
};
