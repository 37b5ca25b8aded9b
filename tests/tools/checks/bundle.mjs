// Checks the configuration of the packages for macOS and Windows. The packages themselves are built and tested
// elsewhere.
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { ROOT, WORKSPACE } from "../places.mjs";

const SCHEMA = join(ROOT, "node_modules", "@tauri-apps", "cli", "config.schema.json");
/**
 * Matches a granted entitlement. A package must have none, because with some of them a program in the hardened runtime
 * can run foreign code.
 */
const ENTITLEMENT_PATTERN = /<key>(com\.apple\.[\w.-]+)<\/key>\s*<true\/>/g;
/** File extensions that our package must not claim: Windows would open all such files with our program. */
const FOREIGN_ENDINGS = ["json", "zip", "md", "csv", "html"];

const readConfig = () => JSON.parse(readFileSync(join(WORKSPACE, "tauri.conf.json"), "utf8"));

/** Returns problems: violations of the schema of Tauri's bundler, missing files and associations, harmful settings. */
export function bundleConfiguration(config = readConfig()) {
  const { macOS = {}, windows = {}, fileAssociations = [], icon = [], linux } = config.bundle;
  const namedFiles = [macOS.entitlements, linux?.deb?.desktopTemplate, config.bundle.licenseFile, ...icon];
  const entitlements = macOS.entitlements && join(WORKSPACE, macOS.entitlements);
  const granted = entitlements && existsSync(entitlements) ? readFileSync(entitlements, "utf8") : "";
  const endings = fileAssociations.flatMap(({ ext }) => ext);
  return [
    ...schemaProblems(config),
    ...namedFiles
      .filter((path) => path && !existsSync(join(WORKSPACE, path)))
      .map((path) => `tauri.conf.json names ${path}, which is missing`),
    ...(macOS.hardenedRuntime && entitlements ? [] : ["macOS needs the hardened runtime and a file of entitlements"]),
    ...[...granted.matchAll(ENTITLEMENT_PATTERN)].map(([, key]) => `the entitlements grant ${key}`),
    ...(["skip", "offlineInstaller"].includes(windows.webviewInstallMode?.type)
      ? []
      : [
          "the installer for Windows would download the web view: webviewInstallMode is neither skip nor offlineInstaller",
        ]),
    ...["mem", "alf", "alf-delta"]
      .filter((ending) => !endings.includes(ending))
      .map((ending) => `no file association for .${ending}`),
    ...endings.filter((ending) => FOREIGN_ENDINGS.includes(ending)).map((ending) => `.${ending} is not ours`),
  ];
}

/**
 * Violations of the schema of the installed bundler. Ajv, which checks them, is installed as a dependency of ESLint.
 */
function schemaProblems(config) {
  if (!existsSync(SCHEMA)) return ["npm packages are missing: npm ci"];
  const Ajv = createRequire(createRequire(import.meta.url).resolve("eslint"))("ajv");
  // The schema names formats of numbers, such as uint32, that are not part of JSON Schema.
  const ajv = new Ajv({ allErrors: true, unknownFormats: "ignore", logger: false });
  const isValid = ajv.compile(JSON.parse(readFileSync(SCHEMA, "utf8")));
  if (isValid(config)) return [];
  return isValid.errors.map(({ dataPath, message }) => `tauri.conf.json${dataPath} ${message}`);
}
