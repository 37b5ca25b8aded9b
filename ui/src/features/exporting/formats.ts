import { look } from "$lib/logic/assistants";

/** What the window writes. `signs`: the file can carry the vault's signature; `encrypts`: it can have a passphrase. */
export type ExportFormat = "mem" | "alf" | "mif" | "pam" | "zaxy";
export type FormatCard = { value: ExportFormat; end: string; signs: boolean; encrypts: boolean };

/** Named and described by `export.<value>`; where it is made, by `export.<value>Is`. */
export const FORMAT_CARDS: readonly FormatCard[] = [
  { value: "mem", end: ".mem", signs: true, encrypts: false },
  { value: "alf", end: ".alf", signs: false, encrypts: true },
  { value: "mif", end: ".mif.json", signs: false, encrypts: true },
  { value: "pam", end: ".pam", signs: true, encrypts: false },
  { value: "zaxy", end: ".zaxy.json", signs: true, encrypts: false },
];

export const cardOf = (format: string): FormatCard | undefined => FORMAT_CARDS.find((card) => card.value === format);

/** `.mem`, `.alf`, `MIF`, `PAM`, `Zaxy`. */
export const formatName = (format: string): string => look(format).name;
