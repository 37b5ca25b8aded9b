// JSON as it stands in a file: every value with its place, in order, numbers as they are written. `JSON.parse` would
// round large numbers and forget the order of some members.

/** `[pointer, value]` of every text, number, word, empty object and empty list in a JSON text, in their order. */
export function leaves(text) {
  const found = [];
  const end = value(text, blank(text, 0), "", found);
  if (blank(text, end) !== text.length) throw new SyntaxError(`something behind the value, at ${end}`);
  return found;
}

/** The first difference of two JSON texts as `pointer: was, is`; null when they say the same in the same order. */
export function difference(before, after) {
  const [old, now] = [leaves(before), leaves(after)];
  for (let i = 0; i < Math.max(old.length, now.length); i += 1) {
    const [was, is] = [old[i], now[i]];
    if (was?.[0] !== is?.[0] || was?.[1] !== is?.[1]) return `${told(was)} became ${told(is)}`;
  }
  return null;
}

const told = (leaf) => (leaf ? `${leaf[0] || "/"} = ${leaf[1].slice(0, 80)}` : "nothing");

function value(text, start, pointer, found) {
  const open = text[start];
  if (open !== "{" && open !== "[") {
    const [end, shown] = plain(text, start);
    found.push([pointer, shown]);
    return end;
  }
  let at = blank(text, start + 1);
  if (text[at] === (open === "{" ? "}" : "]")) {
    found.push([pointer, open === "{" ? "{}" : "[]"]);
    return at + 1;
  }
  for (let index = 0; ; index += 1) {
    let step = String(index);
    if (open === "{") {
      const [end, name] = plain(text, at);
      step = JSON.parse(name).replaceAll("~", "~0").replaceAll("/", "~1");
      at = blank(text, blank(text, end) + 1);
    }
    at = blank(text, value(text, at, `${pointer}/${step}`, found));
    if (text[at] !== ",") return at + 1;
    at = blank(text, at + 1);
  }
}

/** End and spelling of a text, number or word. Texts in one spelling: which characters are escaped says nothing. */
function plain(text, start) {
  const pattern = /"(?:[^"\\]|\\.)*"|[^\s,\]}:"]+/y;
  pattern.lastIndex = start;
  const [token] = pattern.exec(text) ?? [];
  if (token === undefined) throw new SyntaxError(`no value at ${start}`);
  return [start + token.length, token.startsWith('"') ? JSON.stringify(JSON.parse(token)) : token];
}

function blank(text, start) {
  let at = start;
  while (/\s/.test(text[at] ?? "")) at += 1;
  return at;
}
