// Checks that the every-field fixtures use every member of our schemas. Otherwise the round trip tests would not
// cover the unused members.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../tools/places.mjs";
import { FIXTURES } from "./mementory.mjs";

const readText = (...path) => readFileSync(join(...path), "utf8");
const SCHEMA_FOLDER = join(ROOT, "schemas");
const readJsonLines = (...path) =>
  readText(...path)
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => JSON.parse(line));
const MEM_FOLDER = join(FIXTURES, "mem", "every-field", "input.mem");
const ALF_FOLDER = join(FIXTURES, "alf", "every-field", "input");
const PAM_FOLDER = join(FIXTURES, "pam", "every-field", "input");

/** `{schema: documents}`: the documents together have to use every member of the schema. */
function documentsBySchema() {
  const kinds = readdirSync(join(MEM_FOLDER, "items")).map((name) => name.replace(".jsonl", ""));
  const native = kinds.filter((kind) => !kind.startsWith("acme"));
  const alf = ["manifest", "identity", "principals", "credentials", "attachments"];
  const zaxy = JSON.parse(readText(FIXTURES, "zaxy", "every-field", "input.json"));
  return {
    ...Object.fromEntries(native.map((kind) => [`mem/${kind}`, readJsonLines(MEM_FOLDER, "items", `${kind}.jsonl`)])),
    "mem/manifest": [JSON.parse(readText(MEM_FOLDER, "manifest.json"))],
    "mem/log": readJsonLines(MEM_FOLDER, "audit", "log.jsonl"),
    "mem/tombstone": readJsonLines(MEM_FOLDER, "audit", "tombstones.jsonl"),
    ...Object.fromEntries(alf.map((layer) => [`alf/${layer}`, [JSON.parse(readText(ALF_FOLDER, `${layer}.json`))]])),
    "alf/memory-record": readJsonLines(ALF_FOLDER, "memory", "partitions", "2026-Q1.jsonl"),
    "mif/mif-1": [JSON.parse(readText(FIXTURES, "mif", "every-field", "input.mif.json"))],
    "mif/mif-2": [JSON.parse(readText(FIXTURES, "mif", "every-field-2", "input.json"))],
    "pam/memory-store": [JSON.parse(readText(PAM_FOLDER, "memory-store.json"))],
    "pam/conversation": [JSON.parse(readText(PAM_FOLDER, "conversations", "talk-a.json"))],
    "pam/embeddings": [JSON.parse(readText(PAM_FOLDER, "embeddings.json"))],
    "zaxy/unsigned-bundle": [zaxy],
    "zaxy/entry": zaxy.entries,
  };
}

/** Members that the fixtures need not have, by name or by schema and place, with the reason. */
const EXCEPTIONS = {
  x_mementory: "our extension slot, only in files that we write",
  x_keepsake: "our extension slot as written before the rename",
  keepsake: "our extension slot as written before the rename",
  mementory: "ours",
  checksum_method: "ours",
  checksum_scope: "ours",
  "alf/manifest /layers/memory/partitions/*/sha256": "ours",
  "alf/manifest /checksum": "only checked for our own archives; that of other programs is preserved, not verified",
  encryption: "an encrypted document has no plain members",
  "mem/manifest /since": "only in incremental bundles",
};

/**
 * A message for each schema member that no document uses and that is not an exception, and for each schema of `.mem`
 * without documents.
 */
export function missingMembers() {
  const problems = [];
  const bySchema = documentsBySchema();
  for (const [name, documents] of Object.entries(bySchema)) {
    const root = JSON.parse(readText(SCHEMA_FOLDER, `${name}.schema.json`));
    const isUsed = new Map();
    recordMembers(root, documents, "", { root, isUsed });
    for (const [place, used] of isUsed) {
      const [short, long] = [place.split("/").pop(), `${name} ${place}`];
      if (
        !used &&
        !EXCEPTIONS[short] &&
        !EXCEPTIONS[long] &&
        !place.includes("/encryption/") &&
        !/(?:mementory|keepsake)\//.test(place)
      )
        problems.push(`the fixture uses every member of ${name}: ${place} is in none`);
    }
  }
  const kinds = readdirSync(join(SCHEMA_FOLDER, "mem")).map((name) => `mem/${name.replace(".schema.json", "")}`);
  return [
    ...problems,
    ...kinds.filter((kind) => !bySchema[kind] && !kind.endsWith("mementory")).map((kind) => `${kind} is in no fixture`),
  ];
}

/** Walks through a schema and documents in parallel, and records for each member whether a document uses it. */
function recordMembers(schema, values, place, context) {
  if (!schema || typeof schema !== "object") return;
  for (const part of [
    ...(schema.allOf ?? []),
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    schema.then,
    schema.else,
  ])
    recordMembers(part, values, place, context);
  if (schema.$ref?.startsWith("#/"))
    recordMembers(
      schema.$ref
        .slice(2)
        .split("/")
        .reduce((at, step) => at[step], context.root),
      values,
      place,
      context,
    );
  const objects = values.filter((value) => value && typeof value === "object" && !Array.isArray(value));
  for (const [name, inner] of Object.entries(schema.properties ?? {})) {
    const memberValues = objects.filter((object) => name in object).map((object) => object[name]);
    context.isUsed.set(`${place}/${name}`, memberValues.length > 0 || context.isUsed.get(`${place}/${name}`) === true);
    recordMembers(inner, memberValues, `${place}/${name}`, context);
  }
  const elements = values.filter(Array.isArray).flat();
  if (schema.items) recordMembers(schema.items, elements, `${place}/*`, context);
}
