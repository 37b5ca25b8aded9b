// Builds PAM exports in an archive. A case changes the store before its checksum is made, before it is signed, or after
// it was signed.
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

/** The three documents of the valid export, without a signature: every member, type and relation. */
export function validDocuments() {
  const store = readFixture(STORE);
  delete store.signature;
  return { [STORE]: store, [CONVERSATION]: readFixture(CONVERSATION), [EMBEDDINGS]: readFixture(EMBEDDINGS) };
}

/** An Ed25519 key as `z6Mk…`: multibase of Base58 with the multicodec prefix. */
export function multikey({ publicKey }) {
  let number = BigInt(`0xed01${publicKey.toString("hex")}`);
  let text = "";
  for (; number > 0n; number /= 58n) text = BASE58[Number(number % 58n)] + text;
  return `z${text}`;
}

/** `content_hash` of a text without letters that change their length in lower case (§6). */
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
 * Makes an export of the valid documents. Every step of a case is optional: `store(value)` runs before the checksum is
 * made, `sealed(value)` before the store is signed by `key`, `signed(value)` after that. They and
 * `conversation(value)`, `embeddings(value)`, `texts(texts)` and `entries(entries)` change their argument or return
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

/** Steps that change the text of a document. */
export const editText = (name, change) => ({
  texts: (texts) => {
    const { [name]: text, ...others } = texts;
    const changed = change(text);
    return changed === undefined ? others : { [name]: changed, ...others };
  },
});

/** Steps that change the entry of the archive with this name. */
export const editEntry = (name, fields) => ({
  entries: (entries) => entries.map((entry) => (entry.name === name ? { ...entry, ...fields } : entry)),
});

/** Steps that add entries to the archive. */
export const addEntries = (...more) => ({ entries: (entries) => [...entries, ...more] });
