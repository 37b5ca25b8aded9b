// Compares our JSON Schemas with the published ones: both have to accept and reject the same samples and damaged copies
// of them. Allowed differences are in schema_exceptions.json, with reasons. The published schemas may not be copied
// into this repository; they are expected next to the clone.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FIXTURES, SHARED, hasShared } from "../cli/mementory.mjs";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { parseJsonOutput } from "./json-output.mjs";

const place = (name) => fileURLToPath(new URL(name, import.meta.url));
/** Python packages. With the last two, jsonschema also checks the formats of times and addresses. */
const PYTHON_PACKAGES = ["jsonschema==4.26.0", "rfc3339-validator==0.1.4", "rfc3986-validator==0.1.1"];
/** Largest number of problems that are printed. */
const MAX_PRINTED_PROBLEMS = 40;

/** Compares each of our schemas with the published one, and counts each pair. */
export async function schemas(count) {
  if (!hasShared(count, "reference")) return;
  const program = await python(PYTHON_PACKAGES);
  const folders = [join(ROOT, "schemas"), join(SHARED, "reference"), FIXTURES];
  const { ok, issues, pairs } = parseJsonOutput(
    quiet(program, ["-B", place("schema_check.py"), ...folders, place("schema_exceptions.json")]),
  );
  issues.slice(0, MAX_PRINTED_PROBLEMS).forEach((issue) => console.log(`  ${issue}`));
  for (const [name, { samples, both_accept, both_reject, excepted }] of Object.entries(pairs)) {
    const figures = `${samples} samples; ${both_accept} accepted, ${both_reject} rejected by both, ${excepted} listed`;
    count.add(
      `schema ${name} and the published one (${figures})`,
      !issues.some((issue) => issue.startsWith(`${name}: `)),
    );
  }
  count.add(
    "every published schema and every exception is used",
    ok || issues.every((issue) => /^\S+: (only|no sample) /.test(issue)),
  );
}
