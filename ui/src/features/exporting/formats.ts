import { assistantStyle } from "$lib/logic/assistants";
import { t } from "$lib/text";

/**
 * The export formats of the window. `signs`: can carry the vault's signature; `encrypts`: can have a passphrase.
 * `folder`: is a folder. `files`: holds small attached files.
 */
export type ExportFormat = FileFormat | "transfer_text";
/** Formats that are always a file and so need a path. */
export type FileFormat = "mem" | "alf" | "mif" | "pam" | "zaxy";
export type FormatCard = {
  value: ExportFormat;
  end: string;
  signs: boolean;
  encrypts: boolean;
  folder?: true;
  files?: true;
};

/** Texts: `export.<value>` is name and description, `export.<value>Is` the progress text. */
export const FORMAT_CARDS: readonly FormatCard[] = [
  { value: "mem", end: ".mem", signs: true, encrypts: false, folder: true },
  { value: "alf", end: ".alf", signs: false, encrypts: true, files: true },
  { value: "mif", end: ".mif.json", signs: false, encrypts: true },
  { value: "pam", end: ".pam", signs: true, encrypts: false, folder: true },
  { value: "zaxy", end: ".zaxy.json", signs: true, encrypts: false },
  { value: "transfer_text", end: ".md", signs: false, encrypts: false },
];

export const cardOf = (format: string): FormatCard | undefined => FORMAT_CARDS.find((card) => card.value === format);

/** `.mem`, `.alf`, `MIF`, `PAM`, `Zaxy`, `Text`. */
export const formatName = (format: string): string =>
  format === "transfer_text" ? t("export.textName") : assistantStyle(format).name;
