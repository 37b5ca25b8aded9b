// Tests that each screen tells a first-time visitor where they are and what they can do next.
import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { beforeEach, describe, expect, it } from "vitest";
import FileSheet from "../src/features/files/FileSheet.svelte";
import MemoriesView from "../src/features/memories/MemoriesView.svelte";
import OriginalRecord from "../src/features/memories/OriginalRecord.svelte";
import Provenance from "../src/features/memories/Provenance.svelte";
import Bar from "../src/shell/Bar.svelte";
import Sidebar from "../src/shell/Sidebar.svelte";
import { item } from "$lib/ipc/mock/data";
import { dialogs } from "$lib/state/dialogs.svelte";
import { memories } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { plainRow } from "$lib/state/records.svelte";
import { vault } from "$lib/state/vault.svelte";
import { start, type Mock } from "./start-mock";

let mock: Mock;
beforeEach(async () => {
  mock = await start({ stepMs: 0 });
  await vault.refresh();
});

describe.each(["people", "review"] as const)("the section %s", (section) => {
  it("is marked in the sidebar by the section that leads to it, and shows the way back", async () => {
    nav.section = section;
    render(Sidebar);
    render(Bar);
    const home = () => screen.getByTestId("nav-home").getAttribute("aria-current");
    expect(home(), "not the page itself").toBe("true");
    await fireEvent.click(screen.getByTestId("bar-back"));
    expect([nav.section, home()]).toEqual(["home", "page"]);
    expect(screen.queryByTestId("bar-back")).toBeNull();
  });
});

describe("a file that the export only lists", () => {
  const row = plainRow(item("f-1", "attachment", "claude-code", "", 1, { title: "lease.pdf", present: false }));

  it("has a sheet that says what to do, with the guide of its assistant", async () => {
    render(FileSheet, { row, onclose: () => dialogs.close() });
    expect(screen.getByTestId("file-missing").textContent).toContain("get a new export");
    await fireEvent.click(screen.getByTestId("file-guide"));
    expect(dialogs.open).toEqual({ kind: "guides", source: "claude_code" });
    await fireEvent.click(screen.getByTestId("file-import"));
    expect(dialogs.open).toEqual({ kind: "import" });
  });

  it("has its type in words", () => {
    render(FileSheet, {
      row: { ...row, present: true, media_type: "application/pdf", file_kind: "document" },
      onclose() {},
    });
    const text = screen.getByTestId("file-sheet").textContent;
    expect(text).toContain("Document, PDF");
    expect(text).not.toContain("application/pdf");
    expect(screen.queryByTestId("file-missing")).toBeNull();
  });
});

describe("the original record", () => {
  const withVerbatim = (verbatims: Record<string, string | null>, links: unknown[] = []) => {
    const { show } = mock;
    mock.show = async (id) => {
      const shown = await show("m-0", false, true);
      const origin = { ...shown.record.origin, version: "sharded" };
      return {
        ...shown,
        record: { ...shown.record, id, origin, links: links as never },
        verbatim: verbatims[id] ?? null,
      };
    };
  };
  const recordText = async () => (await screen.findByTestId("original-record")).textContent;

  it("of a memory without one is that of the message which it was read from", async () => {
    withVerbatim({ "msg-1": '{"recipient":"bio"}' }, [{ kind: "message", id: "msg-1" }]);
    render(OriginalRecord, { id: "m-9" });
    await waitFor(async () => expect(await recordText()).toContain('{"recipient":"bio"}'));
    expect(await recordText()).toContain("It was read from this message:");
    expect(await recordText(), "the layout is in words").toContain("conversations in several files");
  });

  it("that was not stored is said to be in the export, at the place that is shown", async () => {
    withVerbatim({});
    render(OriginalRecord, { id: "m-9" });
    await waitFor(async () => expect(await recordText()).toContain("In your copy of the export"));
  });
});

it("a part of an export says what it is, without its role there, and its file can be shown", async () => {
  const part = item("x-1", "foreign", "claude", "", 1, {
    ...{ title: "users.json", type: "sidecar", media_type: "sidecar", present: true, size: 123 },
  });
  mock = await start({ stepMs: 0, items: [part] });
  await vault.refresh();
  nav.section = "memories";
  memories.setFilter({ kind: "foreign" });
  const { container } = render(MemoriesView);
  expect((await screen.findByTestId("part-of-export")).textContent).toContain("It is kept unchanged.");
  await fireEvent.click(await screen.findByTestId("part-show"));
  expect(dialogs.open).toMatchObject({ kind: "file", row: { id: "x-1" } });
  expect(container.textContent).not.toMatch(/sidecar/i);
});

it("the project of a memory is named as one", async () => {
  const { record } = await mock.show("m-0", false, false);
  const source = { ...record.source, project: "-home-maren-mare" };
  render(Provenance, { record: { ...record, source } });
  const term = await screen.findByText("Project");
  expect(term.nextElementSibling?.textContent).toContain("-home-maren-mare");
});
