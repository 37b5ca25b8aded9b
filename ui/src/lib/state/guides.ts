import { FORMATS } from "$lib/ipc/formats";
import { currentLocale, type GuideText, type SourceId } from "$lib/text/locale.svelte";
import sources from "$lib/text/guides/sources.json";

/** Groups of sources and of formats, in the order in which they are listed. */
export const GROUPS = ["assistants", "agents", "engines", "programs", "other"] as const;
export type Group = (typeof GROUPS)[number];

/**
 * A source from which people get exports, without its texts.
 * - `formats`: the formats of its exports, the main format first, including formats that this version cannot read
 * - `words`: further words by which the search finds it
 * - `accepts`: what can be imported, the usual kind first
 * - `basis`: whether the steps follow the vendor's help page or reports of people who exported, or are not confirmed
 * - `checked`: the day on which the steps were last compared with their basis
 */
export type Source = {
  id: SourceId;
  group: Group;
  formats: readonly string[];
  words: string;
  accepts: readonly ("file" | "folder" | "text")[];
  basis: "vendor" | "reports" | "unsure";
  checked: string;
  links: readonly string[];
  paths: readonly { path: string; system?: string }[];
};

export const SOURCES = sources as readonly Source[];

/** The texts of a source in the current language. */
export const guideText = (id: SourceId): GuideText => currentLocale().guides[id];

/**
 * Formats that can be read, except `KEEP_AS_FILE_FORMATS`, which accept any file and are therefore used only if the
 * person chooses them.
 */
const ORDINARY_FORMATS = FORMATS.filter((format) => format.read && !format.onlyIfChosen);
const READ_FORMATS: ReadonlySet<string> = new Set(ORDINARY_FORMATS.map(({ id }) => id));
export const KEEP_AS_FILE_FORMATS: ReadonlySet<string> = new Set(
  FORMATS.filter((format) => format.read && format.onlyIfChosen).map(({ id }) => id),
);

/**
 * Whether this version can read exports of a source. A source in the group `other` names no program, so it always
 * counts as readable.
 */
export const isReadable = ({ group, formats }: Source): boolean =>
  group === "other" || formats.some((format) => READ_FORMATS.has(format));

/**
 * The source whose exports have this format, or null. If the format is the main format of several sources, the last of
 * these, because the general source is listed after the programs that write the format.
 */
export function sourceOf(format: string | null | undefined): Source | null {
  if (!format) return null;
  return (
    SOURCES.findLast(({ formats }) => formats[0] === format) ??
    SOURCES.find(({ formats }) => formats.includes(format)) ??
    null
  );
}

/** The formats that a person may choose for a file, by group and in the order of their sources. No group is empty. */
export function formatsByGroup(): { group: Group; formats: string[] }[] {
  const ids = ORDINARY_FORMATS.map(({ id }) => id);
  const inOrderOfSources = SOURCES.flatMap((source) =>
    source.formats.filter((id) => READ_FORMATS.has(id) && sourceOf(id) === source),
  );
  const listed = [...inOrderOfSources, ...ids.filter((id) => sourceOf(id) === null)];
  return GROUPS.map((group) => ({
    group,
    formats: listed.filter((id) => (sourceOf(id)?.group ?? "other") === group),
  })).filter(({ formats }) => formats.length > 0);
}

const simplify = (text: string) => text.normalize("NFKC").toLocaleLowerCase();

/** The sources whose name, synonyms, id, formats, paths and file names together contain every word of the query. */
export function findSources(query: string): Source[] {
  const words = simplify(query).split(/\s+/).filter(Boolean);
  return SOURCES.filter((source) => {
    const { name, drop } = guideText(source.id);
    const paths = source.paths.map(({ path }) => path);
    const text = simplify([name, source.id, source.words, ...source.formats, ...paths, ...drop].join(" "));
    return words.every((word) => text.includes(word));
  });
}

export type TextPart = { kind: "text" | "code" | "menu" | "button" | "guide"; text: string };

/** The patterns of the marks in the sentences of guides. The first capture group of each pattern is the marked text. */
const MARKS: [Exclude<TextPart["kind"], "text">, RegExp][] = [
  ["code", /^`([^`]+)`/],
  ["menu", /^\*([^*]+)\*/],
  ["button", /^\[([^\]]+)\]/],
  ["guide", /^\{(\w+)\}/],
];

/**
 * Splits a sentence of a guide at its marks: `` `code` ``, `*labels of menus*`, `[buttons of this window]`, and
 * `{ids}` of other guides.
 */
export function textParts(sentence: string): TextPart[] {
  const parts: TextPart[] = [];
  let remainingText = sentence;
  while (remainingText !== "") {
    const found = MARKS.flatMap(([kind, pattern]) => {
      const match = pattern.exec(remainingText);
      return match ? [{ kind, text: match[1] ?? "", length: match[0].length }] : [];
    })[0];
    const plain = found ? "" : (/^.[^`*[{]*/su.exec(remainingText)?.[0] ?? remainingText);
    parts.push(found ? { kind: found.kind, text: found.text } : { kind: "text", text: plain });
    remainingText = remainingText.slice(found?.length ?? plain.length);
  }
  return parts;
}
