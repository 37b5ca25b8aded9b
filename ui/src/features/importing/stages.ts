import { t } from "$lib/text";

/** The five stages of an import, as the backend names them. */
export const IMPORT_STAGES = [
  { id: "detect", doing: t("stage.detect"), done: t("stage.detect.done") },
  { id: "read", doing: t("stage.read"), done: t("stage.read.done") },
  { id: "store", doing: t("stage.store"), done: t("stage.store.done") },
  { id: "index", doing: t("stage.index"), done: t("stage.index.done") },
  { id: "check", doing: t("stage.check"), done: t("stage.check.done") },
];

/** `about 25 seconds left`, in steps that do not flicker; empty while it can't be told. */
export function aboutLeft(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "";
  if (seconds < 5) return t("progress.soon");
  if (seconds < 90) return t("progress.seconds", { n: Math.ceil(seconds / 5) * 5 });
  return t("progress.minutes", { n: Math.round(seconds / 60) });
}
