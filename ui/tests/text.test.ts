import { describe, expect, it } from "vitest";
import { count, fill, hasText, joinWithAnd, codeAsWords, t, word } from "$lib/text";
import { bytes, daysLeft, fileName, folderName, joinPath, shortPath } from "$lib/text/format";

describe("messages", () => {
  it("choose the plural form by n", () => {
    expect(t("list.memories", { n: 0 })).toBe("0 memories");
    expect(t("list.memories", { n: 1 })).toBe("1 memory");
    expect(t("list.memories", { n: 2859 })).toBe("2,859 memories");
  });

  it("leave unknown values visible instead of dropping them", () => {
    expect(fill("{name} and {other}", { name: "a" })).toBe("a and {other}");
  });

  it("name codes of the backend, and make unknown ones readable", () => {
    expect(word("outcome", "blocked")).toBe("Held back");
    expect(word("outcome", "something_new")).toBe("Something new");
    expect(hasText("nowhere")).toBe(false);
    expect(codeAsWords("left_out")).toBe("Left out");
    expect(joinWithAnd(["a", "b", "c"])).toBe("a, b and c");
    expect(count(43650)).toBe("43,650");
  });
});

describe("formats", () => {
  it("write sizes in powers of 1000", () => {
    expect([bytes(0), bytes(999), bytes(4000), bytes(2_100_000), bytes(1_800_000_000), bytes(null)]).toEqual([
      "0 bytes",
      "999 bytes",
      "4 KB",
      "2.1 MB",
      "1.8 GB",
      "",
    ]);
  });

  it("split paths of every system", () => {
    expect(fileName("C:\\Users\\Ines\\a.zip")).toBe("a.zip");
    expect(fileName("/home/ines/notes.mem/")).toBe("notes.mem");
    expect(folderName("/home/ines/a.zip")).toBe("/home/ines");
    expect(joinPath("C:\\Users\\Ines", "V.mementory")).toBe("C:\\Users\\Ines\\V.mementory");
    expect(joinPath("/home/ines/", "V.mementory")).toBe("/home/ines/V.mementory");
    expect(shortPath("/home/ines/Documents/Ines.mementory")).toBe("Documents / Ines.mementory");
  });

  it("round the days left up, and never show fewer than zero", () => {
    const now = new Date("2026-11-21T09:00:00Z");
    expect(daysLeft("2026-12-21T08:00:00Z", now)).toBe(30);
    expect(daysLeft("2026-11-01T08:00:00Z", now)).toBe(0);
  });
});
