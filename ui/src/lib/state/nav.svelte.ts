import { onLock } from "./lock-cleanup";
import { search } from "./search-field.svelte";

export const SECTIONS = [
  "home",
  "memories",
  "conversations",
  "files",
  "sensitive",
  "people",
  "review",
  "suggestions",
  "activity",
  "trash",
  "settings",
] as const;
export type Section = (typeof SECTIONS)[number];
/** Maps each section without an entry in the sidebar to the section that leads to it, whose entry is marked instead. */
const PARENTS: Partial<Record<Section, Section>> = { people: "home", review: "home" };
export type ReviewTab = "memories" | "contradictions";
export type ActivityTab = "transfers" | "changes" | "tombstones" | "clients";
export const SETTINGS_PAGES = ["security", "agents", "folders", "appearance", "vault", "keys", "about"] as const;
export type SettingsPage = (typeof SETTINGS_PAGES)[number];
/** A sentence of a message: its text, and where it begins in the message, in code points. */
export type Quote = { text: string; start: number };
type Place = { section: Section; id: string | null; message: string | null; quote: Quote | null };

/** The current location and the navigation history. */
class Nav {
  section = $state<Section>("home");
  /** The record that is open in this section. Null if there is none. */
  id = $state<string | null>(null);
  /** The message to scroll to in a conversation. */
  message = $state<string | null>(null);
  /** The sentence to highlight in that message. */
  quote = $state.raw<Quote | null>(null);
  reviewTab = $state<ReviewTab>("memories");
  activityTab = $state<ActivityTab>("transfers");
  settingsPage = $state<SettingsPage>("security");
  /** The section that leads to the current one. Null if the current one has its own entry in the sidebar. */
  readonly parent = $derived(PARENTS[this.section] ?? null);
  /** For each section, the record that was open when the section was left. */
  readonly #last = new Map<Section, string | null>();
  #back: Place[] = [];
  #forward: Place[] = [];

  go(section: Section, id: string | null = null, message: string | null = null, quote: Quote | null = null): void {
    const isHere = section === this.section && id === this.id && message === this.message;
    if (isHere && quote?.start === this.quote?.start) return;
    this.#back.push(this.#currentPlace());
    this.#forward = [];
    this.#set({ section, id, message, quote });
  }

  /** Opens another section, by default with the record that was open there last, and clears the search. */
  open(section: Section, record: string | null = this.#last.get(section) ?? null): void {
    if (section === this.section) return;
    search.clear();
    this.go(section, record);
  }

  /** Selects a record in the list. This changes the current location, but adds no entry to the history. */
  choose(id: string | null): void {
    this.id = id;
    this.message = null;
    this.quote = null;
  }

  back(): void {
    const place = this.#back.pop();
    if (!place) return;
    this.#forward.push(this.#currentPlace());
    this.#set(place);
  }

  forward(): void {
    const place = this.#forward.pop();
    if (!place) return;
    this.#back.push(this.#currentPlace());
    this.#set(place);
  }

  clear(): void {
    this.id = null;
    this.message = null;
    this.quote = null;
    this.#last.clear();
    this.#back = [];
    this.#forward = [];
  }

  #currentPlace(): Place {
    return { section: this.section, id: this.id, message: this.message, quote: this.quote };
  }

  #set(place: Place): void {
    if (place.section !== this.section) this.#last.set(this.section, this.id);
    this.section = place.section;
    this.id = place.id;
    this.message = place.message;
    this.quote = place.quote;
  }
}

export const nav = new Nav();
onLock(() => nav.clear());
