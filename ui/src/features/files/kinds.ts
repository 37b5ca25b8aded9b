import Code from "@lucide/svelte/icons/code";
import File from "@lucide/svelte/icons/file";
import FileQuestion from "@lucide/svelte/icons/file-question-mark";
import FileText from "@lucide/svelte/icons/file-text";
import Film from "@lucide/svelte/icons/film";
import Image from "@lucide/svelte/icons/image";
import Music from "@lucide/svelte/icons/music";
import type { FileKind } from "$lib/state/file-kinds.svelte";
import { files } from "$lib/state/lists.svelte";
import type { Row } from "$lib/state/records.svelte";
import { assistantStyle } from "$lib/logic/assistants";
import { findWords, hitWords, splitSegments, type TextSegment } from "$lib/logic/text-segments";
import { oneLine } from "$lib/logic/untrusted-text";
import { hasText, joinWithCommas, t } from "$lib/text";
import { bytes, shortDay } from "$lib/text/format";
import type { IconComponent } from "$lib/ui/types";

export const nameOf = (row: Row): string => oneLine(row.title ?? (row.text || t("files.unnamed")));

/** The name of a file as segments. The searched words are marked. */
export function nameSegments(row: Row): TextSegment[] {
  const name = nameOf(row);
  return splitSegments(name, findWords(name, hitWords(files.query, row)));
}

/**
 * The type of a file for people, such as `Document, PDF`: its kind, and the ending of its name. The media type is shown
 * only for a file with neither kind nor ending. For a passthrough file, `media_type` is the name of its role, which is
 * never shown, because it means nothing to a person.
 */
export function typeText(row: Row): string {
  const [, ending = ""] = /\.([a-z0-9]{1,8})$/i.exec(nameOf(row)) ?? [];
  const key = `files.oneKind.${row.file_kind ?? ""}`;
  const text = joinWithCommas([hasText(key) ? t(key as "files.oneKind.document") : "", ending.toUpperCase()]);
  return text || (row.media_type?.includes("/") ? oneLine(row.media_type) : "");
}

/** Whether a file is a picture that the window can show. */
export const isPicture = ({ present, media_type }: Pick<Row, "present" | "media_type">): boolean =>
  present !== false && /^image\/(png|jpeg|gif|webp)$/.test(media_type ?? "");

const ICONS: Record<FileKind, IconComponent> = {
  picture: Image,
  document: FileText,
  code: Code,
  sound: Music,
  video: Film,
  other: File,
  missing: FileQuestion,
};
export const iconOf = (row: Row): IconComponent => ICONS[(row.file_kind ?? "other") as FileKind] ?? File;

/**
 * A line about a file, such as `ChatGPT, 12 Mar, 2.1 MB`. For a file that the export lists but does not contain, the
 * line says so instead of the size.
 */
export function fileSummary(row: Row): string {
  const sourceText = joinWithCommas([assistantStyle(row.source).name, shortDay(row.created_at)]);
  return row.present === false
    ? t("files.missingFrom", { whose: sourceText })
    : joinWithCommas([sourceText, bytes(row.size)]);
}
