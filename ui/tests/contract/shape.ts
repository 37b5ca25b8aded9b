import { readFileSync } from "node:fs";
import ts from "typescript";

// The types of the IPC answers, read from the bindings that are generated from Rust.
const path = `${import.meta.dirname}/../../src/lib/ipc/bindings.ts`;
const source = ts.createSourceFile(path, readFileSync(path, "utf8"), ts.ScriptTarget.Latest, true);

const types = new Map<string, ts.TypeNode>();
/** The types of the parameters and of the answer of every command. */
export const commands = new Map<string, { parameters: ts.TypeNode[]; answer: ts.TypeNode }>();

source.forEachChild((node) => {
  if (ts.isTypeAliasDeclaration(node)) types.set(node.name.text, node.type);
  if (!ts.isVariableStatement(node)) return;
  const [declaration] = node.declarationList.declarations;
  if (!declaration?.initializer || !ts.isObjectLiteralExpression(declaration.initializer)) return;
  for (const command of declaration.initializer.properties) {
    if (!ts.isPropertyAssignment(command) || !ts.isArrowFunction(command.initializer)) continue;
    const { body, parameters } = command.initializer;
    const answer = ts.isCallExpression(body) ? body.typeArguments?.[0] : undefined;
    if (!answer) continue;
    commands.set(command.name.getText(), { parameters: parameters.flatMap(({ type }) => type ?? []), answer });
  }
});

const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The differences of `value` from `type`: missing members, members that the type does not have, wrong types of values.
 */
export function mismatches(value: unknown, type: ts.TypeNode, at = ""): string[] {
  const mismatch = (expected = type.getText()) => [`${at || "answer"}: not ${expected}: ${JSON.stringify(value)}`];
  if (ts.isParenthesizedTypeNode(type)) return mismatches(value, type.type, at);
  if (ts.isUnionTypeNode(type)) {
    const all = type.types.map((each) => mismatches(value, each, at));
    return all.some((found) => found.length === 0) ? [] : closest(all);
  }
  if (ts.isArrayTypeNode(type))
    return Array.isArray(value)
      ? value.flatMap((each, index) => mismatches(each, type.elementType, `${at}[${index}]`))
      : mismatch();
  if (ts.isTupleTypeNode(type))
    return Array.isArray(value) && value.length === type.elements.length
      ? type.elements.flatMap((each, index) => mismatches(value[index], each, `${at}[${index}]`))
      : mismatch();
  if (ts.isMappedTypeNode(type)) {
    const member = type.type;
    return isPlainObject(value) && member
      ? Object.entries(value).flatMap(([key, each]) => mismatches(each, member, `${at}.${key}`))
      : mismatch();
  }
  const members = membersOf(type);
  if (members) return isPlainObject(value) ? memberMismatches(value, members, at) : mismatch("an object");
  if (ts.isLiteralTypeNode(type)) {
    const { literal } = type;
    if (literal.kind === ts.SyntaxKind.NullKeyword) return value === null ? [] : mismatch();
    return ts.isStringLiteral(literal) && value === literal.text ? [] : mismatch();
  }
  if (ts.isTypeReferenceNode(type)) {
    const name = type.typeName.getText();
    if (name === "Channel") return typeof value === "function" ? [] : mismatch();
    if (name === "ArrayBuffer") return value instanceof ArrayBuffer ? [] : mismatch();
    const alias = types.get(name);
    if (!alias) throw new Error(`unknown type ${name}`);
    return mismatches(value, alias, at);
  }
  const kind = { number: "number", string: "string", boolean: "boolean" }[type.getText()];
  if (!kind) throw new Error(`unknown kind of type ${type.getText()}`);
  return typeof value === kind ? [] : mismatch();
}

/** Returns the members of an object type or of an intersection of object types, and null for other types. */
function membersOf(type: ts.TypeNode): ts.PropertySignature[] | null {
  if (ts.isTypeLiteralNode(type)) return type.members.filter(ts.isPropertySignature);
  if (ts.isParenthesizedTypeNode(type)) return membersOf(type.type);
  if (ts.isTypeReferenceNode(type)) {
    const alias = types.get(type.typeName.getText());
    return alias ? membersOf(alias) : null;
  }
  if (!ts.isIntersectionTypeNode(type)) return null;
  const all = type.types.map(membersOf);
  return all.includes(null) ? null : all.flatMap((each) => each ?? []);
}

function memberMismatches(value: Record<string, unknown>, members: ts.PropertySignature[], at: string): string[] {
  const names = new Set(members.map((member) => member.name.getText()));
  const extra = Object.keys(value).filter((key) => !names.has(key));
  return [
    ...extra.map((key) => `${at}.${key}: not in the bindings`),
    ...members.flatMap((member) => {
      const name = member.name.getText();
      if (!(name in value)) return member.questionToken ? [] : [`${at}.${name}: missing`];
      return member.type ? mismatches(value[name], member.type, `${at}.${name}`) : [];
    }),
  ];
}

/** Returns the shortest list of mismatches, which is that of the union member that fits best. */
const closest = (all: string[][]): string[] => all.toSorted((a, b) => a.length - b.length)[0] ?? [];
