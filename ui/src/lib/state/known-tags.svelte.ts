import { backend } from "$lib/ipc";
import { byName } from "$lib/text";
import { ANY } from "./filter";
import { onLock } from "./lock-cleanup";
import { session } from "./session.svelte";
import { vault } from "./vault.svelte";

/** Tags of all memories, most used first, whatever the current filter is. They are offered where a tag is typed. */
class KnownTags {
  names = $state.raw<string[]>([]);
  #run = 0;
  #loadedRevision = -1;

  /** Loads the tags, once for each revision of the vault. */
  async load(): Promise<void> {
    const revision = vault.revision;
    if (this.#loadedRevision === revision) return;
    const run = ++this.#run;
    try {
      const { tags } = await backend().facets({ ...ANY, kind: "memory" }, null, false);
      if (run !== this.#run) return;
      this.#loadedRevision = revision;
      this.names = Object.entries(tags)
        .sort((a, b) => b[1] - a[1] || byName(a[0], b[0]))
        .map(([name]) => name);
    } catch (error) {
      // Tags can be typed without this list, so the error is not shown.
      session.handleLocked(error);
    }
  }

  clear(): void {
    this.#run += 1;
    this.#loadedRevision = -1;
    this.names = [];
  }
}

export const knownTags = new KnownTags();
onLock(() => knownTags.clear());
