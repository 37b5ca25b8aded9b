// Damaged and forged `.alf-delta` files: what is wrong with each, and what `import` answers.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "../cli/mementory.mjs";
import {
  OTHER_AGENT_ID,
  entryText,
  changeEntry,
  removeEntry,
  damageEntry,
  editManifest,
  stateMethod,
  addEntries,
  applyInTurn,
} from "./alf_edits.mjs";

const AGENT_ID = "0197f2a0-7777-7000-8000-00000000000a";

/** Entries of a valid delta in the layout of the specification. Its base is the state with sequence 41. */
export function validDeltaEntries() {
  const folder = join(FIXTURES, "alf", "delta", "input");
  const manifest = JSON.parse(readFileSync(join(folder, "delta-manifest.json"), "utf8"));
  manifest.changes.memory.file = "memory/delta.jsonl";
  return [
    { name: "manifest.json", data: JSON.stringify(manifest) },
    { name: "memory/delta.jsonl", data: readFileSync(join(folder, "memory", "changes.jsonl")) },
  ];
}

const setSequences = (base, next) => editManifest((m) => (m.sync = { base_sequence: base, new_sequence: next }));
const editDeltaLines = (change) =>
  changeEntry("memory/delta.jsonl", (entry) => ({
    ...entry,
    data: change(entryText(entry).trimEnd().split("\n")).join("\n") + "\n",
  }));
const setRecordCount = (n) => editManifest((m) => (m.changes.memory.record_count = n));

const addPrincipals = (document) =>
  applyInTurn(
    editManifest((m) => (m.changes.principals = { file: "principals.json", changed_ids: [] })),
    addEntries({ name: "principals.json", data: JSON.stringify(document) }),
  );

/** A principal whose profile names this agent and this principal. */
const principalOf = (agent, principal = OTHER_AGENT_ID) => ({
  id: OTHER_AGENT_ID,
  principal_type: "human",
  agent_id: null,
  profile: {
    id: OTHER_AGENT_ID,
    agent_id: agent,
    principal_id: principal,
    version: 1,
    updated_at: "2026-05-01T00:00:00Z",
  },
});

/**
 * The same table as `ARCHIVES`, for deltas. The vault already has the base of the deltas, the state with sequence
 * number 41.
 */
export const DELTAS = {
  "delta: nothing": [(entries) => entries, "taken"],
  "delta: of another agent": [
    applyInTurn(
      editManifest((m) => (m.agent.id = OTHER_AGENT_ID)),
      editDeltaLines((all) => all.map((line) => line.replaceAll(AGENT_ID, OTHER_AGENT_ID))),
    ),
    "wrong_agent",
  ],
  "delta: an earlier one is missing": [setSequences(42, 43), "sequence_gap"],
  "delta: already contained": [setSequences(40, 41), "already_applied"],
  "delta: from another state": [setSequences(40, 45), "wrong_base"],
  "delta: ends where it starts": [setSequences(41, 41), "sequence_order"],
  "delta: ends before it starts": [setSequences(41, 7), "sequence_order"],
  "delta: a line of another agent": [
    editDeltaLines((all) => [all[0].replace(AGENT_ID, OTHER_AGENT_ID), ...all.slice(1)]),
    "wrong_agent",
  ],
  "delta: deletes a record of another agent": [
    editDeltaLines((all) => [...all.slice(0, 2), all[2].replace(AGENT_ID, OTHER_AGENT_ID)]),
    "wrong_agent",
  ],
  "delta: a line that is not JSON": [editDeltaLines((all) => ["{", ...all.slice(1)]), "not_json"],
  "delta: a line without an operation": [
    editDeltaLines((all) => [all[0].replace(', "operation": "update"', ""), ...all.slice(1)]),
    "no_operation",
  ],
  "delta: an unknown operation": [
    editDeltaLines((all) => [all[0].replace('"update"', '"merge"'), ...all.slice(1)]),
    "unknown_operation",
  ],
  "delta: an operation in capitals": [
    editDeltaLines((all) => [all[0].replace('"update"', '"UPDATE"'), ...all.slice(1)]),
    "unknown_operation",
  ],
  "delta: null in place of an operation": [
    editDeltaLines((all) => [all[0].replace('"update"', "null"), ...all.slice(1)]),
    "unknown_operation",
  ],
  "delta: two operations in a line": [
    editDeltaLines((all) => [all[0].replace("{", '{"operation":"delete",'), ...all.slice(1)]),
    "unknown_operation",
  ],
  "delta: a number of lines that is a text": [setRecordCount("3"), "manifest_invalid"],
  "delta: a manifest with its changes twice": [
    changeEntry("manifest.json", (entry) => ({ ...entry, data: entryText(entry).replace("{", '{"changes":{},') })),
    "manifest_invalid",
  ],
  "delta: principals and credentials in one file": [
    applyInTurn(
      editManifest((m) => (m.changes.principals = m.changes.credentials = { file: "both.json" })),
      addEntries({ name: "both.json", data: JSON.stringify({ principals: [], credentials: [] }) }),
    ),
    "manifest_invalid",
  ],
  "delta: principals without a list": [addPrincipals({}), "malformed"],
  "delta: a principal that is a text": [addPrincipals({ principals: ["Ilse"] }), "malformed"],
  "delta: a line without content": [
    editDeltaLines((all) => [all[0].replace('"content": "Three hives in the orchard.", ', ""), ...all.slice(1)]),
    "no_content",
  ],
  "delta: a line less": [editDeltaLines((all) => all.slice(0, 2)), "count_differs"],
  "delta: no lines": [removeEntry("memory/delta.jsonl"), "partition_missing"],
  "delta: damage in its lines": [damageEntry("memory/delta.jsonl"), "damaged_entry"],
  "delta: damage in its manifest": [damageEntry("manifest.json"), "damaged_entry"],
  "delta: a manifest that is compressed with bzip2": [stateMethod("manifest.json", 12), "refused_input"],
  "delta: an identity that is not there": [
    editManifest((m) => (m.changes.identity = { file: "identity.json", new_version: 2 })),
    "layer_missing",
  ],
  "delta: no changes": [editManifest((m) => delete m.changes), "manifest_invalid"],
  "delta: null in place of the change of the records": [
    editManifest((m) => (m.changes.memory = null)),
    "manifest_invalid",
  ],
  "delta: no version": [editManifest((m) => delete m.alf_version), "manifest_invalid"],
  "delta: a vector of another length": [
    editDeltaLines((all) => [
      all[0].replace(
        "{",
        '{"embeddings":[{"model":"m","dimensions":3,"vector":[1],"computed_at":"2026-01-01T00:00:00Z","source":"runtime"}],',
      ),
      ...all.slice(1),
    ]),
    "taken",
  ],
  "delta: a principal with another id in its profile": [
    addPrincipals({ principals: [principalOf(AGENT_ID, AGENT_ID)] }),
    "taken",
  ],
  "delta: a file for raw/": [addEntries({ name: "raw/openclaw/SOUL.md", data: "# Imker\n" }), "taken"],
  "delta: a document that no change names": [addEntries({ name: "identity.json", data: "{}" }), "taken"],
  "delta: a record that is created twice": [
    applyInTurn(
      editDeltaLines((all) => [...all, all[1]]),
      setRecordCount(4),
    ),
    "taken",
  ],
  "delta: a version with a letter": [editManifest((m) => (m.alf_version = "v1.0.0")), "manifest_invalid"],
  "delta: lines that no change names": [editManifest((m) => (m.changes = {})), "taken"],
  "delta: the agent in upper case": [editManifest((m) => (m.agent.id = m.agent.id.toUpperCase())), "taken"],
  "delta: lines in another order": [editDeltaLines((all) => all.reverse()), "taken"],
  "delta: creates, changes and deletes one record": [
    applyInTurn(
      editDeltaLines((all) => [
        all[1],
        all[1].replace('"create"', '"update"').replace("am Stand", "im Laden"),
        all[2].replace("000003", "000004"),
      ]),
      setRecordCount(3),
    ),
    "taken",
  ],
  "delta: a record that is named twice in a line": [
    editDeltaLines((all) => [all[0].replace("{", `{"id":"${OTHER_AGENT_ID}",`), ...all.slice(1)]),
    "no_id",
  ],
  "delta: an agent that is named twice in a line": [
    editDeltaLines((all) => [all[0].replace("{", `{"agent_id":"${OTHER_AGENT_ID}",`), ...all.slice(1)]),
    "wrong_agent",
  ],
  "delta: a deletion whose id is no UUID": [
    editDeltaLines((all) => [...all.slice(0, 2), all[2].replace(/"id": "[^"]*"/, '"id": "note-1"')]),
    "taken",
  ],
  "delta: a profile of another agent": [addPrincipals({ principals: [principalOf(OTHER_AGENT_ID)] }), "taken"],
};
