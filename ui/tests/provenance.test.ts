import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import MemoryDetail from "../src/features/memories/MemoryDetail.svelte";
import { start, type Mock } from "./start-mock";
import { failWith } from "$lib/ipc/mock/jobs";
import { sampleThread } from "$lib/ipc/mock/thread";
import { nav } from "$lib/state/nav.svelte";
import { type LinkInfo, type RecordView, type ThreadMessage } from "$lib/ipc";

let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

/** Opens the record m-0 with some fields changed. */
async function openWith(change: (record: RecordView) => Partial<RecordView>) {
  const { show } = mock;
  mock.show = async (...args) => {
    const shown = await show(...args);
    return { ...shown, record: { ...shown.record, ...change(shown.record) } };
  };
  render(MemoryDetail, { id: "m-0" });
  await screen.findByText("Where it comes from");
}

/** Returns the value that the record shows next to a term. */
const valueBeside = (term: string) => screen.getByText(term).nextElementSibling?.textContent?.trim();
const NO_RECORD: Partial<LinkInfo> = { id: null, title: null, text: null, conversation_id: null };

it("a memory says that its source message is in the Trash", async () => {
  await openWith(({ links }) => ({
    conversation_id: null,
    links: links.map((link) => (link.kind === "message" ? { ...link, ...NO_RECORD, trashed: true } : link)),
  }));
  expect([valueBeside("Your message"), valueBeside("Conversation")]).toEqual(["In the Trash", "In the Trash"]);
});

it("a memory still links to its conversation when only the source message is in the Trash", async () => {
  await openWith(({ links }) => ({
    links: links.map((link) =>
      link.kind === "message" ? { ...link, ...NO_RECORD, trashed: true, conversation_id: "c-bath" } : link,
    ),
  }));
  expect(valueBeside("Your message")).toBe("In the Trash");
  expect(screen.getByTestId("origin-conversation")).toBeTruthy();
});

it.each([
  ["it is named by the export, but not in the vault", { message: "msg-9" }, [], "Not in your vault"],
  ["it was linked, and was erased since", {}, [{ relation: "derived_from", kind: null }], "Not in your vault"],
  [
    "it contains no text",
    {},
    [{ relation: "derived_from", kind: "message", id: "msg-1", text: "" }],
    "Contains no text",
  ],
  [
    "the memory was taken from another memory",
    {},
    [{ relation: "derived_from", kind: "memory", id: "m-1" }],
    "The export doesn’t say",
  ],
  ["the export says nothing about it", {}, [], "The export doesn’t say"],
] as const)("a memory describes its source message: %s", async (_, source, links, words) => {
  await openWith((record) => ({
    source: { ...record.source, message: null, ...source },
    links: links.map((link) => ({ ...(record.links[0] as LinkInfo), ...NO_RECORD, ...link })),
  }));
  expect(valueBeside("Your message")).toBe(words);
});

it("a memory links only to records that can be opened", async () => {
  await openWith(({ links }) => ({
    links: links.map((link) => (link.id === "m-1" ? { ...link, ...NO_RECORD, kind: null } : link)),
  }));
  const section = screen.getByText("Linked").closest("section") as HTMLElement;
  expect(section.querySelectorAll("li")).toHaveLength(1);
  expect(section.textContent).toContain("Lives in a wooden house from the 1930s in Bergen");
  expect(section.querySelector("button:disabled")).toBeNull();
});

it.each([
  ["unknown", "The export doesn’t say"],
  ["assistant", "ChatGPT on its own"],
  ["user", "You"],
  ["system", "Added by a program"],
])("a memory shows who initiated it only if the export states it (%s)", async (said_by, words) => {
  await openWith(() => ({ said_by }));
  expect(valueBeside("Initiated by")).toBe(words);
});

it("a memory that was written in the vault does not show who initiated it", async () => {
  await openWith(({ source }) => ({ source: { ...source, platform: "me", method: "written" } }));
  expect(screen.queryByText("Initiated by")).toBeNull();
});

describe("your message", () => {
  const NOTE = "Is renovating a wooden house from 1934.";
  const OWN = "Write to **Marit**:\n\n```\nThe joists are 48 mm.\n```";
  const [sample] = sampleThread as [ThreadMessage];
  const message = (id: string, parent_id: string | null, change: Partial<ThreadMessage>): ThreadMessage => ({
    ...sample,
    ...{ id, parent_id, hidden: false, content_type: "text", text: "", role: "user" },
    ...change,
  });
  const CONTEXT = message("context", null, {
    ...{ role: "user", hidden: true, content_type: "context" },
    text: "The user provided the following information about themselves.",
  });
  const CALL = { role: "assistant", content_type: "code", hidden: true, text: NOTE };

  /** Opens the memory in a conversation in which it is linked to the message with the id `linked`. */
  async function openLinked(messages: ThreadMessage[], linked: string, method = "bio_write") {
    const { thread } = mock;
    mock.thread = async (id) => ({ ...(await thread(id)), messages });
    const text = messages.find(({ id }) => id === linked)?.text ?? "";
    await openWith(({ links, source }) => ({
      source: { ...source, method },
      links: links.map((link) => (link.kind === "message" ? { ...link, id: linked, text } : link)),
    }));
    await waitFor(() => expect(valueBeside("Your message")).not.toBe("Loading"));
  }

  it("is the person's message above a hidden note of the assistant", async () => {
    await openLinked(
      [
        CONTEXT,
        message("own", "context", { text: OWN }),
        message("thinking", "own", { role: "assistant", content_type: "thinking", text: "I save that." }),
        message("call", "thinking", CALL),
      ],
      "call",
    );
    expect(screen.getByTestId("origin-own").textContent).toBe("Write to Marit:\nThe joists are 48 mm.");
    expect(valueBeside("ChatGPT noted")).toBe(NOTE);
    await fireEvent.click(screen.getByTestId("origin-conversation"));
    expect(nav.message).toBe("own");
  });

  it("is quoted alone if the export links to it", async () => {
    await openLinked([message("own", null, { text: OWN })], "own");
    expect(screen.getByTestId("origin-own").textContent).toContain("Write to Marit");
    expect(screen.queryByText("ChatGPT noted")).toBeNull();
  });

  it("does not exist if no visible message of the person leads to the memory", async () => {
    await openLinked([CONTEXT, message("call", "context", CALL)], "call");
    expect(valueBeside("Your message")).toBe("Not from one of your messages");
    expect(valueBeside("ChatGPT noted")).toBe(NOTE);
  });

  it("does not exist for custom instructions, which the export wraps in words of its own", async () => {
    const lateContext = { ...CONTEXT, parent_id: "own" };
    await openLinked([message("own", null, { text: OWN }), lateContext], "context", "custom_instructions");
    expect(valueBeside("Your message")).toBe("Not from one of your messages");
    expect(document.body.textContent).not.toContain("The user provided");
  });

  it("claims nothing if the conversation cannot be read", async () => {
    mock.thread = async () => Promise.reject(failWith("store", "The disk does not answer."));
    await openWith(() => ({}));
    await waitFor(() => expect(valueBeside("Your message")).toBe("This couldn’t be loaded."));
  });
});
