import { backend, type FileCount, type Filter } from "$lib/ipc";
import { onLock } from "./lock-cleanup";
import { session } from "./session.svelte";

/** Kinds of files, in the order of the chips. */
export const FILE_KINDS = ["picture", "document", "code", "sound", "video", "other", "missing"] as const;
export type FileKind = (typeof FILE_KINDS)[number];

const NO_FILES: FileCount = { count: 0, bytes: 0 };

/** Number and size of the files per kind, with all other filters and the search applied. */
class FileKinds {
  #numbers = $state.raw<{ readonly [kind in string]?: FileCount }>({});
  #run = 0;

  async load(filter: Filter, query: string): Promise<void> {
    const run = ++this.#run;
    const text = query || null;
    try {
      const { file_kinds } = await backend().facets({ ...filter, file_kind: null }, text, text !== null);
      if (run === this.#run) this.#numbers = file_kinds;
    } catch (error) {
      session.handleLocked(error);
    }
  }

  countOf(kind: FileKind): FileCount {
    return this.#numbers[kind] ?? NO_FILES;
  }

  /**
   * Total size in bytes of the matching files of one kind. If `kind` is null, of all kinds except missing files.
   */
  bytes(kind: string | null): number {
    const kinds = kind === null ? FILE_KINDS.filter((each) => each !== "missing") : [kind];
    return kinds.reduce((sum, each) => sum + (this.#numbers[each]?.bytes ?? 0), 0);
  }

  clear(): void {
    this.#run += 1;
    this.#numbers = {};
  }
}

export const fileKinds = new FileKinds();
onLock(() => fileKinds.clear());

/** Whether the files section shows the files as a grid of cards or as a list. */
export const fileView = $state<{ as: "grid" | "list" }>({ as: "grid" });
