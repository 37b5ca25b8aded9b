import { fireEvent, render, screen, waitFor } from "@testing-library/svelte";
import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import Appearance from "../src/features/settings/Appearance.svelte";
import de from "../src/lib/text/de.json";
import en from "../src/lib/text/en.json";
import ja from "../src/lib/text/ja.json";
import { useBackend } from "$lib/ipc";
import { mockBackend } from "$lib/ipc/mock";
import { appearance } from "$lib/state/appearance.svelte";
import { UiError } from "$lib/state/ui-error";
import { byName, count, fill, nameInSentence, joinWithAnd, t } from "$lib/text";
import { auditText, layoutText, reasonText, WEAKNESS_TEXTS } from "$lib/text/core";
import { bytes, day, month } from "$lib/text/format";
import { setLanguage, systemLanguage, type Message } from "$lib/text/locale.svelte";
import { failWith } from "$lib/ipc/mock/jobs";
import { literals, sources } from "./literals";

const files: Record<string, Record<string, Message>> = { en, de, ja };
const forms = (message: Message): string[] => (typeof message === "string" ? [message] : Object.values(message));
const names = (form: string) => [...new Set([...form.matchAll(/\{(\w+)\}/g)].map((match) => match[1]))].sort();
const core = (path: string) => readFileSync(`${import.meta.dirname}/../../src-tauri/crates/${path}`, "utf8");

beforeEach(() => useBackend(mockBackend({ open: true })));
afterEach(() => setLanguage("en"));

describe.each(Object.keys(files))("the messages in %s", (language) => {
  const messages = files[language] ?? {};

  it("have the keys of the English ones, in their order", () => {
    expect(Object.keys(messages)).toEqual(Object.keys(en));
  });

  it("have the plural forms that the language has, where English has any", () => {
    const categories = [...new Intl.PluralRules(language).resolvedOptions().pluralCategories].sort();
    for (const [key, message] of Object.entries(files.en ?? {})) {
      const translation = messages[key] ?? "";
      const found = typeof translation === "string" ? null : Object.keys(translation).sort();
      expect([key, found]).toEqual([key, typeof message === "string" ? null : categories]);
    }
  });

  it("have the same values in every form, and a link where English has one", () => {
    for (const [key, message] of Object.entries(files.en ?? {})) {
      // A form may omit the count: `this one` instead of `1 item`.
      const wanted = names(forms(message).join(" ")).filter((name) => name !== "n");
      for (const form of forms(messages[key] ?? "")) {
        expect([key, names(form).filter((name) => name !== "n")]).toEqual([key, wanted]);
        expect([key, /\[\p{L}[^\]]*\]/u.test(form.replaceAll("[REDACTED", ""))]).toEqual([
          key,
          /\[\p{L}[^\]]*\]/u.test(forms(message).join("").replaceAll("[REDACTED", "")),
        ]);
      }
      expect([key, names(forms(messages[key] ?? "").join(" ")).includes("n")]).toEqual([
        key,
        names(forms(message).join(" ")).includes("n"),
      ]);
    }
  });

  it("write Email, and avoid internal terms of the formats", () => {
    const forbidden =
      language === "en" ? /e-mail|\b(?:mapping|shard|payload|narrowed|tombstone-)/i : /\b(?:mapping|shard|payload)/i;
    expect(
      Object.entries(messages).filter(([, message]) => forms(message).some((form) => forbidden.test(form))),
    ).toEqual([]);
  });

  it("have no space before an ellipsis", () => {
    expect(Object.entries(messages).filter(([, message]) => forms(message).some((form) => / …/.test(form)))).toEqual(
      [],
    );
  });

  it("use no word that the rules of texts forbid", () => {
    const forbidden =
      /\b(please|oops|successfully|purged?|parse error|bitte|hoppla|ups|erfolgreich)\b|[!！]|おっと|正常に完了|お願い/i;
    expect(
      Object.entries(messages).filter(([, message]) => forms(message).some((form) => forbidden.test(form))),
    ).toEqual([]);
  });
});

describe("translations", () => {
  it("in Japanese do not call one item 'all' if English does not", () => {
    const all = Object.keys(en).filter((key) => {
      const [english, japanese] = [files.en?.[key] ?? "", files.ja?.[key] ?? ""];
      return (
        typeof english !== "string" &&
        !/\ball\b/i.test(english.one ?? "") &&
        /\{n\}[^。]*すべて/.test(forms(japanese).join("\n"))
      );
    });
    expect(all).toEqual([]);
  });

  /** Keys of messages that are the same in German and English: shared words, names and units. */
  const SAME_AS_ENGLISH_KEYS =
    "demo.name filter.title original.format edit.text paste.label progress.rateBytes export.format export.textName exported.in files.kind.code files.oneKind.code files.oneKind.video format.markdown_folder class.name actor.system actor.mementory type.person type.episodic type.relationship keys.name theme.system calls.who size.normal bytes.kb bytes.mb bytes.gb bytes.tb key.Alt key.Esc field.manifest field.text field.content create.name.label create.folder.name create.passphrase.label unlock.passphrase";
  /** Keys of Japanese messages in Latin letters: names, keys of the keyboard and units. */
  const LATIN_LETTER_KEYS =
    "actor.system actor.mementory format.markdown_folder bytes.kb bytes.mb bytes.gb bytes.tb key.Ctrl key.Shift key.Alt key.Enter key.Delete key.Home key.End key.Esc key.PageUp key.PageDown";

  it("into German differ from English, except where both languages have the same word", () => {
    const sameKeys = Object.keys(en).filter(
      (key) => JSON.stringify(files.de?.[key]) === JSON.stringify(files.en?.[key]),
    );
    const keysWithLetters = sameKeys.filter((key) =>
      /\p{L}/u.test(
        forms(files.en?.[key] ?? "")
          .join("")
          .replaceAll(/\{\w+\}/g, ""),
      ),
    );
    expect(keysWithLetters.sort()).toEqual(SAME_AS_ENGLISH_KEYS.split(" ").sort());
  });

  it("into Japanese are in Japanese script, except for names, keys and units", () => {
    const latin = Object.keys(ja).filter((key) => {
      const words = forms(files.ja?.[key] ?? "")
        .join("")
        .replaceAll(/\{\w+\}/g, "");
      return /\p{L}/u.test(words) && !/[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(words);
    });
    expect(latin.sort()).toEqual(LATIN_LETTER_KEYS.split(" ").sort());
  });
});

describe("keys", () => {
  const all = [...sources().values()].join("\n");
  /**
   * Prefixes and suffixes of keys that the code builds, as in `t(`sort.${sort}`)` or `word("op", …)`. Every key with
   * one of these prefixes and its suffix counts as used.
   */
  const patterns = [
    ...[...all.matchAll(/`([a-zA-Z]+(?:\.[a-zA-Z]+)*\.)\$\{[^`}]*\}([a-zA-Z.]*)`/g)].map(([, from = "", to = ""]) => [
      from,
      to,
    ]),
    ...[...all.matchAll(/word\(\s*"(\w+)"/g)].map(([, prefix]) => [`${prefix}.`, ""]),
    ...["type.", "types."].map((prefix) => [prefix, ""]),
    // Texts of notifications. The backend shows them, and src-tauri/build.rs reads them from the message files.
    ["notify.", ""],
  ] as [string, string][];
  const isOneWordBetween = (key: string, from: string, to: string) =>
    key.startsWith(from) && key.endsWith(to) && /^\w+$/.test(key.slice(from.length, key.length - to.length));

  it("are all used", () => {
    const unused = Object.keys(en).filter(
      (key) => !all.includes(`"${key}"`) && !patterns.some(([from, to]) => isOneWordBetween(key, from, to)),
    );
    expect(unused).toEqual([]);
  });

  it("that are used all exist", () => {
    const requests = [...all.matchAll(/(?<![\w.])t\(\s*"([^"]+)"/g)].map(([, key = ""]) => key);
    expect(requests.length).toBeGreaterThan(300);
    expect(requests.filter((key) => !Object.hasOwn(en, key))).toEqual([]);
    const unusedPatterns = patterns.filter(
      ([from, to]) => !Object.keys(en).some((key) => isOneWordBetween(key, from, to)),
    );
    // "mementory." is not the prefix of messages, but of the preferences that the window stores.
    expect(new Set(unusedPatterns.map(([from]) => from))).toEqual(new Set(["mementory."]));
  });
});

describe("templates", () => {
  /**
   * Matches strings that need no message: the program's name, suffixes of message keys, text for support, and key
   * names.
   */
  const ALLOWED =
    /^(Mementory|vault|, index|Ctrl|Control|Shift|Enter|Escape|Delete|Backspace|CapsLock|Is|Small|Home|End|Tab|Arrow\w+|Page\w+|HTML\w*)\b/;

  it("contain no literal text", () => {
    const found = [...sources()]
      .filter(([name]) => name.endsWith(".svelte"))
      .flatMap(([name, source]) => literals(source).map((text) => `${name}: ${text}`))
      .filter((line) => !ALLOWED.test(line.slice(line.indexOf(": ") + 2)));
    expect(found).toEqual([]);
  });

  it("are really scanned", () => {
    const found = literals(`<script lang="ts">const a = "Two words";</script>
<button title="Close it" class="big one">{a ? "Yes" : t("no.key")} Now</button><Field label={"Your name"} id="x" />`);
    expect(found.sort()).toEqual(["Now", "Two words", "Yes", "Your name", 'title="Close it"']);
  });
});

describe("messages of the core", () => {
  it("have a text for every error code", () => {
    const codes = ["mementory-api/src/error.rs", "mementory-api/src/files.rs", "mementory-api/src/portable.rs"]
      .map(core)
      .flatMap((source) => [...source.matchAll(/ApiError::new\(\s*"(\w+)"/g)].map(([, code]) => code));
    expect(codes.length).toBeGreaterThan(15);
    expect(codes.filter((code) => !Object.hasOwn(en, `error.${code}`))).toEqual([]);
  });

  it.each([
    ["sharded", "conversations in several files"],
    ["batch", "in several parts"],
    ["classic", null],
    ["1.1", "1.1"],
    [null, null],
  ])("name the layout %s in plain words, or not at all", (version, shownText) => {
    expect(layoutText(version)).toBe(shownText);
  });

  it("have a text for every reason of a weak passphrase", () => {
    const source = core("mementory-crypto/src/passphrase.rs");
    const shownText = [...source.matchAll(/"([A-Z][^"]*\.)"/g)].map(([, sentence]) => sentence);
    expect(shownText.sort()).toEqual(Object.keys(WEAKNESS_TEXTS).sort());
  });

  it("are shown in the window's words, with the original under Details", async () => {
    const refusal = new UiError(failWith("io", "/a could not be read: broken pipe.", { place: "/a" }));
    expect(refusal.text).toBe("/a could not be read or written. Nothing was changed.");
    expect(refusal.details).toBe("io: /a could not be read: broken pipe.");
    await setLanguage("de");
    expect(refusal.text).toBe("/a ließ sich nicht lesen oder schreiben. Nichts wurde geändert.");
    expect(new UiError(failWith("footer_missing", "x", { place: "b.mem" })).text).toContain(
      "b.mem ist beschädigt oder entspricht nicht dem Format",
    );
    expect(new UiError(new Error("disk")).text).toContain("Unerwartetes");
    expect(reasonText("malformed: no id")).toEqual({ text: "Beschädigt", original: "no id" });
    expect(reasonText("redacted elsewhere").text).toBe("Enthält Wörter, die du geschwärzt hast");
    expect(auditText("import", "added 3 updated 1").text).toBe("3 neue Einträge, 1 geändert");
    expect(auditText("erase", "memory").text).toBe("Erinnerung");
    expect(auditText("x", "something else")).toEqual({ text: "", original: "something else" });
  });
});

describe("a language", () => {
  it("has its own plurals, numbers, dates, lists, sizes and order", async () => {
    await setLanguage("de");
    expect([t("list.memories", { n: 1 }), t("list.memories", { n: 2859 })]).toEqual([
      "1 Erinnerung",
      "2.859 Erinnerungen",
    ]);
    expect([count(43650), bytes(2_100_000), bytes(1), month("2026-03-12T12:00:00Z")]).toEqual([
      "43.650",
      "2,1 MB",
      "1 Byte",
      "März 2026",
    ]);
    expect([joinWithAnd(["a", "b", "c"]), nameInSentence("Datei")]).toEqual(["a, b und c", "Datei"]);
    expect(["Zug", "Äpfel", "Birne"].sort(byName)).toEqual(["Äpfel", "Birne", "Zug"]);
    await setLanguage("ja");
    expect([t("list.memories", { n: 1 }), t("list.memories", { n: 2859 })]).toEqual([
      "1 件のメモリ",
      "2,859 件のメモリ",
    ]);
    expect([day("2026-03-12T12:00:00Z"), joinWithAnd(["a", "b"])]).toEqual(["2026年3月12日", "a、b"]);
    await setLanguage("en");
    expect([nameInSentence("File"), bytes(1), bytes(2_100_000)]).toEqual(["file", "1 byte", "2.1 MB"]);
  });

  it("may have more plural forms than two", () => {
    const files = { one: "{n} plik", few: "{n} pliki", many: "{n} plików", other: "{n} pliku" };
    expect(fill(files, { n: 1 })).toBe("1 plik");
    // A missing plural form falls back to `other`.
    expect([fill(files, { n: 3 }), fill({ other: "{n} 件" }, { n: 1 })]).toEqual(["3 pliku", "1 件"]);
  });

  it("follows the system, if it is supported", () => {
    expect(systemLanguage(["fr-FR", "de-AT", "en"])).toBe("de");
    expect(systemLanguage(["ja"])).toBe("ja");
    expect(systemLanguage(["fr"])).toBe("en");
  });

  it("is chosen in the settings, applies at once, and is stored", async () => {
    const mock = mockBackend({ open: true });
    useBackend(mock);
    const setPreference = vi.spyOn(mock, "setPreference");
    render(Appearance);
    expect(screen.getByText("Text size")).toBeTruthy();
    await appearance.setLanguage("de");
    await waitFor(() => expect(screen.getByText("Textgröße")).toBeTruthy());
    expect(document.documentElement.lang).toBe("de");
    expect([setPreference.mock.lastCall, localStorage.getItem("mementory.language")]).toEqual([
      ["language", "de"],
      "de",
    ]);
    await appearance.setLanguage("system");
    await waitFor(() => expect(screen.getByText("Text size")).toBeTruthy());
    expect([setPreference.mock.lastCall, localStorage.getItem("mementory.language")]).toEqual([
      ["language", null],
      null,
    ]);
    await fireEvent.click(screen.getByTestId("settings-language"));
  });
});
