/** Who created a memory: the assistant on its own, or the person. */
export type Authorship = "assistant" | "person";

/**
 * Author by creation method, for the methods that identify the author. A call of ChatGPT's memory tool or a file
 * written by an agent does not show whether the person asked for it, so the window says "The export doesn't say".
 */
const AUTHORSHIP_BY_METHOD: ReadonlyMap<string, Authorship> = new Map([
  // Derived by the vendor from conversations.
  ["conversations_memory", "assistant"],
  ["project_memory", "assistant"],
  // Terms of PAM, `.alf` and mem0 for text extracted by a model.
  ["llm_inference", "assistant"],
  ["llm_extracted", "assistant"],
  ["extracted", "assistant"],
  // Written, dictated or pasted by the person.
  ["custom_instructions", "person"],
  ["project_instructions", "person"],
  ["project_doc", "person"],
  ["explicit_user_input", "person"],
  ["manual", "person"],
  ["user_authored", "person"],
  ["user", "person"],
  ["pasted", "person"],
]);

export function authorship(method: string | null): Authorship | null {
  return AUTHORSHIP_BY_METHOD.get(method ?? "") ?? null;
}
