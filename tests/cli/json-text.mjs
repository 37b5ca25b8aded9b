// Compares JSON texts exactly: values with their pointers, in order, numbers as written. `JSON.parse` would round large
// numbers and reorder some members.

/** Returns `[pointer, text of the value]` of every scalar, empty object and empty list of a JSON text, in order. */
export function listLeaves(text) {
  const leaves = [];
  const end = readValue(text, skipSpace(text, 0), "", leaves);
  if (skipSpace(text, end) !== text.length) throw new SyntaxError(`unexpected text after the value at ${end}`);
  return leaves;
}

/** Describes the first difference between two JSON texts; null if they have the same values in the same order. */
export function firstDifference(before, after) {
  const [leavesBefore, leavesAfter] = [listLeaves(before), listLeaves(after)];
  for (let i = 0; i < Math.max(leavesBefore.length, leavesAfter.length); i += 1) {
    const [oldLeaf, newLeaf] = [leavesBefore[i], leavesAfter[i]];
    if (oldLeaf?.[0] !== newLeaf?.[0] || oldLeaf?.[1] !== newLeaf?.[1])
      return `${leafText(oldLeaf)} became ${leafText(newLeaf)}`;
  }
  return null;
}

const leafText = (leaf) => (leaf ? `${leaf[0] || "/"} = ${leaf[1].slice(0, 80)}` : "nothing");

/** Adds the leaves of the value at `start` to `found`. Returns the offset of the value's end. */
function readValue(text, start, pointer, found) {
  const openingBracket = text[start];
  if (openingBracket !== "{" && openingBracket !== "[") {
    const [end, shown] = readScalar(text, start);
    found.push([pointer, shown]);
    return end;
  }
  let at = skipSpace(text, start + 1);
  if (text[at] === (openingBracket === "{" ? "}" : "]")) {
    found.push([pointer, openingBracket === "{" ? "{}" : "[]"]);
    return at + 1;
  }
  for (let index = 0; ; index += 1) {
    let pointerPart = String(index);
    if (openingBracket === "{") {
      const [end, name] = readScalar(text, at);
      pointerPart = JSON.parse(name).replaceAll("~", "~0").replaceAll("/", "~1");
      at = skipSpace(text, skipSpace(text, end) + 1);
    }
    at = skipSpace(text, readValue(text, at, `${pointer}/${pointerPart}`, found));
    if (text[at] !== ",") return at + 1;
    at = skipSpace(text, at + 1);
  }
}

/**
 * Returns the end and the text of a scalar. Escapes in strings are normalised, because different escapes may mean the
 * same character.
 */
function readScalar(text, start) {
  const pattern = /"(?:[^"\\]|\\.)*"|[^\s,\]}:"]+/y;
  pattern.lastIndex = start;
  const [token] = pattern.exec(text) ?? [];
  if (token === undefined) throw new SyntaxError(`no value at ${start}`);
  return [start + token.length, token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token];
}

function skipSpace(text, start) {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at += 1;
  return at;
}
