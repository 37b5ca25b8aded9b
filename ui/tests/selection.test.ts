import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import { handleLetterKey } from "../src/features/memories/keys";
import SelectionView from "../src/features/memories/SelectionView.svelte";
import DialogHost from "../src/shell/DialogHost.svelte";
import type { Backend } from "$lib/ipc";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { selection } from "$lib/state/selection.svelte";
import { start } from "./start-mock";

let mock: Backend;

beforeEach(async () => {
  mock = await start();
});

const check = (...ids: string[]) => ids.forEach((id) => selection.toggle(memories, id));
const NUMBERS = { versions: 2, conversations: 0, dated: 0, first: null, last: null };
/** Returns the value that the summary shows next to a term. */
const valueBeside = (term: string) => screen.queryByText(term)?.nextElementSibling?.textContent?.trim();

it("the panel of checked rows summarises all of them", async () => {
  check("m-0", "m-3", "m-9");
  render(SelectionView);
  await waitFor(() => expect(valueBeside("Versions")).toBe("6 in all"));
  expect(valueBeside("Taken from")).toBe("1 conversation");
  expect(valueBeside("Sensitive")).toBe("2 findings to review");
  expect(screen.getByTestId("selection-span").textContent).toMatch(/^Dated between .+ and .+[^;]$/);
});

it("the summary omits empty categories, and says if some records have no date", async () => {
  const realSummary = mock.summary;
  mock.summary = async (filter) => ({ ...(await realSummary(filter)), dated: 1 });
  check("m-1", "m-2");
  render(SelectionView);
  await waitFor(() => expect(valueBeside("Versions")).toBe("2 in all"));
  expect([valueBeside("Taken from"), valueBeside("Sensitive")]).toEqual([undefined, undefined]);
  expect(screen.getByTestId("selection-span").textContent).toMatch(/; 1 without a date$/);
});

it("the summary of conversations omits versions and findings", async () => {
  let requests = 0;
  mock.summary = async () => ((requests += 1), Promise.reject(new Error("not asked for")));
  check("c-run", "c-tide");
  render(SelectionView, { tags: false });
  await waitFor(() => expect(valueBeside("From")).toBeTruthy());
  expect([requests, valueBeside("Versions")]).toEqual([0, undefined]);
});

it("the findings of the checked rows are redacted by kind, after their number was shown", async () => {
  const redactValues = vi.spyOn(mock, "redactValues");
  mock.summary = async () => ({ ...NUMBERS, findings: { access_key: 2, phone: 1 } });
  check("m-0", "m-5");
  render(SelectionView);
  await fireEvent.click(screen.getByTestId("selection-redact"));
  render(DialogHost);
  const confirm = await screen.findByTestId("redact-kinds-confirm");
  expect(screen.getByText("Redact what is sensitive in these 2 memories?")).toBeTruthy();
  expect(confirm.textContent, "all that was found in them").toContain("Redact 3 values");
  await fireEvent.click(screen.getByTestId("redact-kind-phones"));
  expect(confirm.textContent).toContain("Redact 2 values");
  await fireEvent.click(confirm);
  await waitFor(() =>
    expect(redactValues.mock.lastCall?.[1]).toEqual({
      values: [],
      classes: ["access_key", "private_key", "password"],
      ids: ["m-0", "m-5"],
    }),
  );
  await waitFor(() => expect(dialogs.open).toBeNull());
});

it("the dialog for findings opens by R, and offers no redaction without findings", async () => {
  mock.summary = async () => ({ ...NUMBERS, findings: {} });
  check("m-1", "m-2");
  render(SelectionView);
  handleLetterKey(new KeyboardEvent("keydown", { key: "r" }), "m-1");
  await waitFor(() => expect(dialogs.open).toEqual({ kind: "redact-kinds", ids: ["m-1", "m-2"] }));
  render(DialogHost);
  await screen.findByTestId("redact-kinds-none");
  expect(screen.queryByTestId("redact-kinds-confirm")).toBeNull();
});
