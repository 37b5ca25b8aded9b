// Changes to the entries of an `.alf` archive. Each change is a function that takes the entries and returns new ones.
import { flipMiddleBit } from "./zip.mjs";

export const OTHER_AGENT_ID = "0197f2a0-9999-7000-8000-00000000000f";
export const PARTITION_NAME = "memory/partitions/2026-Q1.jsonl";

export const entryText = (entry) => Buffer.from(entry.data).toString();
export const changeEntry = (name, change) => (entries) =>
  entries.flatMap((entry) => (entry.name === name ? (change(entry) ?? []) : [entry]));
export const removeEntry = (name) => changeEntry(name, () => null);
export const damageEntry = (name) => changeEntry(name, (entry) => ({ ...entry, damage: flipMiddleBit }));
export const editJson = (name, change) =>
  changeEntry(name, (entry) => {
    const value = JSON.parse(entryText(entry));
    change(value);
    return { ...entry, data: JSON.stringify(value) };
  });
export const editManifest = (change) => editJson("manifest.json", change);
export const editLines = (change) =>
  changeEntry(PARTITION_NAME, (entry) => ({
    ...entry,
    data: change(entryText(entry).trimEnd().split("\n")).join("\n") + "\n",
  }));
export const editFirstRecord = (change) =>
  editLines(([first, ...others]) => {
    const value = JSON.parse(first);
    change(value);
    return [JSON.stringify(value), ...others];
  });
/** States this compression method in both headers of an entry. */
export const stateMethod = (name, method) =>
  changeEntry(name, (entry) => ({ ...entry, central: { method }, local: { method } }));
/** States these flags in both headers of an entry. */
export const stateFlags = (name, flags) =>
  changeEntry(name, (entry) => ({ ...entry, central: { flags }, local: { flags } }));
/** Removes all layers but the memories, and all entries but the manifest and the partition. */
export const keepOnlyMemories = (entries) =>
  editManifest((m) => {
    m.layers = { memory: m.layers.memory };
    delete m.raw_sources;
  })(entries.filter((entry) => ["manifest.json", PARTITION_NAME].includes(entry.name)));
export const addEntries =
  (...more) =>
  (entries) => [...entries, ...more];
export const applyInTurn =
  (...changes) =>
  (entries) =>
    changes.reduce((made, change) => change(made), entries);
