import messages from "./en.json";

export type MessageKey = keyof typeof messages;
export type Values = Record<string, string | number>;

const plural = new Intl.PluralRules("en");
const number = new Intl.NumberFormat("en");

/**
 * A text by its key. Plural forms stand as `one | other` and are chosen by `n`; numbers are written with separators.
 */
export function t(key: MessageKey, values: Values = {}): string {
  return fill(messages[key], values);
}

/** Whether the message file has a text for this key: for words that come from the backend as codes. */
export function hasText(key: string): key is MessageKey {
  return key in messages;
}

/** The text for a backend code, or the code itself in readable form. */
export function word(prefix: string, code: string): string {
  const key = `${prefix}.${code}`;
  return hasText(key) ? t(key) : readable(code);
}

/** Fill one message; split off for tests. */
export function fill(message: string, values: Values): string {
  const forms = message.split(" | ");
  const form = forms.length > 1 && plural.select(Number(values.n ?? 0)) !== "one" ? forms[1] : forms[0];
  return (form ?? "").replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? count(value) : value;
  });
}

/** A number with thousands separators. */
export function count(value: number): string {
  return number.format(value);
}

/** With a capital at the start. */
export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** `left_out` → `Left out`. */
export function readable(code: string): string {
  return capital(code.replaceAll(/[_-]+/g, " ").trim());
}

/** `a, b and c`. */
export function listed(parts: string[]): string {
  return new Intl.ListFormat("en", { type: "conjunction" }).format(parts).replace(/, and /, " and ");
}
