import Code from "@lucide/svelte/icons/code";
import FileQuestion from "@lucide/svelte/icons/file-question-mark";
import FileText from "@lucide/svelte/icons/file-text";
import Music from "@lucide/svelte/icons/music";
import type { Row } from "$lib/state/records.svelte";
import { look } from "$lib/logic/assistants";
import { oneLine } from "$lib/logic/foreign";
import { commas, t } from "$lib/text";
import { bytes, shortDay } from "$lib/text/format";
import type { IconOf } from "$lib/ui/types";

export const nameOf = (row: Row): string => oneLine(row.title ?? (row.text || t("files.unnamed")));

export const isPicture = (row: Row): boolean =>
  row.present !== false && /^image\/(png|jpeg|gif|webp)$/.test(row.media_type ?? "");

export function iconOf(row: Row): IconOf {
  if (row.present === false) return FileQuestion;
  const type = row.media_type ?? "";
  if (type.startsWith("audio/")) return Music;
  return /\.(py|rs|ts|js|c|cpp|go|java|html|css|json|sh)$/i.test(nameOf(row)) ? Code : FileText;
}

/** `ChatGPT, 12 Mar, 2.1 MB`, or that the export only names it. */
export function about(row: Row): string {
  if (row.present === false) return t("files.missing");
  return commas([look(row.source).name, shortDay(row.created_at), bytes(row.size)]);
}
