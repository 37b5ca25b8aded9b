import { look } from "$lib/logic/assistants";
import { t } from "$lib/text";

/** What the window writes. `signs`: the file can carry the vault's signature; `encrypts`: it can have a passphrase. */
export type ExportFormat = "mem" | "alf" | "mif" | "pam" | "zaxy";
export type FormatCard = {
  value: ExportFormat;
  text: string;
  small: string;
  end: string;
  is: string;
  signs: boolean;
  encrypts: boolean;
};

export const FORMAT_CARDS: FormatCard[] = [
  {
    value: "mem",
    text: t("export.mem"),
    small: t("export.memSmall"),
    end: ".mem",
    is: t("export.memIs"),
    signs: true,
    encrypts: false,
  },
  {
    value: "alf",
    text: t("export.alf"),
    small: t("export.alfSmall"),
    end: ".alf",
    is: t("export.alfIs"),
    signs: false,
    encrypts: true,
  },
  {
    value: "mif",
    text: t("export.mif"),
    small: "",
    end: ".mif.json",
    is: t("export.mifIs"),
    signs: false,
    encrypts: true,
  },
  { value: "pam", text: t("export.pam"), small: "", end: ".pam", is: t("export.pamIs"), signs: true, encrypts: false },
  {
    value: "zaxy",
    text: t("export.zaxy"),
    small: "",
    end: ".zaxy.json",
    is: t("export.zaxyIs"),
    signs: true,
    encrypts: false,
  },
];

export const cardOf = (format: string): FormatCard | undefined => FORMAT_CARDS.find((card) => card.value === format);

/** `.mem`, `.alf`, `MIF`, `PAM`, `Zaxy`. */
export const formatName = (format: string): string => look(format).name;
