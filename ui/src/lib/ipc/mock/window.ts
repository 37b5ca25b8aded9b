import { setLanguage, installTexts, type Choice, type Message, type Messages } from "$lib/text/locale.svelte";
import en from "$lib/text/en.json";
import type { Backend } from "../backend";
import { mockBackend } from "./index";
import { failWith } from "./jobs";

/** Fields in which the core speaks: sentences for people and names of scores. Everything else that it hands out is data. */
const SPOKEN = new Set(["message", "reason", "detail", "note", "label"]);

/** Every text of the message file between marks, so that a text on screen outside of marks did not come from it. */
function marked(): Messages {
  const mark = (form: string) => `⟦${form}⟧`;
  const all = Object.entries(en as Record<string, Message>).map(([key, message]) => [
    key,
    typeof message === "string"
      ? mark(message)
      : Object.fromEntries(Object.entries(message).map(([name, form]) => [name, mark(form)])),
  ]);
  return Object.fromEntries(all) as Messages;
}

/** The sample backend with what the checks of the screens need of it: what it said, and another language at once. */
export function sampleWindow(): Backend {
  const mock = mockBackend();
  const data = new Set<string>();
  const take = (value: unknown): void => {
    if (typeof value === "string") data.add(value);
    // Files are shown as text too.
    else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) data.add(new TextDecoder().decode(value));
    else if (Array.isArray(value)) value.forEach(take);
    else if (typeof value === "object" && value !== null)
      for (const [key, each] of Object.entries(value)) if (!SPOKEN.has(key)) take(each);
  };
  const language = async (choice: Choice | "marked") =>
    // German below the marks: there the core's own sentences are folded away.
    choice === "marked" ? installTexts(marked(), "de") : setLanguage(choice);
  const refusing = (method: keyof Backend, code: string) =>
    Object.assign(mock, {
      [method]: () =>
        Promise.reject(failWith(code, "The core speaks here.", { place: "/home/ines/about-me.md", most: "10000" })),
    });
  Object.assign(window, { __mock: mock, __data: data, __speak: language, __refuse: refusing });
  return new Proxy(mock, {
    get: (target, name, receiver) => {
      const found: unknown = Reflect.get(target, name, receiver);
      if (typeof found !== "function") return found;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(found, target, args);
        if (!(answer instanceof Promise)) return answer;
        return answer.then((value: unknown) => (take(value), value));
      };
    },
  });
}
