// Our JSON Schemas against the published ones: they accept and reject the same samples and damaged copies of them. Where
// they may differ, and why, is in schema_exceptions.json. The published ones are not ours to copy; they lie beside the clone.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { FIXTURES, SHARED, shared } from "../cli/mementory.mjs";
import { ROOT } from "../tools/places.mjs";
import { python } from "../tools/setup.mjs";
import { quiet } from "../tools/sh.mjs";
import { answer } from "./json-output.mjs";

const place = (name) => fileURLToPath(new URL(name, import.meta.url));
/** The last two judge `format`: times and addresses. */
const PACKAGES = ["jsonschema==4.26.0", "rfc3339-validator==0.1.4", "rfc3986-validator==0.1.1"];
/** Problems that are printed; more of the same say nothing new. */
const SHOWN = 40;

/** Compare them, one line for each pair of schemas. */
export async function schemas(count) {
  if (!shared(count, "reference")) return;
  const program = await python(PACKAGES);
  const folders = [join(ROOT, "schemas"), join(SHARED, "reference"), FIXTURES];
  const { ok, issues, pairs } = answer(
    quiet(program, ["-B", place("schema_check.py"), ...folders, place("schema_exceptions.json")]),
  );
  issues.slice(0, SHOWN).forEach((issue) => console.log(`  ${issue}`));
  for (const [name, { samples, both_accept, both_reject, excepted }] of Object.entries(pairs)) {
    const figures = `${samples} samples; ${both_accept} accepted, ${both_reject} rejected by both, ${excepted} listed`;
    count.add(
      `schema ${name} and the published one (${figures})`,
      !issues.some((issue) => issue.startsWith(`${name}: `)),
    );
  }
  count.add(
    "no published schema and no exception is left over",
    ok || issues.every((issue) => /^\S+: (only|no sample) /.test(issue)),
  );
}
