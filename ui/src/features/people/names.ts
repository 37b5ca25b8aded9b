import type { Subject } from "$lib/state/subjects.svelte";
import { shortLine } from "$lib/logic/text-segments";
import { t, word } from "$lib/text";

/** Characters of a name that are shown. Names come from texts of others. */
const MAX_NAME_LENGTH = 60;

/** The title of a person or topic: a name, "Your boss", or the words of a topic. */
export function subjectName(subject: Subject): string {
  if (subject.tab === "topics") return shortLine(subject.topic.name, MAX_NAME_LENGTH);
  const { name, relation } = subject.person;
  if (name !== null) return shortLine(name, MAX_NAME_LENGTH);
  return t("people.unnamed", { relation: word("relation", relation ?? "") });
}

/** How a person with a name is related: "brother", "Ruth: daughter"; empty if it is not known. */
export function relationText(subject: Subject): string {
  if (subject.tab === "topics" || subject.person.name === null || subject.person.relation === null) return "";
  const relation = word("relation", subject.person.relation);
  const { of } = subject.person;
  return of === null ? relation : t("people.of", { name: shortLine(of, MAX_NAME_LENGTH), relation });
}
