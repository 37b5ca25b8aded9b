import { backend, type BatchInfo, type ImportReport } from "$lib/ipc";
import { t } from "$lib/text";
import { relativeTimeInSentence } from "$lib/text/format";
import { conversations, files, memories } from "./lists.svelte";
import { nav } from "./nav.svelte";
import { onLock } from "./lock-cleanup";
import { search } from "./search-field.svelte";
import { session } from "./session.svelte";
import { vault } from "./vault.svelte";

/** The imports of this vault: a list that is narrowed to one says which. */
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

  /** `Import of 21 Nov, 09:12`. */
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

/** What has a section of its own; everything else is listed among the memories. */
const LISTS = { conversation: conversations, attachment: files } as const;
const SECTIONS = { conversation: "conversations", attachment: "files" } as const;
const hasSection = (kind: string): kind is keyof typeof LISTS => Object.hasOwn(LISTS, kind);

/**
 * New messages stand in no list: narrowed to an import, that of conversations has those that it added, and not those that
 * it went on with.
 */
const isListed = (kind: string): boolean => kind !== "message";

/** The kind of which one list holds all that is new: of this kind, or of all (null). Null where no list does. */
export function listOfNew(report: ImportReport, kind: string | null): string | null {
  const brought = Object.keys(report.by_kind).filter((each) => (report.by_kind[each]?.added ?? 0) > 0);
  const [only, ...others] = kind === null ? brought : [kind];
  return only !== undefined && others.length === 0 && isListed(only) ? only : null;
}

/** To the list of exactly what these imports brought, of one kind. */
export function showNew(batch: string[], kind: string): void {
  const list = hasSection(kind) ? LISTS[kind] : memories;
  list.clearFilter();
  list.setFilter({ kind, batch });
  search.clear();
  void imports.load();
  nav.go(hasSection(kind) ? SECTIONS[kind] : "memories");
}

/** Whose files an export of this format names: its assistant's, where it is that one's own; anybody's (null) in one of ours. */
export function assistantOf(format: string | null): string | null {
  return vault.info?.sources.some((source) => source.platform === format && source.format === format) ? format : null;
}

/** To all files that exports of this kind name and do not hold: no list tells those of one import. */
export function showMissingFiles(format: string | null): void {
  files.clearFilter();
  files.setFilter({ file_kind: "missing", source: assistantOf(format) });
  search.clear();
  nav.go("files");
}

/** What a person looks for first in an import. */
const FIRST = ["memory", "conversation", "attachment", "profile"];

/** What is to be shown of what these imports brought: their batches, and the kind; null where they brought nothing. */
export function newestContent(reports: readonly ImportReport[]): { batch: string[]; kind: string } | null {
  const brought = (report: ImportReport, kind: string) => (report.by_kind[kind]?.added ?? 0) > 0;
  const kinds = [...FIRST, ...reports.flatMap((report) => Object.keys(report.by_kind))].filter(isListed);
  const kind = kinds.find((each) => reports.some((report) => brought(report, each)));
  if (kind === undefined) return null;
  // All of them: what another one of the drop brought is one click on another section away.
  return { batch: reports.filter((report) => report.added > 0).map((report) => report.batch), kind };
}

/** An import was taken back: a list of what it brought would be empty, and say of nothing that it is narrowed. */
export function forgetImport(batch: string): void {
  for (const list of [memories, conversations, files]) {
    const left = list.filter.batch?.filter((each) => each !== batch) ?? null;
    if (left && left.length !== list.filter.batch?.length) list.setFilter({ batch: left.length > 0 ? left : null });
  }
}
