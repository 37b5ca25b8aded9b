import CircleAlert from "@lucide/svelte/icons/circle-alert";
import Download from "@lucide/svelte/icons/download";
import HistoryIcon from "@lucide/svelte/icons/history";
import Plus from "@lucide/svelte/icons/plus";
import Undo2 from "@lucide/svelte/icons/undo-2";
import Upload from "@lucide/svelte/icons/upload";
import { COLUMNS } from "$features/importing/outcomes";
import { BackendError, type AuditEntry, type BatchInfo, type FailedImport } from "$lib/ipc";
import { TEXT_FORMAT } from "$lib/state/formats";
import { assistantStyle } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/untrusted-text";
import { joinWithCommas, joinWithAnd, joinSentences, t, word } from "$lib/text";
import { UiError } from "$lib/state/ui-error";
import { auditText, exportFacts, exportSummary } from "$lib/text/core";
import { fileName } from "$lib/text/format";
import type { IconComponent } from "$lib/ui/types";

/** One line of the list: an import, an export, or the creation of the vault. */
export type Transfer = {
  key: string;
  at: string;
  icon: IconComponent;
  title: string;
  text: string;
  original: string;
  batch: BatchInfo | null;
  /** The log entry of an export. Null for all other lines, which have no details to show. */
  entry: AuditEntry | null;
  /** Path of an imported file or of the exported file, if that file still exists. Null otherwise. */
  file: string | null;
  /**
   * The files and the error of a failed import. Null for all other lines, and if the vault did not store the error, so
   * that only its code in the log is known.
   */
  failed: FailedImport | null;
  bad: boolean;
};
const ICONS: Record<string, IconComponent> = {
  export: Upload,
  import_failed: CircleAlert,
  undo_import: Undo2,
  create: Plus,
};

/** Imports and exports, including failed and undone ones, and the creation of the vault; newest first. */
export function transfersOf(
  batches: readonly BatchInfo[],
  entries: readonly AuditEntry[],
  failures: readonly FailedImport[] = [],
): Transfer[] {
  const failureBySeq = new Map(failures.map((failed) => [failed.seq, failed]));
  const formatByBatch = new Map(batches.map(({ batch, format }) => [batch, format]));
  const imports = batches.map((batch) => ({
    key: batch.batch,
    at: batch.at,
    icon: Download,
    title: t(batch.undone ? "activity.importedUndone" : "activity.imported", {
      name: assistantStyle(batch.format).name,
    }),
    text: joinSentences([
      batch.names.length
        ? t("activity.sentence", { what: joinWithAnd(batch.names.map((name) => oneLine(name))) })
        : null,
      t("activity.sentence", { what: numbersOf(batch) }),
    ]),
    original: "",
    batch,
    entry: null,
    file: batch.file,
    failed: null,
    bad: false,
  }));
  const otherLines = entries
    .filter((entry) => entry.op in ICONS)
    .map((entry) => ({
      key: `entry-${entry.seq}`,
      at: entry.at,
      icon: ICONS[entry.op] ?? HistoryIcon,
      title: titleOf(entry, formatByBatch.get(entry.target)),
      ...(exportText(entry) ??
        failureText(failureBySeq.get(entry.seq)) ??
        auditText(entry.op, entry.detail, entry.op === "import_failed" ? entry.target : "")),
      batch: null,
      entry: entry.op === "export" ? entry : null,
      file: entry.file,
      failed: (entry.op === "import_failed" && failureBySeq.get(entry.seq)) || null,
      bad: entry.op === "import_failed",
    }));
  return [...imports, ...otherLines].sort((a, b) => b.at.localeCompare(a.at));
}

/** The title of a log entry. `format`: the format of the import to which the entry belongs, if known. */
function titleOf({ op, target }: AuditEntry, format: string | null | undefined): string {
  if (op === "undo_import" && format) return t("activity.undone", { name: assistantStyle(format).name });
  if (op === "import_failed") return t("activity.importFailed");
  if (op !== "export") return word("op", op);
  return target === TEXT_FORMAT
    ? t("activity.exportedText")
    : t("activity.exportedTo", { name: assistantStyle(target).name });
}

/** The counts of an import: new entries always, the other outcomes only if not zero. */
function numbersOf(batch: BatchInfo): string {
  return joinWithCommas(
    COLUMNS.filter((key) => key === "added" || batch[key] > 0).map((key) =>
      key === "added" ? t("activity.newItems", { n: batch.added }) : t(`activity.n.${key}`, { n: batch[key] }),
    ),
  );
}

/** The text for a failed import, with its file names and its error. Null if the vault did not store them. */
function failureText(failed: FailedImport | undefined): { text: string; original: string } | null {
  if (!failed) return null;
  const names = failed.paths.map((path) => oneLine(fileName(path)));
  // The file names are left out if the error text already contains one of them.
  const { text } = new UiError(new BackendError(failed.error));
  const what = names.length > 0 && !names.some((name) => text.includes(name)) ? joinWithAnd(names) : null;
  return { text: joinSentences([what === null ? null : t("activity.sentence", { what }), text]), original: "" };
}

function exportText(entry: AuditEntry): { text: string; original: string } | null {
  const facts = entry.op === "export" ? exportFacts(entry.detail) : null;
  if (!facts) return null;
  const validity = facts.valid ? t("activity.afterSaving") : t("exported.invalid");
  const text = joinSentences([
    t("activity.sentence", { what: exportSummary(facts) }),
    facts.valid === null ? null : validity,
  ]);
  return { text, original: "" };
}
