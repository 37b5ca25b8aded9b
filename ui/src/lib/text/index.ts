import { bidiIsolated, oneLine } from "$lib/logic/untrusted-text";
import { spoken, type Message, type MessageKey } from "./locale.svelte";

export { LANGUAGES, type Choice, type Language, type MessageKey } from "./locale.svelte";
export type Values = Record<string, string | number>;

/** A text by its key. Plural forms are chosen by `n`, the only count that a text bends to; numbers get their separators. */
export function t(key: MessageKey, values: Values = {}): string {
  return fill(spoken().messages[key], values);
}

/** Whether the message file has a text for this key: for words that come from the backend as codes. */
export function hasText(key: string): key is MessageKey {
  return Object.hasOwn(spoken().messages, key);
}

/** The text for a backend code, or the code itself in readable form: for names that people or assistants gave. */
export function word(prefix: string, code: string, values: Values = {}): string {
  const key = `${prefix}.${code}`;
  return hasText(key) ? t(key, values) : readable(code);
}

/** Fill one message; split off for tests. */
export function fill(message: Message, values: Values): string {
  const form =
    typeof message === "string" ? message : (message[spoken().plural.select(Number(values.n ?? 0))] ?? message.other);
  return form.replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? count(value) : bidiIsolated(value);
  });
}

/** A number with its separators. */
export function count(value: number): string {
  return spoken().number.format(value);
}

/** With a capital at the start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A name as it is written inside a sentence: small where the language does that. */
export function nameInSentence(text: string): string {
  return spoken().lower ? text.toLocaleLowerCase(spoken().tag) : text;
}

/** `left_out` → `Left out`. */
export function readable(code: string): string {
  return capital(oneLine(code.replaceAll(/[_-]+/g, " ")).trim());
}

/** `a, b and c`. */
export function joinWithAnd(parts: string[]): string {
  return spoken()
    .list.format(parts)
    .replace(/, and /, " and ");
}

/** `a, b, c`; what is empty stays out. */
export function joinWithCommas(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(t("join.comma"));
}

/** Sentences after one another; what is empty stays out. */
export function joinSentences(parts: readonly (string | null | undefined)[]): string {
  return parts.filter(Boolean).join(t("join.sentence"));
}

/** In quotation marks. */
export const quoted = (text: string): string => t("quoted", { text });

/** Order of names for people. */
export const byName = (a: string, b: string): number => spoken().order.compare(a, b);
