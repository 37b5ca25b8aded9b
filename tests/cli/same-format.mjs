// Checks that a file written by Mementory keeps its elements when it is converted to the same format, and that its
// elements keep their ids when they are imported into another vault and exported again.
import { join } from "node:path";
import { listLeaves } from "./json-text.mjs";
import { FORMATS, isJson } from "./matrix.mjs";
import { FIXTURES, Vault, inFolder } from "./mementory.mjs";

const SOURCES = ["claude-export.zip", "chatgpt-export.zip"].map((name) => join(FIXTURES, "samples", name));
/** Pointers to members that describe the file itself, not its elements. */
const FILE_DATA = {
  mem: /^$/,
  alf: /^\/created_at$/,
  pam: /^\/(export_id|export_date)$/,
  mif: /^\/export\/(id|created_at|checksum)$/,
  zaxy: /^$/,
};
/** Places of elements whose ids come from a vault. An entry of Zaxy is identified by its place in the exported log. */
const ELEMENTS = { mem: /^items\//, alf: /^memory:|^attachments/, pam: /./, mif: /./ };
/** Pointers to the ids of elements. Other ids, such as those of PAM's owner and MIF's export, identify the vault. */
const ID_POINTER = /^(\/(memories|relations|conversations_index|messages|attachments|todos)\/\d+)?\/id$/;

export async function testSameFormat(count) {
  for (const [format, { name, parts }] of Object.entries(FORMATS)) {
    await inFolder((folder) => {
      const vault = new Vault(folder);
      const [firstPath, secondPath] = ["1", "2"].map((number) => join(folder, `${number}-${name}`));
      vault.must("convert", SOURCES[0], firstPath, "--format", format);
      vault.must("convert", firstPath, secondPath, "--format", format);
      const problems = changes(parts(firstPath), parts(secondPath), FILE_DATA[format]);
      problems.forEach((problem) => console.log(`  ${format}: ${problem}`));
      count.add(`${format} → ${format}: the elements are unchanged`, problems.length === 0);
    });
  }
  for (const format of Object.keys(ELEMENTS)) {
    await inFolder((folder) => {
      const [here, there] = ["here", "there"].map((name) => new Vault(folder, name).create());
      SOURCES.forEach((source) => here.must("import", source));
      const { name, parts } = FORMATS[format];
      const [firstPath, secondPath] = ["1", "2"].map((number) => join(folder, `${number}-${name}`));
      here.must("export", "--format", format, firstPath);
      there.must("import", firstPath);
      there.must("export", "--format", format, secondPath);
      const [before, after] = [firstPath, secondPath].map((path) => idsOf(parts(path), ELEMENTS[format]));
      const lostIds = before.filter((id) => !after.includes(id));
      lostIds.forEach((id) => console.log(`  ${format}: ${id} is not there`));
      count.add(`${format}: elements keep their ids in another vault`, before.length > 20 && lostIds.length === 0);
    });
  }
}

/** Returns the places and values that differ, except for pointers that match `fileData`. */
function changes(before, after, fileData) {
  const leaves = (text) => (isJson(text) ? listLeaves(text).filter(([pointer]) => !fileData.test(pointer)) : text);
  const places = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const text = (value) => JSON.stringify(value === undefined ? null : leaves(value));
  return places.filter((place) => text(before[place]) !== text(after[place]));
}

function idsOf(parts, elements) {
  const texts = Object.entries(parts).filter(([place, text]) => elements.test(place) && isJson(text));
  return texts.flatMap(([, text]) =>
    listLeaves(text)
      .filter(([pointer]) => ID_POINTER.test(pointer))
      .map(([, id]) => id),
  );
}
