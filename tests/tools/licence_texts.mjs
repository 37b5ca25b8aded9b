// The text file with the notices and licences of everything inside a package. Each text is in it once, with the names of
// the components that have it. `node tests/tools/licence_texts.mjs <target>` prints the file for that system, without the
// weights of the sentence encoder.
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { linkedCrates, packages } from "./licences.mjs";
import { ROOT } from "./places.mjs";
import { Stop, main, quiet } from "./sh.mjs";
import { WEIGHTS_PACKAGE } from "./weights.mjs";

const TEXT_NAME = /^(?:licen[cs]e|copying|copyright|notice|unlicen[cs]e)[^/]*$/i;
/** Endings of files that contain program text, whatever their name begins with. */
const CODE_ENDING = /\.(?:rs|m?js|cjs|ts|c|h|pm|py|json|html)$/i;
/** Folders whose content is not compiled into a program. */
const UNUSED_FOLDER = /^(?:\..*|tests?|fuzz|examples|benches|docs?|assets|target|node_modules)$/i;
/**
 * Number of levels of folders below a component's folder that are searched. C code in a crate has its licence in a
 * folder of its own.
 */
const MAX_DEPTH = 3;

/** Components that have no text and need none, by name, each with the reason. */
const WITHOUT_TEXT = {};

/**
 * Licences whose text does not name the copyright holder, or names it only in a separate line. If a component has no
 * text, the text of this licence from another component is used. The pattern recognises the whole text, without white
 * space. If a component offers several licences, the one that is listed first here is preferred.
 */
const COMMON_LICENCES = {
  "Apache-2.0": /^ApacheLicenseVersion2\.0,January2004.*ENDOFTERMSANDCONDITIONS/i,
  MIT: /^(?:The)?(?:MITLicense)?(?:\(MIT\))?Copyright.{0,200}?Permissionisherebygranted,freeofcharge.*OTHERDEALINGSINTHESOFTWARE\.?$/i,
  "MPL-2.0": /^MozillaPublicLicenseVersion2\.0.*ExhibitB/i,
};

/** Notices that the components themselves do not contain. */
const NOTICES = [
  [
    "The word list for suggested passphrases (in the crate diceware_wordlists)",
    "Word list of the Electronic Frontier Foundation, https://www.eff.org/dice, under a Creative Commons Attribution\n" +
      "licence, https://www.eff.org/copyright. It was not changed.",
  ],
];

const INTRODUCTION = `Licences of the software inside the packages of Mementory

Mementory itself:

${readFileSync(join(ROOT, "LICENSE"), "utf8").trim()}

Below, each component has the numbers of its texts. The source of a crate is at https://crates.io/crates/NAME, that of a
package of the pages at https://www.npmjs.com/package/NAME. Where a component came without the text of its licence, the
same licence is taken from another component, and its authors are named.
`;

const withoutSpace = (text) => text.replaceAll(/\s+/g, "");

/**
 * The file for the packages of these systems. `weightsFolder` contains the licence of the weights. Without
 * `weightsFolder`, the weights are left out.
 *
 * @throws {Stop} if a component has no text and is not in `WITHOUT_TEXT`.
 */
export function licenceTexts(systems, weightsFolder) {
  return write([
    ...linkedCrates(systems).map(({ name, version, license, authors, manifest_path: manifest }) => ({
      kind: "Rust crates",
      name: `${name} ${version}`,
      licence: license ?? "",
      authors,
      texts: textsIn(dirname(manifest)),
    })),
    ...packages().map(({ name, version, licence }) => ({
      kind: "Packages of the pages",
      name: `${name} ${version}`,
      licence,
      authors: [],
      texts: textsIn(join(ROOT, "node_modules", name)),
    })),
    ...(weightsFolder === undefined ? [] : [weights(weightsFolder)]),
    standardLibrary(),
    ...NOTICES.map(([name, text]) => ({ kind: "Other parts", name, licence: "", authors: [], texts: [text] })),
  ]);
}

const weights = (folder) => ({
  kind: "Other parts",
  name: `The weights of the sentence encoder: ${WEIGHTS_PACKAGE.name} ${WEIGHTS_PACKAGE.version}`,
  licence: WEIGHTS_PACKAGE.licence,
  authors: ["The Universal Sentence Encoder's authors (Google)"],
  texts: textsIn(folder),
});

/** The contents of the licence files in a component's folder. */
function textsIn(folder) {
  const paths = [];
  const visit = (current, depth) => {
    if (!existsSync(current)) return;
    for (const entry of readdirSync(current, { withFileTypes: true })) {
      const path = join(current, entry.name);
      if (entry.isDirectory()) {
        if (depth < MAX_DEPTH && !UNUSED_FOLDER.test(entry.name)) visit(path, depth + 1);
      } else if (TEXT_NAME.test(entry.name) && !CODE_ENDING.test(entry.name)) paths.push(path);
    }
  };
  visit(folder, 0);
  paths.sort((a, b) => (relative(folder, a) < relative(folder, b) ? -1 : 1));
  return paths.map((path) => readFileSync(path, "utf8").replaceAll("\r\n", "\n").trim()).filter(Boolean);
}

/** Rust's standard library, which is part of every program. Its own list of licences comes with the compiler. */
function standardLibrary() {
  const file = join(quiet("rustc", ["--print", "sysroot"]).stdout.trim(), "share/doc/rust/COPYRIGHT-library.html");
  const texts = existsSync(file) ? [textOfPage(readFileSync(file, "utf8"))] : [];
  const [, version = ""] = /^rustc ([\w.-]+)/.exec(quiet("rustc", ["--version"]).stdout) ?? [];
  return {
    kind: "Other parts",
    name: `Rust's standard library ${version}`.trim(),
    licence: "MIT OR Apache-2.0",
    authors: ["The Rust Project contributors"],
    texts,
  };
}

/** The text of a page of HTML. Long paragraphs that occur again, such as those of licences, are in the result once. */
function textOfPage(page) {
  const entities = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'", "#x2F": "/" };
  const blocks = page
    .replaceAll(/<(script|style)\b.*?<\/\1>/gs, "")
    .replaceAll(/<(?:\/?(?:p|pre|div|h\d|ul|details|summary|table|tr|body|head)|br)\b[^>]*>/g, "\n\n")
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(\w+|#\w+);/g, (whole, name) => entities[name] ?? whole)
    .split(/\n\s*\n/)
    .map((block) => block.trim())
    .filter(Boolean);
  const seenBlocks = new Set();
  const isNew = (block) =>
    block.length < 200 || (!seenBlocks.has(withoutSpace(block)) && seenBlocks.add(withoutSpace(block)));
  return blocks.filter(isNew).join("\n\n");
}

/** Returns the file with these components and their texts. A text that several components have is in the file once. */
export function write(components, withoutText = WITHOUT_TEXT) {
  const all = components.flatMap(({ texts }) => texts);
  const numbers = new Map();
  const writtenTexts = [];
  const numberOf = (text) => {
    const key = withoutSpace(text);
    if (!numbers.has(key)) {
      writtenTexts.push(text);
      numbers.set(key, writtenTexts.length);
    }
    return numbers.get(key);
  };
  const absent = [];
  const lineOf = ({ name, licence, authors, texts }) => {
    const ownTexts = texts.length > 0 ? texts : textsOfSameLicence(licence, authors, all, name);
    const reason = withoutText[name.split(" ")[0]];
    if (ownTexts.length === 0 && reason === undefined) absent.push(`${name} (${licence})`);
    const places = ownTexts.length > 0 ? [...new Set(ownTexts.map(numberOf))].join(", ") : reason;
    return `${name}${licence ? `: ${licence}` : ""} [${places}]`;
  };
  const kinds = [...new Set(components.map(({ kind }) => kind))];
  const lists = kinds.map((kind) => {
    const lines = components.filter((each) => each.kind === kind).map(lineOf);
    return `${kind}\n\n${lines.sort().join("\n")}\n`;
  });
  if (absent.length > 0)
    throw new Stop(
      `These components have no text of their licence: ${absent.join(", ")}. Name them in licence_texts.mjs with a reason.`,
    );
  const texts = writtenTexts.map((text, index) => `${"-".repeat(60)}\n[${index + 1}]\n\n${text}\n`);
  return [INTRODUCTION, ...lists, ...texts].join("\n");
}

/**
 * The licence texts for a component that has none of its own, taken from other components. Empty if one of its licences
 * is not in `COMMON_LICENCES` or has no text in any component.
 */
function textsOfSameLicence(expression, authors, all, name) {
  const choices = expression
    .replaceAll(/[()]/g, "")
    .split(" AND ")
    .map((each) => each.split(/ OR |\s*\/\s*/).map((licence) => licence.trim()));
  const texts = choices.map((offered) => {
    const chosen = Object.keys(COMMON_LICENCES).find((licence) => offered.includes(licence));
    const commonText = chosen && all.find((text) => COMMON_LICENCES[chosen].test(withoutSpace(text)));
    if (!commonText) return undefined;
    if (chosen !== "MIT") return commonText;
    const holders = authors.length > 0 ? authors.join(", ") : `the authors of ${name}`;
    return `Copyright (c) ${holders}\n\n${commonText.slice(commonText.search(/Permission\s+is\s+hereby/i))}`;
  });
  return texts.includes(undefined) ? [] : texts;
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  await main(() => {
    const [system] = process.argv.slice(2);
    if (!system) throw new Stop("Name a system, such as aarch64-apple-darwin.");
    console.log(licenceTexts([system]));
  });
