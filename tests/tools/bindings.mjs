// `npm run bindings`: writes bindings.ts and formats.ts in ui/src/lib/ipc from the Rust commands and formats, and
// README's table of formats.
import { join } from "node:path";
import { ROOT, WORKSPACE, built } from "./places.mjs";
import { buildUi, installForBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await installForBuilding();
  await buildUi();
  // The whole workspace's features, as in every other build, so that nothing is built a second time.
  await must("cargo", ["build", "--locked", "--workspace", "--example", "export-bindings"], { cwd: WORKSPACE });
  await must(built(join("examples", "export-bindings")), [], { cwd: WORKSPACE });
  await must("node", [join(ROOT, "tests", "tools", "formats_table.mjs")], { cwd: ROOT });
});
