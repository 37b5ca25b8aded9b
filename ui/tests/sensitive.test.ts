import { fireEvent, render, screen, waitFor, within } from "@testing-library/svelte";
import { beforeEach, describe, expect, it, vi } from "vitest";
import SensitiveActions from "../src/features/sensitive/SensitiveActions.svelte";
import SensitiveDetail from "../src/features/sensitive/SensitiveDetail.svelte";
import SensitiveView from "../src/features/sensitive/SensitiveView.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import Sidebar from "../src/shell/Sidebar.svelte";
import Window from "../src/shell/Window.svelte";
import { textBefore, titleSegments } from "../src/features/sensitive/segments";
import type { SensitiveItem } from "$lib/ipc";
import type { MockOptions } from "$lib/ipc/mock";
import { sampleReceipt } from "$lib/ipc/mock/jobs";
import { kindOf, reasonOf } from "$lib/logic/sensitive";
import { dialogs } from "$lib/state/dialogs.svelte";
import { nav } from "$lib/state/nav.svelte";
import { sensitive } from "$lib/state/sensitive.svelte";
import { session } from "$lib/state/session.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;

async function list(options: MockOptions = {}) {
  mock = await start(options);
  await vault.refresh();
  nav.section = "sensitive";
  nav.choose(null);
}

beforeEach(() => list());

const rows = async () => {
  const shown = await screen.findByRole("listbox");
  await within(shown).findAllByTestId("list-row");
  return shown;
};
const detailOf = (item: SensitiveItem) =>
  render(SensitiveDetail, {
    item,
    tab: "open",
    place: 1,
    total: 14,
    onstep: () => undefined,
    ondone: () => undefined,
  });
const loadFirst = async () => {
  await sensitive.load();
  return sensitive.rows[0]!;
};

describe("the queue of sensitive values", () => {
  it("lists kind by kind, the most serious first, to its end", async () => {
    await sensitive.load();
    const order = sensitive.rows.map((row) => row.class);
    expect(order).toEqual([
      ...["access_key", "access_key", "access_key", "password", "card", "iban", "iban", "national_id"],
      ...["phone", "phone", "phone", "email", "email", "email"],
    ]);
    expect([sensitive.total, sensitive.open, sensitive.more]).toEqual([14, 14, false]);
  });

  it("loads further pages from where the last one ended", async () => {
    const originalQueue = mock.sensitiveQueue;
    const requests: [string, number, number][] = [];
    mock.sensitiveQueue = async (request) => {
      requests.push([request.classes[0] ?? "", request.offset, request.limit]);
      const page = await originalQueue({ ...request, offset: 0 });
      const one = page.items[0]!;
      if (request.classes[0] !== "access_key") return { ...page, items: [] };
      const items = Array.from({ length: 150 }, (_, n) => ({ ...one, value: `v-${n}` }));
      return { ...page, items: items.slice(request.offset, request.offset + request.limit), open: { access_key: 150 } };
    };
    await sensitive.load();
    expect([sensitive.rows.length, sensitive.more]).toEqual([100, true]);
    await sensitive.loadNextPage();
    expect([sensitive.rows.length, sensitive.more]).toEqual([150, false]);
    expect(requests.slice(0, 2)).toEqual([
      ["access_key", 0, 100],
      ["access_key", 100, 100],
    ]);
  });

  it("has a list with headings, which has only one kind when that kind is chosen", async () => {
    render(SensitiveView);
    await rows();
    sensitive.kind = "bank";
    await waitFor(() => expect(sensitive.rows.map((row) => row.class)).toEqual(["card", "iban", "iban"]));
    await waitFor(() => expect(nav.id).toBe(sensitive.rows[0]?.value));
  });

  it("says when all were decided", async () => {
    render(SensitiveView);
    await rows();
    await sensitive.redact({ values: [], classes: [], ids: null });
    expect(await screen.findByText("All 20 reviewed")).toBeTruthy();
    await waitFor(() =>
      expect(screen.queryByText("Choose a finding on the left."), "there is none to choose").toBeNull(),
    );
  });

  it("offers a scan if there was none yet", async () => {
    await list({ neverScanned: true });
    render(SensitiveView);
    await fireEvent.click(await screen.findByTestId("sensitive-first-scan"));
    await rows();
    expect(sensitive.open).toBe(14);
  });
});

describe("a value", () => {
  it("is in no answer of the sample backend", async () => {
    for (const state of ["open", "redacted", "ignored"]) {
      const { items } = await mock.sensitiveQueue({ state, classes: [], offset: 0, limit: 500 });
      expect(items.length).toBeGreaterThan(1);
      for (const item of items) {
        expect(item.value).toMatch(/^[0-9a-f]{32}$/);
        expect(item.context.filter((piece) => piece.hidden !== null && piece.text !== "")).toEqual([]);
      }
    }
  });

  it("never reaches the page, even if its segment has a text", async () => {
    const item = await loadFirst();
    const detail = await mock.sensitiveValue(item.value);
    const leaking = detail.item.context.map((piece) => (piece.hidden ? { ...piece, text: "AKIA0" } : piece));
    mock.sensitiveValue = async () => ({ ...detail, item: { ...detail.item, context: leaking } });
    detailOf({ ...item, context: leaking });
    const context = await screen.findByTestId("sensitive-context");
    expect(context.textContent).toContain("the staging bucket key is");
    expect(document.body.innerHTML).not.toContain("AKIA0");
    expect(textBefore(leaking).map((part) => part.text)).not.toContain("AKIA0");
    expect(within(context).getByRole("img").getAttribute("aria-label")).toBe("hidden value");
  });

  it("shows only the reason of its detector", () => {
    expect([
      reasonOf("card", "luhn"),
      reasonOf("access_key", "entropy"),
      reasonOf("access_key", "github_token"),
    ]).toEqual(["check", "random", "pattern"]);
    expect([reasonOf("phone", "national"), reasonOf("national_id", "us_ssn")]).toEqual(["form", "form"]);
    expect([kindOf("stored_secret"), reasonOf("stored_secret", "plain_secret")]).toEqual(["stored", "stored"]);
  });

  it("is a bar in titles, and its row shows the end of the text before the value", () => {
    expect(titleSegments("key █████ of █████")).toEqual([
      { kind: "text", text: "key " },
      { kind: "bar", text: "" },
      { kind: "text", text: " of " },
      { kind: "bar", text: "" },
    ]);
    const before = { text: "one two three four five six seven eight nine ", hidden: null, this: false };
    expect(textBefore([before, { text: "", hidden: "card", this: true }])).toEqual([
      { kind: "text", text: "…seven eight nine " },
    ]);
  });
});

describe("deciding on a value", () => {
  it("asks the first time, then acts at once, and has no undo", async () => {
    const redactValues = vi.spyOn(mock, "redactValues");
    const item = await loadFirst();
    render(DialogHost);
    detailOf(item);
    await waitFor(() => expect(screen.getAllByTestId("sensitive-place")).toHaveLength(3));
    await fireEvent.click(screen.getByTestId("sensitive-redact"));
    expect(await screen.findByText("Redact this in 3 places?")).toBeTruthy();
    expect(document.activeElement).toBe(screen.getByTestId("redact-value-cancel"));
    expect(redactValues).not.toHaveBeenCalled();
    await fireEvent.click(screen.getByTestId("redact-value-confirm"));
    await waitFor(() => expect(toasts.current?.text).toContain("Redacted in 3 places"));
    expect(redactValues.mock.lastCall?.[1]).toEqual({ values: [item.value], classes: [], ids: null });
    expect([toasts.current?.action?.undo, dialogs.open]).toEqual([false, null]);
    expect(await toasts.undo()).toBe(false);
    await toasts.runAction();
    expect(dialogs.open).toMatchObject({ kind: "receipt", receipt: { complete: true } });
    expect(sensitive.dialogShown).toBe(true);
  });

  it("redacts only in the checked places", async () => {
    const redactValues = vi.spyOn(mock, "redactValues");
    sensitive.dialogShown = true;
    const item = await loadFirst();
    detailOf(item);
    const places = await screen.findAllByTestId("sensitive-place");
    await fireEvent.click(within(places[1]!).getByRole("checkbox"));
    expect(screen.getByTestId("sensitive-redact").textContent).toContain("Redact in 2 places");
    await fireEvent.click(screen.getByTestId("sensitive-redact"));
    await waitFor(() => expect(redactValues.mock.lastCall?.[1].ids).toEqual(["msg-a2", "m-0"]));
  });

  it("shows a receipt that is not complete at once", async () => {
    const originalRedaction = mock.redactValues;
    mock.redactValues = async (...args) => ({
      ...(await originalRedaction(...args)),
      receipt: sampleReceipt("r", "verbatim"),
    });
    const item = await loadFirst();
    await sensitive.redact({ values: [item.value], classes: [], ids: null });
    expect(dialogs.open).toMatchObject({ kind: "receipt", receipt: { complete: false } });
    expect(toasts.current).toBeNull();
  });

  it("works by R and I on the active row", async () => {
    sensitive.dialogShown = true;
    const redactValues = vi.spyOn(mock, "redactValues");
    const ignoreValues = vi.spyOn(mock, "ignoreValues");
    render(SensitiveView);
    const list = await rows();
    const [one, two] = sensitive.rows.map((row) => row.value);
    await screen.findByTestId("sensitive-context");
    await fireEvent.keyDown(list, { key: "i" });
    await waitFor(() => expect(ignoreValues).toHaveBeenCalledWith([one], true));
    await waitFor(() => expect(nav.id).toBe(two));
    await screen.findByTestId("sensitive-context");
    await fireEvent.keyDown(list, { key: "r" });
    await waitFor(() => expect(redactValues.mock.lastCall?.[1].values).toEqual([two]));
  });

  it("works by R, I and ↓ with the focus outside the list", async () => {
    sensitive.dialogShown = true;
    const redactValues = vi.spyOn(mock, "redactValues");
    const ignoreValues = vi.spyOn(mock, "ignoreValues");
    render(SensitiveView);
    await rows();
    const [one, two, three] = sensitive.rows.map((row) => row.value);
    await screen.findByTestId("sensitive-context");
    (document.activeElement as HTMLElement | null)?.blur();
    await fireEvent.keyDown(document.body, { key: "ArrowDown" });
    expect(nav.id).toBe(two);
    await screen.findByTestId("sensitive-context");
    const laterButton = screen.getByTestId("sensitive-later");
    laterButton.focus();
    await fireEvent.keyDown(laterButton, { key: "ArrowDown" });
    expect(nav.id).toBe(three);
    nav.choose(one!);
    await waitFor(() => expect(screen.getByText(/Finding 1 of/)).toBeTruthy());
    await screen.findByTestId("sensitive-context");
    await fireEvent.keyDown(document.body, { key: "i" });
    await waitFor(() => expect(ignoreValues).toHaveBeenCalledWith([one], true));
    await waitFor(() => expect(nav.id).toBe(two));
    await screen.findByTestId("sensitive-context");
    await fireEvent.keyDown(screen.getByTestId("kind-menu"), { key: "r" });
    await waitFor(() => expect(redactValues.mock.lastCall?.[1].values).toEqual([two]));
  });

  it("opens the place of the value, and returns", async () => {
    render(SensitiveView);
    const list = await rows();
    const finding = nav.id;
    await fireEvent.keyDown(list, { key: "Enter" });
    expect([nav.section, nav.id, nav.message]).toEqual(["conversations", "c-bath", "msg-a2"]);
    nav.back();
    expect([nav.section, nav.id]).toEqual(["sensitive", finding]);
  });

  it("ignores with Undo, and stops ignoring", async () => {
    const item = await loadFirst();
    await sensitive.ignore([item.value], true);
    expect([sensitive.open, sensitive.counts.ignored.access_key]).toEqual([13, 1]);
    await toasts.undo();
    expect(sensitive.open).toBe(14);
    sensitive.tab = "ignored";
    await sensitive.load();
    render(SensitiveView);
    await fireEvent.click(await screen.findByTestId("sensitive-stop-ignoring"));
    await waitFor(() => expect(sensitive.open).toBe(15));
  });

  it("redacts all values of the chosen kinds, with exact numbers", async () => {
    const redactValues = vi.spyOn(mock, "redactValues");
    await sensitive.load();
    dialogs.show({ kind: "redact-kinds", ids: null });
    render(DialogHost);
    const confirm = (await screen.findByTestId("redact-kinds-confirm")) as HTMLButtonElement;
    expect([confirm.disabled, confirm.textContent?.trim()], "nothing is chosen yet").toEqual([true, "Redact"]);
    await fireEvent.click(screen.getByTestId("redact-kind-keys"));
    await fireEvent.click(screen.getByTestId("redact-kind-ids"));
    expect(confirm.textContent).toContain("Redact 5 values");
    await fireEvent.click(confirm);
    await waitFor(() =>
      expect(redactValues.mock.lastCall?.[1]).toEqual({
        values: [],
        classes: ["access_key", "private_key", "password", "national_id"],
        ids: null,
      }),
    );
    await waitFor(() => expect(sensitive.open).toBe(9));
  });
});

describe("the scan", () => {
  it("runs after unlocking and after every change, one at a time", async () => {
    let end = () => undefined as void;
    const scanRecords = vi
      .spyOn(mock, "scanRecords")
      .mockImplementation(() => new Promise((done) => (end = () => done({ records: 1 }))));
    nav.section = "trash";
    render(Window);
    await waitFor(() => expect(scanRecords).toHaveBeenCalledTimes(1));
    expect(scanRecords.mock.lastCall?.[1]).toBe(false);
    vault.changed();
    vault.changed();
    await waitFor(() => expect(vault.info).toBeTruthy());
    expect(scanRecords).toHaveBeenCalledTimes(1);
    end();
    await waitFor(() => expect(scanRecords).toHaveBeenCalledTimes(2));
    expect(sensitive.open).toBe(14);
    end();
  });

  it("on request covers everything, shows progress, and can be cancelled", async () => {
    let stop = (_: Error) => undefined as void;
    const cancelJob = vi.spyOn(mock, "cancelJob");
    vi.spyOn(mock, "scanRecords").mockImplementation((_id, all, onProgress) => {
      onProgress({ stage: "scan", done: 50, total: 200, unit: "records", records: 50 });
      return all ? new Promise((_, refuse) => (stop = refuse)) : Promise.resolve({ records: 0 });
    });
    render(SensitiveActions);
    await fireEvent.click(screen.getByTestId("sensitive-rescan"));
    expect((await screen.findByTestId("sensitive-scan-progress")).textContent).toContain("50 of 200 entries");
    await fireEvent.click(screen.getByTestId("sensitive-scan-cancel"));
    expect(cancelJob).toHaveBeenCalledOnce();
    stop(new Error("cancelled"));
    await screen.findByTestId("sensitive-rescan");
  });

  it.each([
    ["nothing new", 0, "Scanned again: nothing new."],
    ["something", 1, "Scanned again: 15 values to review."],
  ])("on request reports when it found %s", async (_, more, answer) => {
    await sensitive.load();
    const originalQueue = mock.sensitiveQueue;
    vi.spyOn(mock, "scanRecords").mockImplementation(async () => {
      mock.sensitiveQueue = async (request) => {
        const page = await originalQueue(request);
        return { ...page, open: { ...page.open, card: (page.open.card ?? 0) + more } };
      };
      return { records: 1 };
    });
    render(SensitiveActions);
    await fireEvent.click(screen.getByTestId("sensitive-rescan"));
    await waitFor(() => expect(toasts.current?.text).toBe(answer));
  });

  it("reports no comparison with an earlier scan if it failed or was the first", async () => {
    await sensitive.load();
    vi.spyOn(mock, "scanRecords").mockRejectedValue(new Error("cancelled"));
    await sensitive.rescan();
    expect(toasts.current?.text ?? "").not.toContain("Looked again");
    await list({ neverScanned: true });
    await sensitive.load();
    await sensitive.rescan();
    expect([sensitive.open, toasts.current]).toEqual([14, null]);
  });

  it("is cancelled when the vault locks", async () => {
    const cancelJob = vi.spyOn(mock, "cancelJob");
    vi.spyOn(mock, "scanRecords").mockImplementation(() => new Promise(() => undefined));
    await sensitive.load();
    void sensitive.scanInBackground();
    await session.lock();
    expect(cancelJob).toHaveBeenCalledOnce();
    expect([sensitive.rows.length, sensitive.open, sensitive.scannedAt]).toEqual([0, 0, undefined]);
  });

  it("shows its number beside the section, in words for screen readers", async () => {
    await sensitive.count();
    render(Sidebar);
    const about = screen.getByTestId("nav-sensitive").getAttribute("aria-describedby");
    expect(document.getElementById(about ?? "")?.textContent).toBe("Sensitive, 14 waiting for you");
    expect(screen.queryByTestId("kind-keys")).toBeTruthy();
  });
});
