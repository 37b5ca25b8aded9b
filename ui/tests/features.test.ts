import { describe, expect, it } from "vitest";
import { findAll } from "../src/features/conversations/find-in-conversation";
import { entriesOf, entryIndex, MessageTree } from "../src/features/conversations/branches";
import { omittedCount, lossRows } from "../src/features/exporting/losses";
import { kindRows, missingAttachments, sumText } from "../src/features/importing/outcomes";
import { timeLeft } from "../src/features/importing/stages";
import { columnsOf, lastMonths, typesByFrequency } from "../src/features/home/data";
import { chipsOf } from "../src/features/memories/chips";
import { impactLines, countedName, unreachableLines } from "../src/features/removal/impact";
import { groupsOf, normalisedGroup, twoGroups } from "../src/features/start/recovery";
import { emptyImportRequest, sampleReport } from "$lib/ipc/mock/jobs";
import { sampleActivePath, sampleThread } from "$lib/ipc/mock/thread";
import { ANY } from "$lib/state/filter";

describe("conversation as a tree", () => {
  const tree = new MessageTree(sampleThread, sampleActivePath);

  it("starts on the path that was used last", () => {
    expect(tree.firstPath().map((message) => message.id)).toEqual(sampleActivePath);
  });

  it("has a path through any message to the end of its branch", () => {
    expect(tree.pathThrough("msg-a3").map((message) => message.id)).toEqual(["msg-a0", "msg-a3", "msg-c3"]);
    expect(tree.leaves).toEqual(["msg-b1", "msg-b8", "msg-c3"]);
  });

  it("has a finite path even if two messages are each other's parent", () => {
    const [one, two] = sampleThread.slice(0, 2).map((message) => structuredClone(message));
    if (!one || !two) throw new Error("sample");
    one.parent_id = two.id;
    two.parent_id = one.id;
    expect(new MessageTree([one, two], []).pathThrough(one.id).length).toBeLessThanOrEqual(2);
  });

  it("collapses tools, thinking and hidden messages into the reply", () => {
    const entries = entriesOf(tree.firstPath());
    expect(entries.map((entry) => [entry.message?.id ?? null, entry.collapsed.length])).toEqual([
      [null, 1],
      ["msg-a2", 0],
      ["msg-b4", 2],
      ["msg-b5", 0],
      ["msg-b6", 0],
      ["msg-b7", 0],
      ["msg-b8", 0],
    ]);
    expect(entryIndex(entries, "msg-b3")).toBe(2);
  });

  it("is searched in all branches", async () => {
    const found = (await findAll(sampleThread, "joist", new AbortController().signal)) ?? [];
    expect(new Set(found.map((hit) => hit.id)).has("msg-c3")).toBe(true);
    expect(found.filter((hit) => hit.id === "msg-a1")).toEqual([{ id: "msg-a1", nth: 0 }]);
  });
});

describe("import report", () => {
  const sample = sampleReport(emptyImportRequest, true);

  it("adds up in each row and in total", () => {
    expect(sumText(sample)).toBe(
      "43,650 = 669 new + 40 updated + 42,918 unchanged + 12 held back + 6 skipped + 5 unreadable",
    );
    for (const row of kindRows(sample)) expect(sumText(row.outcome)).not.toBeNull();
    expect(sumText({ ...sample, found: 1 })).toBeNull();
    const none = { added: 0, updated: 0, unchanged: 0, blocked: 0, skipped: 0, failed: 0 };
    expect(sumText({ ...sample, ...none, found: 514, added: 514 }), "without empty outcomes").toBe("514 = 514 new");
  });

  it("names kinds in a fixed order, and missing files", () => {
    expect(kindRows(sample).map((row) => row.label)).toEqual(["Memories", "Conversations", "Messages", "Files"]);
    expect(missingAttachments(sample)).toBe(7);
  });

  it("shows the remaining time only if known", () => {
    expect([timeLeft(null), timeLeft(2), timeLeft(23), timeLeft(600)]).toEqual([
      "",
      "a few seconds left",
      "about 25 seconds left",
      "about 10 minutes left",
    ]);
  });
});

describe("loss report", () => {
  const base = {
    path: "",
    format: "alf",
    version: "1",
    records: 5,
    by_kind: {},
    covered: 0,
    bytes: 0,
    digest: "",
    validated: false,
    first_error: null,
    errors: 0,
    withheld: [],
    note: null,
  };
  const signature = { present: false, algorithm: null, valid: null, trusted: null, key: null };

  it("counts by field and kind, heaviest first; the truncated list of losses only supplies notes", () => {
    const losses = [
      { record: "a", field: "tags", kind: "narrowed", note: "kept beside" },
      { record: "b", field: "tags", kind: "narrowed", note: "kept beside" },
    ];
    const loss_counts = [
      { field: "tags", kind: "narrowed", count: 9 },
      { field: "tags", kind: "left_out", count: 2 },
      { field: "tombstones", kind: "left_out", count: 1200 },
    ];
    const exported = { ...base, signature, losses, loss_counts };
    expect(lossRows(exported)).toEqual([
      { field: "tombstones", kind: "left_out", n: 1200, note: "" },
      { field: "tags", kind: "left_out", n: 2, note: "" },
      { field: "tags", kind: "narrowed", n: 9, note: "kept beside" },
    ]);
    expect(omittedCount(exported)).toBe(1202);
  });
});

describe("the impact of an erasure", () => {
  it("is shown as lines with numbers, without empty ones", () => {
    const impact = {
      records: 3,
      kinds: { memory: 3 },
      sources: { chatgpt: 3 },
      versions: 10,
      derived: 0,
      links: 5,
      attachments: 1,
      passthrough: 0,
      copies: [],
      ids: [],
    };
    expect(impactLines(impact, ["memory"])).toEqual([
      { n: "3", text: "memories, with 7 older versions" },
      { n: "1", text: "attachment that nothing else uses" },
      { n: "5", text: "links to other entries" },
    ]);
    expect(countedName(["memory"], 3)).toBe("3 memories");
    expect(countedName(["memory", "message"], 2)).toBe("2 items");
    expect(unreachableLines(["chatgpt", "me"], false)).toEqual([
      "Backups and snapshots of this computer",
      "What ChatGPT itself keeps",
    ]);
  });
});

describe("recovery code", () => {
  it("is parsed however it was pasted", () => {
    const code = "K7PM-2XQD-W9RA-HT4C-N6VE-3BJY-F8ZK-QM5G";
    expect(groupsOf(code)).toHaveLength(8);
    expect(groupsOf(code.toLowerCase().replaceAll("-", " "))).toEqual(groupsOf(code));
    expect(normalisedGroup(" w9ra ")).toBe("W9RA");
  });

  it("asks for two different groups in order", () => {
    for (let n = 0; n < 200; n += 1) {
      const [a, b] = twoGroups();
      expect(a).toBeGreaterThanOrEqual(1);
      expect(b).toBeLessThanOrEqual(8);
      expect(a).toBeLessThan(b);
    }
  });
});

describe("home", () => {
  it("merges formats of one assistant and puts your own last", () => {
    const source = (platform: string, memory: number, newest_at: string | null) => ({
      platform,
      format: "x",
      counts: { memory },
      newest_at,
      exported_at: newest_at,
    });
    const columns = columnsOf([
      source("me", 99, null),
      source("claude", 2, "2026-01-01"),
      source("claude", 3, "2026-02-01"),
      source("chatgpt", 9, null),
    ]);
    expect(columns.map((column) => [column.source, column.memories, column.exported])).toEqual([
      ["chatgpt", 9, null],
      ["claude", 5, "2026-02-01"],
      ["me", 99, null],
    ]);
    expect(typesByFrequency([{ ...columns[0]!, types: { a: 1, b: 4 } }])).toEqual(["b", "a"]);
  });

  it("has 24 whole months in its chart", () => {
    const months = lastMonths(new Date(2026, 10, 21));
    expect(months).toHaveLength(24);
    expect(months.at(-1)?.since).toBe(new Date(2026, 10, 1).toISOString());
    expect(months[0]?.since).toBe(new Date(2024, 11, 1).toISOString());
  });
});

describe("filter chips", () => {
  it("name each filter and can remove it", () => {
    const chips = chipsOf({ ...ANY, kind: "memory", source: "claude", tag: "house" });
    expect(chips).toEqual([
      { label: "Claude", off: { source: null } },
      { label: "#house", off: { tag: null } },
    ]);
  });
});
