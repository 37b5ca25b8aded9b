import en from "./en.json";
import enGuides from "./guides/en.json";

/** A message: one text, or the texts of its plural forms by their CLDR names, of which `other` always exists. */
export type Message = string | ({ other: string } & Partial<Record<Intl.LDMLPluralRule, string>>);
export type MessageKey = keyof typeof en;
export type Messages = Readonly<Record<MessageKey, Message>>;

/** Id of a source from which people export, as in `guides/sources.json`. */
export type SourceId = keyof typeof enGuides;
/**
 * The texts that say how to get one's data from a source. The sentences contain marks, see `textParts`. `has` says what
 * the export contains, and `lacks` what it does not contain. `drop` says which files to drop on the window. `doubt`
 * says what is not certain.
 */
export type GuideText = {
  name: string;
  steps: string[];
  /** Alternatives to the steps, and exceptions. They are listed without numbers, because they are not steps. */
  notes?: string[];
  has: string[];
  lacks: string[];
  time: string;
  drop: string[];
  doubt?: string;
};
export type Guides = Readonly<Record<SourceId, GuideText>>;

export type Language = "en" | "de" | "ja";
export type Choice = Language | "system";

/**
 * A language of the window. `own` is its name in the language itself, `tag` the default locale for dates and numbers.
 * `lower` says whether names are written in lower case inside a sentence. `load` and `loadGuides` load its texts when
 * they are needed.
 */
type LanguageInfo = {
  own: string;
  tag: string;
  lower: boolean;
  load: () => Promise<Messages>;
  loadGuides: () => Promise<Guides>;
};
export const LANGUAGES: Record<Language, LanguageInfo> = {
  en: { own: "English", tag: "en-GB", lower: true, load: async () => en, loadGuides: async () => enGuides },
  de: {
    own: "Deutsch",
    tag: "de-DE",
    lower: false,
    load: async () => (await import("./de.json")).default,
    loadGuides: async () => (await import("./guides/de.json")).default,
  },
  ja: {
    own: "日本語",
    tag: "ja-JP",
    lower: false,
    load: async () => (await import("./ja.json")).default,
    loadGuides: async () => (await import("./guides/ja.json")).default,
  },
};

/** The format of clock times: 24 or 12 hours, or what is usual in the system’s region (`system`). */
export type Hours = "system" | "24" | "12";
const HOUR_CYCLES: Record<Hours, Pick<Intl.DateTimeFormatOptions, "hourCycle">> = {
  system: {},
  24: { hourCycle: "h23" },
  12: { hourCycle: "h12" },
};
export const isHours = (value: string | null): value is Hours => value !== null && Object.hasOwn(HOUR_CYCLES, value);

/** Returns everything that depends on the language: messages, plural rules, number and date formats. */
function localeData(language: Language, tag: string, messages: Messages, guides: Guides, hours: Hours) {
  const date = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(tag, options);
  return {
    language,
    tag,
    messages,
    guides,
    lower: LANGUAGES[language].lower,
    plural: new Intl.PluralRules(tag),
    number: new Intl.NumberFormat(tag),
    oneDecimal: new Intl.NumberFormat(tag, { maximumFractionDigits: 1 }),
    list: new Intl.ListFormat(tag, { type: "conjunction" }),
    order: new Intl.Collator(tag, { numeric: true }),
    day: date({ day: "numeric", month: "short", year: "numeric" }),
    short: date({ day: "numeric", month: "short" }),
    long: date({ day: "numeric", month: "long", year: "numeric" }),
    month: date({ month: "long", year: "numeric" }),
    shortMonth: date({ month: "short", year: "2-digit" }),
    time: date({ hour: "2-digit", minute: "2-digit", ...HOUR_CYCLES[hours] }),
  };
}

let clockFormat: Hours = "system";
let active = $state.raw(localeData("en", tagOf("en"), en, enGuides, clockFormat));
let switchCount = 0;

/** The data of the current language. Templates and derived values that use it are updated when the language changes. */
export const currentLocale = (): ReturnType<typeof localeData> => active;

/** The first of the system’s languages for which there are interface texts, or else English. */
export function systemLanguage(wanted: readonly string[] = navigator.languages): Language {
  return wanted.map((tag) => tag.split("-")[0] ?? "").find((each): each is Language => each in LANGUAGES) ?? "en";
}

/**
 * The tag of the regional variant of a language that the system uses (such as `en-AU`), or else the default tag of the
 * language.
 */
function tagOf(language: Language): string {
  return (
    navigator.languages.find((tag) => tag.split("-")[0] === language && tag.includes("-")) ?? LANGUAGES[language].tag
  );
}

/** Switches the language. If this is called several times, the last call wins, even if its texts are loaded first. */
export async function setLanguage(choice: Choice): Promise<void> {
  const run = ++switchCount;
  const language = choice === "system" ? systemLanguage() : choice;
  const [messages, guides] = await Promise.all([LANGUAGES[language].load(), LANGUAGES[language].loadGuides()]);
  if (run === switchCount) installTexts(messages, language, guides);
}

/** Replaces the texts and the language of the window. Exported for tests, which pass marked texts. */
export function installTexts(messages: Messages, language: Language, guides: Guides): void {
  active = localeData(language, tagOf(language), messages, guides, clockFormat);
  document.documentElement.lang = language;
}

/** Switches the clock format. */
export function setHours(hours: Hours): void {
  clockFormat = hours;
  active = localeData(active.language, active.tag, active.messages, active.guides, hours);
}
