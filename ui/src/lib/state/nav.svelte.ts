import { onLock } from "./lock-cleanup";
import { search } from "./search-field.svelte";

export const SECTIONS = [
  "home",
  "memories",
  "conversations",
  "files",
  "sensitive",
  "review",
  "suggestions",
  "activity",
  "trash",
  "settings",
] as const;
export type Section = (typeof SECTIONS)[number];
export type ActivityTab = "transfers" | "changes" | "tombstones" | "clients";
export const SETTINGS_PAGES = ["security", "agents", "folders", "appearance", "vault", "keys", "about"] as const;
export type SettingsPage = (typeof SETTINGS_PAGES)[number];
type Place = { section: Section; id: string | null; message: string | null };

/** The current location and the navigation history. */
class Nav {
  section = $state<Section>("home");
  /** The record to show in this section, if the link named one. */
  id = $state<string | null>(null);
  /** The message to scroll to in a conversation. */
  message = $state<string | null>(null);
  activityTab = $state<ActivityTab>("transfers");
  settingsPage = $state<SettingsPage>("security");
  /** The record that was open in a section when it was left. */
  readonly #last = new Map<Section, string | null>();
  #back: Place[] = [];
  #forward: Place[] = [];

  go(section: Section, id: string | null = null, message: string | null = null): void {
    if (section === this.section && id === this.id && message === this.message) return;
    this.#back.push(this.#here());
    this.#forward = [];
    this.#set({ section, id, message });
  }

  /** Opens a section with the record that was open there last. If it is another one, the search is cleared. */
  open(section: Section): void {
    if (section === this.section) return;
    search.clear();
    this.go(section, this.#last.get(section) ?? null);
  }

  /** Selects a record in the list. This changes the current location, but adds no entry to the history. */
  choose(id: string | null): void {
    this.id = id;
    this.message = null;
  }

  back(): void {
    const place = this.#back.pop();
    if (!place) return;
    this.#forward.push(this.#here());
    this.#set(place);
  }

  forward(): void {
    const place = this.#forward.pop();
    if (!place) return;
    this.#back.push(this.#here());
    this.#set(place);
  }

  clear(): void {
    this.id = null;
    this.message = null;
    this.#last.clear();
    this.#back = [];
    this.#forward = [];
  }

  #here(): Place {
    return { section: this.section, id: this.id, message: this.message };
  }

  #set(place: Place): void {
    if (place.section !== this.section) this.#last.set(this.section, this.id);
    this.section = place.section;
    this.id = place.id;
    this.message = place.message;
  }
}

export const nav = new Nav();
onLock(() => nav.clear());
