import { assistantStyle } from "$lib/logic/assistants";
import { joinWithCommas, count, hasText, codeAsWords, t, word, type MessageKey } from "./index";
import { currentLocale } from "./locale.svelte";

/**
 * A message of the core, the program behind the window, as the window shows it. `text`: the window's text for the
 * message's code. `original`: the part of the core's English message that `text` does not say. Windows in other
 * languages show it under "Details".
 */
export type CoreText = { text: string; original: string };

/** Whether the window is in English, the language of the core's messages. */
export const isCoreLanguage = (): boolean => currentLocale().language === "en";

/**
 * Text for the reason why an item was not added as new. `reason` is a code or a fixed phrase, then `: ` and details.
 */
export function reasonText(reason: string): CoreText {
  const [code = "", ...rest] = reason.split(": ");
  const key = `reason.${code.replaceAll(" ", "_")}`;
  return hasText(key) ? { text: t(key), original: rest.join(": ") } : { text: "", original: reason };
}

/** Text for the layout or version of an export. Null if `version` is null or only an internal name of the reader. */
export function layoutText(version: string | null): string | null {
  const key = `layout.${version ?? ""}`;
  if (hasText(key)) return t(key);
  return version && /\d/.test(version) ? version : null;
}

/** What the core recognised a file by, as in a `Detection`. */
type Recognised = { format: string | null; reason: string; version: string | null };

/** Text for a file whose format was recognised: what it was recognised by, or the format's name, and the version. */
export function recognisedText({ format, reason, version }: Recognised): string {
  const name = assistantStyle(format).name;
  return joinWithCommas([(isCoreLanguage() && reason) || t("peek.is", { name }), layoutText(version)]);
}

/** Texts for the codes of readers and validators, by a pattern of the code. The first match counts. */
const ISSUE_TEXTS: [RegExp, MessageKey][] = [
  [/folder_renamed/, "issue.folderRenamed"],
  [/checksum|digest|integrity|hash/, "issue.checksum"],
  [/signature|signed|signer/, "issue.signature"],
  [/secret|credential|capability|encrypted|passphrase/, "issue.secret"],
  [/attachment/, "issue.attachment"],
  [/dangling|conversation_missing|mutual|self_relation|base/, "issue.reference"],
  [/count|index|listed|statements_gone|date_range|partition|layer/, "issue.contents"],
  [/version|other_form|form$/, "issue.version"],
  [/limit|larger|depth/, "issue.limit"],
  [/duplicate/, "issue.duplicate"],
  [/empty/, "issue.empty"],
  [/incremental|delta/, "issue.onlyChanges"],
  [/changed/, "issue.changed"],
  [
    /unreadable|damaged|truncated|malformed|encoding|surrogate|lines?|missing|header|footer|type|not_a/,
    "issue.unreadable",
  ],
];

/** Text for a warning or an error about a file. */
export function issueText({ code, message }: { code: string; message: string }): CoreText {
  return { text: t(ISSUE_TEXTS.find(([pattern]) => pattern.test(code))?.[1] ?? "issue.other"), original: message };
}

/** The data in the log entry of an export. `valid` is null in entries of earlier versions, which did not store it. */
export type ExportFacts = {
  records: number;
  signed: boolean;
  encrypted: boolean;
  covered: number;
  valid: boolean | null;
};

/** Parses `3589 records, signed, encrypted, 23 covered, valid`. Returns null for a detail in any other format. */
export function exportFacts(detail: string): ExportFacts | null {
  const form = /^(\d+) records(, signed)?(, encrypted)?(?:, (\d+) covered)?(?:, (not )?valid)?$/;
  const [whole, records, signed, encrypted, covered, notValid] = form.exec(detail) ?? [];
  if (whole === undefined) return null;
  return {
    records: Number(records),
    signed: signed !== undefined,
    encrypted: encrypted !== undefined,
    covered: Number(covered ?? 0),
    valid: whole.endsWith("valid") ? notValid === undefined : null,
  };
}

/**
 * A text such as `3,589 items, signed, 23 sensitive values masked`. The items are followed by the name of `format`, if
 * given.
 */
export function exportSummary({ records, signed, encrypted, covered }: ExportFacts, format = ""): string {
  return joinWithCommas([
    // Text to paste is not named after its format, because the name of that format ("pasted text") describes an import.
    hasText(`itemsAs.${format}`)
      ? word("itemsAs", format, { n: records })
      : format
        ? t("activity.itemsAs", { n: records, name: assistantStyle(format).name })
        : t("many.items", { n: records }),
    signed ? t("activity.signed") : null,
    encrypted ? t("activity.encrypted") : null,
    covered > 0 ? t("activity.covered", { n: covered }) : null,
  ]);
}

/** Text that says why an import failed, from the code in the log. The log does not store the name of the file. */
function failureText(code: string, format: string): CoreText {
  const place = format ? t("activity.itsFile", { name: assistantStyle(format).name }) : t("error.thePlace");
  const hasErrorText = hasText(`error.${code}`);
  return {
    text: hasErrorText ? word("error", code, { place }) : t("error.invalid", { place }),
    original: hasErrorText ? "" : code,
  };
}

/**
 * A text such as `17 new items, 2 updated` for the numbers of entries that imports added and updated. Says nothing
 * about updated entries if there are none.
 */
export function importedCounts(imports: readonly { added: number; updated: number }[]): string {
  const sum = (key: "added" | "updated") => imports.reduce((all, each) => all + each[key], 0);
  const updated = sum("updated");
  return joinWithCommas([
    t("activity.newItems", { n: sum("added") }),
    updated > 0 ? t("activity.n.updated", { n: updated }) : null,
  ]);
}

/** Text for the detail of a log entry. The vault writes details only in a few fixed formats. */
export function auditText(op: string, detail: string, target = ""): CoreText {
  const numbers = (detail.match(/\d+/g) ?? []).map(Number);
  const [first = 0, second = 0] = numbers;
  const form = detail.replaceAll(/\d+/g, "#");
  const plain = (text: string): CoreText => ({ text, original: "" });
  if (detail === "") return plain("");
  if (op === "import_failed") return failureText(detail, target);
  const facts = op === "export" ? exportFacts(detail) : null;
  if (facts) return plain(exportSummary(facts, target));
  if (form === "added # updated #") return plain(importedCounts([{ added: first, updated: second }]));
  if (form === "removed #") return plain(t("import.undone", { n: first }));
  if (form === "# records") return plain(t("many.items", { n: first }));
  if (form === "# values") return plain(t("changes.values", { n: first }));
  if (form === "# values, # records")
    return plain(joinWithCommas([t("changes.values", { n: first }), t("many.items", { n: second })]));
  if (form === "# memories") return plain(t("many.memory", { n: first }));
  if (form === "version #") return plain(t("changes.version", { version: count(first) }));
  if (op === "watch" && hasText(`watchMode.${detail}`)) return plain(word("watchMode", detail));
  if (op === "suggestion_refuse" && detail === "for good") return plain(t("changes.forGood"));
  if (form === "same words") return plain(t("changes.sameWords"));
  return op === "erase" && hasText(`kind.${detail}`) ? plain(word("kind", detail)) : { text: "", original: detail };
}

/**
 * Maps the core's details of cleaned places, by a pattern, to texts. The capture group of a pattern is the number that
 * the text shows.
 */
const PLACE_DETAILS: [RegExp, MessageKey][] = [
  [/^(\d+) records, their versions, verbatim texts, links and vectors$/, "placeDetail.records"],
  [/^(\d+) records [a-z ]+ tombstones, 0 still there$/, "placeDetail.records"],
  [/^\d+ files, (\d+) words and \d+ rows [a-z]+ for$/, "placeDetail.words"],
  [/^(\d+) files$/, "many.attachment"],
  [/^(\d+) pages searched for \d+ traces$/, "placeDetail.pages"],
  [/^(\d+) parts of imports searched$/, "placeDetail.parts"],
  [/^written back and truncated$/, "placeDetail.emptied"],
  [/^none$/, "placeDetail.none"],
];

/** Maps the core's details of checked places of a vault to texts, in the same form as `PLACE_DETAILS`. */
const CHECK_DETAILS: [RegExp, MessageKey][] = [
  [/^(\d+) key slots$/, "checkDetail.header"],
  [/^(\d+) pages$/, "checkDetail.pages"],
  [/^(\d+) documents$/, "checkDetail.index"],
  [/^(\d+) files$/, "many.attachment"],
  [/^chain and signatures hold$/, "checkDetail.audit"],
  [/^all resolve$/, "checkDetail.references"],
  [/^\d+ packs$/, "checkDetail.packs"],
];

function detailText(details: readonly [RegExp, MessageKey][], detail: string): CoreText {
  for (const [form, key] of details) {
    const found = form.exec(detail);
    if (found) return { text: t(key as "many.attachment", { n: Number(found[1] ?? 0) }), original: "" };
  }
  return { text: "", original: detail };
}

/** Text for the detail of a place in a receipt. A failure is shown with the core's message. */
export const placeDetailText = (detail: string): CoreText => detailText(PLACE_DETAILS, detail);

/** Text for the detail of a checked place of a vault. A fault is shown with the core's message. */
export const checkDetailText = (detail: string): CoreText => detailText(CHECK_DETAILS, detail);

/** Maps the core's sentences about weak passphrases to messages. A test compares them with the core's source. */
export const WEAKNESS_TEXTS: Record<string, MessageKey> = {
  "There is nothing here yet.": "strength.why.empty",
  "It follows the keys of the keyboard.": "strength.why.keyboard",
  "It repeats itself.": "strength.why.repeats",
  "It is one of the most used passwords.": "strength.why.common",
  "It is close to a much used password.": "strength.why.similar",
  "It is a sequence, like abc or 6543.": "strength.why.sequence",
  "It is mostly a date or a year.": "strength.why.date",
  "It is a single word.": "strength.why.word",
  "It is a name.": "strength.why.name",
  "It is too short. Add a word or two.": "strength.why.short",
};

/** Why a passphrase is rejected. */
export const weaknessText = (reason: string): string => t(WEAKNESS_TEXTS[reason] ?? "strength.why.short");

/** Whether the reason for the rejection is that the passphrase is too short. An unknown reason counts as this one. */
export const isTooShort = (reason: string): boolean => weaknessText(reason) === t("strength.why.short");

/** The name of a field that an export loses. If there is no message for the field, its raw name split into words. */
export function fieldName(field: string): string {
  const key = `field.${field.replaceAll(".", "_")}`;
  if (hasText(key)) return t(key);
  const words = field.replaceAll(/[.:]+/g, " ").replaceAll(/(\p{Ll})(?=\p{Lu})/gu, "$1 ");
  return codeAsWords(words.toLowerCase());
}
