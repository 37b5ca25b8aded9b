import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import ActivityView from "../src/features/activity/ActivityView.svelte";
import ConversationsView from "../src/features/conversations/ConversationsView.svelte";
import DuplicatesSheet from "../src/features/duplicates/DuplicatesSheet.svelte";
import FilesView from "../src/features/files/FilesView.svelte";
import HomeView from "../src/features/home/HomeView.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import { start, type Mock } from "./start-mock";
import SkeletonRows from "$lib/ui/SkeletonRows.svelte";
import { BackendError } from "$lib/ipc";
import { duplicates } from "$lib/state/duplicates.svelte";
import { facets } from "$lib/state/facets.svelte";
import { fileKinds } from "$lib/state/file-kinds.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { vault } from "$lib/state/vault.svelte";

let mock: Mock;

beforeEach(async () => {
  toasts.clear();
  mock = await start({ stepMs: 0 });
});
afterEach(() => vi.useRealTimers());

/** Makes the call fail until the returned function is called. */
function makeFail(name: "facets" | "audit" | "tombstones" | "vaultInfo" | "list"): () => void {
  const originalCall = mock[name];
  const refuse = () => Promise.reject(new BackendError({ code: "store", message: "disk on fire", details: {} }));
  Object.assign(mock, { [name]: refuse });
  return () => Object.assign(mock, { [name]: originalCall });
}

const retryAfter = async (repair: () => void) => {
  expect((await screen.findByTestId("load-problem")).textContent).toContain("Nothing was changed.");
  expect(screen.getByTestId("load-problem").textContent).toContain("Details");
  expect(document.querySelector(".skeleton"), "no placeholder rows are shown").toBeNull();
  expect(toasts.current).toBeNull();
  repair();
  await fireEvent.click(screen.getByTestId("load-again"));
};

describe("a load error stays visible until the load succeeds", () => {
  it("on the home screen", async () => {
    const stopFailing = makeFail("tombstones");
    await vault.refresh();
    render(HomeView);
    await retryAfter(stopFailing);
    expect(await screen.findByTestId("home")).toBeTruthy();
    expect(screen.queryByTestId("load-problem")).toBeNull();
  });

  it("on the home screen, if the vault's counts are unknown", async () => {
    const stopFailing = makeFail("vaultInfo");
    render(HomeView);
    await vault.refresh();
    await retryAfter(stopFailing);
    expect(await screen.findByTestId("home")).toBeTruthy();
  });

  it("on Activity", async () => {
    const stopFailing = makeFail("audit");
    render(ActivityView);
    await retryAfter(stopFailing);
    await waitFor(() => expect(screen.queryByTestId("load-problem")).toBeNull());
    expect(document.querySelector(".skeleton")).toBeNull();
  });

  it.each([
    ["memories", MemoriesView, () => facets.group("source").length > 0 && nav.id !== null],
    ["conversations", ConversationsView, () => nav.id !== null],
    ["files", FilesView, () => fileKinds.countOf("picture").count > 0],
  ] as const)("in a list and everything loaded with it: %s", async (section, View, whole) => {
    nav.clear();
    nav.section = section;
    const stopFailing = [makeFail("list"), makeFail("facets")];
    render(View);
    await retryAfter(() => stopFailing.forEach((each) => each()));
    await waitFor(() => expect(screen.queryByTestId("load-problem")).toBeNull());
    await waitFor(() => expect(whole()).toBe(true));
  });
});

describe("waiting", () => {
  it("shows rows, then a text, then progress with Cancel", async () => {
    vi.useFakeTimers();
    const stop = vi.fn();
    render(SkeletonRows, { share: 0.25, oncancel: stop });
    expect(document.querySelector(".row")).toBeNull();
    await vi.advanceTimersByTimeAsync(250);
    expect(document.querySelector(".row")).not.toBeNull();
    expect(screen.queryByRole("status")).toBeNull();
    await vi.advanceTimersByTimeAsync(1800);
    expect(screen.getByRole("status").textContent).toContain("Loading");
    expect(screen.queryByRole("progressbar")).toBeNull();
    await vi.advanceTimersByTimeAsync(3000);
    expect(screen.getByRole("status").textContent).toContain("Still loading");
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("0.25");
    await fireEvent.click(screen.getByTestId("loading-cancel"));
    expect(stop).toHaveBeenCalledOnce();
  });

  it("can be stopped, and then a button to load again is shown", async () => {
    vi.useFakeTimers();
    const originalList = mock.list;
    mock.list = () => new Promise(() => undefined);
    render(MemoriesView);
    await vi.advanceTimersByTimeAsync(5300);
    await fireEvent.click(screen.getByTestId("loading-cancel"));
    expect(screen.getByTestId("load-problem").textContent).toContain("Loading was stopped.");
    expect(document.querySelector(".skeleton")).toBeNull();
    mock.list = originalList;
    await fireEvent.click(screen.getByTestId("load-again"));
    expect(screen.queryByTestId("load-problem")).toBeNull();
    await vi.advanceTimersByTimeAsync(300);
    expect(memories.total).toBeGreaterThan(0);
  });

  it("for duplicates can be stopped, which cancels the comparison in the backend", async () => {
    vi.useFakeTimers();
    const cancelledJobs: string[] = [];
    mock.duplicates = (_id, listen) => {
      listen({ stage: "comparing", done: 30, total: 40, found: null, detail: null } as never);
      return new Promise(() => undefined);
    };
    mock.cancelJob = async (id) => void cancelledJobs.push(id);
    render(DuplicatesSheet);
    await vi.advanceTimersByTimeAsync(5100);
    expect(screen.getByRole("progressbar").getAttribute("aria-valuenow")).toBe("0.75");
    const id = duplicates.job?.id;
    await fireEvent.click(screen.getByTestId("loading-cancel"));
    expect(cancelledJobs).toEqual([id]);
    expect(screen.getByTestId("load-problem").textContent).toContain("Loading was stopped.");
  });
});
