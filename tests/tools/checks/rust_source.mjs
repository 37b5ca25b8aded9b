// Reads Rust source as text: finds comments and strings, items that are compiled only for tests, and the ends of
// blocks. Blanked texts keep the length of the source, so that an offset in one of them is the same offset in all of
// them.

const blankText = (text) => text.replaceAll(/[^\n]/g, " ");

/**
 * Separates a source into {code, comments, strings}. In `code`, comments and the contents of strings and characters are
 * replaced by spaces. `comments` and `strings` list what was replaced, as {start, text}.
 */
export function scan(source) {
  const comments = [];
  const strings = [];
  let code = "";
  let at = 0;
  const TOKEN =
    /\/\/[^\n]*|\/\*|\b[bc]?r(#*)"|(?:\b[bc])?"|(?:\bb)?'(?:\\(?:u\{[^}]*\}|x[0-9a-fA-F]{2}|.)|[^\\'\n])'(?!\w)|'[A-Za-z_]\w*/gu;
  for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
    const [token, hashes] = match;
    const start = match.index;
    code += source.slice(at, start);
    at = TOKEN.lastIndex;
    if (token.startsWith("//")) {
      comments.push({ start, text: token });
      code += blankText(token);
    } else if (token === "/*") {
      at = endOfBlockComment(source, at);
      comments.push({ start, text: source.slice(start, at) });
      code += blankText(source.slice(start, at));
    } else if (token.endsWith('"')) {
      const contentStart = at;
      const end = hashes === undefined ? endOfString(source, at) : endOfRawString(source, at, hashes);
      strings.push({ start: contentStart, text: source.slice(contentStart, end) });
      at = Math.min(source.length, end + 1 + (hashes?.length ?? 0));
      code += token + blankText(source.slice(contentStart, end)) + source.slice(end, at);
    } else if (token.endsWith("'")) {
      code += `${token.startsWith("b") ? "b" : ""}'${" ".repeat(token.length - (token.startsWith("b") ? 3 : 2))}'`;
    } else {
      code += token; // a lifetime
    }
    TOKEN.lastIndex = at;
  }
  return { code: code + source.slice(at), comments, strings };
}

function endOfBlockComment(source, at) {
  let depth = 1;
  const EDGE = /\/\*|\*\//g;
  EDGE.lastIndex = at;
  for (let match = EDGE.exec(source); match; match = EDGE.exec(source)) {
    depth += match[0] === "/*" ? 1 : -1;
    if (depth === 0) return EDGE.lastIndex;
  }
  return source.length;
}

function endOfString(source, at) {
  for (; at < source.length; at += 1) {
    if (source[at] === "\\") at += 1;
    else if (source[at] === '"') return at;
  }
  return source.length;
}

function endOfRawString(source, at, hashes) {
  const end = source.indexOf(`"${hashes}`, at);
  return end < 0 ? source.length : end;
}

const CLOSING_BRACKETS = { "{": "}", "(": ")", "[": "]" };

/** Offset just after the bracket that closes the one at `at`, or the end of the code if none closes it. */
export function offsetAfterBracket(code, at) {
  let depth = 0;
  for (; at < code.length; at += 1) {
    if (code[at] in CLOSING_BRACKETS) depth += 1;
    else if ("})]".includes(code[at])) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return code.length;
}

const ITEM_START_PATTERN =
  /^(?:pub|fn|struct|enum|trait|impl|mod|type|const|static|use|unsafe|async|extern|let|macro_rules)\b/;

/** Offset just after the item (or field, or match arm) that begins at `at`, its attributes included. */
function endOfItem(code, at) {
  for (let attribute = /^\s*#!?\[/.exec(code.slice(at)); attribute; attribute = /^\s*#!?\[/.exec(code.slice(at)))
    at = offsetAfterBracket(code, at + attribute[0].length - 1);
  at += /^\s*/.exec(code.slice(at))[0].length;
  const head = code.slice(at, at + 80);
  const isItem = ITEM_START_PATTERN.test(head);
  const untilSemicolon =
    /^(?:pub(?:\([^)]*\))?\s+)?(?:use\b|type\b|static\b|let\b|const\s+(?!fn\b|unsafe\b|async\b))/.test(head);
  for (; at < code.length; at += 1) {
    if (code[at] === ";") return at + 1;
    if (code[at] === "," && !isItem) return at + 1;
    if ("})]".includes(code[at])) return at;
    if (code[at] in CLOSING_BRACKETS) {
      const isBrace = code[at] === "{";
      at = offsetAfterBracket(code, at) - 1;
      if (isBrace && !untilSemicolon) return at + 1;
    }
  }
  return code.length;
}

/** Ranges [start, end) of what is compiled for tests only, in code from [`scan`]. */
export function testRanges(code) {
  const ranges = [];
  const TEST = /#\[cfg\((?:test|all\(\s*test\b[^\]]*)\)\]/g;
  for (let match = TEST.exec(code); match; match = TEST.exec(code)) {
    const end = endOfItem(code, match.index);
    ranges.push([match.index, end]);
    TEST.lastIndex = end;
  }
  return ranges;
}

/** The text with these ranges blanked out. */
export function blankRanges(text, ranges) {
  for (const [start, end] of ranges) text = text.slice(0, start) + blankText(text.slice(start, end)) + text.slice(end);
  return text;
}

/** Line of an offset, counted from 1. */
export function lineAt(text, offset) {
  let line = 1;
  for (let at = text.indexOf("\n"); at >= 0 && at < offset; at = text.indexOf("\n", at + 1)) line += 1;
  return line;
}
