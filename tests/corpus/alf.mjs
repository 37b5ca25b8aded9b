// Damaged and forged `.alf` and `.alf-delta` files, made from good fixtures. Each case says what is wrong with the file
// and what `import` does with it: "taken", or the code of the refusal.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { entriesOf } from "../cli/generated.mjs";
import { FIXTURES } from "../cli/mementory.mjs";
import { archive, flip } from "./zip.mjs";

const LINES = "memory/partitions/2026-Q1.jsonl";
const OTHER = "0197f2a0-9999-7000-8000-00000000000f";

/** The good archive: every layer, an artifact, files of a runtime, an index, vectors, an entry of another program. */
export function good() {
  const found = entriesOf(join(FIXTURES, "alf", "every-field", "input")).map(([name, data]) => ({ name, data }));
  const manifest = JSON.parse(found.find((entry) => entry.name === "manifest.json").data.toString());
  return [
    ...found,
    { name: "memory/index.json", data: JSON.stringify({ partitions: manifest.layers.memory.partitions }) },
    { name: "memory/embeddings/vectors.bin", data: Buffer.alloc(64, 7) },
    { name: "raw/openclaw/SOUL.md", data: "# Imker\n\nCalm and exact.\n" },
    { name: "raw/openclaw/MEMORY.md", data: "# Memory\n\n## Bees\n\nKeeps bees on the roof.\n" },
    { name: "notes-of-another-program.txt", data: "Nothing that this format knows.\n" },
  ];
}

const text = (entry) => Buffer.from(entry.data).toString();
const named = (name, change) => (entries) =>
  entries.flatMap((entry) => (entry.name === name ? (change(entry) ?? []) : [entry]));
const without = (name) => named(name, () => null);
const damaged = (name) => named(name, (entry) => ({ ...entry, damage: flip }));
const json = (name, change) =>
  named(name, (entry) => {
    const value = JSON.parse(text(entry));
    change(value);
    return { ...entry, data: JSON.stringify(value) };
  });
const manifest = (change) => json("manifest.json", change);
const lines = (change) =>
  named(LINES, (entry) => ({ ...entry, data: change(text(entry).trimEnd().split("\n")).join("\n") + "\n" }));
const record = (change) =>
  lines(([first, ...others]) => {
    const value = JSON.parse(first);
    change(value);
    return [JSON.stringify(value), ...others];
  });
const also =
  (...more) =>
  (entries) => [...entries, ...more];
const extra = { name: "more.txt", data: "More text of nobody.\n" };
const inTurn =
  (...changes) =>
  (entries) =>
    changes.reduce((made, change) => change(made), entries);

/** What is wrong → how it is made, and what becomes of an import. */
const ARCHIVES = {
  nothing: [(entries) => entries, "taken"],
  // The bytes of an entry do not match their checksum.
  "damage in manifest.json": [damaged("manifest.json"), "damaged_entry"],
  "damage in identity.json": [damaged("identity.json"), "damaged_entry"],
  "damage in principals.json": [damaged("principals.json"), "damaged_entry"],
  "damage in credentials.json": [damaged("credentials.json"), "damaged_entry"],
  "damage in attachments.json": [damaged("attachments.json"), "damaged_entry"],
  "damage in a partition": [damaged(LINES), "damaged_entry"],
  "damage in memory/index.json": [damaged("memory/index.json"), "damaged_entry"],
  "damage in an artifact": [damaged("artifacts/data/hives.csv"), "damaged_entry"],
  "damage in raw/": [damaged("raw/openclaw/SOUL.md"), "damaged_entry"],
  "damage in vectors.bin": [damaged("memory/embeddings/vectors.bin"), "damaged_entry"],
  "damage in an entry of another program": [damaged("notes-of-another-program.txt"), "damaged_entry"],
  "a compressed manifest that does not unpack": [
    named("manifest.json", (entry) => ({ ...entry, deflate: true, damage: (packed) => packed.fill(0xff, 4, 12) })),
    "damaged_entry",
  ],
  "a compressed partition that does not unpack": [
    named(LINES, (entry) => ({ ...entry, deflate: true, damage: (packed) => packed.fill(0xff, 40, 60) })),
    "damaged_entry",
  ],
  // The directory and the local headers contradict each other.
  "a local header with an escaping name": [
    also({ ...extra, local: { name: "../../.bashrc" } }),
    "container_header_differs",
  ],
  "a local header with another name": [
    named("identity.json", (entry) => ({ ...entry, local: { name: "identitY.json" } })),
    "container_header_differs",
  ],
  "a local header with another size": [also({ ...extra, local: { size: 5 } }), "container_header_differs"],
  "a local header with another checksum": [also({ ...extra, local: { crc: 5 } }), "container_header_differs"],
  "a local header with another method": [also({ ...extra, local: { method: 8 } }), "container_header_differs"],
  "two names on the same data": [
    (entries) => [...entries, { ...entries.at(-1), like: entries.length - 1, name: "twin.txt" }],
    "container_header_differs",
  ],
  "an entry inside another": [
    (entries) => {
      const data = "Hidden in another entry.\n";
      const inner = archive([{ name: "inner.txt", data }]);
      return [
        ...entries,
        { name: "outer.bin", data: inner },
        { name: "inner.txt", data, inside: 30 + "outer.bin".length },
      ];
    },
    "container_overlap",
  ],
  "data that reaches into the directory": [
    also({ ...extra, central: { packed: 4096, size: 4096 }, local: { packed: 4096, size: 4096 } }),
    "container_overlap",
  ],
  // Names.
  "a name with an empty part": [also({ ...extra, name: "x//more.txt" }), "container_empty_name_part"],
  "names that differ by case": [also({ ...extra, name: "IDENTITY.json" }), "container_similar_names"],
  "names that differ by normalisation": [
    also({ ...extra, name: "caf\u00e9.txt" }, { ...extra, name: "cafe\u0301.txt" }),
    "container_similar_names",
  ],
  "a name twice": [also({ name: "identity.json", data: "{}" }), "refused_input"],
  "a name that leads out": [also({ ...extra, name: "../more.txt" }), "refused_input"],
  "an absolute name": [also({ ...extra, name: "/etc/more.txt" }), "refused_input"],
  "a name with backslashes": [also({ ...extra, name: "x\\more.txt" }), "refused_input"],
  "a link": [also({ ...extra, mode: 0o120777 }), "refused_input"],
  "an entry that says it is encrypted": [
    also({ ...extra, central: { flags: 0x801 }, local: { flags: 0x801 } }),
    "refused_input",
  ],
  // The file's own inventory.
  "no identity.json": [without("identity.json"), "layer_missing"],
  "no principals.json": [without("principals.json"), "layer_missing"],
  "no credentials.json": [without("credentials.json"), "layer_missing"],
  "no attachments.json": [without("attachments.json"), "layer_missing"],
  "no partition": [without(LINES), "partition_missing"],
  "a partition listed twice": [
    manifest((m) => m.layers.memory.partitions.push(m.layers.memory.partitions[0])),
    "partition_twice",
  ],
  "an emptied partition": [named(LINES, (entry) => ({ ...entry, data: "" })), "count_differs"],
  "a partition without its last line": [lines((all) => all.slice(0, -1)), "count_differs"],
  "a partition with a line more": [lines((all) => [...all, all[0].replace("0002", "0009")]), "count_differs"],
  "a partition that ends inside a line": [
    named(LINES, (entry) => ({ ...entry, data: text(entry).trimEnd().slice(0, -40) })),
    "partition_truncated",
  ],
  "another number in the partition's row": [
    manifest((m) => (m.layers.memory.partitions[0].record_count = 4)),
    "count_differs",
  ],
  "another number of all records": [manifest((m) => (m.layers.memory.record_count = 4)), "count_differs"],
  "another number of credentials": [manifest((m) => (m.layers.credentials.count = 7)), "count_differs"],
  "an identity of another agent": [json("identity.json", (i) => (i.agent_id = OTHER)), "foreign_agent_id"],
  "a record of another agent": [record((r) => (r.agent_id = OTHER)), "foreign_agent_id"],
  "a credential of another agent": [
    json("credentials.json", (c) => (c.credentials[0].agent_id = OTHER)),
    "foreign_agent_id",
  ],
  "a manifest of another agent": [manifest((m) => (m.agent.id = OTHER)), "foreign_agent_id"],
  "no manifest.json": [without("manifest.json"), "manifest_missing"],
  "a manifest that is not JSON": [
    named("manifest.json", (entry) => ({ ...entry, data: text(entry).slice(0, 300) })),
    "manifest_invalid",
  ],
  "an identity that is not JSON": [named("identity.json", (entry) => ({ ...entry, data: "{" })), "malformed_document"],
  "a version to come": [manifest((m) => (m.alf_version = "2.0.0")), "unsupported_version"],
  // Values that the specification forbids: the record is taken in, and the report says what validate says.
  "a confidence of 1.7": [record((r) => (r.confidence = 1.7)), "taken"],
  "an id that is no UUID": [record((r) => (r.id = "first")), "taken"],
  "an empty content": [record((r) => (r.content = "")), "taken"],
  "an embedding of another length": [
    record(
      (r) =>
        (r.embeddings = [
          { model: "m", dimensions: 3, vector: [1, 2], computed_at: "2026-01-01T00:00:00Z", source: "runtime" },
        ]),
    ),
    "taken",
  ],
  "an artifact that is not what its row says": [
    named("artifacts/data/hives.csv", (entry) => ({ ...entry, data: "hive,weight\n1,12\n" })),
    "taken",
  ],
  "a line that is no record": [
    inTurn(
      lines((all) => ["{broken", ...all.slice(1)]),
      (entries) => entries,
    ),
    "taken",
  ],
  // Bombs.
  "1 GB of zeros": [also({ name: "raw/openclaw/zeros.bin", data: Buffer.alloc(1 << 30), deflate: true }), "limit"],
};

/** Files whose bytes are cut or glued. */
const WHOLE_FILES = {
  "the first half of the file": [(bytes) => bytes.subarray(0, bytes.length / 2), "truncated_archive"],
  "the file without its directory": [(bytes) => bytes.subarray(0, bytes.indexOf("PK\x01\x02")), "truncated_archive"],
  "bytes before the archive": [(bytes) => Buffer.concat([Buffer.from("#!/bin/sh\n"), bytes]), "not_recognised"],
  "bytes behind the archive": [(bytes) => Buffer.concat([bytes, Buffer.from("junk")]), "taken"],
};

const AGENT = "0197f2a0-7777-7000-8000-00000000000a";

/** The good delta in the layout of the specification; it builds on sequence 41. */
export function goodDelta() {
  const folder = join(FIXTURES, "alf", "delta", "input");
  const manifest = JSON.parse(readFileSync(join(folder, "delta-manifest.json"), "utf8"));
  manifest.changes.memory.file = "memory/delta.jsonl";
  return [
    { name: "manifest.json", data: JSON.stringify(manifest) },
    { name: "memory/delta.jsonl", data: readFileSync(join(folder, "memory", "changes.jsonl")) },
  ];
}

const sync = (base, next) => manifest((m) => (m.sync = { base_sequence: base, new_sequence: next }));
const changed = (change) =>
  named("memory/delta.jsonl", (entry) => ({
    ...entry,
    data: change(text(entry).trimEnd().split("\n")).join("\n") + "\n",
  }));
const counted = (n) => manifest((m) => (m.changes.memory.record_count = n));

/** Deltas; the vault has the base at sequence 41. */
const DELTAS = {
  "delta: nothing": [(entries) => entries, "taken"],
  "delta: of another agent": [
    inTurn(
      manifest((m) => (m.agent.id = OTHER)),
      changed((all) => all.map((line) => line.replaceAll(AGENT, OTHER))),
    ),
    "wrong_agent",
  ],
  "delta: an earlier one is missing": [sync(42, 43), "sequence_gap"],
  "delta: already contained": [sync(40, 41), "already_applied"],
  "delta: from another state": [sync(40, 45), "wrong_base"],
  "delta: ends where it starts": [sync(41, 41), "sequence_order"],
  "delta: ends before it starts": [sync(41, 7), "sequence_order"],
  "delta: a line of another agent": [changed((all) => [all[0].replace(AGENT, OTHER), ...all.slice(1)]), "wrong_agent"],
  "delta: deletes a record of another agent": [
    changed((all) => [...all.slice(0, 2), all[2].replace(AGENT, OTHER)]),
    "wrong_agent",
  ],
  "delta: a line that is not JSON": [changed((all) => ["{", ...all.slice(1)]), "not_json"],
  "delta: a line without an operation": [
    changed((all) => [all[0].replace(', "operation": "update"', ""), ...all.slice(1)]),
    "no_operation",
  ],
  "delta: an unknown operation": [
    changed((all) => [all[0].replace('"update"', '"merge"'), ...all.slice(1)]),
    "unknown_operation",
  ],
  "delta: a line without content": [
    changed((all) => [all[0].replace('"content": "Three hives in the orchard.", ', ""), ...all.slice(1)]),
    "no_content",
  ],
  "delta: a line less": [changed((all) => all.slice(0, 2)), "count_differs"],
  "delta: no lines": [without("memory/delta.jsonl"), "partition_missing"],
  "delta: damage in its lines": [damaged("memory/delta.jsonl"), "damaged_entry"],
  "delta: damage in its manifest": [damaged("manifest.json"), "damaged_entry"],
  "delta: an identity that is not there": [
    manifest((m) => (m.changes.identity = { file: "identity.json", new_version: 2 })),
    "layer_missing",
  ],
  "delta: lines in another order": [changed((all) => all.reverse()), "taken"],
  "delta: creates, changes and deletes one record": [
    inTurn(
      changed((all) => [
        all[1],
        all[1].replace('"create"', '"update"').replace("am Stand", "im Laden"),
        all[2].replace("000003", "000004"),
      ]),
      counted(3),
    ),
    "taken",
  ],
};

/** Every file: its name for people, its bytes, and what an import does. */
export function* files() {
  for (const [name, [change, outcome]] of Object.entries(ARCHIVES))
    yield { name, outcome, ending: "alf", bytes: () => archive(change(good())) };
  for (const [name, [change, outcome]] of Object.entries(WHOLE_FILES))
    yield { name, outcome, ending: "alf", bytes: () => change(archive(good())) };
  for (const [name, [change, outcome]] of Object.entries(DELTAS))
    yield { name, outcome, ending: "alf-delta", bytes: () => archive(change(goodDelta())) };
}

/** Archives that the vault has before a file is imported. */
export const bases = () => [
  archive(entriesOf(join(FIXTURES, "alf", "delta", "base")).map(([name, data]) => ({ name, data }))),
];
