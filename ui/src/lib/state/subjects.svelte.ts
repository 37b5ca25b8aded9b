import { backend, type ListItem, type PersonInfo, type TopicInfo } from "$lib/ipc";
import type { JobProgress } from "./job.svelte";
import { JobResult } from "./job-result.svelte";
import { onLock } from "./lock-cleanup";
import { meaning } from "./meaning.svelte";
import { vault } from "./vault.svelte";

export type SubjectTab = "people" | "topics";
/** A person or a topic with its memories. `key` stays the same when the list changes. */
export type Subject = { key: string; memories: readonly string[] } & (
  { tab: "people"; person: PersonInfo } | { tab: "topics"; topic: TopicInfo }
);

const personKey = ({ name, relation, of }: PersonInfo) => `person ${name ?? ""} ${relation ?? ""} ${of ?? ""}`;

/** The people and topics that the memories are about, and which of them is open. */
class Subjects extends JobResult {
  people = $state.raw<readonly Subject[] | null>(null);
  topics = $state.raw<readonly Subject[] | null>(null);
  tab = $state<SubjectTab>("people");
  /** The key of the open subject, for each tab. */
  open = $state<Record<SubjectTab, string | null>>({ people: null, topics: null });

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

  /**
   * Includes the revision of the vectors, because topics are found by vectors. After memories are encoded, the search
   * is therefore repeated.
   */
  protected override get revision(): number {
    return vault.revision + meaning.revision;
  }

  protected get hasResult(): boolean {
    return this.people !== null;
  }

  protected async run(job: JobProgress, isCurrent: () => boolean): Promise<void> {
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
  }

  /** The memories of a subject by date, the oldest first. */
  async timeline({ memories }: Subject): Promise<readonly ListItem[]> {
    const { items } = await backend().timeline([...memories]);
    return items;
  }

  override clear(): void {
    super.clear();
    this.people = null;
    this.topics = null;
    this.open = { people: null, topics: null };
  }
}

export const subjects = new Subjects();
onLock(() => subjects.clear());
