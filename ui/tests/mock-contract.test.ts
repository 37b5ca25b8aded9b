// The mock answers every request in the shape that the bindings declare. `contract/requests.json` does not depend on
// the mock, so that the same list can run against the real session.
import { MOCK_PASSPHRASE } from "$lib/ipc/mock";
import { ANY } from "$lib/state/filter";
import { describe, expect, it } from "vitest";
import requests from "./contract/requests.json";
import { commands, mismatches } from "./contract/shape";
import { start } from "./start-mock";

/** Commands whose answers are not checked, because they return nothing or only the choice of the person. */
const WITHOUT_SHAPE = [
  ...[
    "forgetRecent",
    "lock",
    "setAutoLock",
    "recordInput",
    "cancelJob",
    "ignoreValues",
    "recordCopiedText",
    "removeExport",
  ],
  ...["chooseFiles", "chooseFolder", "chooseVault", "chooseSave", "saveText", "openLink", "showInFolder", "print"],
  ...["copyText", "clipboardText", "setPreference", "setRememberVaults", "setLockWhenAway", "setHideFromCapture"],
  ...["deleteDemonstration", "firstReadsSeen"],
];

const filter = ANY;
const memories = { ...ANY, kind: "memory" };
/** The values of those placeholders in `contract/requests.json` that do not depend on the sample data. */
const COMMON: Record<string, unknown> = {
  "@job": "job-1",
  "@progress": () => undefined,
  "@any": filter,
  "@review": { source: null, sensitive: false, about: null, special: null, skip: [], id: null, counts_only: false },
  "@search": { query: "house", filter: memories, limit: 20, offset: 0, typing: true },
  "@import": {
    paths: ["/home/ines/chatgpt-export.zip"],
    text: null,
    format: null,
    limit_bytes: null,
    include_blocked: false,
    accept_invalid_signature: false,
    salvage: false,
    merge: null,
  },
  "@grant": {
    ...{ name: "Claude Code", sources: ["chatgpt"], kinds: [], types: [], tags: [], since: null, until: null },
    ...{ conversations: false, uncovered: false, rights: ["read"], records_per_call: null, records_per_day: 100 },
    expires: null,
  },
  "@redact": { id: "m-5", spans: [{ start: 0, end: 5, class: "name" }], everywhere: false },
  "@erase": { ids: ["m-6"], reason: null, with_copies: true, copies: null },
  "@export": { format: "mem", out: "/home/ines/all.mem", filter, overwrite: false, sign: true, cover: true },
  "@print": {
    ...{ language: "en", title: "Memories", lead: ["All"] },
    list: { filter: memories, query: "", sort: "oldest", empty: "Nothing here" },
    conversation: { id: "c-bath", messages: [{ id: "msg-a1", heading: "You", details: ["2 June"] }] },
    tables: [{ head: ["Place", "Result"], rows: [["Search index", "Erased"]] }],
  },
  "@evidence": { since: null, until: null, sign: true, parts: null },
};

describe("the contract of the mock", () => {
  it("has a request for every command that answers with data", () => {
    const requested = new Set(requests.map(({ command }) => command));
    const missing = [...commands.keys()].filter((name) => !requested.has(name) && !WITHOUT_SHAPE.includes(name));
    expect(missing).toEqual([]);
  });

  it("is kept by every request and answer", async () => {
    const mock = await start({ agents: true });
    const [attachment] = (
      await mock.list({ filter: { ...ANY, kind: "attachment" }, sort: null, limit: 1, cursor: null })
    ).items;
    const [finding] = (await mock.sensitiveQueue({ state: "open", classes: [], offset: 0, limit: 1 })).items;
    const values: Record<string, unknown> = {
      ...COMMON,
      "@attachment": attachment?.id,
      "@value": finding?.value,
      "@passphrase": MOCK_PASSPHRASE,
    };
    const fillPlaceholders = (arg: unknown): unknown => {
      if (typeof arg === "string") return arg in values ? values[arg] : arg;
      if (Array.isArray(arg)) return arg.map(fillPlaceholders);
      if (typeof arg !== "object" || arg === null) return arg;
      return Object.fromEntries(Object.entries(arg).map(([key, each]) => [key, fillPlaceholders(each)]));
    };

    const allProblems: string[] = [];
    for (const { command, args } of requests) {
      const declared = commands.get(command);
      if (!declared) throw new Error(`no command ${command}`);
      const resolvedArgs = args.map(fillPlaceholders);
      const call = mock[command as keyof typeof mock] as (...args: unknown[]) => Promise<unknown>;
      const problems = [
        ...declared.parameters.flatMap((type, index) => mismatches(resolvedArgs[index], type, `argument ${index + 1}`)),
        ...mismatches(await call(...resolvedArgs), declared.answer),
      ];
      allProblems.push(...problems.map((problem) => `${command}: ${problem}`));
    }
    expect(allProblems).toEqual([]);
  });

  it("names what differs from a type", () => {
    const ids = commands.get("trash")?.answer;
    if (!ids) throw new Error("no command trash");
    expect(mismatches({ ids: ["m-1"] }, ids)).toEqual([]);
    expect(mismatches({ ids: [1], more: true }, ids)).toEqual([".more: not in the bindings", ".ids[0]: not string: 1"]);
    expect(mismatches({}, ids)).toEqual([".ids: missing"]);
  });
});
