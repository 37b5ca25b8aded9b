// `npm start`: installs what is missing, builds, opens the window. Without a display it shows the main tasks on the
// command line instead, with the demonstration.
import { built } from "./places.mjs";
import { demonstrate } from "./demonstration.mjs";
import { buildPrograms, buildUi, installForBuilding } from "./setup.mjs";
import { ENV, main, show } from "./sh.mjs";
import { weightsVariable } from "./weights.mjs";

await main(async () => {
  await installForBuilding();
  await buildUi();
  await buildPrograms();
  if (process.env.DISPLAY || process.env.WAYLAND_DISPLAY || process.platform !== "linux")
    return show(built("mementory-app"), [], { env: { ...ENV, ...(await weightsVariable()) } });
  console.log("\nThere is no display, so here are the main tasks on the command line, with the demonstration.\n");
  return demonstrate();
});
