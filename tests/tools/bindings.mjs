// `npm run bindings`: writes bindings.ts and formats.ts in ui/src/lib/ipc from the Rust commands and formats, and
// README's table of formats.
import { join } from "node:path";
import { ROOT, WORKSPACE, built } from "./places.mjs";
import { buildUi, installForBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await installForBuilding();
  await buildUi();
  // Build the whole workspace as every other build does, so that crates have the same features and are not built twice.
  await must("cargo", ["build", "--locked", "--workspace", "--example", "export-bindings"], { cwd: WORKSPACE });
  await must(built(join("examples", "export-bindings")), [], { cwd: WORKSPACE });
  await must("node", [join(ROOT, "tests", "tools", "formats_table.mjs")], { cwd: ROOT });
});
