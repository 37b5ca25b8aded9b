import FileText from "@lucide/svelte/icons/file-text";
import FileQuestion from "@lucide/svelte/icons/file-question-mark";
import Folder from "@lucide/svelte/icons/folder";
import Lock from "@lucide/svelte/icons/lock";
import type { Detection } from "$lib/ipc";
import { FOLDER_FORMATS, PORTABLE_FORMATS } from "$lib/logic/assistants";
import type { IconComponent } from "$lib/ui/types";
import { KEEP_AS_FILE_FORMATS } from "./guides";

/**
 * What is shown beside the name of a file that may be imported: the tile of the assistant that wrote the file
 * (`source`), or else an icon.
 *
 * @param detection Null while the file is inspected.
 * @param chosen The format that the person chose instead of the recognised one.
 */
export function fileSymbol(
  detection: Detection | null,
  chosen: string | null = null,
): { source: string | null; icon: IconComponent } {
  const format = chosen ?? detection?.format ?? null;
  const hasTile = format !== null && !PORTABLE_FORMATS.has(format) && !KEEP_AS_FILE_FORMATS.has(format);
  return { source: hasTile ? format : null, icon: iconOf(detection, format) };
}

function iconOf(detection: Detection | null, format: string | null): IconComponent {
  if (detection?.encrypted) return Lock;
  if (format && FOLDER_FORMATS.has(format)) return Folder;
  return format || detection?.tie || !detection ? FileText : FileQuestion;
}
