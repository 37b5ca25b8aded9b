/** Whose doing a memory was: the assistant's of its own accord, or the person's. */
export type Authorship = "assistant" | "person";

/**
 * Only ways of coming about that say it by themselves. That ChatGPT called its memory tool, or that an agent wrote a file,
 * does not tell whether it was asked to; such are left out, and the window says that the export doesn't say.
 */
const AUTHORSHIP: ReadonlyMap<string, Authorship> = new Map([
  // Made by the vendor out of what was talked about.
  ["conversations_memory", "assistant"],
  ["project_memory", "assistant"],
  // Words of PAM, `.alf` and mem0 for what a model took from conversations.
  ["llm_inference", "assistant"],
  ["llm_extracted", "assistant"],
  ["extracted", "assistant"],
  // Written, said or pasted by the person.
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
  return AUTHORSHIP.get(method ?? "") ?? null;
}
