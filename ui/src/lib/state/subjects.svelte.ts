import { backend, codeOf, type ListItem, type PersonInfo, type TopicInfo } from "$lib/ipc";
import { JobProgress } from "./job.svelte";
import { stoppedByUser } from "./loading.svelte";
import { lockGuard, onLock } from "./lock-cleanup";
import { session } from "./session.svelte";
import { UiError } from "./ui-error";
import { vault } from "./vault.svelte";

export type SubjectTab = "people" | "topics";
/** A person or a topic with its memories. `key` stays the same when the list changes. */
export type Subject = { key: string; memories: readonly string[] } & (
  { tab: "people"; person: PersonInfo } | { tab: "topics"; topic: TopicInfo }
);

const personKey = ({ name, relation, of }: PersonInfo) => `person ${name ?? ""} ${relation ?? ""} ${of ?? ""}`;

/** People and topics of the memories, loaded once per vault revision, and the one that is open. */
class Subjects {
  people = $state.raw<readonly Subject[] | null>(null);
  topics = $state.raw<readonly Subject[] | null>(null);
  failed = $state.raw<UiError | null>(null);
  tab = $state<SubjectTab>("people");
  /** The key of the open subject, for each tab. */
  open = $state<Record<SubjectTab, string | null>>({ people: null, topics: null });
  #job: JobProgress | null = null;
  #loadedRevision = -1;

  /** The subjects of the current tab. */
  get list(): readonly Subject[] | null {
    return this.tab === "people" ? this.people : this.topics;
  }

  /** The open subject of the current tab; the first one if none was chosen. */
  get current(): Subject | null {
    return this.list?.find(({ key }) => key === this.open[this.tab]) ?? this.list?.[0] ?? null;
  }

  choose(tab: SubjectTab, key: string): void {
    this.tab = tab;
    this.open = { ...this.open, [tab]: key };
  }

  async load(): Promise<void> {
    const revision = vault.revision;
    if (this.#loadedRevision === revision) return;
    this.#loadedRevision = revision;
    this.#job?.cancelSilently();
    const isUnlocked = lockGuard();
    const job = (this.#job = new JobProgress());
    const isCurrent = () => isUnlocked() && job === this.#job;
    if (this.people === null) this.failed = null;
    try {
      const { people } = await backend().people(job.id, job.listen);
      if (!isCurrent()) return;
      this.people = people.map((person) => ({
        tab: "people",
        key: personKey(person),
        memories: person.memories,
        person,
      }));
      const { topics } = await backend().topics(job.id, job.listen);
      if (!isCurrent()) return;
      this.topics = topics.map((topic) => ({ tab: "topics", key: topic.name, memories: topic.memories, topic }));
      this.failed = null;
      this.#job = null;
    } catch (error) {
      session.handleLocked(error);
      if (!isCurrent()) return;
      this.#loadedRevision = -1;
      this.#job = null;
      if (codeOf(error) !== "cancelled") this.failed = new UiError(error);
    }
  }

  /** The memories of a subject by date, the oldest first. */
  async timeline({ memories }: Subject): Promise<readonly ListItem[]> {
    const { items } = await backend().timeline([...memories]);
    return items;
  }

  readonly stop = (): void => {
    this.#job?.cancelSilently();
    this.#job = null;
    this.#loadedRevision = -1;
    this.failed = stoppedByUser();
  };

  readonly retry = (): void => {
    this.failed = null;
    void this.load();
  };

  clear(): void {
    this.#job?.cancelSilently();
    this.#job = null;
    this.#loadedRevision = -1;
    this.people = null;
    this.topics = null;
    this.failed = null;
    this.open = { people: null, topics: null };
  }
}

export const subjects = new Subjects();
onLock(() => subjects.clear());
