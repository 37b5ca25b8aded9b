// Builds `.mem` bundles as archives. A case can change the content before the manifest is made, the manifest itself, or
// the files after the manifest was made.
import { join } from "node:path";
import { entriesOf } from "../cli/generated.mjs";
import { FIXTURES } from "../cli/mementory.mjs";
import { TRUSTED_KEY, canonicalJson, sha256 } from "./signing.mjs";
import { buildArchive } from "./zip.mjs";

export const TOMBSTONES = "audit/tombstones.jsonl";
export const EPISODES = "items/episode.jsonl";
const NOT_LISTED = ["manifest.json", "CHECKSUMS", "manifest.sig"];
const NAMES_OF_COUNTS = {
  "audit/tombstones.jsonl": "tombstone",
  "audit/log.jsonl": "audit",
  "provenance/edges.jsonl": "provenanceEdge",
};

/** A signature as `ed25519:<public key>:<signature>`. */
export const token = (message, key = TRUSTED_KEY) =>
  `ed25519:${key.publicKey.toString("hex")}:${key.sign(message).toString("hex")}`;

/** Returns the tombstone in `line` with a signature by `key`, as a line. */
export function signedTombstone(line, key = TRUSTED_KEY) {
  const { acmeTicket, ...covered } = JSON.parse(line);
  delete covered.signature;
  return canonicalJson({ ...covered, acmeTicket, signature: token(canonicalJson(covered), key) });
}

/**
 * The files of a valid bundle as text, by path. They contain every kind and field, a vendor kind, and two tombstones,
 * one of which is signed.
 */
export function validFiles() {
  const files = Object.fromEntries(
    entriesOf(join(FIXTURES, "mem", "every-field", "input.mem")).map(([path, bytes]) => [path, bytes.toString()]),
  );
  const [signed, plain] = linesOf(files[TOMBSTONES]);
  files[TOMBSTONES] = `${signedTombstone(signed)}\n${plain}\n`;
  return files;
}

export const linesOf = (text) => text.trimEnd().split("\n");

/** Scopes, coverage and counts for the manifest. A line that is not JSON is counted, but has no scope and no time. */
function summaries(files) {
  const recordsOf = (path) => linesOf(String(files[path] ?? "")).flatMap((line) => tryParse(line) ?? []);
  const episodes = recordsOf(EPISODES);
  const times = episodes.map((episode) => String(episode.eventTime)).sort();
  const scopes = [...episodes.map((e) => e.contextID), ...recordsOf("items/context.jsonl").map((c) => c.id)];
  const lines = Object.entries(files).filter(([path]) => path.endsWith(".jsonl"));
  const countOf = (text) =>
    String(text)
      .split("\n")
      .filter((line) => line.trim() !== "").length;
  const nameOf = (path) => NAMES_OF_COUNTS[path] ?? path.replace(/^items\/(.*)\.jsonl$/, "$1");
  return {
    ...(times.length > 0 && { coverage: { from: times[0], to: times.at(-1) } }),
    ...(scopes.length > 0 && { scopes: [...new Set(scopes.filter((scope) => typeof scope === "string"))].sort() }),
    counts: Object.fromEntries(lines.map(([path, text]) => [nameOf(path), countOf(text)])),
  };
}

function tryParse(line) {
  try {
    return [JSON.parse(line)];
  } catch {
    return null;
  }
}

/**
 * Makes a bundle from the valid files. `steps` has functions that change the bundle while it is made, all of them
 * optional, in this order: `content(files)`, `checksums(text)`, `manifest(value)`, `manifestText(text)`,
 * `sealed(files)` (all files, including the manifest and its signature), and `entries(entries)` (of the archive). Each
 * changes its argument or returns another value. `key` signs the manifest.
 */
export function buildBundle(steps) {
  const apply = (name, value) => steps[name]?.(value) ?? value;
  const { "manifest.json": manifestText, ...data } = validFiles();
  delete data.CHECKSUMS;
  const files = apply("content", data);
  const listedPaths = Object.keys(files)
    .filter((path) => !NOT_LISTED.includes(path))
    .sort();
  const rows = listedPaths.map((path) => ({
    bytes: Buffer.byteLength(files[path]),
    path,
    sha256: sha256(files[path]),
  }));
  const checksums = apply("checksums", rows.map((row) => `${row.sha256}  ${row.path}\n`).join(""));
  const parsedManifest = JSON.parse(manifestText);
  delete parsedManifest.coverage;
  delete parsedManifest.scopes;
  const value = { ...parsedManifest, ...summaries(files), files: rows, bundleDigest: sha256(checksums) };
  const manifest = apply("manifestText", canonicalJson(apply("manifest", value)));
  const sealedFiles = apply("sealed", {
    ...files,
    CHECKSUMS: checksums,
    "manifest.json": manifest,
    ...(steps.key && { "manifest.sig": `${token(manifest, steps.key)}\n` }),
  });
  const entries = Object.entries(sealedFiles).map(([path, text]) => ({ name: `garden.mem/${path}`, data: text }));
  return buildArchive(apply("entries", entries));
}

/** Steps for `buildBundle` that change the first record of a kind. */
export const editRecord = (kind, change, path = `items/${kind}.jsonl`) =>
  editLines(path, ([first, ...others]) => {
    const record = JSON.parse(first);
    return [canonicalJson(change(record) ?? record), ...others];
  });

/** Steps for `buildBundle` that change the lines of a file. */
export const editLines = (path, change) => editText(path, (text) => `${change(linesOf(text)).join("\n")}\n`);

/** Steps for `buildBundle` that change the text of a file before the manifest is made. */
export const editText = (path, change) => ({
  content: (files) => ({ ...files, [path]: change(files[path]) }),
});

/** Steps for `buildBundle` that change a file after the manifest was made. */
export const editSealed = (path, change) => ({
  sealed: (files) => {
    const { [path]: text, ...others } = files;
    const changedText = change(text);
    return changedText === undefined ? others : { ...others, [path]: changedText };
  },
});

/** Steps for `buildBundle` that change the fields of the archive entry with this path. */
export const editEntry = (path, fields) => ({
  entries: (entries) => entries.map((entry) => (entry.name === `garden.mem/${path}` ? { ...entry, ...fields } : entry)),
});

/** Steps for `buildBundle` that add entries to the archive. */
export const addEntries = (...more) => ({ entries: (entries) => [...entries, ...more] });
