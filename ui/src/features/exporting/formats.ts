import { assistantStyle } from "$lib/logic/assistants";
import { t } from "$lib/text";

/**
 * What the window writes. `signs`: the file can carry the vault's signature; `encrypts`: it can have a passphrase.
 * `folder`: it is one. `files`: it holds attached files themselves, as far as they are small.
 */
export type ExportFormat = FileFormat | "transfer_text";
/** What is always a file, so that it has a place. */
export type FileFormat = "mem" | "alf" | "mif" | "pam" | "zaxy";
export type FormatCard = {
  value: ExportFormat;
  end: string;
  signs: boolean;
  encrypts: boolean;
  folder?: true;
  files?: true;
};

/** Named and described by `export.<value>`; where it is made, by `export.<value>Is`. */
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
