import type {
  Backend,
  DuplicateGroup,
  Ids,
  ListItem,
  SensitiveItem,
  ExportStatusCount,
  TombstoneView,
} from "../backend";
import { sampleReceipt, failWith, sampleTombstone, runStages } from "./jobs";
import { sampleFindings, type Finding } from "./sensitive";

type Commands = Pick<
  Backend,
  | "scanRecords"
  | "sensitiveQueue"
  | "sensitiveValue"
  | "redactValues"
  | "ignoreValues"
  | "duplicates"
  | "keepApart"
  | "merge"
>;
type ReviewContext = {
  items: () => ListItem[];
  trash: (ids: string[]) => Promise<Ids>;
  empty: () => boolean;
  tombstones: TombstoneView[];
  stepMs: number;
  scanned: boolean;
};

/** Groups of similar sample memories, by the start of their texts. */
const DUPLICATE_GROUPS: { same: boolean; starts: string[] }[] = [
  { same: true, starts: ["Budget for the bathroom is NOK 240,000"] },
  { same: false, starts: ["Prefers British spelling and short", "Prefers short answers in British"] },
  { same: false, starts: ["Her daughter Liv is seven"] },
];

/** The classes of sensitive values, the most serious first. */
const CLASS_ORDER = [
  "access_key",
  "private_key",
  "password",
  "card",
  "iban",
  "email",
  "phone",
  "national_id",
  "stored_secret",
];

/** The commands for the review: sensitive values, duplicates, and what has changed in a newer export. */
export function sampleReview({ items, trash, empty, tombstones, stepMs, scanned }: ReviewContext) {
  const findings = sampleFindings();
  let scannedAt: string | null = scanned ? new Date().toISOString() : null;
  let keptApart: string[][] = [];
  const shownFindings = () => (empty() || scannedAt === null ? [] : findings);
  const counts = (state: Finding["state"]) => {
    const all: Record<string, number> = {};
    const findingsInState = shownFindings().filter((each) => each.state === state);
    for (const { item } of findingsInState) all[item.class] = (all[item.class] ?? 0) + 1;
    return all;
  };
  const findingOf = (value: string) => {
    const found = shownFindings().find((each) => each.item.value === value && each.state !== "redacted");
    if (!found) throw failWith("not_found", "No record holds this value.");
    return found;
  };
  const groups = (): DuplicateGroup[] =>
    DUPLICATE_GROUPS.map(({ same, starts }) => ({
      same,
      items: items()
        .filter((each) => !each.trashed_at && starts.some((start) => each.text.startsWith(start)))
        .sort((a, b) => (a.created_at ?? "").localeCompare(b.created_at ?? "")),
    })).filter(
      ({ items }) => items.length > 1 && !keptApart.some((ids) => items.every((each) => ids.includes(each.id))),
    );

  const commands: Commands = {
    scanRecords: async (id, rescan, onProgress) => {
      // Only a scan that the person started takes time; a background scan ends at once.
      await runStages(id, ["scan"], 4300, rescan ? stepMs / 4 : 0, onProgress);
      // With the option `neverScanned`, background scans do not count as a scan of the vault.
      if (scanned || rescan) scannedAt = new Date().toISOString();
      return { records: 4300 };
    },
    sensitiveQueue: async ({ state, classes, offset, limit }) => {
      const chosen: SensitiveItem[] = shownFindings()
        .filter((each) => each.state === (state || "open"))
        .filter((each) => classes.length === 0 || classes.includes(each.item.class))
        .map((each) => each.item)
        .sort((a, b) => CLASS_ORDER.indexOf(a.class) - CLASS_ORDER.indexOf(b.class));
      return structuredClone({
        items: chosen.slice(offset, offset + (limit || 100)),
        open: counts("open"),
        redacted: counts("redacted"),
        ignored: counts("ignored"),
        scanned_at: scannedAt,
        left: scannedAt === null ? 4300 : 0,
      });
    },
    sensitiveValue: async (value) => {
      const { item, places } = findingOf(value);
      return structuredClone({ item, places });
    },
    redactValues: async (id, { values, classes, ids }, onProgress) => {
      await runStages(id, ["record", "verbatim", "search_index", "database_pages"], 3, stepMs / 4, onProgress);
      const chosen = shownFindings().filter((each) =>
        values.length > 0
          ? values.includes(each.item.value)
          : each.state === "open" && (classes.length === 0 || classes.includes(each.item.class)),
      );
      let redacted = 0;
      for (const found of chosen) {
        const redactedPlaces = found.places.filter((place) => ids === null || ids.includes(place.id));
        redacted += redactedPlaces.length;
        found.places = found.places.filter((place) => !redactedPlaces.includes(place));
        found.item.places = found.places.length;
        found.item.first = found.places[0] ?? null;
        if (found.places.length > 0) continue;
        found.state = "redacted";
        Object.assign(found.item, { places: redactedPlaces.length, detector: "", judged_at: new Date().toISOString() });
        Object.assign(found.item, { context: [] });
      }
      const tombstone = sampleTombstone(`ts_v${tombstones.length}`, "redact", "message", "chatgpt", 0);
      tombstones.unshift(tombstone);
      return { redacted, tombstones: [tombstone], receipt: sampleReceipt("rc_values") };
    },
    ignoreValues: async (values, ignored) => {
      for (const value of values) {
        const found = findingOf(value);
        found.state = ignored ? "ignored" : "open";
        found.item.judged_at = ignored ? new Date().toISOString() : null;
      }
    },
    duplicates: async (id, onProgress) => {
      await runStages(id, ["compare"], items().length, 0, onProgress);
      return structuredClone({ groups: groups() });
    },
    keepApart: async (ids) => {
      keptApart = [...keptApart, ids];
      return { ids };
    },
    merge: async (keep, others) => {
      const keptItem = items().find((each) => each.id === keep);
      const tags = items().flatMap((each) => (each === keptItem || others.includes(each.id) ? each.tags : []));
      if (keptItem) keptItem.tags = [...new Set(tags)].sort();
      return trash(others);
    },
  };
  const exportDiffCounts = (): ExportStatusCount[] => {
    const all = new Map<string, ExportStatusCount>();
    for (const { source, kind, export_diff_status, trashed_at } of items()) {
      if (!export_diff_status || trashed_at) continue;
      const key = `${source} ${kind} ${export_diff_status}`;
      const counted = all.get(key) ?? { platform: source, kind, export_diff_status, count: 0 };
      all.set(key, { ...counted, count: counted.count + 1 });
    }
    return [...all.values()];
  };
  return {
    commands,
    open: () => Object.values(counts("open")).reduce((sum, n) => sum + n, 0),
    exportDiffCounts,
    /** The numbers of records, by kind, that are missing from the newest export of an assistant. */
    gone: (platform: string) =>
      Object.fromEntries(
        exportDiffCounts()
          .filter((each) => each.platform === platform && each.export_diff_status === "gone")
          .map(({ kind, count }) => [kind, count]),
      ),
  };
}
