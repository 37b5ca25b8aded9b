// `npm run bindings`: writes ui/src/lib/ipc/bindings.ts from the Rust commands.
import { WORKSPACE, built } from "./places.mjs";
import { buildUi, forBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await forBuilding();
  await buildUi();
  // The whole workspace's features, as in every other build, so that nothing is built a second time.
  await must("cargo", ["build", "--locked", "--workspace", "--bin", "export-bindings"], { cwd: WORKSPACE });
  await must(built("export-bindings"), [], { cwd: WORKSPACE });
});
