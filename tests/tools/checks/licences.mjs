// Checks that the list of open source software that the window shows is up to date.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { licenceTexts } from "../licence_texts.mjs";
import { LICENCE_LIST, crates, ownLicence, packages } from "../licences.mjs";
import { WORKSPACE } from "../places.mjs";
import { Stop, quiet } from "../sh.mjs";

const describeEntry = ({ name, version, licence }) => `${name} ${version}, ${licence}`;

/** Problems: software inside the packages without the text of its licence. */
function licencesWithoutText(system) {
  try {
    licenceTexts([system]);
    return [];
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    return [error.message];
  }
}

/**
 * Problems: software that is missing from the list, unused software on the list, a licence text that differs from
 * LICENSE, and software whose licence has no text.
 */
export function licences() {
  const committed = JSON.parse(readFileSync(LICENCE_LIST, "utf8"));
  const remedy = "run `node tests/tools/licences.mjs`";
  const missingFrom = (wanted, listed) => {
    const listedEntries = new Set(listed.map(describeEntry));
    return wanted.map(describeEntry).filter((each) => !listedEntries.has(each));
  };
  // Crates for other systems may not have been downloaded to this machine, so look them up in the lock file.
  const host = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout)?.[1] ?? "";
  const lock = readFileSync(join(WORKSPACE, "Cargo.lock"), "utf8");
  const lockedPackages = new Set(
    [...lock.matchAll(/^name = "(.*)"\nversion = "(.*)"$/gm)].map(([, name, version]) => `${name} ${version}`),
  );
  const usedPackages = packages();
  return [
    ...missingFrom(crates([host]), committed.crates).map((each) => `the list of licences lacks ${each}: ${remedy}`),
    ...missingFrom(usedPackages, committed.packages).map((each) => `the list of licences lacks ${each}: ${remedy}`),
    ...missingFrom(committed.packages, usedPackages).map(
      (each) => `the list of licences has ${each}, which is not used: ${remedy}`,
    ),
    ...committed.crates
      .filter(({ name, version }) => !lockedPackages.has(`${name} ${version}`))
      .map((each) => `the list of licences has ${describeEntry(each)}, which is not used: ${remedy}`),
    ...licencesWithoutText(host),
    ...(committed.own === ownLicence() ? [] : [`the list of licences has another text of LICENSE: ${remedy}`]),
  ];
}
