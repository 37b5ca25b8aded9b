import {
  setLanguage,
  installTexts,
  type Choice,
  type Guides,
  type Message,
  type Messages,
} from "$lib/text/locale.svelte";
import en from "$lib/text/en.json";
import enGuides from "$lib/text/guides/en.json";
import type { Backend } from "../backend";
import { mockBackend } from "./index";
import { failWith } from "./jobs";

/**
 * The fields that contain English text of the backend: sentences and names of scores. The values of all other fields
 * are data.
 */
const BACKEND_TEXT_FIELDS = new Set(["message", "reason", "detail", "note", "label"]);

const mark = (text: string) => `⟦${text}⟧`;

/** All messages in ⟦ and ⟧. A displayed text without these marks is not from the message file. */
function markedMessages(): Messages {
  const all = Object.entries(en as Record<string, Message>).map(([key, message]) => [
    key,
    typeof message === "string"
      ? mark(message)
      : Object.fromEntries(Object.entries(message).map(([name, form]) => [name, mark(form)])),
  ]);
  return Object.fromEntries(all) as Messages;
}

/** All texts of the guides in ⟦ and ⟧. */
function markedGuides(): Guides {
  const all = Object.entries(enGuides).map(([id, guide]) => [
    id,
    Object.fromEntries(
      Object.entries(guide).map(([part, text]) => [part, typeof text === "string" ? mark(text) : text.map(mark)]),
    ),
  ]);
  return Object.fromEntries(all) as Guides;
}

/**
 * The sample backend for the screen checks. It records all data that it returns, and puts functions on `window` that
 * switch the language, let a method fail, and say whether a request is still unanswered.
 */
export function sampleWindow(): Backend {
  const mock = mockBackend();
  const data = new Set<string>();
  const pending = new Set<Promise<unknown>>();
  const recordData = (value: unknown): void => {
    if (typeof value === "string") data.add(value);
    // Record the contents of files too, because the window displays them.
    else if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) data.add(new TextDecoder().decode(value));
    else if (Array.isArray(value)) value.forEach(recordData);
    else if (typeof value === "object" && value !== null)
      for (const [key, each] of Object.entries(value)) if (!BACKEND_TEXT_FIELDS.has(key)) recordData(each);
  };
  const switchLanguage = async (choice: Choice | "marked") =>
    // Install the marked texts as German. As English they would be mixed with the backend's English sentences, which
    // windows in other languages show only under "Details".
    choice === "marked" ? installTexts(markedMessages(), "de", markedGuides()) : setLanguage(choice);
  const rejectMethod = (method: keyof Backend, code: string) =>
    Object.assign(mock, {
      [method]: () =>
        Promise.reject(failWith(code, "The core speaks here.", { place: "/home/ines/about-me.md", most: "10000" })),
    });
  Object.assign(window, {
    __mock: mock,
    __data: data,
    __speak: switchLanguage,
    __refuse: rejectMethod,
    __isWaiting: () => pending.size > 0,
  });
  return new Proxy(mock, {
    get: (target, name, receiver) => {
      const found: unknown = Reflect.get(target, name, receiver);
      if (typeof found !== "function") return found;
      return (...args: unknown[]) => {
        const answer: unknown = Reflect.apply(found, target, args);
        if (!(answer instanceof Promise)) return answer;
        const recorded = answer.then((value: unknown) => (recordData(value), value));
        // A call with a progress function is a long job, which a screen may show while it runs.
        if (!args.some((each) => typeof each === "function")) {
          pending.add(recorded);
          const settled = () => void pending.delete(recorded);
          recorded.then(settled, settled);
        }
        return recorded;
      };
    },
  });
}
