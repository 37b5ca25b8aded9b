import { backend, type BatchInfo, type ImportReport } from "$lib/ipc";
import { t } from "$lib/text";
import { relativeTimeInSentence } from "$lib/text/format";
import { conversations, files, memories } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { onLock } from "./lock-cleanup";
import { search } from "./search-field.svelte";
import { session } from "./session.svelte";
import { vault } from "./vault.svelte";

/** The imports of this vault by batch. The chip of the filter by import shows the time of the import. */
class Imports {
  #known = $state.raw<ReadonlyMap<string, BatchInfo>>(new Map());

  async load(): Promise<void> {
    try {
      const { batches } = await backend().imports();
      if (session.phase === "open") this.#known = new Map(batches.map((each) => [each.batch, each]));
    } catch (error) {
      session.handleLocked(error);
    }
  }

  /**
   * The label of a filter by import, such as `Import of 21 Nov, 09:12`. For several imports, and until the imports are
   * loaded, it contains the number of imports instead.
   */
  name(batch: readonly string[]): string {
    const at = batch.length === 1 ? this.#known.get(batch[0] ?? "")?.at : undefined;
    return at === undefined
      ? t("filter.imports", { n: batch.length })
      : t("filter.import", { when: relativeTimeInSentence(at) });
  }

  clear(): void {
    this.#known = new Map();
  }
}

export const imports = new Imports();
onLock(() => imports.clear());

/** The lists of the kinds that have their own section. Records of all other kinds are listed among the memories. */
const LISTS_BY_KIND = { conversation: conversations, attachment: files } as const;
const SECTIONS_BY_KIND = { conversation: "conversations", attachment: "files" } as const;
const hasSection = (kind: string): kind is keyof typeof LISTS_BY_KIND => Object.hasOwn(LISTS_BY_KIND, kind);

/**
 * Whether a list can show the new records of this kind. No list can show new messages: filtered by an import, the list
 * of conversations contains only conversations that the import added, not those that received new messages.
 */
const isListed = (kind: string): boolean => kind !== "message";

/**
 * The kind whose list shows all records that an import added, or, if `kind` is not null, all added records of that
 * kind. Null if no single list shows them.
 */
export function kindOfNewList(report: ImportReport, kind: string | null): string | null {
  const addedKinds = Object.keys(report.by_kind).filter((each) => (report.by_kind[each]?.added ?? 0) > 0);
  const [only, ...others] = kind === null ? addedKinds : [kind];
  return only !== undefined && others.length === 0 && isListed(only) ? only : null;
}

/** Opens the list of the records of one kind that these imports added. */
export function showNew(batch: string[], kind: string): void {
  const list = hasSection(kind) ? LISTS_BY_KIND[kind] : memories;
  list.clearFilter();
  list.setFilter({ kind, batch });
  search.clear();
  void imports.load();
  nav.go(hasSection(kind) ? SECTIONS_BY_KIND[kind] : "memories");
}

/**
 * The assistant whose exports have this format. Null, which as a filter means any assistant, if the vault contains no
 * export of this assistant.
 */
export function assistantOf(format: string | null): string | null {
  return vault.info?.sources.some((source) => source.platform === format && source.format === format) ? format : null;
}

/**
 * Lists all missing files of the assistant whose exports have this format, because missing files cannot be filtered by
 * import.
 */
export function showMissingFiles(format: string | null): void {
  files.clearFilter();
  files.setFilter({ file_kind: "missing", source: assistantOf(format) });
  search.clear();
  nav.go("files");
}

/** Kinds in the order in which people look for them. */
const KIND_ORDER = ["memory", "conversation", "attachment", "profile"];

/**
 * A filter for the records that these imports added: the batches, and one kind that was added. Null if no list shows
 * any of these records.
 */
export function filterOfNew(reports: readonly ImportReport[]): { batch: string[]; kind: string } | null {
  const hasAdded = (report: ImportReport, kind: string) => (report.by_kind[kind]?.added ?? 0) > 0;
  const kinds = [...KIND_ORDER, ...reports.flatMap((report) => Object.keys(report.by_kind))].filter(isListed);
  const kind = kinds.find((each) => reports.some((report) => hasAdded(report, each)));
  if (kind === undefined) return null;
  // Include all batches that added records, so that the person can switch to the other added kinds.
  return { batch: reports.filter((report) => report.added > 0).map((report) => report.batch), kind };
}

/** Removes an import from the filters of all lists after it was undone. Otherwise these lists would be empty. */
export function forgetImport(batch: string): void {
  for (const list of [memories, conversations, files]) {
    const remaining = list.filter.batch?.filter((each) => each !== batch) ?? null;
    if (remaining && remaining.length !== list.filter.batch?.length)
      list.setFilter({ batch: remaining.length > 0 ? remaining : null });
  }
}
