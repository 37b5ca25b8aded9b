// `npm run build`: the pages and both programs as they are released.
import { WORKSPACE } from "./places.mjs";
import { buildUi, forBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await forBuilding();
  await buildUi();
  await must("cargo", ["build", "--locked", "--release", "-p", "mementory-app", "-p", "mementory-cli"], {
    cwd: WORKSPACE,
  });
});
