// `npm run bindings`: writes ui/src/lib/ipc/bindings.ts from the Rust commands.
import { WORKSPACE } from "./places.mjs";
import { buildUi, forBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await forBuilding();
  await buildUi();
  await must("cargo", ["run", "--locked", "-p", "keepsake-app", "--bin", "export-bindings"], { cwd: WORKSPACE });
});
