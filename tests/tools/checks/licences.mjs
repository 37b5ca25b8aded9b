// The list of the open software in Mementory that the window shows is the one of now.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { crates, KEPT, own, packages } from "../licences.mjs";
import { WORKSPACE } from "../places.mjs";
import { quiet } from "../sh.mjs";

const said = ({ name, version, licence }) => `${name} ${version}, ${licence}`;

/** What the committed list lacks, or has too much. */
export function licences() {
  const kept = JSON.parse(readFileSync(KEPT, "utf8"));
  const anew = "run `node tests/tools/licences.mjs`";
  const lacking = (wanted, listed) => {
    const there = new Set(listed.map(said));
    return wanted.map(said).filter((each) => !there.has(each));
  };
  // Crates of other systems need not be on this machine: of those the lock file has to know.
  const host = /^host: (.*)$/m.exec(quiet("rustc", ["-vV"]).stdout)?.[1] ?? "";
  const lock = readFileSync(join(WORKSPACE, "Cargo.lock"), "utf8");
  const locked = new Set(
    [...lock.matchAll(/^name = "(.*)"\nversion = "(.*)"$/gm)].map(([, name, version]) => `${name} ${version}`),
  );
  const used = packages();
  return [
    ...lacking(crates([host]), kept.crates).map((each) => `the list of licences lacks ${each}: ${anew}`),
    ...lacking(used, kept.packages).map((each) => `the list of licences lacks ${each}: ${anew}`),
    ...lacking(kept.packages, used).map((each) => `the list of licences has ${each}, which is not used: ${anew}`),
    ...kept.crates
      .filter(({ name, version }) => !locked.has(`${name} ${version}`))
      .map((each) => `the list of licences has ${said(each)}, which is not used: ${anew}`),
    ...(kept.own === own() ? [] : [`LICENSE is another: ${anew}`]),
  ];
}
