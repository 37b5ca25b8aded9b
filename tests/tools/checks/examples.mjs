// The checks are checked themselves: each has to find what is wrong in invented sources, and nothing in good ones.
import { readFileSync } from "node:fs";
import { cyclesOf, siblingGraph } from "./modules.mjs";
import { moduleTree } from "./rust_modules.mjs";

const data = (name) => JSON.parse(readFileSync(new URL(`examples/${name}.json`, import.meta.url), "utf8"));

/** A problem unless both are the same. */
function same(what, found, expected) {
  const [a, b] = [found, expected].map((each) => JSON.stringify(each));
  return a === b ? [] : [`${what}: ${a} instead of ${b}`];
}

function modules() {
  return data("modules").flatMap(({ about, files, edges, cycles }) => {
    const levels = siblingGraph(moduleTree("lib.rs", (file) => files[file]?.join("\n")));
    const found = levels.flatMap((level) => [...level.edges.keys()]).sort();
    const groups = levels.flatMap(cyclesOf).map((group) => group.join(", "));
    return [
      ...same(`module cycles: ${about}: edges`, found, edges),
      ...same(`module cycles: ${about}: cycles`, groups, cycles),
    ];
  });
}

/** What a check found that it should not have, or did not find. */
export function examples() {
  return [modules].flatMap((check) => check());
}
