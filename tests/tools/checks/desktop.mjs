// Checks the files that describe the program to a desktop, with the tools of freedesktop.org. Tools that are not
// installed are left out, and the run says so.
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TYPE_ICONS } from "../../../src-tauri/icons/drawing.mjs";
import { METAINFO, PICTURE_FOLDER, metainfo, pictures } from "../metainfo.mjs";
import { removalText } from "../package_deb.mjs";
import { ROOT, WORKSPACE } from "../places.mjs";
import { has, quiet } from "../sh.mjs";

const FOLDER = join(WORKSPACE, "packaging");
const ENTRY = join(FOLDER, "Mementory.desktop");
const MIME = join(FOLDER, "app.mementory.desktop.mime.xml");
const ENTITLEMENTS = join(FOLDER, "entitlements.plist");
const ZIP = "PK\x03\x04 an archive";
const AGE = "age-encryption.org/v1\n-> scrypt";
/**
 * Files as [name, content, type that a desktop has to recognise]. An encrypted file keeps the extension of the file
 * that it contains.
 */
const SAMPLES = [
  ["a.mem", ZIP, "application/x-portable-memory"],
  ["a.alf", ZIP, "application/x-agent-life-format"],
  ["a.alf-delta", ZIP, "application/x-agent-life-format-delta"],
  ["a.mif.json", "{}", "application/x-memory-interchange+json"],
  ["encrypted.alf", AGE, "application/x-encrypted-memory"],
  ["encrypted.alf-delta", AGE, "application/x-encrypted-memory"],
  ["encrypted.mif.json", AGE, "application/x-encrypted-memory"],
  ["someone.age", AGE, "application/x-age-encryption"],
  ["export.zip", ZIP, "application/zip"],
  ["export.json", "{}", "application/json"],
];

/** Runs each tool that is installed. If it finds faults, its output is printed. */
export function checkDesktopFiles(count) {
  const scratch = mkdtempSync(join(tmpdir(), "mementory-desktop-"));
  mkdirSync(join(scratch, "mime", "packages"), { recursive: true });
  copyFileSync(MIME, join(scratch, "mime", "packages", "app.mementory.desktop.xml"));
  const published = join(scratch, "app.mementory.desktop.metainfo.xml");
  writeFileSync(published, metainfo("https://mementory.example", "https://mementory.example/issues"));
  const tools = {
    "desktop entry": ["desktop-file-validate", [ENTRY]],
    "AppStream metadata": ["appstreamcli", ["validate", "--no-net", METAINFO]],
    "AppStream metadata with screenshots": ["appstreamcli", ["validate", "--no-net", published]],
    "XML of the file types and the metadata": ["xmllint", ["--noout", MIME, METAINFO]],
    "XML of the entitlements for macOS": ["xmllint", ["--nonet", "--noout", ENTITLEMENTS]],
    "file types": ["update-mime-database", [join(scratch, "mime")]],
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
  checkRecognised(scratch, count);
  rmSync(scratch, { recursive: true });
}

/** Asks GLib, which file managers use, for the types of samples. `scratch` contains the database of types. */
function checkRecognised(scratch, count) {
  if (!has("gio") || !has("update-mime-database")) {
    count.leaveOut("types of files by name and content: gio is not installed");
    return;
  }
  const typeOf = ([name, content]) => {
    writeFileSync(join(scratch, name), content);
    const { stdout } = quiet("gio", ["info", "-a", "standard::content-type", join(scratch, name)], {
      env: { ...process.env, XDG_DATA_HOME: scratch },
    });
    return /standard::content-type: (\S+)/.exec(stdout)?.[1];
  };
  const wrongSamples = SAMPLES.filter((sample) => typeOf(sample) !== sample[2]);
  wrongSamples.forEach((sample) => console.log(`  ${sample[0]}: ${typeOf(sample)} instead of ${sample[2]}`));
  count.add("types of files by name and content", wrongSamples.length === 0);
}

/** Returns problems: names in these files that differ from the names in the other files of the repository. */
export function desktopNames() {
  const mime = readFileSync(MIME, "utf8");
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const { identifier } = JSON.parse(readFileSync(join(WORKSPACE, "tauri.conf.json"), "utf8"));
  const [, release] = /<release version="(.*?)"/.exec(readFileSync(METAINFO, "utf8")) ?? [];
  const icons = [...mime.matchAll(/<icon name="(.*?)"/g)].map(([, name]) => name);
  const folders = [...removalText().matchAll(/~\/\.\S+/g)].map(([folder]) => folder);
  return [
    ...(release === version ? [] : [`the AppStream metadata describes version ${release}, not ${version}`]),
    ...icons.filter((name) => !Object.hasOwn(TYPE_ICONS, name)).map((name) => `no icon is drawn for ${name}`),
    ...Object.keys(TYPE_ICONS)
      .filter((name) => !icons.includes(name))
      .map((name) => `no file type has the icon ${name}`),
    ...pictures()
      .filter(({ file }) => !existsSync(join(PICTURE_FOLDER, file)))
      .map(({ file }) => `there is no picture ${file}`),
    ...[`~/.config/${identifier}`, `~/.local/share/${identifier}`]
      .filter((folder) => !folders.includes(folder))
      .map((folder) => `removal.txt does not name ${folder}`),
  ];
}

/** Returns problems: types that are missing from one of the three files. */
export function desktopTypes() {
  const texts = [ENTRY, METAINFO, MIME].map((file) => readFileSync(file, "utf8"));
  const typesIn = [
    /^MimeType=(.*)$/m.exec(texts[0])?.[1].split(";").filter(Boolean) ?? [],
    [...texts[1].matchAll(/<mediatype>(.*?)<\/mediatype>/g)].map(([, type]) => type),
    // A type without an ending only serves to recognise files by their first bytes; the program does not open such
    // files.
    texts[2]
      .split("</mime-type>")
      .filter((each) => each.includes("<glob "))
      .flatMap((each) => /<mime-type type="(.*?)"/.exec(each)?.[1] ?? []),
  ];
  const all = new Set(typesIn.flat());
  const names = ["the desktop entry", "the AppStream metadata", "the file types"];
  return [...all].flatMap((type) =>
    names.filter((_, index) => !typesIn[index].includes(type)).map((name) => `${name} lacks ${type}`),
  );
}
