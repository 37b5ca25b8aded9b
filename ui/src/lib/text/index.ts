import { bidiIsolated, oneLine } from "$lib/logic/untrusted-text";
import { currentLocale, type Message, type MessageKey } from "./locale.svelte";

export { LANGUAGES, type Choice, type Language, type MessageKey } from "./locale.svelte";
export type Values = Record<string, string | number>;

/** The text of the message with this key. The value `n` selects the plural form, and numbers are formatted. */
export function t(key: MessageKey, values: Values = {}): string {
  return fill(currentLocale().messages[key], values);
}

/** Whether a message exists for this key, which may be built from a code of the backend. */
export function hasText(key: string): key is MessageKey {
  return Object.hasOwn(currentLocale().messages, key);
}

/**
 * The message for a code of the backend. If there is no message, as for a name that a person chose, the code itself in
 * readable form.
 */
export function word(prefix: string, code: string, values: Values = {}): string {
  const key = `${prefix}.${code}`;
  return hasText(key) ? t(key, values) : codeAsWords(code);
}

/** Fills the values into a message. Exported for tests. */
export function fill(message: Message, values: Values): string {
  const form =
    typeof message === "string"
      ? message
      : (message[currentLocale().plural.select(Number(values.n ?? 0))] ?? message.other);
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? count(value) : bidiIsolated(value);
  });
}

/** A number with thousands separators. */
export function count(value: number): string {
  return currentLocale().number.format(value);
}

/** Capitalises the first letter. */
export function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name as it is written inside a sentence: in lower case if that is usual in the language. */
export function nameInSentence(text: string): string {
  return currentLocale().lower ? text.toLocaleLowerCase(currentLocale().tag) : text;
}

/** Turns a code into words: `left_out` becomes `Left out`. */
export function codeAsWords(code: string): string {
  return capitalised(oneLine(code.replaceAll(/[_-]+/g, " ")).trim());
}

/** Joins texts as a list in the current language, such as `a, b and c`. */
export function joinWithAnd(parts: string[]): string {
  return currentLocale()
    .list.format(parts)
    .replace(/, and /, " and ");
}

/** Joins texts as `a, b, c`. Empty texts are left out. */
export function joinWithCommas(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(t("join.comma"));
}

/** Joins sentences. Empty ones are left out. */
export function joinSentences(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(t("join.sentence"));
}

/** Puts a text into the quotation marks of the current language. */
export const quoted = (text: string): string => t("quoted", { text });

/** Compares names in the alphabetical order of the current language. */
export const byName = (a: string, b: string): number => currentLocale().order.compare(a, b);
