import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hasText } from "$lib/text";
import { fieldName } from "$lib/text/core";
import { setLanguage } from "$lib/text/locale.svelte";

const CRATES = join(import.meta.dirname, "..", "..", "src-tauri", "crates");

/** Rust of the crates without their tests, by path. */
const rust = new Map(
  readdirSync(CRATES, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /^[\w-]+\/src\/.*\.rs$/.test(path) && !/(^|[/_])(tests?|testing)(\/|\.rs$)/.test(path))
    .map((path) => [path, readFileSync(join(CRATES, path), "utf8")]),
);
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

/** The members of a struct of the model, by the names they are written out with. */
function members(name: string): string[] {
  const source = rust.get("mementory-model/src/record.rs") ?? "";
  const body = new RegExp(`pub struct ${name} \\{([^}]*)\\}`).exec(source)?.[1] ?? "";
  return body.split("pub ").flatMap((before, index, all) => {
    const named = /^(\w+):/.exec(all[index + 1] ?? "")?.[1];
    return named ? [/rename = "(\w+)"/.exec(before)?.[1] ?? named] : [];
  });
}

/** Where a field is handed on instead of named in the call, and how the names get there. */
const HANDED_ON: Record<string, () => string[]> = {
  // Members of a record that the extension of a format holds.
  "mementory-formats-interchange/src/mif/overlay.rs name": () => members("Record"),
  "mementory-formats-interchange/src/mif/lesser.rs &name": () => members("Record"),
  "mementory-formats-interchange/src/pam/ext.rs name": () => members("Record"),
  "mementory-formats-interchange/src/zaxy/overlay.rs name": () => members("Record"),
  "mementory-formats-interchange/src/mem/overlay.rs field": () => members("Record"),
  "mementory-formats-interchange/src/mem/overlay.rs &field": () => members("Times").map((each) => `times.${each}`),
  ...Object.fromEntries(
    [
      "mementory-formats-interchange/src/alf/compose.rs",
      "mementory-formats-vendor/src/openclaw/write.rs",
      "mementory-formats-interchange/src/pam/write.rs",
      "mementory-formats-vendor/src/transfer_text/write.rs",
    ].map((file) => [
      `${file} field`,
      () => {
        const source = rust.get(file) ?? "";
        const rows = matches(source, /for \(field, \w+\) in \[([^\]]*)\]/g).join("");
        return [...matches(source, /\b(?:lose|moved|narrowed)\([^";]*"(\w+)"/g), ...matches(rows, /"(\w+)"/g)];
      },
    ]),
  ),
};

/** The argument before the kind of every loss that is made. */
const given = [...rust].flatMap(([path, source]) =>
  matches(source, /([^\s,(]+),\s*LossKind::\w+,/g).map((field) => ({ path, field })),
);
const isName = ({ field }: { field: string }) => field.startsWith('"');

describe("what a loss is about", () => {
  afterEach(() => setLanguage("en"));

  it("is named in the call, or comes from where this test knows", () => {
    const handed = new Set(given.filter((each) => !isName(each)).map(({ path, field }) => `${path} ${field}`));
    expect([...handed].sort()).toEqual(Object.keys(HANDED_ON).sort());
    expect(given.filter(isName).length).toBeGreaterThan(30);
  });

  it("has a name in the window, whichever writer says it", () => {
    const named = given.filter(isName).map(({ field }) => field.slice(1, -1));
    for (const [place, names] of Object.entries(HANDED_ON)) {
      expect([place, names().length > 2]).toEqual([place, true]);
      named.push(...names());
    }
    // Which record it is: no writer counts that as lost.
    const silent = new Set(["key", "origin_id"]);
    const all = new Set(named.filter((name) => !silent.has(name)));
    expect([...all]).toEqual(expect.arrayContaining(["bytes", "type", "times.created", "verbatim", "method", "part"]));
    expect([...all].filter((field) => !hasText(`field.${field.replaceAll(".", "_")}`))).toEqual([]);
  });

  it("is said in the window's language", async () => {
    expect([fieldName("times.created"), fieldName("superseded_by")]).toEqual(["Time of creation", "What replaced it"]);
    await setLanguage("de");
    expect(fieldName("times.created")).toBe("Zeitpunkt der Entstehung");
    await setLanguage("ja");
    expect(fieldName("times.created")).toBe("作成日時");
  });

  it.each([
    ["Times.lastSeen", "Times last seen"],
    ["record::inner_part", "Record inner part"],
    ["colour", "Colour"],
  ])("and is not known (%s) reads like words all the same", async (field, read) => {
    expect(fieldName(field)).toBe(read);
    await setLanguage("ja");
    expect(fieldName(field)).toBe(read);
  });
});
