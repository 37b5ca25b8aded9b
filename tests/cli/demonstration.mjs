// Tests what `npm start` shows without a display: the main tasks on the command line, with the demonstration.
import { fileURLToPath } from "node:url";
import { runAlone } from "../tools/count.mjs";
import { lossText } from "../tools/demonstration.mjs";
import { quiet } from "../tools/sh.mjs";
import { inFolder } from "./mementory.mjs";

const DEMONSTRATION_SCRIPT = fileURLToPath(new URL("../tools/demonstration.mjs", import.meta.url));
/** Largest number of lines about the losses of both exports. More lines would hardly be read. */
const MAX_LOSS_LINES = 6;

/** Runs the demonstration in another process, whose output the test can read. */
export async function testDemonstration(count) {
  await inFolder((folder) => {
    const script = `import { demonstrate } from ${JSON.stringify(DEMONSTRATION_SCRIPT)}; process.exit(demonstrate());`;
    const env = { ...process.env, TMPDIR: folder, MEMENTORY_DATA_DIR: folder };
    const { code, stdout, stderr } = quiet(process.execPath, ["--input-type=module", "--eval", script], { env });
    if (code !== 0) console.log(`  ${stderr}`);
    count.add("the demonstration on the command line runs to its end", code === 0);
    const finds = [...stdout.matchAll(/^ {2}(\d+) results? in/gm)].map(([, n]) => Number(n));
    count.add(
      `every search of the demonstration finds something (${finds.join(", ")})`,
      finds.length > 0 && finds.every((n) => n > 0),
    );
    const losses = stdout.split("\n").filter((line) => /^ {4}\d+ fields? /.test(line));
    count.add(
      `the demonstration names losses in at most ${MAX_LOSS_LINES} lines (${losses.length})`,
      losses.length > 0 && losses.length <= MAX_LOSS_LINES,
    );
  });
  const unknown = lossText([{ kind: "kind_of_tomorrow", field: "colour", n: 1 }]);
  count.add(
    "a loss of a kind that is new is named too",
    unknown.includes("1 field kind of tomorrow: colour") && unknown.split("\n").length === 2,
  );
}

await runAlone(import.meta.url, testDemonstration);
