// Every screen as people with other eyes, hands and settings have it: axe, contrast, structure, larger text, forced
// colours, more contrast, less motion. One visit to each screen; the looks change what the window follows and look again.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { contrast, hover } from "./contrast.mjs";
import { CLIPPED } from "./look.mjs";
import { missing, withPages } from "./pages.mjs";
import { forced, moving, structure } from "./structure.mjs";
import { SCREENS, SIZES, settled, walk } from "./walk.mjs";

/** Read when it is needed: this file is loaded before the packages are there. */
const axe = () => readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/** All rules of WCAG 2 A and AA and axe's best practice; none is switched off. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa", "best-practice"];

const VIOLATIONS = `async (runOnly) => {
  const { violations } = await axe.run(document, { runOnly, resultTypes: ["violations"], elementRef: false });
  return violations.flatMap(({ id, help, nodes }) => nodes.map((node) => id + ": " + help + "\\n      " + node.html.replaceAll(/ (?:class|id|data-[\\w-]+)="[^"]*"/g, "").slice(0, 200)));
}`;

/** Two frames, and the end of what passes from one look to the other. */
const frames = (browser) =>
  browser.run(`async () => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
    const ends = document.getAnimations().filter((each) => each.effect.getComputedTiming().endTime !== Infinity);
    await Promise.allSettled(ends.map((each) => each.finished));
  }`);
const theme = async (browser, name) => {
  await browser.run("(name) => void (document.documentElement.dataset.theme = name)", name);
  await frames(browser);
};
const media = (browser, more = {}) =>
  browser.devTools("Emulation.setEmulatedMedia", {
    features: Object.entries({ "prefers-reduced-motion": "reduce", ...more }).map(([name, value]) => ({ name, value })),
  });

/** The looks at one screen in one size. `tell(kind, faults)`. */
async function lookAt(browser, wide, tell) {
  await theme(browser, "light");
  await browser.run(`() => { ${axe()}; return true; }`);
  tell("axe", await browser.run(VIOLATIONS, { type: "tag", values: TAGS }));
  tell("structure", await browser.run(String(structure)));
  tell("less motion", await browser.run(String(moving)));
  const see = async (kind) => {
    const { found, looked } = await browser.run(String(contrast));
    tell(kind, looked > 0 ? found : ["nothing was looked at"]);
  };
  await see("contrast, light");
  await theme(browser, "dark");
  await see("contrast, dark");
  if (!wide) return;

  // Which theme it is makes no difference to the other rules.
  tell("axe", await browser.run(VIOLATIONS, { type: "rule", values: ["color-contrast", "link-in-text-block"] }));
  for (const name of ["dark", "light"]) {
    await media(browser, { "prefers-contrast": "more" });
    await theme(browser, name);
    await see(`contrast when more is asked for, ${name}`);
  }
  await media(browser, { "forced-colors": "active" });
  await frames(browser);
  tell("forced colours", await browser.run(String(forced)));
  await media(browser);
  await browser.run("() => void (document.documentElement.dataset.textSize = 'larger')");
  await settled(browser);
  tell("text size 20", await browser.run(CLIPPED));
  await browser.run("() => void delete document.documentElement.dataset.textSize");
}

/** Look at all of it. `only`: the beginning of the names of screens. */
export async function accessible(count, only = process.env.KEEPSAKE_SCREENS ?? "") {
  const lacking = missing();
  if (lacking.length > 0) return count.leaveOut(`accessibility: ${lacking.join(" and ")} not installed`);
  const chosen = SCREENS.filter(([name]) => name.startsWith(only));
  const kinds = new Map();
  const lost = [];
  const looks = { n: 0 };
  const tell = (place) => (kind, faults) => {
    const all = kinds.get(kind) ?? kinds.set(kind, { looks: 0, faults: new Map() }).get(kind);
    all.looks += 1;
    for (const fault of faults) all.faults.set(fault, (all.faults.get(fault) ?? new Set()).add(place));
  };
  await withPages(async (browser, origin) => {
    await media(browser);
    await walk(browser, origin, {
      language: "en",
      screens: chosen,
      lost: (name, error) => lost.push(`${name}: ${error.message.slice(0, 300)}`),
      visit: async (name, size) => {
        looks.n += 1;
        await lookAt(browser, size === SIZES[0], tell(`${name} at ${size.join("x")}`));
        // Back to where the walk left it, then as if the pointer were on everything, which the page keeps.
        if (size !== SIZES.at(-1)) return;
        await browser.run(String(hover));
        for (const look of ["dark", "light"]) {
          await theme(browser, look);
          const { found } = await browser.run(String(contrast));
          tell(name)(`contrast under the pointer, ${look}`, found);
        }
      },
    });
  });
  for (const [kind, { faults, looks: n }] of kinds) {
    for (const [what, places] of faults) console.log(`  ${kind}: ${what}\n    on ${[...places].join("; ")}`);
    count.add(`accessibility: ${kind} (${n} looks)`, faults.size === 0);
  }
  lost.forEach((line) => console.log(`  not reached: ${line}`));
  count.add(
    `accessibility: all ${chosen.length} screens in ${SIZES.length} sizes`,
    lost.length === 0 && looks.n === chosen.length * SIZES.length,
  );
}

// By itself: `node tests/screens/axe.mjs`.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const count = {
    failed: 0,
    add: (name, good) => {
      count.failed += good ? 0 : 1;
      console.log(`${good ? "ok    " : "FAILED"} ${name}`);
    },
    leaveOut: (name) => console.log(`SKIPPED: ${name}`),
  };
  await accessible(count);
  process.exitCode = count.failed > 0 ? 1 : 0;
}
