import { render } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import Unlock from "../src/features/start/Unlock.svelte";
import { mockBackend, MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { item } from "$lib/ipc/mock/data";
import { emptyImportRequest, failWith } from "$lib/ipc/mock/jobs";
import { detail } from "$lib/state/detail.svelte";
import { dialogs } from "$lib/state/dialogs.svelte";
import { facets } from "$lib/state/facets.svelte";
import { ANY, periodStart } from "$lib/state/filter";
import { importing } from "$lib/state/importing.svelte";
import { conversations, memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { allMatchingIds, nextAfterRemoval, recordToOpen } from "$lib/state/records.svelte";
import { moveToTrash } from "$lib/state/trash-actions";
import { search } from "$lib/state/search-field.svelte";
import { selection } from "$lib/state/selection.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

const manyItems = Array.from({ length: 250 }, (_, index) =>
  item(`m-${index}`, "memory", index % 2 ? "claude" : "chatgpt", `Number ${index} likes tea`, index),
);
let mock: Mock;

beforeEach(async () => {
  mock = await start({ items: structuredClone(manyItems) });
});

describe("lists", () => {
  it("load page by page, in order, each row once", async () => {
    await memories.load();
    expect([memories.rows.length, memories.total, memories.more]).toEqual([100, 250, true]);
    await memories.loadNextPage();
    await memories.loadNextPage();
    expect([memories.rows.length, memories.more]).toEqual([250, false]);
    expect(new Set(memories.rows.map((row) => row.id)).size).toBe(250);
    await memories.loadNextPage();
    expect(memories.rows).toHaveLength(250);
  });

  it("show snippets and the record's date during a search", async () => {
    memories.query = "tea";
    await memories.load();
    expect(memories.total).toBe(250);
    expect(memories.rows[0]?.highlights.length).toBeGreaterThan(0);
    expect(memories.rows[0]?.created_at).not.toBeNull();
    const firstPageLength = memories.rows.length;
    await memories.loadNextPage();
    expect(memories.rows).toHaveLength(firstPageLength + 100);
  });

  it("show the answer to the last query, even if an earlier one arrives later", async () => {
    let release: () => void = () => undefined;
    const originalList = mock.list;
    mock.list = async (request) => {
      if (request.filter.source === null) await new Promise<void>((done) => (release = done));
      return originalList(request);
    };
    const firstLoad = memories.load();
    memories.setFilter({ source: "claude" });
    await memories.load();
    release();
    await firstLoad;
    expect(memories.total).toBe(125);
    expect(memories.rows.every((row) => row.source === "claude")).toBe(true);
  });

  it("keep their rows when a load fails", async () => {
    await memories.load();
    mock.list = async () => Promise.reject(new Error("disk"));
    await memories.load();
    expect([memories.rows.length, memories.failed?.details]).toEqual([100, "internal: disk"]);
  });

  it("find every id that matches a filter, not only loaded rows", async () => {
    expect(await allMatchingIds(mock, { ...ANY, kind: "memory" }, "")).toHaveLength(250);
    expect(await allMatchingIds(mock, { ...ANY, kind: "memory" }, "tea")).toHaveLength(250);
  });

  it("group hits in messages by conversation", async () => {
    await start();
    conversations.query = "joist";
    await conversations.load();
    expect(conversations.rows.map((row) => row.id)).toEqual(["c-bath"]);
    expect(conversations.rows[0]?.message).toMatch(/^msg-/);
  });
});

describe("facets", () => {
  it("count a group with all other filters on, but not its own", async () => {
    await facets.load({ ...ANY, kind: "memory", source: "claude" }, "");
    expect(facets.group("source")).toEqual([
      { value: "chatgpt", n: 125 },
      { value: "claude", n: 125 },
    ]);
  });

  it("keep names whose count falls to 0", async () => {
    await facets.load({ ...ANY, kind: "memory" }, "nothing-says-this");
    expect(facets.group("source").map((entry) => entry.n)).toEqual([0, 0]);
  });
});

describe("locking", () => {
  it("leaves no content in any store, only the section", async () => {
    nav.go("memories", "m-3");
    search.text = "tea";
    await Promise.all([memories.load(), conversations.load(), facets.load(ANY, ""), vault.refresh()]);
    selection.toggle(memories, "m-1");
    detail.keepDraft("m-1", { text: "a draft", type: null, tags: [] });
    dialogs.show({ kind: "redact", id: "m-1", text: "secret", span: null });
    toasts.showWithUndo("Moved: secret", "Undo", () => undefined);
    await importing.inspect(["/x/chatgpt.zip"]);
    mock.lockNow();
    session.locked("idle");
    expect(memories.rows).toEqual([]);
    expect(conversations.rows).toEqual([]);
    expect(memories.total).toBeNull();
    expect(facets.all.sources).toEqual({});
    expect([
      selection.ids.size,
      Object.keys(detail.drafts),
      dialogs.open,
      toasts.current,
      search.text,
      vault.info,
    ]).toEqual([0, [], null, null, "", null]);
    expect([importing.stage, importing.detections, importing.plans]).toEqual(["idle", [], []]);
    expect(await toasts.undo()).toBe(false);
    expect([session.phase, nav.section, nav.id]).toEqual(["unlock", "memories", null]);
  });

  it("locks when any call fails with `locked`", async () => {
    mock.lockNow();
    await memories.load();
    expect(session.phase).toBe("unlock");
  });

  it("says why it locked, even if a failed call came before the reason", async () => {
    const shownText = () => {
      const { container, unmount } = render(Unlock);
      const text = container.querySelector("footer span")?.textContent?.trim() ?? "";
      unmount();
      return text.replace(/ at .*?(,| after |$)/, "$1").trim();
    };
    for (const [by, words] of [
      ["idle", "Locked after 10 minutes without activity"],
      ["screen", "Locked, when the screen was locked"],
      ["sleep", "Locked, when the computer went to sleep"],
      ["person", "Locked"],
    ] as const) {
      session.opened(await mock.sessionState());
      session.locked(by);
      expect(shownText()).toBe(words);
    }
    session.opened(await mock.sessionState());
    session.handleLocked(failWith("locked", "The vault is locked."));
    expect(shownText()).toBe("Locked");
    session.locked("sleep");
    session.locked("screen");
    expect(shownText()).toBe("Locked, when the computer went to sleep");
  });

  it("drops answers that arrive after it", async () => {
    let release: () => void = () => undefined;
    const list = mock.list;
    mock.list = async (request) => {
      const page = await list(request);
      await new Promise<void>((done) => (release = done));
      return page;
    };
    const loading = memories.load();
    await Promise.resolve();
    session.locked("idle");
    await Promise.resolve();
    release();
    await loading;
    expect(memories.rows).toEqual([]);
  });
});

describe("moving to the Trash", () => {
  it("is undone by Ctrl Z", async () => {
    await moveToTrash(["m-1", "m-2"]);
    expect(toasts.current?.text).toBe("2 memories moved to Trash");
    await memories.load();
    expect(memories.total).toBe(248);
    expect(await toasts.undo()).toBe(true);
    await memories.load();
    expect(memories.total).toBe(250);
  });
});

describe("importing", () => {
  it("inspects, plans, runs and reports; ambiguous formats wait for a choice", async () => {
    await importing.inspect(["/d/chatgpt-export.zip", "/d/about-me.md"]);
    expect([importing.stage, importing.plans.length, importing.unrecognised.length]).toEqual(["plan", 1, 1]);
    await importing.setFormat("/d/about-me.md", "markdown");
    expect([importing.plans.length, importing.unrecognised.length]).toEqual([2, 0]);
    expect(importing.plans[1]?.request).toMatchObject({ paths: ["/d/about-me.md"], format: "markdown" });
    await importing.run();
    expect(importing.stage).toBe("report");
    expect(importing.plans.every((plan) => plan.report?.batch)).toBe(true);
  });

  it("imports blocked items only on request", async () => {
    await importing.inspect(["/d/chatgpt-export.zip"]);
    expect(importing.plans[0]?.preview?.blocked).toBe(12);
    await importing.setImportDeleted(true);
    expect(importing.plans[0]?.preview?.blocked).toBe(0);
    expect(importing.plans[0]?.request.include_blocked).toBe(true);
  });

  it("only inspects while no vault is open", async () => {
    session.locked("person");
    await importing.inspect(["/d/chatgpt-export.zip"]);
    expect([importing.stage, importing.detections[0]?.format, importing.plans.length]).toEqual([
      "inspected",
      "chatgpt",
      0,
    ]);
  });

  it("ends as cancelled without imported records", async () => {
    await importing.inspect(["/d/chatgpt-export.zip"]);
    mock.importRun = async (id, _request, _passphrase, onProgress) => {
      onProgress({ stage: "store", done: 1, total: 2, unit: "bytes", records: 1 });
      await mock.cancelJob(id);
      return mockBackend({ open: true }).importRun(id, emptyImportRequest, null, onProgress);
    };
    await importing.run();
    expect(importing.stage).toBe("cancelled");
  });
});

describe("places", () => {
  it("go back and forward", () => {
    nav.go("home");
    nav.go("memories", "m-1");
    nav.go("conversations", "c-1", "msg-1");
    nav.back();
    expect([nav.section, nav.id]).toEqual(["memories", "m-1"]);
    nav.forward();
    expect([nav.section, nav.message]).toEqual(["conversations", "msg-1"]);
  });

  it("compute the first day of a preset", () => {
    const now = new Date(2026, 10, 21, 23);
    const days = [new Date(2026, 10, 21), new Date(2026, 9, 22), new Date(2026, 0, 1)];
    expect([periodStart("today", now), periodStart("days30", now), periodStart("year", now)]).toEqual(
      days.map((day) => day.toISOString()),
    );
  });
});

describe("session", () => {
  it("asks for the passphrase of the vault opened last", async () => {
    mock.lockNow();
    session.phase = "starting";
    await session.start();
    expect([session.phase, session.name]).toEqual(["unlock", "Ines"]);
    session.opened(await mock.unlock("u", session.path ?? "", MOCK_PASSPHRASE, () => undefined));
    expect(session.phase).toBe("open");
  });
});

describe("the record to open after a change of the list", () => {
  const rows = ["a", "b", "c"].map((id) => ({
    ...item(id, "memory", "claude", id, 1),
    snippet: null,
    highlights: [],
    message: null,
  }));

  it("is the open record, even when that record no longer matches the search", () => {
    expect(recordToOpen(rows, "x", false)).toBe("x");
    expect(recordToOpen(rows, "x", true)).toBe("a");
    expect(recordToOpen(rows, null, false)).toBe("a");
  });

  it("is the next record when that record leaves the list", () => {
    expect(nextAfterRemoval(rows, ["b"], "b")).toBe("c");
    expect(nextAfterRemoval(rows, ["b", "c"], "c")).toBe("a");
    expect(nextAfterRemoval(rows, ["a", "b", "c"], "b")).toBeNull();
    expect(nextAfterRemoval(rows, ["a"], "b")).toBe("b");
  });
});
