import { t, type MessageKey } from "$lib/text";
import { daysSince, relativeDayInSentence } from "$lib/text/format";
import {
  backend,
  type BatchInfo,
  type ListItem,
  type SourceInfo,
  type ExportStatusCount,
  type TombstoneView,
  type VaultInfo,
} from "$lib/ipc";
import { FORMATS } from "$lib/ipc/formats";
import { byFrequency } from "$lib/state/facets.svelte";
import { ANY, dayEnd, dayStart } from "$lib/state/filter";
import { MISSING_KINDS, type MissingKind } from "$lib/state/missing-filter";

export type Column = {
  source: string;
  memories: number;
  profiles: number;
  conversations: number;
  /** Date of the newest memory that has a date. */
  newest: string | null;
  /** When the assistant's newest export was made, if known. */
  exported: string | null;
  types: Record<string, number>;
  /** Numbers of memories without a type, by subject. The empty name is for memories without a suggested subject. */
  about: Record<string, number>;
  /** Number of memories in a special category. */
  special: number;
};
export type Month = { start: Date; since: string; until: string; sources: Record<string, number>; total: number };
/** `undated`: number of memories without a date of their own, which are in no month. */
export type Months = { months: Month[]; undated: number };
export type Home = {
  columns: Column[];
  types: string[];
  profiles: ListItem[];
  profileTotal: number;
  recent: ListItem[];
  incomplete: TombstoneView[];
  /** Time of the last import that was not undone; null if none. */
  imported: string | null;
  /** The newest exports that could be read only in part. It is not known which records are missing from them. */
  partlyRead: PartlyReadExport[];
};
export type PartlyReadExport = { source: string; batch: string };

/** One column for each assistant, even if its records come in several formats. */
export function columnsOf(sources: readonly SourceInfo[]): Column[] {
  const columns = new Map<string, Column>();
  for (const source of sources) {
    const column = columns.get(source.platform) ?? {
      source: source.platform,
      memories: 0,
      profiles: 0,
      conversations: 0,
      newest: null,
      exported: null,
      types: {},
      about: {},
      special: 0,
    };
    column.memories += source.counts.memory ?? 0;
    column.profiles += source.counts.profile ?? 0;
    column.conversations += source.counts.conversation ?? 0;
    if (source.exported_at && (!column.exported || source.exported_at > column.exported))
      column.exported = source.exported_at;
    columns.set(source.platform, column);
  }
  return [...columns.values()].sort(
    (a, b) =>
      Number(a.source === "me") - Number(b.source === "me") ||
      b.memories - a.memories ||
      b.conversations - a.conversations,
  );
}

/** Age in days after which an export counts as old. */
const OLD_AFTER_DAYS = 90;

/** Whether the newest export of an assistant is old. False if its time is unknown. */
export function hasOldExport({ exported }: Column): boolean {
  return exported !== null && daysSince(exported) > OLD_AFTER_DAYS;
}

/**
 * The number of records of one kind that are missing from an assistant's newest export. Each kind has its own row,
 * because a list shows only one kind. `alone` is true if no records of other kinds are missing for this assistant.
 */
export type MissingRow = { source: string; kind: MissingKind; n: number; alone: boolean };

/** Missing records of all assistants, largest number first. */
export function missingByAssistant(counts: readonly ExportStatusCount[]): MissingRow[] {
  const all = new Map<string, Record<MissingKind, number>>();
  for (const { platform: source, kind, export_diff_status, count } of counts) {
    const missingKind = MISSING_KINDS.find((each) => each === kind);
    if (export_diff_status !== "gone" || !missingKind) continue;
    const row = all.get(source) ?? { memory: 0, profile: 0, conversation: 0 };
    all.set(source, { ...row, [missingKind]: row[missingKind] + count });
  }
  const total = (row: Record<MissingKind, number>) => MISSING_KINDS.reduce((sum, kind) => sum + row[kind], 0);
  return [...all]
    .sort((a, b) => total(b[1]) - total(a[1]))
    .flatMap(([source, row]) =>
      MISSING_KINDS.filter((kind) => row[kind] > 0).map((kind) => ({
        source,
        kind,
        n: row[kind],
        alone: row[kind] === total(row),
      })),
    );
}

/**
 * Types by frequency, one for each row of the matrix. "No type" is included, so that the numbers of a column add up.
 */
export function typesByFrequency(columns: readonly Column[]): string[] {
  const totals: Record<string, number> = {};
  for (const column of columns)
    for (const [type, n] of Object.entries(column.types)) totals[type] = (totals[type] ?? 0) + n;
  return byFrequency(totals);
}

/**
 * Subjects of memories without a type by frequency, one for each row of the matrix. Empty if no subject is suggested
 * for any of these memories; all of them are then in a single row.
 */
export function subjectsByFrequency(columns: readonly Column[]): string[] {
  const totals: Record<string, number> = {};
  for (const column of columns)
    for (const [kind, n] of Object.entries(column.about)) totals[kind] = (totals[kind] ?? 0) + n;
  const kinds = byFrequency(totals);
  return kinds.length === 1 && kinds[0] === "" ? [] : kinds;
}

/**
 * Formats that contain everything that an assistant stores for an account. The id of such a format is also the id of its
 * platform.
 */
const ACCOUNT_EXPORTS = new Set<string>(FORMATS.filter(({ accountExport }) => accountExport).map(({ id }) => id));
/**
 * Kinds that are compared between exports. `foreign` and `other` are included, because unreadable items of a compared
 * kind may be counted there.
 */
const COMPARED_KINDS = [...MISSING_KINDS, "foreign", "other"];

/** The newest exports that could be read only in part, if the same assistant has an earlier export to compare with. */
export async function partlyReadExports(batches: readonly BatchInfo[]): Promise<PartlyReadExport[]> {
  const accountBatches = batches.filter(({ undone, format }) => !undone && ACCOUNT_EXPORTS.has(format ?? ""));
  const newest = [...new Set(accountBatches.map(({ format }) => format ?? ""))].flatMap((source) => {
    const [first, earlier] = accountBatches.filter(({ format }) => format === source);
    return first && earlier && first.failed > 0 ? [{ source, batch: first.batch }] : [];
  });
  const reports = await Promise.all(newest.map(({ batch }) => backend().importReport(batch)));
  return newest.filter((_, index) => COMPARED_KINDS.some((kind) => (reports[index]?.by_kind[kind]?.failed ?? 0) > 0));
}

export async function loadHome(info: VaultInfo): Promise<Home> {
  const columns = columnsOf(info.sources);
  const [profiles, recent, tombstones, { batches }, ...facets] = await Promise.all([
    backend().list({ filter: { ...ANY, kind: "profile" }, sort: "newest", limit: 3, cursor: null }),
    backend().list({ filter: { ...ANY, kind: "memory" }, sort: "changed", limit: 6, cursor: null }),
    backend().tombstones(),
    backend().imports(),
    ...columns.map((column) => backend().facets({ ...ANY, kind: "memory", source: column.source }, null, false)),
  ]);
  columns.forEach((column, index) => {
    column.types = facets[index]?.types ?? {};
    column.special = facets[index]?.special.any ?? 0;
  });
  await Promise.all(
    columns.map(async (column) => {
      const all = { ...ANY, kind: "memory", source: column.source };
      column.newest = (await backend().summary(all)).last;
      if (!column.types[""]) return;
      const untyped = { ...all, record_type: "" };
      column.about = (await backend().facets(untyped, null, false)).about;
    }),
  );
  return {
    columns,
    types: typesByFrequency(columns),
    profiles: profiles.items,
    profileTotal: profiles.total,
    recent: recent.items,
    incomplete: tombstones.tombstones.filter((tombstone) => tombstone.complete === false),
    imported: batches.find((batch) => !batch.undone)?.at ?? null,
    partlyRead: await partlyReadExports(batches),
  };
}

/** The last 24 months, oldest first. */
export function lastMonths(now = new Date()): { start: Date; since: string; until: string }[] {
  return Array.from({ length: 24 }, (_, back) => {
    const start = new Date(now.getFullYear(), now.getMonth() - 23 + back, 1);
    const end = new Date(start.getFullYear(), start.getMonth() + 1, 0);
    return { start, since: dayStart(start), until: dayEnd(end) };
  });
}

const sumOf = (counts: Record<string, number>): number => Object.values(counts).reduce((sum, n) => sum + n, 0);

export async function loadMonths(): Promise<Months> {
  const all = { ...ANY, kind: "memory" };
  const [{ sources }, { dated }] = await Promise.all([backend().facets(all, null, false), backend().summary(all)]);
  const undated = Math.max(0, sumOf(sources) - dated);
  return { months: await Promise.all(lastMonths().map((month) => loadMonth(month, undated > 0))), undated };
}

/**
 * Counts the memories of a month by assistant. Memories without a date are not counted, although lists date them by
 * their import. `someUndated`: whether the vault has such memories.
 */
async function loadMonth(month: { start: Date; since: string; until: string }, someUndated: boolean): Promise<Month> {
  const filter = { ...ANY, kind: "memory", since: month.since, until: month.until };
  const { sources } = await backend().facets(filter, null, false);
  if (!someUndated || sumOf(sources) === 0) return { ...month, sources, total: sumOf(sources) };
  const datedCounts = await Promise.all(
    Object.keys(sources).map(async (source): Promise<[string, number]> => [
      source,
      (await backend().summary({ ...filter, source })).dated,
    ]),
  );
  const counts = Object.fromEntries(datedCounts.filter(([, n]) => n > 0));
  return { ...month, sources: counts, total: sumOf(counts) };
}

const CHANGE_TEXTS: Record<string, MessageKey> = {
  edit: "recent.edit",
  restore: "recent.restore",
  written: "recent.written",
};

/** A sentence that says how and on which day a memory was last changed. */
export function lastChangeText({ cause, versions, changed_at }: ListItem): string {
  const imported = versions > 1 ? "recent.update" : "recent.import";
  return t(CHANGE_TEXTS[cause] ?? imported, { day: relativeDayInSentence(changed_at) });
}

/** Matches a title that is only the name or the path of a file, with or without its ending (`reference_people`). */
const FILE_NAME = /^\S*[._/\\]\S+$/;

/**
 * The text that represents a memory in a line: its title, or its first words if the title is only the name of a file.
 */
export function titleText({ title, text }: Pick<ListItem, "title" | "text">): string {
  return title && !(FILE_NAME.test(title.trim()) && text.trim() !== "") ? title : text;
}
