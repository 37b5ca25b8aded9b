import en from "./en.json";

/** A text, or its plural forms by the names that CLDR gives them; `other` is always there. */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type MessageKey = keyof typeof en;
export type Messages = Readonly<Record<MessageKey, Message>>;

export type Language = "en" | "de" | "ja";
export type Choice = Language | "system";

/**
 * What is spoken here. `own`: the language's name in itself. `tag`: how dates and numbers are written where the system
 * does not say it. `lower`: names are written small inside a sentence. `load`: a file of its own, read when it is asked for.
 */
export const LANGUAGES: Record<Language, { own: string; tag: string; lower: boolean; load: () => Promise<Messages> }> =
  {
    en: { own: "English", tag: "en-GB", lower: true, load: async () => en },
    de: { own: "Deutsch", tag: "de-DE", lower: false, load: async () => (await import("./de.json")).default },
    ja: { own: "日本語", tag: "ja-JP", lower: false, load: async () => (await import("./ja.json")).default },
  };

/** How the time of day is told: as the system does in this language, or by its 24 or twice 12 hours. */
export type Hours = "system" | "24" | "12";
const CYCLES: Record<Hours, Pick<Intl.DateTimeFormatOptions, "hourCycle">> = {
  system: {},
  24: { hourCycle: "h23" },
  12: { hourCycle: "h12" },
};
export const isHours = (value: string | null): value is Hours => value !== null && Object.hasOwn(CYCLES, value);

/** Everything that depends on the language: the texts, and what the platform knows of its plurals, numbers and dates. */
function voice(language: Language, tag: string, messages: Messages, hours: Hours) {
  const date = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, options);
  return {
    language,
    tag,
    messages,
    lower: LANGUAGES[language].lower,
    plural: new Intl.PluralRules(tag),
    number: new Intl.NumberFormat(tag),
    tenth: new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }),
    list: new Intl.ListFormat(tag, { type: "conjunction" }),
    order: new Intl.Collator(tag, { numeric: true }),
    day: date({ day: "numeric", month: "short", year: "numeric" }),
    short: date({ day: "numeric", month: "short" }),
    long: date({ day: "numeric", month: "long", year: "numeric" }),
    month: date({ month: "long", year: "numeric" }),
    shortMonth: date({ month: "short", year: "2-digit" }),
    time: date({ hour: "2-digit", minute: "2-digit", ...CYCLES[hours] }),
  };
}

let told: Hours = "24";
let current = $state.raw(voice("en", tagOf("en"), en, told));
let asked = 0;

/** The voice in use. Whoever reads it in a template or a derived value follows when it changes. */
export const spoken = (): ReturnType<typeof voice> => current;

/** The first language of the system that is spoken here; English when there is none. */
export function systemLanguage(wanted: readonly string[] = navigator.languages): Language {
  return wanted.map((tag) => tag.split("-")[0] ?? "").find((each): each is Language => each in LANGUAGES) ?? "en";
}

/** The system's own way of writing dates in this language (`en-AU`), or the plain one. */
function tagOf(language: Language): string {
  return (
    navigator.languages.find((tag) => tag.split("-")[0] === language && tag.includes("-")) ?? LANGUAGES[language].tag
  );
}

/** Speak this language from now on. The last call counts, whichever file comes first. */
export async function setLanguage(choice: Choice): Promise<void> {
  const run = ++asked;
  const language = choice === "system" ? systemLanguage() : choice;
  const messages = await LANGUAGES[language].load();
  if (run === asked) installTexts(messages, language);
}

/** Put texts in place; split off for tests, which hand in marked ones. */
export function installTexts(messages: Messages, language: Language): void {
  current = voice(language, tagOf(language), messages, told);
  document.documentElement.lang = language;
}

/** Tell times so from now on. */
export function setHours(hours: Hours): void {
  told = hours;
  current = voice(current.language, current.tag, current.messages, hours);
}
