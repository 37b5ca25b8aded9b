// Tests what the history of a memory says about each version.
import { expect, it } from "vitest";
import { versionText } from "../src/features/memories/version-text";
import type { VersionInfo } from "$lib/ipc";

const version = (change: Partial<VersionInfo> = {}): VersionInfo => ({
  ...{ version: 2, text: "Likes tea.", title: null, tags: ["food"], type: "preference" },
  ...{ from: "2026-11-20T08:00:00Z", to: null, cause: "edit" },
  ...change,
});
const before = version({ version: 1, cause: "import" });

it.each<[string, Partial<VersionInfo>, string]>([
  ["another wording", { text: "Likes green tea." }, "Edited by you"],
  ["another wording and a tag", { text: "Likes green tea.", tags: [] }, "Edited by you"],
  ["a tag", { tags: ["food", "renovation"] }, "Tagged #renovation"],
  ["a tag less", { tags: [] }, "Tag removed: #food"],
  [
    "tags and a type",
    { tags: ["a", "b"], type: "fact" },
    "Tagged #a, #b · Tag removed: #food · Type changed to Facts about me",
  ],
  ["a title", { title: "Tea" }, "Title changed"],
  ["an import", { cause: "import" }, "Updated by an import"],
  ["nothing that is shown", {}, "Edited by you"],
])("a version with %s says so", (_, change, words) => {
  expect(versionText(version(change), before)).toBe(words);
});

it("the first version says that it was imported or written", () => {
  expect([before, version({ cause: "written" })].map((first) => versionText(first, undefined))).toEqual([
    "As imported",
    "Written by you",
  ]);
});
