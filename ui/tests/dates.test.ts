import { fireEvent, render, screen } from "@testing-library/svelte";
import { expect, it, vi } from "vitest";

// In a time zone west of Greenwich, midnight UTC is still the evening of the day before.
vi.hoisted(() => (process.env.TZ = "America/New_York"));

import { lastMonths } from "../src/features/home/data";
import { chipsOf } from "../src/features/memories/chips";
import FilterPopover from "../src/features/memories/FilterPopover.svelte";
import DateInput from "$lib/ui/DateInput.svelte";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { ANY, dayEnd, dayStart, periodStart } from "$lib/state/filter";
import { memories } from "$lib/state/lists.svelte";
import { day } from "$lib/text/format";

it("a day is the local day, from its first to its last instant", () => {
  const now = new Date("2026-11-22T03:00:00Z");
  expect(periodStart("today", now)).toBe("2026-11-21T05:00:00.000Z");
  expect(dayEnd(now)).toBe("2026-11-22T04:59:59.999Z");
  // Daylight saving time ended within these 30 days, so the offset from UTC on the first day is not that of `now`.
  expect(periodStart("days30", now)).toBe("2026-10-22T04:00:00.000Z");
});

it("the months of the chart are local months", () => {
  expect(lastMonths(new Date(2026, 10, 21)).at(-1)).toMatchObject({
    since: "2026-11-01T04:00:00.000Z",
    until: "2026-12-01T04:59:59.999Z",
  });
});

it("a day without a time is shown as that day", () => {
  expect(day("2026-11-21")).toBe(day("2026-11-21T12:00:00Z"));
});

it("a field without a day is marked, so that the date which WebKit shows in it is hidden", async () => {
  const { container, rerender } = render(DateInput, { value: "", onchange: () => undefined });
  const field = container.querySelector("input")!;
  expect(field.classList.contains("empty")).toBe(true);
  await rerender({ value: "2026-11-21" });
  expect(field.classList.contains("empty")).toBe(false);
});

it("a chip names the chosen days", () => {
  const chosen = new Date(2026, 10, 21);
  const [chip] = chipsOf({ ...ANY, since: dayStart(chosen), until: dayEnd(chosen) });
  expect(chip?.label).toBe(`${day(chosen.getTime())} – ${day(chosen.getTime())}`);
});

it("the filter's fields hold days, the filter holds instants", async () => {
  useBackend(mockBackend({ open: true }));
  render(FilterPopover, { list: memories });
  await fireEvent.click(screen.getByTestId("filter-button"));
  const until = (await screen.findByTestId("filter-until")) as HTMLInputElement;
  await fireEvent.change(until, { target: { value: "2026-11-21" } });
  await fireEvent.change(screen.getByTestId("filter-since"), { target: { value: "2026-11-21" } });
  expect([memories.filter.since, memories.filter.until]).toEqual([
    "2026-11-21T05:00:00.000Z",
    "2026-11-22T04:59:59.999Z",
  ]);
  expect(until.value).toBe("2026-11-21");
  // While the year is not typed completely, the filter does not change.
  await fireEvent.change(until, { target: { value: "0002-11-21" } });
  expect(memories.filter.until).toBe("2026-11-22T04:59:59.999Z");
});
