// `node tests/tools/formats_table.mjs`: writes README's table of formats from the list that is generated from Rust.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT } from "./places.mjs";

const README_FILE = join(ROOT, "README.md");
const FORMATS_FILE = join(ROOT, "ui/src/lib/ipc/formats.ts");
const [BEGIN_MARKER, END_MARKER] = ["<!-- formats -->\n", "<!-- /formats -->"];
const COLUMNS = ["read", "write", "validate"];

/** The formats that `formats.ts` lists. Its text has one JSON object for each format, on a line of its own. */
export const formatsIn = (source) => [...source.matchAll(/^ {2}(\{.*\}),$/gm)].map(([, json]) => JSON.parse(json));

/** The table, with a line for each format. */
export function formatsMarkdown(formats) {
  const row = (format) => [format.name, `\`${format.id}\``, ...COLUMNS.map((column) => (format[column] ? "yes" : "–"))];
  const rows = [["format", "id", ...COLUMNS], COLUMNS.concat("", "").map(() => "---"), ...formats.map(row)];
  return rows.map((cells, i) => (i === 1 ? `|${cells.join("|")}|\n` : `| ${cells.join(" | ")} |\n`)).join("");
}

/** `readme` with the current table between the two markers, or undefined if a marker is missing. */
function withTable(readme, formats) {
  const [from, to] = [readme.indexOf(BEGIN_MARKER), readme.indexOf(END_MARKER)];
  if (from < 0 || to < from) return undefined;
  return readme.slice(0, from + BEGIN_MARKER.length) + formatsMarkdown(formats) + readme.slice(to);
}

/** Problems: differences between the table in this README and a list of formats. */
export function tableProblems(readme, formats) {
  const current = withTable(readme, formats);
  if (current === undefined) return [`README.md: no table between ${BEGIN_MARKER.trim()} and ${END_MARKER}`];
  return current === readme ? [] : ["README.md: the table of formats is stale: node tests/tools/formats_table.mjs"];
}

/** Problems if README's table differs from the generated list. */
export const formatsTable = () =>
  tableProblems(readFileSync(README_FILE, "utf8"), formatsIn(readFileSync(FORMATS_FILE, "utf8")));

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const readme = withTable(readFileSync(README_FILE, "utf8"), formatsIn(readFileSync(FORMATS_FILE, "utf8")));
  if (readme === undefined) throw new Error("README.md has no markers for the table of formats");
  writeFileSync(README_FILE, readme);
}
