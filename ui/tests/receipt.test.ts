import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { proofsOf } from "../src/features/activity/log";
import ReceiptCell from "../src/features/activity/ReceiptCell.svelte";
import ReceiptSheet from "../src/features/removal/ReceiptSheet.svelte";
import { checkDetailText, placeDetailText } from "$lib/text/core";
import { sampleReceipt, failWith, sampleTombstone } from "$lib/ipc/mock/jobs";
import { dialogs } from "$lib/state/dialogs.svelte";
import { start, type Mock } from "./start-mock";

const CHECK = "../../src-tauri/crates/mementory-erasure-check/src/check.rs";
const INTEGRITY = "../../src-tauri/crates/mementory-vault/src/integrity.rs";
let mock: Mock;

beforeEach(async () => {
  mock = await start();
});

describe("a receipt that is not complete", () => {
  it("can be retried, and reports when nothing failed", async () => {
    const retryCleanup = vi.spyOn(mock, "retryCleanup");
    render(ReceiptSheet, { receipt: sampleReceipt("rc_ts_01JBQ77XE1", "attachments"), title: "1 file" });
    await fireEvent.click(screen.getByTestId("receipt-again"));
    await screen.findByTestId("receipt-complete");
    expect(retryCleanup).toHaveBeenCalledWith(expect.any(String), "rc_ts_01JBQ77XE1", expect.any(Function));
    expect(screen.queryByTestId("receipt-again"), "no retry is offered any more").toBeNull();
  });

  it("is unchanged if the retry itself fails", async () => {
    mock.retryCleanup = () => Promise.reject(failWith("io", "The disk is full."));
    render(ReceiptSheet, { receipt: sampleReceipt("r", "attachments"), title: "1 file" });
    await fireEvent.click(screen.getByTestId("receipt-again"));
    expect(await screen.findByText("Trying again did not work.")).toBeTruthy();
    expect(screen.getByTestId("receipt-incomplete")).toBeTruthy();
    expect(screen.getByTestId("receipt-again")).toBeTruthy();
  });

  it("names its tombstones, who signed them, and what is out of reach", async () => {
    mock.tombstones = async () => ({
      tombstones: ["ts_01JD4V8QN3", "ts_01JD4V8QK1"].map((id) => ({
        ...sampleTombstone(id, "delete", "memory", "chatgpt", 0),
        receipt: "r",
      })),
    });
    render(ReceiptSheet, { receipt: sampleReceipt("r"), title: "" });
    const proof = await screen.findByText(/^2, from/);
    expect(proof.textContent).toBe("2, from ts_01JD4V8QK1 to ts_01JD4V8QN3");
    expect(screen.getByText("Deletion records")).toBeTruthy();
    expect(screen.getByText(/, key 7f7f 7f7f 91c0 44de$/)).toBeTruthy();
    expect(screen.getByText("2 exported files, 1 copied text, backups, what the assistants keep")).toBeTruthy();
  });

  it("speaks of one deletion record in the singular", async () => {
    mock.tombstones = async () => ({
      tombstones: [{ ...sampleTombstone("ts_01JD4V8QN3", "delete", "memory", "chatgpt", 0), receipt: "r" }],
    });
    render(ReceiptSheet, { receipt: sampleReceipt("r"), title: "" });
    expect(await screen.findByText("Deletion record")).toBeTruthy();
  });
});

describe("other entries with the same content", () => {
  const ROW = "Other entries that say the same thing";
  const CASES: [string, number | null, number, string | null, string][] = [
    ["were redacted", 4, 0, "Redacted 4 entries redacted", "receipt-complete"],
    ["were never there", 0, 0, "Not present", "receipt-complete"],
    ["were left", 0, 1, "Kept 1 entry still says it", "receipt-left"],
    ["were left in part", 2, 3, "Kept 2 entries redacted, 3 entries still say it", "receipt-left"],
    ["are not mentioned by an older receipt", null, 0, null, "receipt-complete"],
    ["were left, as an older receipt says", null, 2, "Kept 2 entries still say it", "receipt-left"],
  ];
  it.each(CASES)("%s", (_, redacted, left, reported, head) => {
    render(ReceiptSheet, { receipt: sampleReceipt("r", null, { redacted, left }), title: "" });
    const rows = screen.getAllByTestId("receipt-place").map((row) =>
      [...row.children]
        .map((cell) => cell.textContent?.trim())
        .join(" ")
        .trim(),
    );
    expect(rows.find((row) => row.startsWith(ROW)) ?? null).toBe(reported === null ? null : `${ROW} ${reported}`);
    expect(screen.getByTestId(head)).toBeTruthy();
    expect(screen.queryByText(/found it nowhere/) === null, "shown only if copies were left").toBe(left > 0);
  });

  it("are not reported as clean if they were left", () => {
    render(ReceiptSheet, { receipt: sampleReceipt("r", "attachments", { redacted: 0, left: 1 }), title: "" });
    expect(screen.getByTestId("receipt-incomplete").textContent).toContain("6 of 8 places are clean.");
  });

  it("are reported as chosen in the dialog", async () => {
    const erase = async (with_copies: boolean, copies: string[] | null) =>
      (await mock.erase("j", { ids: ["m-0"], reason: null, with_copies, copies }, () => undefined)).receipt;
    const reported = ({ copies_redacted, copies_left }: Awaited<ReturnType<typeof erase>>) => [
      copies_redacted,
      copies_left,
    ];
    expect(reported(await erase(true, null))).toEqual([2, 0]);
    expect(reported(await erase(true, ["msg-a2"]))).toEqual([1, 1]);
    expect(reported(await erase(false, null))).toEqual([0, 2]);
  });
});

describe("the tombstone of a deletion that is not complete", () => {
  it("offers a retry, and shows its result", async () => {
    const retryCleanup = vi.spyOn(mock, "retryCleanup");
    render(ReceiptCell, { tombstone: sampleTombstone("a", "delete", "memory", "chatgpt", 1) });
    expect(screen.queryByTestId("tombstone-retry"), "only where something failed").toBeNull();
    render(ReceiptCell, { tombstone: sampleTombstone("b", "delete", "file", "me", 1, false) });
    await fireEvent.click(screen.getByTestId("tombstone-retry"));
    await waitFor(() =>
      expect(dialogs.open).toMatchObject({ kind: "receipt", receipt: { id: "rc_b", complete: true } }),
    );
    expect(retryCleanup).toHaveBeenCalledOnce();
  });

  it("has its receipt beside the log entry of the retry", () => {
    const tombstone = sampleTombstone("a", "delete", "memory", "chatgpt", 1);
    const entry = {
      seq: 1,
      at: tombstone.at,
      actor: "user",
      op: "clean_again",
      target: "rc_a",
      detail: "",
      file: null,
    };
    const found = [...proofsOf([entry, { ...entry, seq: 2, target: "rc_gone" }], [], [tombstone])];
    expect(found).toEqual([[1, { kind: "receipt", id: "rc_a" }]]);
  });
});

describe("the detail of a checked place", () => {
  it.each([
    ["2 key slots", "2 ways to open the vault"],
    ["110 pages", "110 pages"],
    ["971 documents", "971 entries"],
    ["6 files", "6 files"],
    ["chain and signatures hold", "complete and unchanged"],
    ["all resolve", "none is broken"],
    ["6 packs", "all belong to an entry"],
  ])("is in words of this window: %s", (detail, text) =>
    expect(checkDetailText(detail)).toEqual({ text, original: "" }),
  );

  it.each(["the chain is broken", "3 texts in 6 packs belong to no record", "2 of 6 files fail"])(
    "is the message of the core if something is wrong: %s",
    (detail) => expect(checkDetailText(detail)).toEqual({ text: "", original: detail }),
  );

  it("has the form that the core writes", () => {
    const source = readFileSync(join(import.meta.dirname, INTEGRITY), "utf8");
    for (const form of ["{} key slots", "{pages} pages", "{documents} documents", "{packs} packs"])
      expect(source).toContain(`"${form}"`);
    for (const text of ["chain and signatures hold", "all resolve"]) expect(source).toContain(`"${text}"`);
  });
});

describe("the detail of a clean place", () => {
  it.each([
    ["1 records, their versions, verbatim texts, links and vectors", "1 entry, with its versions"],
    ["3 records looked for by their tombstones, 0 still there", "3 entries, with their versions"],
    ["4 files, 1 words and 1 rows looked for", "1 word searched for"],
    ["1 files", "1 file"],
    ["812 pages searched for 3 traces", "812 pages searched"],
    ["written back and truncated", "emptied"],
  ])("is in words of this window: %s", (detail, shown) => {
    expect(placeDetailText(detail)).toMatchObject({ text: expect.stringContaining(shown), original: "" });
  });

  it.each(["3 records looked for by their tombstones, 1 still there", "2 leftovers: a", "4 bytes remain"])(
    "is the message of the core if something went wrong: %s",
    (detail) => expect(placeDetailText(detail)).toEqual({ text: "", original: detail }),
  );

  it("has the form that the core writes", () => {
    const source = readFileSync(join(import.meta.dirname, CHECK), "utf8");
    for (const form of ["{} records, their versions, verbatim texts, links and vectors", "{} words and {} rows looked"])
      expect(source).toContain(form);
  });
});
