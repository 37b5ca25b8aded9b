// Builds PAM exports as archives. A case can change the store before its checksum is made, before it is signed, or
// after it was signed.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "../cli/mementory.mjs";
import { TRUSTED_KEY, canonicalJson, sha256 } from "./signing.mjs";
import { buildArchive } from "./zip.mjs";

export const STORE = "memory-store.json";
export const CONVERSATION = "conversations/talk-a.json";
export const EMBEDDINGS = "embeddings.json";
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

const readFixture = (name) => JSON.parse(readFileSync(join(FIXTURES, "pam", "every-field", "input", name), "utf8"));

/** The three documents of a valid export without a signature. They contain every member, type and relation. */
function validDocuments() {
  const store = readFixture(STORE);
  delete store.signature;
  return { [STORE]: store, [CONVERSATION]: readFixture(CONVERSATION), [EMBEDDINGS]: readFixture(EMBEDDINGS) };
}

/** An Ed25519 public key as `z6Mk…`: its bytes after the multicodec prefix, in Base58, as a multibase string. */
export function multikey({ publicKey }) {
  let number = BigInt(`0xed01${publicKey.toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = BASE58[Number(number % 58n)] + text;
  return `z${text}`;
}

/** The `content_hash` of a text (§6). Lower-casing must not change the length of any of its letters. */
export const contentHash = (content) =>
  `sha256:${sha256(content.trim().toLowerCase().normalize("NFC").split(/\s+/).join(" "))}`;

/** The checksum of memories (§15). */
export function checksumOf(memories) {
  const sorted = [...memories].sort((a, b) => (String(a.id ?? "") < String(b.id ?? "") ? -1 : 1));
  return `sha256:${sha256(canonicalJson(sorted))}`;
}

/** The signature block of a store (§18). */
export function signatureOf(store, key = TRUSTED_KEY) {
  const { checksum } = store.integrity ?? {};
  const payload = { checksum, export_date: store.export_date, export_id: store.export_id, owner_id: store.owner?.id };
  const value = key.sign(canonicalJson(payload)).toString("base64url");
  return { algorithm: "Ed25519", public_key: multikey(key), value, signed_at: "2026-03-01T00:00:01Z" };
}

/**
 * Makes an export from the valid documents. `steps` has functions that change the export while it is made, all of them
 * optional. `store(value)` runs before the checksum is made, `sealed(value)` before `key` signs the store, and
 * `signed(value)` after that. `conversation(value)` and `embeddings(value)` change the other documents, `texts(texts)`
 * the text of all documents, and `entries(entries)` the entries of the archive. Each changes its argument or returns
 * another value.
 */
export function buildExport(steps = {}) {
  const apply = (name, value) => steps[name]?.(value) ?? value;
  const documents = validDocuments();
  let store = apply("store", documents[STORE]);
  if (Array.isArray(store.memories))
    store.integrity = {
      ...store.integrity,
      checksum: checksumOf(store.memories),
      total_memories: store.memories.length,
    };
  store = apply("sealed", store);
  if (steps.key) store.signature = signatureOf(store, steps.key);
  const texts = apply("texts", {
    [STORE]: JSON.stringify(apply("signed", store), null, 1),
    [CONVERSATION]: JSON.stringify(apply("conversation", documents[CONVERSATION])),
    [EMBEDDINGS]: JSON.stringify(apply("embeddings", documents[EMBEDDINGS])),
  });
  return buildArchive(
    apply(
      "entries",
      Object.entries(texts).map(([name, data]) => ({ name, data })),
    ),
  );
}

/** Steps for `buildExport` that change the text of a document. */
export const editText = (name, change) => ({
  texts: (texts) => {
    const { [name]: text, ...others } = texts;
    const changedText = change(text);
    return changedText === undefined ? others : { [name]: changedText, ...others };
  },
});

/** Steps for `buildExport` that change the fields of the archive entry with this name. */
export const editEntry = (name, fields) => ({
  entries: (entries) => entries.map((entry) => (entry.name === name ? { ...entry, ...fields } : entry)),
});

/** Steps for `buildExport` that add entries to the archive. */
export const addEntries = (...more) => ({ entries: (entries) => [...entries, ...more] });
