import { backend, codeOf, type RedactValuesRequest, type SensitiveItem } from "$lib/ipc";
import { KINDS, kindCounts, sumOf, type Counts, type Kind } from "$lib/logic/sensitive";
import { t } from "$lib/text";
import { detail } from "./detail.svelte";
import { dialogs } from "./dialogs.svelte";
import { JobProgress } from "./job.svelte";
import { stoppedByUser } from "./loading.svelte";
import { UiError } from "./ui-error";
import { showError } from "./trash-actions";
import { onLock, lockGuard } from "./lock-cleanup";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";
import { registerWorkCheck } from "./unfinished-work";
import { vault } from "./vault.svelte";

export type QueueState = "open" | "redacted" | "ignored";

const PAGE_SIZE = 100;
/** The largest number of values that the backend returns in one call. */
const MAX_PER_CALL = 500;
const NO_COUNTS: Record<QueueState, Counts> = { open: {}, redacted: {}, ignored: {} };

/** The queue of sensitive values, without the values themselves, and the scan that fills the queue. */
class Sensitive {
  tab = $state<QueueState>("open");
  kind = $state<Kind | null>(null);
  rows = $state.raw<SensitiveItem[]>([]);
  counts = $state.raw<Record<QueueState, Counts>>(NO_COUNTS);
  /** When the last full scan ended; undefined until loaded. */
  scannedAt = $state<string | null | undefined>(undefined);
  /** Number of records that were not scanned yet. */
  unscanned = $state(0);
  loading = $state(false);
  failed = $state.raw<UiError | null>(null);
  /** Increases with every change of the queue. */
  revision = $state(0);
  /** The scan started by the person. */
  job = $state.raw<JobProgress | null>(null);
  redacting = $state(false);
  /**
   * Whether the person declined the scan after the last import. If so, no scan starts automatically until the person
   * starts one or the vault is unlocked again.
   */
  scanPaused = false;
  /** Whether the redaction dialog was shown since the vault was unlocked. */
  dialogShown = false;
  #backgroundJob: JobProgress | null = null;
  #scanQueued = false;
  #run = 0;
  #listKey = "";
  #position = { kind: 0, offset: 0 };

  readonly open = $derived(sumOf(this.counts.open));
  readonly decided = $derived(sumOf(this.counts.redacted) + sumOf(this.counts.ignored));
  /** Number of values in the current tab: those of the chosen kind, or of all kinds if none is chosen. */
  readonly total = $derived(
    kindCounts(this.counts[this.tab])
      .filter(({ kind }) => this.kind === null || kind === this.kind)
      .reduce((sum, { n }) => sum + n, 0),
  );

  get more(): boolean {
    return this.#position.kind < this.#kinds().length;
  }

  /** The shown kinds, in display order. */
  #kinds(): Kind[] {
    return this.kind ? [this.kind] : KINDS.map(({ kind }) => kind);
  }

  /** Reloads from the top. If the filter is unchanged, as many rows as before are loaded. */
  async load(): Promise<void> {
    const listKey = `${this.tab} ${this.kind ?? ""}`;
    const wantedCount = listKey === this.#listKey ? Math.max(PAGE_SIZE, this.rows.length) : PAGE_SIZE;
    // Remove the rows of the old filter, so that no action applies to them.
    if (listKey !== this.#listKey) this.rows = [];
    this.#listKey = listKey;
    this.#position = { kind: 0, offset: 0 };
    // Until the first rows have been loaded, the list shows placeholder rows instead of the error.
    if (this.scannedAt === undefined) this.failed = null;
    await this.#fetch(++this.#run, [], wantedCount);
  }

  /** Stops waiting for requested rows. The rows that are already loaded stay. */
  readonly stop = (): void => {
    this.#run += 1;
    this.loading = false;
    this.failed = stoppedByUser();
  };

  async loadNextPage(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#run, this.rows, this.rows.length + PAGE_SIZE);
  }

  /** Loads all rows that are not loaded yet. */
  async loadAll(): Promise<void> {
    if (!this.loading && this.more) await this.#fetch(this.#run, this.rows, Number.POSITIVE_INFINITY);
  }

  async #fetch(run: number, before: SensitiveItem[], wantedCount: number): Promise<void> {
    const rows = new Map(before.map((row) => [row.value, row]));
    const kinds = this.#kinds();
    this.loading = true;
    try {
      while (rows.size < wantedCount && this.#position.kind < kinds.length) {
        const kind = KINDS.find((each) => each.kind === kinds[this.#position.kind]);
        const limit = Math.min(MAX_PER_CALL, wantedCount - rows.size);
        const page = await backend().sensitiveQueue({
          state: this.tab,
          classes: [...(kind?.classes ?? [])],
          offset: this.#position.offset,
          limit,
        });
        if (run !== this.#run) return;
        for (const item of page.items) rows.set(item.value, item);
        this.#applyPage(page);
        this.#position =
          page.items.length < limit
            ? { kind: this.#position.kind + 1, offset: 0 }
            : { ...this.#position, offset: this.#position.offset + page.items.length };
      }
      this.rows = [...rows.values()];
      this.failed = null;
    } catch (error) {
      session.handleLocked(error);
      if (run === this.#run) this.failed = new UiError(error);
    } finally {
      if (run === this.#run) this.loading = false;
    }
  }

  #applyPage(page: { open: Counts; redacted: Counts; ignored: Counts; scanned_at: string | null; left: number }): void {
    this.counts = { open: page.open, redacted: page.redacted, ignored: page.ignored };
    this.scannedAt = page.scanned_at;
    this.unscanned = page.left;
    // If the chosen kind has no values left, all kinds are shown.
    if (this.kind && !kindCounts(this.counts[this.tab]).some(({ kind }) => kind === this.kind)) this.kind = null;
  }

  /** Loads only the counts. */
  async count(): Promise<void> {
    const isUnlocked = lockGuard();
    const page = await backend().sensitiveQueue({ state: "open", classes: [], offset: 0, limit: 1 });
    if (!isUnlocked()) return;
    this.#applyPage(page);
    this.revision += 1;
  }

  /** Scans new records after a change, one scan at a time. While scans are paused, only reloads the counts. */
  async scanInBackground(): Promise<void> {
    if (this.scanPaused) return this.count().catch((error: unknown) => session.handleLocked(error));
    if (this.#backgroundJob || this.job) {
      this.#scanQueued = true;
      return;
    }
    const isUnlocked = lockGuard();
    const job = (this.#backgroundJob = new JobProgress());
    try {
      await backend().scanRecords(job.id, false, job.listen);
      if (isUnlocked()) await this.count();
    } catch (error) {
      // The error of a background scan is not shown: the number of unscanned records is shown next to the findings.
      session.handleLocked(error);
    } finally {
      if (this.#backgroundJob === job) this.#backgroundJob = null;
    }
    if (isUnlocked() && this.#scanQueued) {
      this.#scanQueued = false;
      await this.scanInBackground();
    }
  }

  /** Scans all records again, at the person's request. */
  async rescan(): Promise<void> {
    if (this.job) return;
    this.scanPaused = false;
    this.#backgroundJob?.cancelSilently();
    const isUnlocked = lockGuard();
    const job = (this.job = new JobProgress());
    // Before the first scan there are no counts to compare with, so no toast is shown: the list itself shows the
    // result.
    const before = this.scannedAt ? JSON.stringify(this.counts) : null;
    let done = false;
    try {
      await backend().scanRecords(job.id, true, job.listen);
      done = true;
    } catch (error) {
      if (isUnlocked() && codeOf(error) !== "cancelled") showError(error);
    } finally {
      if (isUnlocked()) {
        this.job = null;
        await this.count().catch((error: unknown) => {
          done = false;
          showError(error);
        });
        if (isUnlocked() && done && before) this.#reportScan(before);
        // The scan may have missed records that changed while it ran.
        if (isUnlocked() && this.#scanQueued) {
          this.#scanQueued = false;
          void this.scanInBackground();
        }
      }
    }
  }

  #reportScan(before: string): void {
    const isUnchanged = JSON.stringify(this.counts) === before;
    toasts.show(isUnchanged ? t("sensitive.lookedSame") : t("sensitive.lookedOpen", { n: this.open }), {
      icon: "check",
    });
  }

  /** Redacts values permanently and shows the receipt or a toast. Returns false if the vault was locked meanwhile. */
  async redact(request: RedactValuesRequest, job = new JobProgress()): Promise<boolean> {
    const isUnlocked = lockGuard();
    this.redacting = true;
    const done = await backend()
      .redactValues(job.id, request, job.listen)
      .finally(() => (this.redacting = false));
    if (!isUnlocked()) return false;
    // Unsaved drafts may contain the redacted words too. Saving such a draft later would restore the words.
    detail.dropDrafts();
    await this.count().catch(() => undefined);
    if (!isUnlocked()) return false;
    vault.changed();
    const show = () => dialogs.show({ kind: "receipt", receipt: done.receipt, title: t("redact.receipt") });
    if (dialogs.open?.kind.startsWith("redact-")) dialogs.close();
    if (!done.receipt.complete) show();
    else
      toasts.show(t("redact.done", { n: done.redacted }), {
        icon: "check",
        action: { label: t("receipt.show"), undo: false, run: show },
      });
    return true;
  }

  async ignore(values: string[], ignored: boolean): Promise<void> {
    const isUnlocked = lockGuard();
    await backend().ignoreValues(values, ignored);
    if (!isUnlocked()) return;
    await this.count().catch(() => undefined);
    if (!isUnlocked()) return;
    if (!ignored) toasts.show(t("sensitive.foundAgain", { n: values.length }), { icon: "check" });
    else
      toasts.showWithUndo(t("sensitive.ignoredToast", { n: values.length }), t("action.undo"), () =>
        this.ignore(values, false),
      );
  }

  clear(): void {
    this.#run += 1;
    this.#backgroundJob?.cancelSilently();
    this.job?.cancelSilently();
    this.#backgroundJob = null;
    this.job = null;
    this.#scanQueued = false;
    this.#listKey = "";
    this.dialogShown = false;
    this.scanPaused = false;
    this.tab = "open";
    this.kind = null;
    this.rows = [];
    this.counts = NO_COUNTS;
    this.scannedAt = undefined;
    this.unscanned = 0;
    this.loading = false;
    this.failed = null;
  }
}

export const sensitive = new Sensitive();
onLock(() => sensitive.clear());
registerWorkCheck(() => sensitive.job !== null);
