import { assistantStyle } from "$lib/logic/assistants";
import {
  EXPORT_FORMATS,
  EXPORT_GROUPS,
  TEXT_FORMAT,
  groupOf,
  type ExportFormat,
  type ExportGroup,
} from "$lib/state/formats";
import { t } from "$lib/text";

export type { ExportFormat, FileFormat } from "$lib/state/formats";

/**
 * An export format in the window. `signs`: an export can be signed by the vault. `encrypts`: an export can have a
 * passphrase. `needsPassphrase`: an export always has a passphrase. `folder`: an export is a folder instead of a file.
 * `files`: an export contains small attached files.
 */
export type FormatCard = {
  value: ExportFormat;
  group: ExportGroup;
  end: string;
  signs: boolean;
  encrypts: boolean;
  needsPassphrase: boolean;
  folder: boolean;
  files: boolean;
};

/** The short name of a format, such as `.mem`, `MIF` or `Text`. */
export const formatName = (format: string): string =>
  format === TEXT_FORMAT ? t("export.textName") : assistantStyle(format).name;

/** Sort key of a format: recommended ones come first, text comes last. */
const rank = ({ recommended, text }: (typeof EXPORT_FORMATS)[number]) => Number(text) - Number(recommended);

/**
 * The export formats in the order of their cards. The message `export.<value>` describes a format, and
 * `export.<value>Is` says what is created at the path.
 */
export const FORMAT_CARDS: readonly FormatCard[] = EXPORT_FORMATS.toSorted(
  (a, b) => rank(a) - rank(b) || (a.recommended ? 0 : a.id.localeCompare(b.id)),
).map((format) => ({
  value: format.id,
  group: groupOf(format),
  end: format.ending,
  signs: format.signs,
  encrypts: format.encrypts,
  needsPassphrase: format.needsPassphrase,
  folder: format.folder,
  files: format.attachments,
}));

/** The cards, grouped by the purpose of their formats. The message `export.group<group>` is the heading of a group. */
export const CARD_GROUPS: readonly { group: ExportGroup; cards: readonly FormatCard[] }[] = EXPORT_GROUPS.map(
  (group) => ({ group, cards: FORMAT_CARDS.filter((card) => card.group === group) }),
);

type LargeFormat = Extract<(typeof EXPORT_FORMATS)[number], { recommended: true }>["id"];
/**
 * Whether a format has a large card with a second text, the message `export.<value>Small`. Only recommended formats
 * have one.
 */
export const hasLargeCard = (value: ExportFormat): value is LargeFormat =>
  EXPORT_FORMATS.some(({ id, recommended }) => id === value && recommended);

export const cardOf = (format: string): FormatCard | undefined => FORMAT_CARDS.find((card) => card.value === format);
