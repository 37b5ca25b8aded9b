import type { Subject } from "$lib/state/subjects.svelte";
import { shortLine } from "$lib/logic/text-segments";
import { t, word } from "$lib/text";

/** At most this many characters of a name are shown, because names come from texts that others wrote. */
const MAX_NAME_LENGTH = 60;

/** The title of a person or topic: a name such as "Ruth", a relation such as "Your boss", or the words of a topic. */
export function subjectName(subject: Subject): string {
  if (subject.tab === "topics") return shortLine(subject.topic.name, MAX_NAME_LENGTH);
  const { name, relation } = subject.person;
  if (name !== null) return shortLine(name, MAX_NAME_LENGTH);
  return t("people.unnamed", { relation: word("relation", relation ?? "") });
}

/** The relation of a named person: "brother", or "Ruth: daughter" for Ruth's daughter. Empty if it is not known. */
export function relationText(subject: Subject): string {
  if (subject.tab === "topics" || subject.person.name === null || subject.person.relation === null) return "";
  const relation = word("relation", subject.person.relation);
  const { of } = subject.person;
  return of === null ? relation : t("people.of", { name: shortLine(of, MAX_NAME_LENGTH), relation });
}
