import { t } from "$lib/text";

/** The five stages of an import as the backend names them. Their texts are `stage.<name>` and `stage.<name>.done`. */
export const IMPORT_STAGES = ["detect", "read", "store", "index", "check"] as const;

/**
 * A text such as `about 25 seconds left`, with a rounded number, so that it does not change all the time. Empty while
 * the time is unknown.
 */
export function timeLeft(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "";
  if (seconds < 5) return t("progress.soon");
  if (seconds < 90) return t("progress.seconds", { n: Math.ceil(seconds / 5) * 5 });
  return t("progress.minutes", { n: Math.round(seconds / 60) });
}
