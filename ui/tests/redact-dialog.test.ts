import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, expect, it, vi } from "vitest";
import RedactDialog from "../src/features/removal/RedactDialog.svelte";
import { kindCountsText } from "../src/features/removal/impact";
import { start, type Mock } from "./start-mock";
import { type RedactPreview, type RedactRequest } from "$lib/ipc";
import { failWith } from "$lib/ipc/mock/jobs";

let mock: Mock;
const dialog = { id: "m-16", text: "Wears reading glasses", span: { start: 6, end: 13 } };
const previews: Record<string, RedactPreview> = {
  "reading true": { redacted: 4, kinds: { memory: 1, message: 3 } },
  "reading false": { redacted: 1, kinds: { memory: 1 } },
  "Wears reading glasses true": { redacted: 1, kinds: { memory: 1 } },
};
const countKey = ({ spans, everywhere }: RedactRequest) =>
  `${spans.map(({ start, end }) => dialog.text.slice(start, end)).join()} ${everywhere}`;

beforeEach(async () => {
  mock = await start();
  mock.redactPreview = async (_job, request) =>
    previews[countKey(request)] ?? Promise.reject(new Error(countKey(request)));
});

const confirmButton = () => screen.getByTestId<HTMLButtonElement>("redact-confirm");

it("the dialog shows how often the words occur, for each choice, before it redacts them", async () => {
  render(RedactDialog, dialog);
  expect(confirmButton().disabled, "nothing can be redacted before the count is known").toBe(true);
  await screen.findByText("Redact this in 4 places?");
  expect(confirmButton().textContent?.trim()).toBe("Redact in all 4 places");
  expect(screen.getByTestId("redact-where").textContent).toBe("Found: 3 messages and 1 memory, including this one.");
  await fireEvent.click(screen.getByTestId("redact-everywhere"));
  expect(confirmButton().disabled, "nor while the count is that of another choice").toBe(true);
  await screen.findByText("Redact this in 1 place?");
  expect([confirmButton().textContent?.trim(), confirmButton().disabled]).toEqual(["Redact here", false]);
  await fireEvent.click(screen.getByTestId("redact-everywhere"));
  await screen.findByText("Redact this in 4 places?");
  await fireEvent.click(screen.getByText("All of it"));
  await screen.findByText("Redact this in 1 place?");
  expect(screen.getByTestId("redact-where").textContent).toBe("Found nowhere else.");
});

it("the dialog shows no outdated number, and cancels the count of that number", async () => {
  let answerLate: (preview: RedactPreview) => void = () => undefined;
  const cancelJob = vi.spyOn(mock, "cancelJob");
  mock.redactPreview = (_job, request) =>
    request.everywhere
      ? new Promise((done) => (answerLate = done))
      : Promise.resolve({ redacted: 1, kinds: { memory: 1 } });
  const redactPreview = vi.spyOn(mock, "redactPreview");
  render(RedactDialog, dialog);
  await waitFor(() => expect(redactPreview).toHaveBeenCalledTimes(1));
  await fireEvent.click(screen.getByTestId("redact-everywhere"));
  await waitFor(() => expect(cancelJob).toHaveBeenCalledWith(redactPreview.mock.calls[0]?.[0]));
  answerLate({ redacted: 9, kinds: { memory: 9 } });
  await screen.findByText("Redact this in 1 place?");
  expect(screen.queryByText("Redact in all 9 places")).toBeNull();
});

it("the dialog says if there are more occurrences than one redaction covers", async () => {
  mock.redactPreview = async (_job, { everywhere }) => {
    if (everywhere) throw failWith("too_many_places", "Too many.", { most: "10000" });
    return { redacted: 1, kinds: { memory: 1 } };
  };
  render(RedactDialog, dialog);
  await screen.findByText(/These words occur in more than 10,000 places/);
  expect(confirmButton().disabled).toBe(true);
  await fireEvent.click(screen.getByTestId("redact-everywhere"));
  await screen.findByText("Redact this in 1 place?");
  expect(screen.queryByText(/more than 10,000 places/)).toBeNull();
});

it("the dialog names kinds in the singular or plural, the most frequent first, and kinds without a name as items", () => {
  expect(kindCountsText({ memory: 1 })).toBe("1 memory");
  expect(kindCountsText({ memory: 2, message: 5, entity: 1, fact: 2 })).toBe(
    "5 messages, 2 memories, 2 facts and 1 item",
  );
});
