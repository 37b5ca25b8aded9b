import { t } from "$lib/text";

/** The five stages of an import, as the backend names them; in words `stage.<name>` and `stage.<name>.done`. */
export const IMPORT_STAGES = ["detect", "read", "store", "index", "check"] as const;

/** `about 25 seconds left`, in steps that do not flicker; empty while it can't be told. */
export function timeLeft(seconds: number | null): string {
  if (seconds === null || !Number.isFinite(seconds)) return "";
  if (seconds < 5) return t("progress.soon");
  if (seconds < 90) return t("progress.seconds", { n: Math.ceil(seconds / 5) * 5 });
  return t("progress.minutes", { n: Math.round(seconds / 60) });
}
