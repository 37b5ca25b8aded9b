import { nameOf } from "./kinds";
import type { Row } from "$lib/state/records.svelte";

/** Maximum number of bytes of a text file that are shown. */
export const MAX_SHOWN_BYTES = 128 * 1024;

/** Matches the media types of text, including those that do not start with `text/`. */
const TEXT_TYPES =
  /^(text\/.+|message\/rfc822|application\/(.+\+)?(json|xml|yaml|toml|sql|graphql)|application\/(json5|jsonl|ndjson|x-ndjson|jsonlines|javascript|ecmascript|typescript|csv|x-(sh|shellscript|yaml|toml|httpd-php|tex|subrip|python|ruby|perl|sql)))$/;

const TEXT_EXTENSIONS = new Set(
  (
    "md markdown mdx txt text log rst adoc org csv tsv json jsonl ndjson json5 geojson ipynb yaml yml toml ini cfg conf " +
    "properties env xml svg html htm xhtml css scss less js mjs cjs ts mts cts tsx jsx svelte vue py pyi rs go java kt kts " +
    "scala groovy gradle c h cc cpp cxx hpp cs fs vb rb php pl lua r jl swift m mm dart ex exs erl hs clj lisp el vim sh " +
    "bash zsh fish ps1 bat cmd sql graphql proto tf dockerfile makefile cmake tex bib srt vtt ics vcf eml diff patch"
  ).split(" "),
);

type File = Pick<Row, "title" | "text" | "media_type" | "present" | "file_kind">;

/** Whether a file is probably text, judging by its media type, its kind or its name. The content is checked later. */
export function isProbablyText(file: File): boolean {
  if (file.present === false) return false;
  const type = (file.media_type ?? "").toLowerCase().split(";")[0]?.trim() ?? "";
  if (TEXT_TYPES.test(type)) return !/^text\/rtf$/.test(type);
  if (/^(image|audio|video|font)\//.test(type)) return type === "image/svg+xml";
  if (file.file_kind === "code") return true;
  const name = nameOf(file as Row).toLowerCase();
  return TEXT_EXTENSIONS.has(name.slice(name.lastIndexOf(".") + 1));
}

/** Legacy encodings by language, which are tried before `windows-1252`. */
const LEGACY_ENCODINGS: Record<string, string[]> = { ja: ["shift_jis"] };

/**
 * Decodes the first bytes of a file as text. `hasMore`: whether the file has more bytes. If there is a byte order mark
 * of UTF-16, the text is decoded as UTF-16. Otherwise these encodings are tried in turn: UTF-8, the legacy encodings of
 * the language, and `windows-1252`. Null if the bytes contain a zero byte, which text in these encodings does not have.
 */
export function decode(bytes: Uint8Array, hasMore: boolean, language: string): string | null {
  const decodeAs = (label: string, fatal: boolean) => {
    try {
      // If more bytes follow, the last character may be incomplete, which is not an error.
      return new TextDecoder(label, { fatal }).decode(bytes, { stream: hasMore });
    } catch {
      return null;
    }
  };
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return decodeAs("utf-16le", false);
  if (first === 0xfe && second === 0xff) return decodeAs("utf-16be", false);
  if (bytes.includes(0)) return null;
  for (const label of ["utf-8", ...(LEGACY_ENCODINGS[language] ?? [])]) {
    const text = decodeAs(label, true);
    if (text !== null) return text;
  }
  return decodeAs("windows-1252", false);
}
