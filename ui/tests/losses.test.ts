import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { hasText } from "$lib/text";
import { fieldName } from "$lib/text/core";
import { setLanguage } from "$lib/text/locale.svelte";

const CRATES = join(import.meta.dirname, "..", "..", "src-tauri", "crates");

/** The crates' Rust sources by path, without test files. */
const rust = new Map(
  readdirSync(CRATES, { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /^[\w-]+\/src\/.*\.rs$/.test(path) && !/(^|[/_])(tests?|testing)(\/|\.rs$)/.test(path))
    .map((path) => [path, readFileSync(join(CRATES, path), "utf8")]),
);
const matches = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found);

/** Returns the names under which the members of a model struct are serialised. */
function members(name: string): string[] {
  const source = rust.get("mementory-model/src/record.rs") ?? "";
  const body = new RegExp(`pub struct ${name} \\{([^}]*)\\}`).exec(source)?.[1] ?? "";
  return body.split("pub ").flatMap((before, index, all) => {
    const named = /^(\w+):/.exec(all[index + 1] ?? "")?.[1];
    return named ? [/rename = "(\w+)"/.exec(before)?.[1] ?? named] : [];
  });
}

/**
 * Places in the Rust sources where the field of a loss is a variable instead of a string. Each key is the file and the
 * variable; its function returns the possible values of the variable.
 */
const POSSIBLE_FIELD_NAMES: Record<string, () => string[]> = {
  // The members of a record that a format stores in its extension slot.
  "mementory-format/src/extension.rs name": () => members("Record"),
  // The members of a record that are lost when a format reads back what it has written itself.
  "mementory-formats-shared/src/export.rs &name": () => members("Record"),
  "mementory-formats-shared/src/export_files/slot.rs name": () => members("Record"),
  "mementory-formats-shared/src/export_files/strip.rs name": () => {
    const source = rust.get("mementory-formats-shared/src/export_files/strip.rs") ?? "";
    return matches(source, /removed\.(?:push|extend)\([^"]*?"(\w+)"/g).concat(matches(source, /\|_\| "(\w+)"/g));
  },
  "mementory-formats-interchange/src/mif/interop_export.rs &name": () => members("Record"),
  "mementory-formats-interchange/src/pam/extension.rs name": () => members("Record"),
  "mementory-formats-archives/src/mem/extension.rs &field": () => members("Times").map((each) => `times.${each}`),
  "mementory-formats-interchange/src/pam/compose.rs member": () => {
    const source = rust.get("mementory-formats-interchange/src/pam/schema.rs") ?? "";
    const rule = /MEMORY_RULE: Rule = ClosedObject\(&\[([^;]*?)\]\);/.exec(source)?.[1] ?? "";
    // The required members of memories, messages, relations and conversations.
    const required = ["type", "content", "content_hash", "role", "created_at", "platform", "provider"];
    return ["temporal", "provenance", ...required, ...matches(rule, /(?:optional|nullable)\("(\w+)"/g)].filter(
      (name) => name !== "custom_type",
    );
  },
  "mementory-formats-archives/src/mem/write.rs name": () => {
    const source = rust.get("mementory-formats-archives/src/mem/kinds.rs") ?? "";
    return [...new Set(matches(source, /\b(\w+): Int\b/g))];
  },
  ...Object.fromEntries(
    ["mementory-formats-archives/src/alf/compose.rs", "mementory-formats-interchange/src/pam/write.rs"].map((file) => [
      `${file} field`,
      () => {
        const source = rust.get(file) ?? "";
        const rows = matches(source, /for \(field, \w+\) in \[([^\]]*)\]/g).join("");
        return [
          ...matches(source, /\b(?:lose|leave_out|(?:report_)?moved|(?:add_|report_)?narrowed)\([^";]*"(\w+)"/g),
          ...matches(rows, /"(\w+)"/g),
        ];
      },
    ]),
  ),
};

/**
 * More places where the field of a loss is a variable. The variable is the name of a member of a document that is
 * unknown or has a forbidden value, so the window can only show that name.
 */
const MEMBERS_OF_DOCUMENTS = [
  "mementory-formats-interchange/src/mif/write.rs NODES_SECTION.name",
  "mementory-formats-interchange/src/mif/write.rs name",
  "mementory-formats-interchange/src/pam/compose.rs &member",
  "mementory-formats-interchange/src/pam/write.rs name",
  "mementory-formats-interchange/src/zaxy/write.rs name",
];

/** The field argument of every call in the crates that records a loss. */
const fieldArguments = [...rust].flatMap(([path, source]) =>
  matches(source, /([^\s,(]+),\s*LossKind::\w+,/g).map((field) => ({ path, field })),
);
const isName = ({ field }: { field: string }) => field.startsWith('"');

describe("the subject of a loss", () => {
  afterEach(() => setLanguage("en"));

  it("is named in the call, or comes from a place known to this test", () => {
    const variableFields = new Set(
      fieldArguments.filter((each) => !isName(each)).map(({ path, field }) => `${path} ${field}`),
    );
    const known = [...Object.keys(POSSIBLE_FIELD_NAMES), ...MEMBERS_OF_DOCUMENTS];
    expect([...variableFields].sort()).toEqual(known.sort());
    expect(fieldArguments.filter(isName).length).toBeGreaterThan(30);
  });

  it("has a name in the window, whichever writer reports it", () => {
    const named = fieldArguments.filter(isName).map(({ field }) => field.slice(1, -1));
    for (const [place, names] of Object.entries(POSSIBLE_FIELD_NAMES)) {
      expect([place, names().length > 2]).toEqual([place, true]);
      named.push(...names());
    }
    // The id of a record is never counted as a loss. Writers pass the id under these two names.
    const idNames = new Set(["key", "origin_id"]);
    const all = new Set(named.filter((name) => !idNames.has(name)));
    expect([...all]).toEqual(expect.arrayContaining(["bytes", "type", "times.created", "verbatim", "method", "part"]));
    expect([...all].filter((field) => !hasText(`field.${field.replaceAll(".", "_")}`))).toEqual([]);
  });

  it("is shown in the window's language", async () => {
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
  ])("without a name in the window (%s) is still shown as words", async (field, words) => {
    expect(fieldName(field)).toBe(words);
    await setLanguage("ja");
    expect(fieldName(field)).toBe(words);
  });
});
