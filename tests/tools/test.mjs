// `npm test`: installs what is missing, then runs all layers, cheapest first; `npm test -- lint rust` runs only those.
// The last line is `N passed, N failed`, and the exit code is 1 if anything failed.
import { LAYERS } from "./layers.mjs";
import { buildPrograms, buildUi, installForTesting } from "./setup.mjs";
import { Stop, main } from "./sh.mjs";

await main(async () => {
  const wanted = process.argv.slice(2);
  const unknown = wanted.filter((name) => !(name in LAYERS));
  if (unknown.length > 0)
    throw new Stop(`There is no layer ${unknown.join(", ")}. There are: ${Object.keys(LAYERS).join(", ")}`);

  await installForTesting();
  // The shell embeds the pages, so it does not compile without them.
  await buildUi();
  if (wanted.length === 0 || wanted.some((name) => ["cli", "kill", "interop", "window"].includes(name)))
    await buildPrograms();

  const total = { passed: 0, failed: 0 };
  for (const [name, run] of Object.entries(LAYERS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    console.log(`\n== ${name}`);
    const started = Date.now();
    const count = await run().catch((error) => {
      console.log(`  FAILED ${error.stack}`);
      return { passed: 0, failed: 1, skipped: 0 };
    });
    total.passed += count.passed;
    total.failed += count.failed;
    const skipped = count.skipped > 0 ? `, ${count.skipped} skipped` : "";
    console.log(
      `== ${name}: ${count.passed} passed, ${count.failed} failed${skipped} (${Math.round((Date.now() - started) / 1000)} s)`,
    );
  }
  console.log(`\n${total.passed} passed, ${total.failed} failed`);
  return total.failed === 0 ? 0 : 1;
});
