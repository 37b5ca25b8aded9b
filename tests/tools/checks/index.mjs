// The checks that are our own, by the name under which `npm test` and `npm run lint` report them.
import { checkDeveloperTools, checkPermissions, checkPolicy } from "./boundary.mjs";
import { bundleConfiguration } from "./bundle.mjs";
import { crateDependencyProblems } from "./crates.mjs";
import { desktopNames, desktopTypes } from "./desktop.mjs";
import { checkExamples } from "./examples.mjs";
import { machinePaths, placeholders, fileSizes } from "./files.mjs";
import { flatpakPermissions } from "./flatpak.mjs";
import { formatsNamedInPages, formatsNamedInRust } from "./format_names.mjs";
import { formatsTable } from "../formats_table.mjs";
import { licences } from "./licences.mjs";
import { moduleCycles } from "./modules.mjs";
import { networkClients } from "./network.mjs";
import { newFormats } from "./new_format.mjs";
import { promisesOfSecurity } from "./promises.mjs";
import { shape } from "./shape.mjs";
import { physicalSidesInStyles } from "./styles.mjs";
import { bannedWords } from "./words.mjs";

export const CHECKS = {
  "crate direction": crateDependencyProblems,
  "file sizes": fileSizes,
  "list of licences": licences,
  "README's table of formats": formatsTable,
  "logical sides in styles": physicalSidesInStyles,
  "file types of the desktop files": desktopTypes,
  "versions, icons, pictures and folders in the desktop files": desktopNames,
  "permissions of the Flatpak": flatpakPermissions,
  "configuration of the packages for macOS and Windows": bundleConfiguration,
  "network clients only in `push`": networkClients,
  placeholders,
  "paths of a developer's machine": machinePaths,
  "window permissions": checkPermissions,
  "content security policy": checkPolicy,
  "developer tools of the window": checkDeveloperTools,
  "module cycles": moduleCycles,
  "formats named in Rust outside of the format crates": formatsNamedInRust,
  "formats named in the pages": formatsNamedInPages,
  "what `npm run new-format` makes": newFormats,
  "sizes of types, files and crates": shape,
  "words that are not used any more": bannedWords,
  "tests that SECURITY.md names": promisesOfSecurity,
  "checks find what is wrong in examples": checkExamples,
};

/** Runs checks and prints their problems. A check that throws has failed; the others still run. */
export function runChecks(count, checks = CHECKS) {
  for (const [name, check] of Object.entries(checks)) {
    const problems = problemsOf(check);
    problems.forEach((problem) => console.log(`  ${problem}`));
    count.add(problems.length === 0 ? name : `${name} (${problems.length})`, problems.length === 0);
  }
}

function problemsOf(check) {
  try {
    return check();
  } catch (error) {
    return [error.stack];
  }
}
