import Upload from "@lucide/svelte/icons/upload";
import { backend, codeOf, type AuditEntry, type Exported, type ExportRequest } from "$lib/ipc";
import { dialogs } from "$lib/state/dialogs.svelte";
import { ANY } from "$lib/state/filter";
import type { ExportFormat } from "$lib/state/formats";
import { JobProgress } from "$lib/state/job.svelte";
import { lockGuard, onLock } from "$lib/state/lock-cleanup";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { showError } from "$lib/state/trash-actions";
import { registerWorkCheck } from "$lib/state/unfinished-work";
import { joinSentences, t } from "$lib/text";
import { exportFacts } from "$lib/text/core";
import { fileName, folderName, isoDay, joinPath } from "$lib/text/format";
import type { MenuEntry } from "$lib/ui/types";
import { FORMAT_CARDS, cardOf, formatName, hasLargeCard } from "./formats";
import { leftOutText, missedFields, withheldCount } from "./losses";

/** The settings of an earlier export. `folder` is null if none of the exported files in the log still exists. */
export type ExportSettings = { folder: string | null; sign: boolean; encrypt: boolean };

/** If the file exists, a name with a number is tried next. After this many attempts the error is shown. */
const MAX_NAME_ATTEMPTS = 20;

/**
 * The settings of the newest export in this format, according to the log, or the default settings if there is none. The
 * folder may be that of an export in another format.
 */
export function lastSettings(entries: readonly AuditEntry[], format: string): ExportSettings {
  const newestFirst = entries.filter(({ op }) => op === "export").toSorted((a, b) => b.at.localeCompare(a.at));
  const sameFormat = newestFirst.filter(({ target }) => target === format);
  const facts = sameFormat[0] ? exportFacts(sameFormat[0].detail) : null;
  const file = [...sameFormat, ...newestFirst].find((entry) => entry.file !== null)?.file;
  return { folder: file ? folderName(file) : null, sign: facts?.signed ?? false, encrypt: facts?.encrypted ?? false };
}

/**
 * Saves everything in one click, with the settings of the last export in the same format. Masking is always on. If the
 * person has to decide something (a passphrase, or losses that were not accepted yet), the export sheet opens instead.
 */
class QuickExport {
  running = $state(false);
  /** For each format, the lost fields that the person accepted. Kept until the vault is locked. */
  #accepted = new Map<string, ReadonlySet<string>>();

  /** Remembers that the person accepted what an export leaves out. */
  accept(exported: Exported): void {
    const fields = [...(this.#accepted.get(exported.format) ?? []), ...missedFields(exported)];
    this.#accepted.set(exported.format, new Set(fields));
  }

  async run(format: ExportFormat): Promise<void> {
    if (this.running) return;
    const isUnlocked = lockGuard();
    const job = new JobProgress();
    this.running = true;
    try {
      const { entries } = await backend().audit(false);
      const last = lastSettings(entries, format);
      const sign = last.sign && (cardOf(format)?.signs ?? false);
      const request = { format, out: "", filter: ANY, overwrite: false, sign, cover: true };
      const encrypt = last.encrypt || (cardOf(format)?.needsPassphrase ?? false);
      const preview = await backend().exportPreview(job.id, request, encrypt, job.listen);
      if (!isUnlocked()) return;
      if (encrypt || !this.#isAccepted(preview)) {
        dialogs.show({ kind: "export", filter: null, query: "", found: null, format, last });
        return;
      }
      toasts.show(t("quick.saving", { format: formatName(format) }), { icon: "import" });
      const done = await this.#save(job, request, last.folder ?? (await backend().defaultVaultFolder()));
      if (isUnlocked()) report(done);
    } catch (error) {
      if (isUnlocked()) showError(error);
    } finally {
      this.running = false;
    }
  }

  #isAccepted(preview: Exported): boolean {
    const accepted = this.#accepted.get(preview.format);
    return preview.records > 0 && missedFields(preview).every((field) => accepted?.has(field));
  }

  /** Saves an export in `folder` under a name that does not exist there yet. */
  async #save(job: JobProgress, request: ExportRequest, folder: string): Promise<Exported> {
    const end = cardOf(request.format)?.end ?? "";
    for (let n = 1; ; n += 1) {
      const out = joinPath(folder, `${session.name} ${isoDay()}${n > 1 ? ` (${n})` : ""}${end}`);
      try {
        return await backend().exportRun(job.id, { ...request, out }, null, job.listen);
      } catch (error) {
        if (n === MAX_NAME_ATTEMPTS || codeOf(error) !== "exists") throw error;
      }
    }
  }

  clear(): void {
    this.#accepted = new Map();
  }
}

/**
 * Shows in a toast what was saved and what is left out. If the export fails its check, a dialog says so instead and
 * offers to delete the export.
 */
function report(done: Exported): void {
  if (!done.validated) {
    dialogs.show({ kind: "exported", done });
    return;
  }
  const excludedText = leftOutText(done, withheldCount(done));
  const text = joinSentences([
    t("activity.sentence", { what: t("saved", { name: fileName(done.path) }) }),
    excludedText ? t("exported.leftOut", { what: excludedText }) : null,
    done.covered > 0 ? t("activity.sentence", { what: t("activity.covered", { n: done.covered }) }) : null,
  ]);
  const show = () => backend().showInFolder(done.path);
  toasts.show(text, { icon: "check", action: { label: t("exported.show"), run: show, undo: false } });
}

export const quickExport = new QuickExport();
onLock(() => quickExport.clear());
registerWorkCheck(() => quickExport.running);

/** Commands that save everything in one click, one for each recommended format. */
export const quickExportCommands = () =>
  FORMAT_CARDS.filter(({ value }) => hasLargeCard(value)).map(({ value }) => ({
    id: `save-${value}`,
    label: t("quick.save", { format: formatName(value) }),
    icon: Upload,
    run: () => void quickExport.run(value),
  }));

/** The commands that save everything in one click, as entries of a menu. */
export const quickExportEntries = (): MenuEntry[] =>
  quickExportCommands().map(({ id, ...entry }) => ({ ...entry, testid: id }));
