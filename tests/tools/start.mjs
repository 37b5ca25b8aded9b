// `npm start`: sets up what is missing, builds, opens the window. Without a display, does the main job with the command
// line on the sample exports instead and says where the results are.
import { existsSync, mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ROOT, built } from "./places.mjs";
import { buildPrograms, buildUi, forBuilding } from "./setup.mjs";
import { Stop, main, quiet, show } from "./sh.mjs";

const SAMPLES = join(ROOT, "fixtures", "samples");

await main(async () => {
  await forBuilding();
  await buildUi();
  await buildPrograms();
  if (process.env.DISPLAY || process.env.WAYLAND_DISPLAY || process.platform !== "linux")
    return show(built("mementory-app"), []);
  console.log("\nThere is no display, so here is the main job on the command line, with the sample exports.\n");
  return withoutWindow();
});

function withoutWindow() {
  const results = mkdtempSync(join(tmpdir(), "mementory-start-"));
  const vault = join(results, "Sample.mementory");
  const secret = join(results, "passphrase.txt");
  writeFileSync(secret, "correct horse battery staple\n", { mode: 0o600 });

  /** One command, as a person would type it; its answer as an object. */
  const mementory = (...args) => {
    const printed = args.map((arg) => (arg.includes(" ") ? `"${arg}"` : arg)).join(" ");
    const { code, stdout, stderr } = quiet(built("mementory"), [
      "--vault",
      vault,
      "--passphrase-file",
      secret,
      "--json",
      ...args,
    ]);
    if (code !== 0) throw new Stop(`mementory ${printed}\nended with ${code}: ${stdout || stderr}`);
    console.log(`$ mementory ${printed}`);
    return JSON.parse(stdout);
  };
  const say = (text) => console.log(`  ${text}\n`);

  const created = mementory("create", vault);
  say(`vault ${created.vault_id}`);
  if (!existsSync(SAMPLES)) throw new Stop(`The samples are not there: ${SAMPLES}`);
  for (const name of readdirSync(SAMPLES)
    .filter((entry) => entry !== "README.md")
    .sort()) {
    const report = mementory("import", join(SAMPLES, name));
    const sum = ["added", "updated", "unchanged", "blocked", "skipped", "failed"]
      .map((part) => `${report[part]} ${part}`)
      .join(" + ");
    say(`${report.format ?? "several formats"}: ${report.found} found = ${sum}`);
  }
  const found = mementory("search", "coffee", "--limit", "5");
  say(`${found.total} found in ${found.took_ms} ms`);
  const values = Object.entries(mementory("scan").by_class).map(([name, n]) => `${n} ${name}`);
  say(`sensitive: ${values.join(", ")}`);
  const page = mementory("list", "--kind", "memory", "--limit", "5");
  say(`${page.total} memories; the newest: ${page.items.map((item) => item.text).join(" · ")}`);
  for (const format of ["mem", "alf"]) {
    const out = join(results, `Sample.${format}`);
    const exported = mementory("export", "--format", format, out);
    say(`${exported.records} records, ${exported.bytes} bytes, ${exported.losses.length} losses listed`);
    const checked = mementory("validate", out);
    say(`valid: ${checked.format} ${checked.version}, ${checked.records} records`);
  }
  console.log(`The vault and both exports are in ${results}`);
  return 0;
}
