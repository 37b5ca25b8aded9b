// Tests that the sample data, which the pictures of the screens show, does not contradict itself.
import { beforeEach, describe, expect, it } from "vitest";
import { placeText } from "../src/features/importing/outcomes";
import { emptyImportRequest } from "$lib/ipc/mock/jobs";
import { sampleItems } from "$lib/ipc/mock/data";
import { ANY } from "$lib/state/filter";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start({ stepMs: 0 });
});

describe("the sample data", () => {
  it("marks memories as sensitive only if they contain a phone number and an email address", async () => {
    const marked = sampleItems().filter((each) => each.sensitive);
    expect(marked.length).toBeGreaterThan(0);
    for (const { text } of marked) expect(text).toMatch(/\+\d[\d ]+\d.*@example\.com/);
    const { findings } = await mock.summary({ ...ANY, kind: "memory" });
    expect(findings).toEqual({ phone: marked.length, email: marked.length });
  });

  it("imports each memory after it was created, and what is new with the last import", async () => {
    for (const { id, source, created_at, export_diff_status } of sampleItems()) {
      if (source === "me") continue;
      const { origin } = (await mock.show(id, false, false)).record;
      expect(origin.imported_at >= (created_at ?? ""), `${id} of ${source}`).toBe(true);
      if (export_diff_status === "new") expect(origin.container).toContain("2026-11-21");
      if (export_diff_status === "gone" && source === "chatgpt") expect(origin.container).not.toContain("2026-11-21");
    }
  });

  it("says that an export links a memory to its message only if the memory has a conversation", async () => {
    for (const { id, kind, conversation_id } of sampleItems()) {
      if (kind !== "memory") continue;
      const { messages } = await mock.memoryEvidence(id);
      expect(messages.some(({ how }) => how === "linked") && conversation_id === null, id).toBe(false);
    }
  });

  it("names the places of items as the core does, so that the window can count entries from 1", async () => {
    const request = { ...emptyImportRequest, paths: ["/d/chatgpt-export.zip"] };
    const report = await mock.importPreview("j", request, null, () => undefined);
    const places = [...report.items, ...report.coming].map(({ place }) => placeText(place));
    expect(places).toContain("memories.json, entry 1");
    expect(places.filter((place) => / item \d/.test(place))).toEqual([]);
  });

  it("removes as many items as the receipt lists", async () => {
    const { tombstones } = await mock.tombstones();
    for (const { receipt, derived } of tombstones) {
      const { places } = await mock.receipt(receipt ?? "");
      expect(places.map(({ detail }) => detail).join("; ")).toContain(`${derived.length + 1} records,`);
    }
  });

  it("names backups by the time at which they were changed", async () => {
    const twoDigits = (value: number) => String(value).padStart(2, "0");
    for (const { name, changed_at } of await mock.backupsOf("/home/ines/Ines.mementory")) {
      const changed = new Date(changed_at ?? "");
      expect(twoDigits(changed.getHours()) + twoDigits(changed.getMinutes())).toBe(name.slice(-4));
    }
  });
});
