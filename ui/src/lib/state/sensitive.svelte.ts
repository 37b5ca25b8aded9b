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
import { vault } from "./vault.svelte";

export type QueueState = "open" | "redacted" | "ignored";

const PAGE = 100;
/** The most that the backend hands out in one call. */
const MOST = 500;
const NONE: Record<QueueState, Counts> = { open: {}, redacted: {}, ignored: {} };

/** The queue of sensitive values, and the look that fills it. No value is ever in here. */
class Sensitive {
  tab = $state<QueueState>("open");
  kind = $state<Kind | null>(null);
  rows = $state.raw<SensitiveItem[]>([]);
  counts = $state.raw<Record<QueueState, Counts>>(NONE);
  /** When everything was looked through last; undefined = not asked yet. */
  scannedAt = $state<string | null | undefined>(undefined);
  /** Records that were not looked through yet. */
  unscanned = $state(0);
  loading = $state(false);
  failed = $state.raw<UiError | null>(null);
  /** Moves when there is something else to list. */
  revision = $state(0);
  /** The look that the person asked for. */
  job = $state.raw<JobProgress | null>(null);
  redacting = $state(false);
  /** The person wants no look after what was imported last: the next one is asked for, or comes with the next opening. */
  scanPaused = false;
  /** The dialog was shown in this session. */
  dialogShown = false;
  #backgroundJob: JobProgress | null = null;
  #scanQueued = false;
  #run = 0;
  #listKey = "";
  #at = { kind: 0, offset: 0 };

  readonly open = $derived(sumOf(this.counts.open));
  readonly decided = $derived(sumOf(this.counts.redacted) + sumOf(this.counts.ignored));
  /** Of the list that is shown. */
  readonly total = $derived(
    kindCounts(this.counts[this.tab])
      .filter(({ kind }) => this.kind === null || kind === this.kind)
      .reduce((sum, { n }) => sum + n, 0),
  );

  get more(): boolean {
    return this.#at.kind < this.#kinds().length;
  }

  /** Kind by kind, since they are shown in that order. */
  #kinds(): Kind[] {
    return this.kind ? [this.kind] : KINDS.map(({ kind }) => kind);
  }

  /** From the top; the same question reaches as far down as before. */
  async load(): Promise<void> {
    const listKey = `${this.tab} ${this.kind ?? ""}`;
    const reach = listKey === this.#listKey ? Math.max(PAGE, this.rows.length) : PAGE;
    // Rows of another question are not acted on under this one.
    if (listKey !== this.#listKey) this.rows = [];
    this.#listKey = listKey;
    this.#at = { kind: 0, offset: 0 };
    // With nothing to show yet the rows that are to come stand there again.
    if (this.scannedAt === undefined) this.failed = null;
    await this.#fetch(++this.#run, [], reach);
  }

  /** Wait no longer. Rows that are there stay. */
  readonly stop = (): void => {
    this.#run += 1;
    this.loading = false;
    this.failed = stoppedByUser();
  };

  async next(): Promise<void> {
    if (this.loading || !this.more) return;
    await this.#fetch(this.#run, this.rows, this.rows.length + PAGE);
  }

  async #fetch(run: number, before: SensitiveItem[], reach: number): Promise<void> {
    const rows = new Map(before.map((row) => [row.value, row]));
    const kinds = this.#kinds();
    this.loading = true;
    try {
      while (rows.size < reach && this.#at.kind < kinds.length) {
        const kind = KINDS.find((each) => each.kind === kinds[this.#at.kind]);
        const limit = Math.min(MOST, reach - rows.size);
        const page = await backend().sensitiveQueue({
          state: this.tab,
          classes: [...(kind?.classes ?? [])],
          offset: this.#at.offset,
          limit,
        });
        if (run !== this.#run) return;
        for (const item of page.items) rows.set(item.value, item);
        this.#applyPage(page);
        this.#at =
          page.items.length < limit
            ? { kind: this.#at.kind + 1, offset: 0 }
            : { ...this.#at, offset: this.#at.offset + page.items.length };
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

  #applyPage(page: { open: Counts; redacted: Counts; ignored: Counts; looked_at: string | null; left: number }): void {
    this.counts = { open: page.open, redacted: page.redacted, ignored: page.ignored };
    this.scannedAt = page.looked_at;
    this.unscanned = page.left;
    // The last one of the chosen kind is gone: the others are shown again.
    if (this.kind && !kindCounts(this.counts[this.tab]).some(({ kind }) => kind === this.kind)) this.kind = null;
  }

  /** Only how many there are. */
  async count(): Promise<void> {
    const isUnlocked = lockGuard();
    const page = await backend().sensitiveQueue({ state: "open", classes: [], offset: 0, limit: 1 });
    if (!isUnlocked()) return;
    this.#applyPage(page);
    this.revision += 1;
  }

  /** After anything changed: look through what is new, one look at a time. */
  async scanInBackground(): Promise<void> {
    if (this.scanPaused) return this.count().catch((error: unknown) => session.handleLocked(error));
    if (this.#backgroundJob || this.job) {
      this.#scanQueued = true;
      return;
    }
    const isUnlocked = lockGuard();
    const job = (this.#backgroundJob = new JobProgress());
    try {
      await backend().look(job.id, false, job.listen);
      if (isUnlocked()) await this.count();
    } catch (error) {
      // Nobody asked for it. What was not looked through is counted where the findings are shown.
      session.handleLocked(error);
    } finally {
      if (this.#backgroundJob === job) this.#backgroundJob = null;
    }
    if (isUnlocked() && this.#scanQueued) {
      this.#scanQueued = false;
      await this.scanInBackground();
    }
  }

  /** The person asks: through everything once more. */
  async rescan(): Promise<void> {
    if (this.job) return;
    this.scanPaused = false;
    this.#backgroundJob?.drop();
    const isUnlocked = lockGuard();
    const job = (this.job = new JobProgress());
    // The first look answers by what it lists.
    const before = this.scannedAt ? JSON.stringify(this.counts) : null;
    let done = false;
    try {
      await backend().look(job.id, true, job.listen);
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
        // What changed in the meantime was perhaps looked at before.
        if (isUnlocked() && this.#scanQueued) {
          this.#scanQueued = false;
          void this.scanInBackground();
        }
      }
    }
  }

  #reportScan(before: string): void {
    const same = JSON.stringify(this.counts) === before;
    toasts.show(same ? t("sensitive.lookedSame") : t("sensitive.lookedOpen", { n: this.open }), { icon: "check" });
  }

  /** For good. True when it was done and the vault is still open. */
  async redact(request: RedactValuesRequest, job = new JobProgress()): Promise<boolean> {
    const isUnlocked = lockGuard();
    this.redacting = true;
    const done = await backend()
      .redactValues(job.id, request, job.listen)
      .finally(() => (this.redacting = false));
    if (!isUnlocked()) return false;
    // Unsaved edits may hold the words as well: saved afterwards, they would bring them back.
    detail.dropAll();
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
      toasts.undoable(t("sensitive.ignoredToast", { n: values.length }), t("action.undo"), () =>
        this.ignore(values, false),
      );
  }

  clear(): void {
    this.#run += 1;
    this.#backgroundJob?.drop();
    this.job?.drop();
    this.#backgroundJob = null;
    this.job = null;
    this.#scanQueued = false;
    this.#listKey = "";
    this.dialogShown = false;
    this.scanPaused = false;
    this.tab = "open";
    this.kind = null;
    this.rows = [];
    this.counts = NONE;
    this.scannedAt = undefined;
    this.unscanned = 0;
    this.loading = false;
    this.failed = null;
  }
}

export const sensitive = new Sensitive();
onLock(() => sensitive.clear());
