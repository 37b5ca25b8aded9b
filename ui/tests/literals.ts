import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parse } from "svelte/compiler";

const SOURCE_FOLDER = join(import.meta.dirname, "..", "src");

/** Source files of the window by their path under `src`, without generated bindings and sample data. */
export function sources(): Map<string, string> {
  const found = new Map<string, string>();
  const walk = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      const name = relative(SOURCE_FOLDER, path).replaceAll("\\", "/");
      if (entry.isDirectory()) {
        if (name !== "lib/ipc/mock") walk(path);
      } else if (/\.(ts|svelte)$/.test(name) && name !== "lib/ipc/bindings.ts")
        found.set(name, readFileSync(path, "utf8"));
    }
  };
  walk(SOURCE_FOLDER);
  return found;
}

type Node = { type?: string; [key: string]: unknown };

/** Names of attributes and properties whose values people read or hear. */
const READ_NAME_PATTERN =
  /^(title|placeholder|alt|label|text|hint|lead|note|subtitle|error|heading|aria-(label|description|roledescription|valuetext|placeholder))$/;
const LETTER_PATTERN = /\p{L}/u;
/**
 * Matches strings that look like text: they begin with a capitalised word or contain two words. Ids and codes do not.
 */
const TEXT_PATTERN = /^\p{Lu}\p{Ll}+|\p{L}{2,} \p{L}{2,}/u;

/** Finds literal text in a component. It should be in the message file instead. */
export function literals(source: string): string[] {
  const found: string[] = [];
  const visitTemplate = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visitTemplate);
    if (typeof node !== "object" || node === null) return;
    const { type, data, name, value, expression } = node as Node;
    if (type === "Text") {
      if (LETTER_PATTERN.test(String(data))) found.push(String(data).trim());
    } else if (type === "Attribute") {
      if (!READ_NAME_PATTERN.test(String(name)) || value === true) return;
      for (const part of Array.isArray(value) ? (value as Node[]) : [value as Node]) {
        if (part.type === "Text" && LETTER_PATTERN.test(String(part.data))) found.push(`${name}="${part.data}"`);
        else if (part.type === "ExpressionTag") visitScript(part.expression);
      }
    } else if (type === "ExpressionTag") visitScript(expression);
    else
      for (const [key, child] of Object.entries(node))
        if (!["css", "instance", "module", "comments", "metadata"].includes(key)) visitTemplate(child);
  };
  const visitScript = (node: unknown): void => {
    if (Array.isArray(node)) return node.forEach(visitScript);
    if (typeof node !== "object" || node === null) return;
    const { type, value, callee, ...rest } = node as Node;
    if (type === "ImportDeclaration" || type?.startsWith("TS")) return;
    // Strings in comparisons are names of keys, which are not displayed.
    if (type === "BinaryExpression") return;
    if (type === "Literal" && typeof value === "string" && TEXT_PATTERN.test(value)) found.push(value);
    if (type === "TemplateElement" && TEXT_PATTERN.test((value as { cooked: string }).cooked))
      found.push((value as { cooked: string }).cooked);
    visitScript(callee);
    for (const [key, child] of Object.entries({ ...rest, value }))
      if (!["loc", "typeAnnotation", "leadingComments", "trailingComments"].includes(key)) visitScript(child);
  };
  const tree = parse(source, { modern: true }) as unknown as Node;
  visitTemplate(tree.fragment);
  for (const part of [tree.instance, tree.module]) if (part) visitScript((part as Node).content);
  return found;
}
