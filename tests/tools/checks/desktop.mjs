// Checks the files that describe the program to a desktop, with the tools of freedesktop.org. Tools that are not
// installed are left out, and the run says so.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { WORKSPACE } from "../places.mjs";
import { has, quiet } from "../sh.mjs";

const FOLDER = join(WORKSPACE, "packaging");
const ENTRY = join(FOLDER, "Mementory.desktop");
const METAINFO = join(FOLDER, "app.mementory.desktop.metainfo.xml");
const MIME = join(FOLDER, "app.mementory.desktop.mime.xml");

/** Runs each tool that is installed. If it finds faults, its output is printed. */
export function checkDesktopFiles(count) {
  const scratch = mkdtempSync(join(tmpdir(), "mementory-desktop-"));
  mkdirSync(join(scratch, "packages"));
  copyFileSync(MIME, join(scratch, "packages", "app.mementory.desktop.xml"));
  const tools = {
    "desktop entry": ["desktop-file-validate", [ENTRY]],
    "AppStream metadata": ["appstreamcli", ["validate", "--no-net", METAINFO]],
    "XML of the file types and the metadata": ["xmllint", ["--noout", MIME, METAINFO]],
    "file types": ["update-mime-database", [scratch]],
  };
  for (const [name, [program, args]] of Object.entries(tools)) {
    if (!has(program)) {
      count.leaveOut(`${name}: ${program} is not installed`);
      continue;
    }
    const { code, stdout, stderr } = quiet(program, args);
    // `update-mime-database` exits with success even if it reports faults of a file.
    const faults = program === "update-mime-database" ? /error|warning/i.test(stderr) : code !== 0;
    if (faults) console.log(`${stdout}${stderr}`.replaceAll(/^/gm, "  "));
    count.add(name, !faults);
  }
  rmSync(scratch, { recursive: true });
}

/** Problems: a type that one of the three files names and another does not. */
export function desktopTypes() {
  const texts = [ENTRY, METAINFO, MIME].map((file) => readFileSync(file, "utf8"));
  const typesIn = [
    /^MimeType=(.*)$/m.exec(texts[0])?.[1].split(";").filter(Boolean) ?? [],
    [...texts[1].matchAll(/<mediatype>(.*?)<\/mediatype>/g)].map(([, type]) => type),
    [...texts[2].matchAll(/<mime-type type="(.*?)"/g)].map(([, type]) => type),
  ];
  const all = new Set(typesIn.flat());
  const names = ["the desktop entry", "the AppStream metadata", "the file types"];
  return [...all].flatMap((type) =>
    names.filter((_, index) => !typesIn[index].includes(type)).map((name) => `${name} lacks ${type}`),
  );
}
