import { FORMATS } from "$lib/ipc/formats";

type Format = (typeof FORMATS)[number];
/** A format that a person may choose for an export in the window: one that is written and needs no earlier export. */
type OfferedFormat = Extract<Format, { write: true; needsBase: false }>;
export type ExportFormat = OfferedFormat["id"];
/** Formats that are text to paste somewhere. */
export type TextFormat = Extract<OfferedFormat, { text: true }>["id"];
/** Formats that are always saved as a file and therefore need a path. */
export type FileFormat = Exclude<ExportFormat, TextFormat>;

/** The formats that a person may choose for an export, in the order of `FORMATS`. */
export const EXPORT_FORMATS = FORMATS.filter((format): format is OfferedFormat => format.write && !format.needsBase);

/** Whether a person may choose this format for an export in the window. */
export const isOffered = (id: string): boolean => EXPORT_FORMATS.some((format) => format.id === id);

/** The purpose of a format: open exchange, chats in a vendor's format, agents and memory engines, or reading. */
export type ExportGroup = "Open" | "Chats" | "Agents" | "Reading";
export const EXPORT_GROUPS: readonly ExportGroup[] = ["Open", "Chats", "Agents", "Reading"];

export function groupOf(format: OfferedFormat): ExportGroup {
  if (format.interchange) return "Open";
  if (format.accountExport) return "Chats";
  return format.forReading || format.text ? "Reading" : "Agents";
}

function requireFirst<T>(list: readonly T[]): T {
  const [found] = list;
  if (found === undefined) throw new Error("the list of formats is empty");
  return found;
}

const isTextFormat = (format: Format): format is Extract<OfferedFormat, { text: true }> => format.text;
/** The format of text to paste somewhere. */
export const TEXT_FORMAT: TextFormat = requireFirst(FORMATS.filter(isTextFormat)).id;
/** The format that is chosen at first in the export sheet. */
export const DEFAULT_EXPORT_FORMAT: ExportFormat = requireFirst(EXPORT_FORMATS).id;

const idsOf = (test: (format: Format) => boolean): ReadonlySet<string> =>
  new Set(FORMATS.filter(test).map(({ id }) => id));

/** Interchange formats whose files can be checked. The files of other formats are not checked before an import. */
export const CHECKED_FORMATS = idsOf((format) => format.validate && format.interchange);
/** Formats that continue an earlier export and are therefore imported after it. */
export const INCREMENTAL_FORMATS = idsOf((format) => format.needsBase);
