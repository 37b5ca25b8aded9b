import type {
  Backend,
  EvidenceMessage,
  ListItem,
  MemoryEvidence,
  ReviewItem,
  ReviewRequest,
  Todo,
  TodoItem,
} from "../backend";
import { failWith, runStages } from "./jobs";
import { sampleThread } from "./thread";

type Commands = Pick<Backend, "memoryEvidence" | "reviewNext" | "reviewAnswer" | "todo" | "writeReport">;
type Scope = Pick<ReviewRequest, "source" | "about" | "special">;
type Context = { items: () => ListItem[]; stepMs: number };

const NAMES: Record<string, string> = { chatgpt: "ChatGPT", claude: "Claude", gemini: "Gemini" };
const ANSWERS = ["true", "outdated", "wrong", "private"];

/** A sentence of a message of the sample conversation as evidence. */
function message(id: string, sentence: string, how: string, confidence: number): EvidenceMessage {
  const found = sampleThread.find((each) => each.id === id);
  const text = found?.text ?? "";
  const start = Math.max(0, [...text.slice(0, Math.max(0, text.indexOf(sentence)))].length);
  return {
    id,
    origin_id: found?.origin_id ?? null,
    start,
    end: start + [...sentence].length,
    how,
    confidence,
    role: found?.role ?? "user",
    said_by: found?.role === "assistant" ? "assistant" : "user",
    text: sentence,
    source: "chatgpt",
    created_at: found?.created_at ?? null,
    conversation_id: "c-bath",
    conversation_title: "Cast tub on old joists",
  };
}

/**
 * The evidence for a sample memory. Depending on its index, the person said it, the assistant concluded it, or there is
 * no trace of it. For memories of Gemini, who said them is always unknown. Only the export of a memory with a
 * conversation links the message.
 */
function evidenceOf(item: ListItem, index: number): MemoryEvidence {
  const [how, confidence]: [string, number] = item.conversation_id === null ? ["words", 0.82] : ["linked", 1];
  const stated = message("msg-a2", "We start with the bathroom, kitchen can wait till next year.", how, confidence);
  const concluded = message("msg-b4", "Not as they are.", how, confidence);
  const base = { id: item.id, uncertain: false };
  if (item.source === "gemini") return { ...base, said_by: "unknown", trace: "unknown", messages: [] };
  if (index % 3 === 0) return { ...base, said_by: "user", trace: "found", messages: [stated] };
  if (index % 3 === 1) return { ...base, said_by: "assistant", trace: "found", messages: [concluded] };
  return { ...base, said_by: "unknown", trace: "none", messages: [] };
}

/** The commands for evidence, for the review of memories, and for the lists of what to delete in the assistants. */
export function sampleMemoryReview({ items, stepMs }: Context) {
  const answers = new Map<string, string>();
  const isInScope = (each: ListItem, { source, about, special }: Scope) =>
    (!source || each.source === source) &&
    (about === null || (each.about?.kind ?? "") === about) &&
    (!special || (special === "any" ? each.special.length > 0 : each.special.includes(special)));
  const memories = (request?: ReviewRequest) =>
    items()
      .filter((each) => each.kind === "memory" && !each.trashed_at)
      .filter((each) => !request || (isInScope(each, request) && (!request.sensitive || each.sensitive)))
      .sort(
        (a, b) => Number(b.sensitive) - Number(a.sensitive) || (a.created_at ?? "").localeCompare(b.created_at ?? ""),
      );
  const memory = (id: string) => {
    const found = items().find((each) => each.id === id);
    if (!found) throw failWith("not_found", "This record is not in the vault.");
    return found;
  };
  const evidence = (id: string) => evidenceOf(memory(id), items().indexOf(memory(id)));
  const reviewItem = (record: ListItem): ReviewItem => ({
    record,
    text: record.text,
    evidence: evidence(record.id),
    answer: answers.get(record.id) ?? null,
    sensitive: record.sensitive,
  });
  const todoItem = (record: ListItem): TodoItem => ({
    id: record.id,
    text: record.text,
    where:
      record.source === "chatgpt"
        ? "Settings > Personalization > Manage memories. Find the entry in the list and delete it."
        : `Open the settings of ${NAMES[record.source] ?? record.source} and look for memory or personalization. Delete the entry there.`,
    answer: answers.get(record.id) ?? "wrong",
    state: "not_checked",
    trashed: record.trashed_at !== null,
    created_at: record.created_at,
  });

  const commands: Commands = {
    memoryEvidence: async (id) => structuredClone(evidence(id)),
    reviewNext: async (request) => {
      const all = memories(request);
      const unanswered = all.filter((each) => !answers.has(each.id));
      const next = request.id ? memory(request.id) : unanswered.find((each) => !request.skip.includes(each.id));
      const counts: Record<string, number> = {};
      for (const each of items()) {
        const answer = answers.get(each.id);
        const isCounted = !each.trashed_at || (request.about === null && !request.special);
        if (answer && isCounted && isInScope(each, request)) counts[answer] = (counts[answer] ?? 0) + 1;
      }
      return structuredClone({
        item: next && !request.counts_only ? reviewItem(next) : null,
        left: unanswered.length,
        total: all.length,
        answers: counts,
      });
    },
    reviewAnswer: async (newAnswers) => {
      for (const { id, answer } of newAnswers) {
        memory(id);
        if (answer === "none") answers.delete(id);
        else if (ANSWERS.includes(answer)) answers.set(id, answer);
        else throw failWith("usage", `${answer} is not an answer.`);
      }
      return { ids: newAnswers.map(({ id }) => id) };
    },
    todo: async (assistant): Promise<Todo> => {
      const openItems = items().filter((each) => answers.has(each.id) && answers.get(each.id) !== "true");
      const sources = [...new Set(openItems.map((each) => each.source))].sort();
      const assistants = sources.map((source) => {
        const n = openItems.filter((each) => each.source === source).length;
        return { assistant: source, open: n, items: n };
      });
      const assistantWithMost = [...assistants].sort((a, b) => b.open - a.open)[0];
      const chosen = assistant ?? assistantWithMost?.assistant ?? null;
      const chosenItems = openItems.filter((each) => each.source === chosen).map(todoItem);
      const lines = chosenItems.map(({ text }) => `- ${text}`).join("\n");
      return structuredClone({
        assistant: chosen,
        name: chosen && (NAMES[chosen] ?? chosen),
        items: chosenItems,
        message: lines && `Delete the following entries from everything that you remember about me.\n\n${lines}`,
        assistants,
      });
    },
    writeReport: async (job, out, _request, onProgress) => {
      await runStages(job, ["evidence"], memories().length, stepMs / 4, onProgress);
      return { path: out, memories: memories().length };
    },
  };
  return { commands };
}
