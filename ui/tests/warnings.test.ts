import { beforeEach, describe, expect, it } from "vitest";
import type { Warning } from "$lib/ipc";
import { toasts } from "$lib/state/toasts.svelte";

const warning = (code: string): Warning => ({ code, place: "", message: "", count: 1 });

describe("warnings after a change", () => {
  beforeEach(() => toasts.clear());

  it("are shown at once when there is no toast", () => {
    toasts.warn([warning("index_behind")]);
    expect(toasts.current?.text).toMatch(/^Done, but search isn’t up to date yet/);
    expect(toasts.current?.icon).toBe("alert");
  });

  it("wait for the toast about the change, one after the other, and keep its Undo", async () => {
    toasts.warn([warning("index_behind"), warning("audit_not_written")]);
    let undone = false;
    toasts.showWithUndo("Moved to Trash", "Undo", () => void (undone = true));
    expect(toasts.current?.text).toBe("Moved to Trash");
    toasts.dismiss();
    expect(toasts.current?.text).toMatch(/search/);
    toasts.dismiss();
    expect(toasts.current?.text).toMatch(/Activity/);
    toasts.dismiss();
    expect(toasts.current).toBeNull();
    expect(await toasts.undo()).toBe(true);
    expect(undone).toBe(true);
  });

  it("say how many items they are about", () => {
    toasts.warn([{ ...warning("other_version_not_stored"), count: 2 }]);
    expect(toasts.current?.text).toMatch(/^2 items keep their text/);
  });

  it("are shown also for steps that this version does not know", () => {
    toasts.warn([warning("from_the_future")]);
    expect(toasts.current?.text).toMatch(/a follow-up step failed/);
  });

  it("are gone after locking", () => {
    toasts.warn([warning("index_behind"), warning("not_synced")]);
    toasts.clear();
    expect(toasts.current).toBeNull();
    toasts.dismiss();
    expect(toasts.current).toBeNull();
  });
});
