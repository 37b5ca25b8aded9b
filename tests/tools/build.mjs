// `npm run build`: builds the pages and both programs with the release profile.
import { WORKSPACE } from "./places.mjs";
import { buildUi, installForBuilding } from "./setup.mjs";
import { main, must } from "./sh.mjs";

await main(async () => {
  await installForBuilding();
  await buildUi();
  await must("cargo", ["build", "--locked", "--release", "-p", "mementory-app", "-p", "mementory-cli"], {
    cwd: WORKSPACE,
  });
});
