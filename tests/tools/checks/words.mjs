// Words that names, comments and documents must not use any more, because readers from outside the project would have
// to look them up. They are in words.json, each with a reason. `node tests/tools/checks/words.mjs --list` counts them
// by word and file.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { filesOfClone } from "./files.mjs";
import { readOurs } from "./modules.mjs";
import { lineAt, scan } from "./rust_source.mjs";

const BANNED_WORDS = JSON.parse(readFileSync(new URL("words.json", import.meta.url), "utf8"));
const CHECKED_FILE_PATTERN = /\.(?:rs|ts|svelte|mjs|js|py|md)$/;
/** Files that are not checked: data, and the list of words with its examples. */
const UNCHECKED_FILE_PATTERN = /^(?:fixtures|schemas)\/|^tests\/tools\/checks\/(?:examples|words)/;

/** The words of a name in lower case, joined by `_`: `HandClock` and `hand_clock` are both `_hand_clock_`. */
const wordsOfName = (name) =>
  `_${name.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[^A-Za-z0-9]+/g, "_").toLowerCase()}_`;

/**
 * Splits a file into {names, prose}. `names` has the identifiers in code, and in the code spans of a document; `prose`
 * has comments and the text of documents. Both are as long as the source, with spaces in place of all other text.
 * Strings in code are in neither.
 */
function namesAndProse(file, source) {
  const blank = (text) => text.replaceAll(/[^\n]/g, " ");
  const pick = (matches) => {
    let [text, at] = ["", 0];
    for (const match of matches) {
      text += blank(source.slice(at, match.index)) + match[0];
      at = match.index + match[0].length;
    }
    return text + blank(source.slice(at));
  };
  if (file.endsWith(".md")) {
    const spans = [...source.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)];
    return { names: pick(spans), prose: spans.reduce((text, { 0: span }) => text.replace(span, blank(span)), source) };
  }
  if (file.endsWith(".rs")) {
    const { code, comments } = scan(source);
    return { names: code, prose: pick(comments.map(({ start, text }) => ({ index: start, 0: text }))) };
  }
  const TOKEN = file.endsWith(".py")
    ? /"""[\s\S]*?"""|#[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'/g
    : /\/\*[\s\S]*?\*\/|<!--[\s\S]*?-->|\/\/[^\n]*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g;
  const tokens = [...source.matchAll(TOKEN)];
  const isProse = ({ 0: text }) => /^(?:\/\*|\/\/|<!--|#|""")/.test(text);
  let names = source;
  for (const { index, 0: text } of tokens)
    names = names.slice(0, index) + blank(text) + names.slice(index + text.length);
  return { names, prose: pick(tokens.filter(isProse)) };
}

/** Whether `text`, a name or a word in a source file, contains the banned word of this entry. */
function contains({ word, exact }, text) {
  return exact ? text === word : wordsOfName(text).includes(wordsOfName(word));
}

/** Banned words in one file: {word, line, text}. */
export function bannedIn(file, source, words = BANNED_WORDS) {
  const letters = `${file}\n${source}`.toLowerCase().replaceAll("_", "");
  const entries = words.filter(
    ({ word, files, except }) =>
      letters.includes(word.toLowerCase().replaceAll("_", "")) &&
      (!files || new RegExp(files).test(file)) &&
      !Object.keys(except ?? {}).some((place) => file.startsWith(place)),
  );
  if (entries.length === 0) return [];
  const { names, prose } = namesAndProse(file, source);
  const bannedPlaces = [];
  const search = (text, kind) => {
    for (const match of text.matchAll(/[A-Za-z_][\w]*/g)) {
      for (const entry of entries)
        if ((kind === "names" || entry.in !== "names") && contains(entry, match[0]))
          bannedPlaces.push({ word: entry.word, line: lineAt(source, match.index), text: match[0] });
    }
  };
  search(names, "names");
  search(prose, "prose");
  const title = file
    .split("/")
    .at(-1)
    .replace(/\.\w+$/, "");
  for (const entry of entries)
    if (contains(entry, title)) bannedPlaces.push({ word: entry.word, line: 0, text: title });
  return bannedPlaces;
}

function bannedInClone() {
  return filesOfClone()
    .filter((file) => CHECKED_FILE_PATTERN.test(file) && !UNCHECKED_FILE_PATTERN.test(file))
    .flatMap((file) => bannedIn(file, readOurs(file)).map((each) => ({ file, ...each })));
}

/** Banned words in the clone. */
export function bannedWords() {
  return bannedInClone().map(({ file, word, line, text }) => {
    const { use, reason } = BANNED_WORDS.find((entry) => entry.word === word);
    const where = line === 0 ? `${file}: the file's name` : `${file}:${line}: ${text}`;
    return `${where}: not "${word}" (${reason}), but: ${use}`;
  });
}

function printCounts() {
  const bannedPlaces = bannedInClone();
  for (const { word, use } of BANNED_WORDS) {
    const files = new Map();
    for (const { file } of bannedPlaces.filter((each) => each.word === word))
      files.set(file, (files.get(file) ?? 0) + 1);
    const total = [...files.values()].reduce((sum, n) => sum + n, 0);
    if (total === 0) continue;
    console.log(`${word}: ${total} in ${files.size} files; use: ${use}`);
    for (const [file, n] of [...files].sort((a, b) => b[1] - a[1])) console.log(`  ${String(n).padStart(4)} ${file}`);
  }
  console.log(`${bannedPlaces.length} in all`);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes("--list")) printCounts();
  else bannedWords().forEach((problem) => console.log(problem));
}
