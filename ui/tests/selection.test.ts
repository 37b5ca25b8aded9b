import { render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it } from "vitest";
import SelectionView from "../src/features/memories/SelectionView.svelte";
import { useBackend, type Backend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { memories } from "$lib/state/lists.svelte";
import { clearContent } from "$lib/state/scope";
import { selection } from "$lib/state/selection.svelte";
import { session } from "$lib/state/session.svelte";

let mock: Backend;

beforeEach(async () => {
  clearContent();
  mock = mockBackend({ open: true });
  useBackend(mock);
  session.opened(await mock.sessionState());
});

const check = (...ids: string[]) => ids.forEach((id) => selection.toggle(memories, id));
/** What stands beside a word. */
const told = (term: string) => screen.queryByText(term)?.nextElementSibling?.textContent?.trim();

it("tells what is true of all that are checked", async () => {
  check("m-0", "m-5", "m-9");
  render(SelectionView);
  await waitFor(() => expect(told("Versions")).toBe("6 in all"));
  expect(told("Conversations")).toBe("taken from 1");
  expect(told("Sensitive")).toBe("1 finding, still open");
  expect(screen.getByTestId("selection-span").textContent).toMatch(/^Dated between .+ and .+[^;]$/);
});

it("leaves out what there is none of, and says when not all have a date", async () => {
  const whole = mock.summary;
  mock.summary = async (filter) => ({ ...(await whole(filter)), dated: 1 });
  check("m-1", "m-2");
  render(SelectionView);
  await waitFor(() => expect(told("Versions")).toBe("2 in all"));
  expect([told("Conversations"), told("Sensitive")]).toEqual([undefined, undefined]);
  expect(screen.getByTestId("selection-span").textContent).toMatch(/; 1 without a date$/);
});

it("says nothing of versions and findings where messages are records of their own", async () => {
  let asked = 0;
  mock.summary = async () => ((asked += 1), Promise.reject(new Error("not asked for")));
  check("c-run", "c-tide");
  render(SelectionView, { tags: false });
  await waitFor(() => expect(told("From")).toBeTruthy());
  expect([asked, told("Versions")]).toEqual([0, undefined]);
});
