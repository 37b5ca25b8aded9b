// Damaged and forged `.mem` bundles, made from a good fixture. Each case has the steps for `buildBundle`, the answer of
// `import` ("taken", "refused" or the code of the error), and the code of an error that `validate` reports ("" if it
// reports none).
import {
  EPISODES,
  TOMBSTONES,
  addEntries,
  buildBundle,
  editEntry,
  editLines,
  editSealed,
  linesOf,
  signedTombstone,
  token,
  validFiles,
} from "./mem_bundle.mjs";
import { recordCases } from "./mem_records.mjs";
import { STRANGER_KEY, TRUSTED_KEY, canonicalJson, changeMiddleDigit, sha256 } from "./signing.mjs";
import { flipMiddleBit } from "./zip.mjs";

const DATA_PATHS = Object.keys(validFiles()).filter((path) => path.includes("/"));
const NOTE = "A line of nobody.\n";

/**
 * Changes the case of one letter in a text: of the last letter of the last string value that ends with a letter, or
 * else of the first `t`. The bytes change, but the record stays valid.
 */
const changeLetter = (text) => {
  const at = [...text.matchAll(/[A-Za-z]"(?=[,}\]])/g)].at(-1)?.index ?? text.indexOf("t");
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 0x20) + text.slice(at + 1);
};
const refusedAs = (code) => [code, code];

/** States these flags in both headers of an entry. */
const stateFlags = (path, flags) => editEntry(path, { central: { flags }, local: { flags } });

const CONTAINER = {
  nothing: [{}, "taken", ""],
  ...Object.fromEntries(
    ["manifest.json", "CHECKSUMS", EPISODES, TOMBSTONES, "audit/log.jsonl", "items/acmeBuoy.jsonl"].map((path) => [
      `a flipped bit in the entry ${path}`,
      [editEntry(path, { damage: flipMiddleBit }), ...refusedAs("damaged_entry")],
    ]),
  ),
  "a flipped bit in the entry manifest.sig": [
    { key: TRUSTED_KEY, ...editEntry("manifest.sig", { damage: flipMiddleBit }) },
    "refused",
    "damaged_entry",
  ],
  "a compressed entry that does not unpack": [
    editEntry(EPISODES, { deflate: true, damage: (packed) => packed.fill(0xff, 40, 60) }),
    ...refusedAs("damaged_entry"),
  ],
  "damage in a file that is not listed": [
    addEntries({ name: "garden.mem/notes.txt", data: NOTE, damage: flipMiddleBit }),
    ...refusedAs("damaged_entry"),
  ],
  "a local header with an escaping name": [
    addEntries({ name: "garden.mem/notes.txt", data: NOTE, local: { name: "../../.bashrc" } }),
    ...refusedAs("container_header_differs"),
  ],
  "a local header with another size": [
    addEntries({ name: "garden.mem/notes.txt", data: NOTE, local: { size: 5 } }),
    ...refusedAs("container_header_differs"),
  ],
  "two names on the same data": [
    { entries: (entries) => [...entries, { ...entries[0], like: 0, name: "garden.mem/items/twin.jsonl" }] },
    "container_header_differs",
    "container_shared_data",
  ],
  "an entry of a name twice": [addEntries({ name: `garden.mem/${EPISODES}`, data: "" }), ...refusedAs("path_escapes")],
  "an entry that leads out": [addEntries({ name: "garden.mem/../../x", data: NOTE }), ...refusedAs("path_escapes")],
  "a link in place of a file of records": [
    editEntry(EPISODES, { data: "/etc/passwd", mode: 0o120777 }),
    ...refusedAs("path_escapes"),
  ],
  "an encrypted file of records": [stateFlags(EPISODES, 0x801), ...refusedAs("encrypted")],
  "a file of records that is a patch": [stateFlags(EPISODES, 0x820), ...refusedAs("unsupported_compression")],
  "an encrypted signature": [{ key: TRUSTED_KEY, ...stateFlags("manifest.sig", 0x801) }, ...refusedAs("encrypted")],
  "entries that differ by case": [
    addEntries({ name: `garden.mem/${EPISODES.toUpperCase()}`, data: NOTE }),
    ...refusedAs("container_similar_names"),
  ],
  "entries that differ by normalisation": [
    addEntries(...["NFC", "NFD"].map((form) => ({ name: `garden.mem/caf\u00e9.txt`.normalize(form), data: NOTE }))),
    ...refusedAs("container_similar_names"),
  ],
  "vendor kinds that differ by case": [
    { content: (files) => ({ ...files, "items/ACMEBUOY.jsonl": files["items/acmeBuoy.jsonl"] }) },
    ...refusedAs("container_similar_names"),
  ],
  "an empty folder among the records": [
    addEntries({ name: "garden.mem/items/deep/", data: "" }),
    ...refusedAs("unlisted_file"),
  ],
  "an empty folder in place of the signature": [
    addEntries({ name: "garden.mem/manifest.sig/", data: "" }),
    ...refusedAs("unlisted_file"),
  ],
  "an empty folder that may have files": [addEntries({ name: "garden.mem/embeddings/", data: "" }), "taken", ""],
  "300 MB of zeros in a file of records": [
    editEntry(EPISODES, { data: Buffer.alloc(300 << 20), deflate: true }),
    ...refusedAs("limit"),
  ],
  "the first half of the archive, whose manifest comes last": [
    { bytes: (bytes) => bytes.subarray(0, bytes.length / 2) },
    ...refusedAs("not_recognised"),
  ],
  "the first half of the archive, whose manifest comes first": [
    {
      entries: (entries) => entries.reverse(),
      bytes: (bytes) => bytes.subarray(0, bytes.length / 2),
    },
    ...refusedAs("truncated_archive"),
  ],
};

/** Integrity (§1.2, §4): the files in the bundle are not those that the manifest and CHECKSUMS list. */
const INTEGRITY = {
  ...Object.fromEntries(
    DATA_PATHS.map((path) => [
      `a changed letter in ${path}`,
      [editSealed(path, changeLetter), ...refusedAs("checksum_mismatch")],
    ]),
  ),
  ...Object.fromEntries(
    [EPISODES, TOMBSTONES, "audit/log.jsonl", "items/acmeBuoy.jsonl"].map((path) => [
      `${path} is missing`,
      [editSealed(path, () => undefined), ...refusedAs("file_missing")],
    ]),
  ),
  "a file of records without its last line": [
    editSealed(EPISODES, (text) => `${linesOf(text)[0]}\n`),
    ...refusedAs("checksum_mismatch"),
  ],
  "a file of records that ends inside a line": [
    editSealed(EPISODES, (text) => text.slice(0, -40)),
    "refused",
    "checksum_mismatch",
  ],
  "an emptied file of records": [editSealed(EPISODES, () => ""), ...refusedAs("checksum_mismatch")],
  "emptied tombstones": [editSealed(TOMBSTONES, () => ""), ...refusedAs("checksum_mismatch")],
  "two files exchanged": [
    {
      sealed: (files) => ({
        ...files,
        "items/category.jsonl": files["items/preference.jsonl"],
        "items/preference.jsonl": files["items/category.jsonl"],
      }),
    },
    "refused",
    "checksum_mismatch",
  ],
  "no manifest.json": [editSealed("manifest.json", () => undefined), ...refusedAs("manifest_missing")],
  "no CHECKSUMS": [editSealed("CHECKSUMS", () => undefined), ...refusedAs("checksums_missing")],
  ...Object.fromEntries(
    [
      "items/extra.jsonl",
      "items/deep/extra.jsonl",
      "items/extra.bin",
      "audit/extra.jsonl",
      "embeddings/episode.m.vec",
      "provenance/edges.jsonl",
      "Items/extra.jsonl",
    ].map((path) => [
      `${path} is there and not listed`,
      [editSealed(path, () => "{}\n"), ...refusedAs("unlisted_file")],
    ]),
  ),
  "a file beside the manifest that is not listed": [editSealed("notes.txt", () => NOTE), "taken", ""],
  "CHECKSUMS with another digest": [
    { checksums: (text) => text.replace(/^./, "x") },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS without a file": [
    { checksums: (text) => text.slice(text.indexOf("\n") + 1) },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS with a file more": [
    { checksums: (text) => `${text}${sha256("x")}  zeta.txt\n` },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS with one space": [{ checksums: (text) => text.replaceAll("  ", " ") }, ...refusedAs("checksums_mismatch")],
  "CHECKSUMS in upper case": [
    { checksums: (text) => text.replace(/^[0-9a-f]{64}/gm, (digest) => digest.toUpperCase()) },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS that is empty": [{ checksums: () => "" }, ...refusedAs("checksums_mismatch")],
  "CHECKSUMS with carriage returns": [
    { checksums: (text) => text.replaceAll("\n", "\r\n") },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS with a line twice": [
    { checksums: (text) => `${text}${linesOf(text)[0]}\n` },
    ...refusedAs("checksums_mismatch"),
  ],
  "CHECKSUMS without a line feed at its end": [{ checksums: (text) => text.trimEnd() }, "taken", ""],
  "CHECKSUMS in another order": [{ checksums: (text) => `${linesOf(text).reverse().join("\n")}\n` }, "taken", ""],
  "CHECKSUMS that was changed later": [
    editSealed("CHECKSUMS", (text) => text.replace(/^./, "x")),
    ...refusedAs("bundle_digest_mismatch"),
  ],
  "CHECKSUMS that is no text": [
    editSealed("CHECKSUMS", () => Buffer.alloc(64, 0xff)),
    ...refusedAs("bundle_digest_mismatch"),
  ],
};

const editManifest = (change) => ({ manifest: (value) => void change(value) });
const editRow = (change) =>
  editManifest((m) =>
    change(
      m.files.find((row) => row.path === EPISODES),
      m,
    ),
  );
const listPathAs = (path) => [editRow((row) => (row.path = path)), ...refusedAs("path_escapes")];

/** Manifests that are damaged, or that violate the specification (§3) or its schema. */
const MANIFEST = {
  "a manifest that is not JSON": [{ manifestText: (text) => text.slice(0, 300) }, ...refusedAs("malformed")],
  "a manifest that is a list": [{ manifestText: (text) => `[${text}]` }, ...refusedAs("malformed")],
  "an empty manifest": [{ manifestText: () => "{}" }, ...refusedAs("malformed")],
  "a manifest with a byte order mark": [{ manifestText: (text) => `\ufeff${text}` }, ...refusedAs("malformed")],
  "a manifest that is not UTF-8": [
    { manifestText: (text) => Buffer.from(text.replace("keepsake", "keeps\u00e4ke"), "latin1") },
    ...refusedAs("malformed"),
  ],
  "a manifest with white space": [{ manifestText: (text) => JSON.stringify(JSON.parse(text), null, 1) }, "taken", ""],
  "a manifest with a key twice": [
    { manifestText: (text) => text.replace("{", '{"exportMode":"incremental",') },
    "taken",
    "",
  ],
  "a manifest that is nested 100,000 deep": [
    { manifestText: (text) => text.replace("{", `{"acmeDeep":${"[".repeat(100_000)}${"]".repeat(100_000)},`) },
    "refused",
  ],
  ...Object.fromEntries(
    [
      "format",
      "generator",
      "conformanceLevel",
      "createdAt",
      "exportMode",
      "schemaVersion",
      "embeddingModel",
      "embeddingDim",
      "embeddingsIncluded",
      "capabilities",
      "counts",
      "files",
    ].map((name) => [`a manifest without ${name}`, [editManifest((m) => delete m[name]), ...refusedAs("malformed")]]),
  ),
  ...Object.fromEntries(
    Object.entries({
      format: 1.1,
      conformanceLevel: "L4",
      createdAt: "2026-02-30T00:00:00Z",
      exportMode: "delta",
      schemaVersion: "1",
      embeddingDim: 2.5,
      embeddingsIncluded: 0,
      capabilities: [7],
      counts: { episode: -1 },
      files: {},
      since: "last week",
      specURL: 7,
      coverage: { from: "2026-01-01T10:00:00Z" },
      scopes: "ctx_boat",
      bundleDigest: 7,
    }).map(([name, value]) => [
      `a manifest with ${name} = ${JSON.stringify(value)}`,
      [editManifest((m) => (m[name] = value)), ...refusedAs("malformed")],
    ]),
  ),
  ...Object.fromEntries(
    ["since", "specURL", "coverage", "scopes", "bundleDigest"].map((name) => [
      `a manifest with ${name} = null`,
      [editManifest((m) => (m[name] = null)), "taken", "bad_value"],
    ]),
  ),
  "the next major version": [editManifest((m) => (m.format = "2.0.0")), ...refusedAs("unsupported_version")],
  "major version 0": [editManifest((m) => (m.format = "0.9.0")), ...refusedAs("unsupported_version")],
  "the next minor version": [editManifest((m) => (m.format = "1.2.0")), "taken", ""],
  "a dimension below 0": [editManifest((m) => (m.embeddingDim = -1)), "taken", "bad_value"],
  "a row whose digest is upper case": [
    editRow((row) => (row.sha256 = row.sha256.toUpperCase())),
    ...refusedAs("checksum_mismatch"),
  ],
  "a row with another digest": [editRow((row) => (row.sha256 = sha256("x"))), ...refusedAs("checksum_mismatch")],
  "a row with another size": [editRow((row) => (row.bytes += 1)), ...refusedAs("byte_count_mismatch")],
  "a row with a size below 0": [editRow((row) => (row.bytes = -1)), ...refusedAs("malformed")],
  "a row without a digest": [editRow((row) => delete row.sha256), ...refusedAs("malformed")],
  "a row twice": [editRow((row, m) => m.files.push(row)), ...refusedAs("duplicate_path")],
  "a row that leads out": listPathAs("../garden.mem/items/episode.jsonl"),
  "a row with an absolute path": listPathAs("/etc/passwd"),
  "a row with a home folder": listPathAs("~/items/episode.jsonl"),
  "a row with backslashes": listPathAs("items\\episode.jsonl"),
  "a row with a drive": listPathAs("C:items/episode.jsonl"),
  "a row with a dot": listPathAs("items/./episode.jsonl"),
  "a row with an empty part": listPathAs("items//episode.jsonl"),
  "a row with a NUL": listPathAs("items/episode\u0000.jsonl"),
  "a row without a path": listPathAs(""),
  "a row that names the manifest": [
    editManifest((m) => m.files.push({ path: "manifest.json", sha256: sha256(""), bytes: 0 })),
    "refused",
    "self_listed",
  ],
  "a bundleDigest of other bytes": [
    editManifest((m) => (m.bundleDigest = sha256("x"))),
    ...refusedAs("bundle_digest_mismatch"),
  ],
  "a bundleDigest in upper case": [
    editManifest((m) => (m.bundleDigest = m.bundleDigest.toUpperCase())),
    ...refusedAs("bundle_digest_mismatch"),
  ],
  "counts that are too high": [editManifest((m) => (m.counts.episode = 5)), "taken", "counts_mismatch"],
  "counts without a kind": [editManifest((m) => delete m.counts.tombstone), "taken", "counts_mismatch"],
  "counts of a kind that is not there": [editManifest((m) => (m.counts.ghost = 1)), "taken", "counts_mismatch"],
  "a coverage that is too long": [
    editManifest((m) => (m.coverage.to = "2026-12-31T00:00:00Z")),
    "taken",
    "coverage_mismatch",
  ],
  "a coverage that ends before it begins": [
    editManifest((m) => (m.coverage = { from: m.coverage.to, to: m.coverage.from })),
    "taken",
    "coverage_mismatch",
  ],
  "a coverage with another member": [editManifest((m) => (m.coverage.zone = "UTC")), "taken", "unknown_field"],
  ...Object.fromEntries(
    Object.entries({
      "2026-02-03": "bad_value",
      "2026-02-03T10:00:00": "bad_value",
      "20260203T100000Z": "bad_value",
      "2026-02-03T11:00:00+01:00": "",
      "2026-02-03T10:00:00.5Z": "",
    }).map(([time, finds]) => [`a manifest of ${time}`, [editManifest((m) => (m.createdAt = time)), "taken", finds]]),
  ),
  "scopes in another order": [editManifest((m) => m.scopes.reverse()), "taken", "scopes_mismatch"],
  "scopes with one twice": [editManifest((m) => m.scopes.push("ctx_trip")), "taken", "scopes_mismatch"],
  "scopes without one": [editManifest((m) => m.scopes.pop()), "taken", "scopes_mismatch"],
  "none of the fields of version 1.1": [
    editManifest((m) => {
      m.format = "1.0.0";
      for (const name of ["specURL", "coverage", "scopes", "bundleDigest"]) delete m[name];
    }),
    "taken",
    "",
  ],
  "a specification that is no URI": [editManifest((m) => (m.specURL = "over there")), "taken", "bad_value"],
  "a specification at an address that is cut off": [
    editManifest((m) => (m.specURL = "http://[::1")),
    "taken",
    "bad_value",
  ],
  "a generator without a version": [editManifest((m) => (m.generator = "acme")), "taken", ""],
  "files in another order": [editManifest((m) => void m.files.reverse()), "taken", ""],
  "vectors that are not there": [editManifest((m) => (m.embeddingsIncluded = true)), "taken", ""],
  "a capability to be signed without a signature": [
    editManifest((m) => void m.capabilities.push("signed")),
    "taken",
    "",
  ],
  "a full export with a start": [editManifest((m) => (m.since = "2026-01-01T00:00:00Z")), "taken", ""],
  "an incremental export": [
    editManifest((m) => ((m.exportMode = "incremental"), (m.since = "2026-01-01T00:00:00Z"))),
    "taken",
    "",
  ],
  "an incremental export without a start": [editManifest((m) => (m.exportMode = "incremental")), "taken", ""],
  "level L3 without signed tombstones": [editManifest((m) => (m.conformanceLevel = "L3")), "taken", ""],
};

const signedBy = (key, steps = {}) => ({ key, ...steps });
const editToken = (change) =>
  signedBy(
    TRUSTED_KEY,
    editSealed("manifest.sig", (text) => change(text.trim())),
  );
const badToken = (change) => [editToken(change), ...refusedAs("signature_invalid")];
const signatureOf = (text) => text.split(":")[2];
const keyOf = (text) => text.split(":")[1];
const editTombstone = (change) =>
  editLines(TOMBSTONES, ([first, ...others]) => {
    const value = JSON.parse(first);
    return [canonicalJson(change(value) ?? value), ...others];
  });
const badTombstone = (change) => [editTombstone((t) => void change(t)), ...refusedAs("signature_invalid")];

/** Valid and forged signatures of the manifest and of tombstones (§1.3). */
const SIGNATURES = {
  signed: [signedBy(TRUSTED_KEY), "taken", "", true],
  "signed by a stranger": [signedBy(STRANGER_KEY), "taken", ""],
  "the signature is removed": [{}, "taken", ""],
  "a changed bit in the signature": badToken((t) => t.replace(signatureOf(t), changeMiddleDigit(signatureOf(t)))),
  "a changed bit in the key": badToken((t) => t.replace(keyOf(t), changeMiddleDigit(keyOf(t)))),
  "the key of a stranger": badToken((t) => t.replace(keyOf(t), STRANGER_KEY.publicKey.toString("hex"))),
  "a key of zeros": badToken((t) => t.replace(keyOf(t), "0".repeat(64)).replace(signatureOf(t), "0".repeat(128))),
  "no key": badToken((t) => t.replace(keyOf(t), "")),
  "no signature after the key": badToken((t) => `ed25519:${keyOf(t)}:`),
  "a fourth part": badToken((t) => `${t}:00`),
  "a short signature": badToken((t) => t.slice(0, -2)),
  "key and signature in upper case": badToken((t) => t.replace(/:.*/, (hex) => hex.toUpperCase())),
  "another algorithm": badToken((t) => t.replace("ed25519", "ed448")),
  "an algorithm in upper case": badToken((t) => t.replace("ed25519", "ED25519")),
  "a token with base64": badToken(
    (t) => `ed25519:${keyOf(t)}:${Buffer.from(signatureOf(t), "hex").toString("base64")}`,
  ),
  "an empty manifest.sig": badToken(() => ""),
  "a manifest.sig that is no text": badToken(() => Buffer.alloc(202, 0xfe)),
  "two signatures": badToken((t) => `${t}\n${t}\n`),
  "a signature over CHECKSUMS": [
    signedBy(TRUSTED_KEY, { sealed: (f) => ({ ...f, "manifest.sig": token(f.CHECKSUMS) }) }),
    ...refusedAs("signature_invalid"),
  ],
  "a signature over the manifest in another form": [
    signedBy(TRUSTED_KEY, { sealed: (f) => ({ ...f, "manifest.sig": token(`${f["manifest.json"]}\n`) }) }),
    ...refusedAs("signature_invalid"),
  ],
  "a manifest that was changed after it was signed": [
    signedBy(
      TRUSTED_KEY,
      editSealed("manifest.json", (text) => text.replace("keepsake", "Keepsake")),
    ),
    ...refusedAs("signature_invalid"),
  ],
  "a record that was changed after the bundle was signed": [
    signedBy(TRUSTED_KEY, editSealed(EPISODES, changeLetter)),
    ...refusedAs("checksum_mismatch"),
  ],
  "a tombstone that was removed after the bundle was signed": [
    signedBy(
      TRUSTED_KEY,
      editSealed(TOMBSTONES, (text) => `${linesOf(text)[0]}\n`),
    ),
    ...refusedAs("checksum_mismatch"),
  ],
  "a tombstone with a changed bit in its signature": badTombstone(
    (t) => (t.signature = changeMiddleDigit(t.signature)),
  ),
  ...Object.fromEntries(
    Object.entries({
      id: "tomb_c",
      op: "redact",
      targetKind: "fact",
      targetID: "ep_plain",
      deletedAt: "2026-06-01T10:00:01Z",
      actor: "stranger",
      reason: "lost",
    }).map(([name, value]) => [`a signed tombstone with another ${name}`, badTombstone((t) => (t[name] = value))]),
  ),
  "a signed tombstone with another derived id": badTombstone((t) => t.derived.factIDs.push("fact_leak")),
  "a signed tombstone with another derived count": badTombstone((t) => (t.derived.episodeLinkCount = 3)),
  "a signed tombstone without its reason": badTombstone((t) => delete t.reason),
  "a tombstone with the signature of another": [
    editLines(TOMBSTONES, ([first, second]) => [
      first,
      canonicalJson({ ...JSON.parse(second), signature: JSON.parse(first).signature }),
    ]),
    ...refusedAs("signature_invalid"),
  ],
  "a tombstone with an empty signature": badTombstone((t) => (t.signature = "")),
  "a tombstone with a number as signature": [editTombstone((t) => void (t.signature = 7)), ...refusedAs("malformed")],
  "a tombstone without its signature": [editTombstone((t) => void delete t.signature), "taken", ""],
  "a tombstone signed by a stranger": [
    editLines(TOMBSTONES, ([first, ...others]) => [signedTombstone(first, STRANGER_KEY), ...others]),
    "taken",
    "",
  ],
};

function* files() {
  const cases = { ...CONTAINER, ...INTEGRITY, ...MANIFEST, ...recordCases(), ...SIGNATURES };
  for (const [name, [steps, outcome, finds, signed]] of Object.entries(cases))
    yield {
      name,
      outcome,
      finds,
      signed,
      ending: "zip",
      bytes: () => steps.bytes?.(buildBundle(steps)) ?? buildBundle(steps),
    };
}

/** The corpus. The test trusts the key of the signed bundles. */
export const mem = {
  format: "mem",
  about: "`verify` trusts the key of the signed bundles.",
  files,
  bases: () => [],
  trust: [TRUSTED_KEY.publicKey.toString("hex")],
  vaultCodes: [],
};
