// Installs what is missing, and only that. Every step prints what it does first.
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ROOT, TOOLS, WORKSPACE } from "./places.mjs";
import { Stop, has, must, quiet } from "./sh.mjs";

const BUILD_PACKAGES = [
  "build-essential",
  "pkg-config",
  "perl",
  "curl",
  "libwebkit2gtk-4.1-dev",
  "librsvg2-dev",
  "libayatana-appindicator3-dev",
  "libssl-dev",
];
/** `rpm` contains rpmbuild; dpkg-shlibdeps is in `dpkg-dev`. */
const PACKAGING_PACKAGES = ["rpm", "dpkg-dev"];
/** Programs that check the built packages, and that create the systems in which the packages are installed. */
const INSTALL_TEST_PACKAGES = ["lintian", "rpmlint", "rpm", "debootstrap"];
/** Programs that check the files which describe our program to a desktop. `libglib2.0-bin` contains gio. */
const DESKTOP_FILE_PACKAGES = [
  "desktop-file-utils",
  "appstream",
  "libxml2-utils",
  "shared-mime-info",
  "libglib2.0-bin",
];
const WINDOW_TEST_PACKAGES = [
  "webkit2gtk-driver",
  "xvfb",
  "openbox",
  "xdotool",
  "dbus-x11",
  "at-spi2-core",
  "gir1.2-atspi-2.0",
  "iproute2",
  "strace",
  "python3-gi",
  "gir1.2-gtk-3.0",
  "fonts-inter",
  "fonts-noto-mono",
];
const SCREEN_TEST_PACKAGES = ["chromium", "chromium-driver", "fonts-noto-cjk"];
/** Needed for the weights of the sentence encoder, and for reference programs in tests. */
const PYTHON_PACKAGES = ["python3", "python3-venv"];
const MIN_RUST_VERSION = [1, 95];
const MIN_NODE_VERSION = 20;

const printStep = (text) => console.log(`· ${text}`);

/** Installs everything that building needs. */
export async function installForBuilding() {
  checkNodeVersion();
  await installSystemPackages([...BUILD_PACKAGES, ...PYTHON_PACKAGES]);
  await installRust();
  await installNpmPackages();
}

/** Installs everything that building packages needs. */
export async function installForPackaging() {
  await installForBuilding();
  await installSystemPackages(PACKAGING_PACKAGES);
}

/** Installs everything that the tests of the packages need, which also use the installed program in its window. */
export async function installForInstallTests() {
  await installSystemPackages([...INSTALL_TEST_PACKAGES, ...DESKTOP_FILE_PACKAGES, ...WINDOW_TEST_PACKAGES]);
}

/** Installs everything that building and testing need. */
export async function installForTesting() {
  checkNodeVersion();
  await installSystemPackages([
    ...BUILD_PACKAGES,
    ...DESKTOP_FILE_PACKAGES,
    ...WINDOW_TEST_PACKAGES,
    ...PYTHON_PACKAGES,
  ]);
  // Ubuntu has Chromium only as a snap. There, the tests of the screens are skipped, and the run says so.
  await installSystemPackages(SCREEN_TEST_PACKAGES.filter((name) => quiet("apt-cache", ["show", name]).code === 0));
  await installRust();
  await installNpmPackages();
}

/** Builds the window's pages into `ui/dist`, from where the shell embeds them. */
export async function buildUi() {
  printStep("building the pages");
  await must("npm", ["run", "--silent", "ui:build"]);
}

/**
 * Builds the window and the command line. They are built with the whole workspace, so that the tests can use the same
 * builds of the dependencies, but without the features that the tests add: this is what ships.
 */
export async function buildPrograms() {
  printStep("building Mementory (the first time takes several minutes)");
  await must("cargo", ["build", "--locked", "--workspace", "--bins"], { cwd: WORKSPACE });
}

/** Installs a cargo tool outside the clone, unless there is one. */
export async function cargoTool(name, version) {
  if (has(name)) return;
  printStep(`installing ${name} into ${TOOLS}`);
  mkdirSync(TOOLS, { recursive: true });
  await must("cargo", ["install", "--locked", "--root", TOOLS, "--version", version, name], { cwd: WORKSPACE });
}

/** Path of a Python in a virtual environment outside the clone, with these packages (pinned, `name==version`). */
export async function python(packages) {
  const folder = join(TOOLS, "python");
  const program = join(folder, "bin", "python");
  if (!existsSync(program)) {
    printStep(`making a Python environment in ${folder}`);
    await must("python3", ["-m", "venv", folder]);
  }
  const installed = quiet(program, ["-m", "pip", "freeze", "--all"]).stdout.toLowerCase().split("\n");
  const missing = packages.filter((wanted) => !installed.includes(wanted.toLowerCase()));
  if (missing.length > 0) {
    printStep(`installing ${missing.join(", ")} into ${folder}`);
    await must(program, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...missing]);
  }
  return program;
}

/**
 * Unpacks a Python package (pinned, as `name==version`) without what it depends on, also for a Python older than it
 * asks for. Returns the folder from which its modules can be imported.
 */
export async function pythonFiles(program, wanted) {
  const folder = join(TOOLS, "python-files", wanted);
  if (!existsSync(folder)) {
    printStep(`unpacking ${wanted} into ${folder}`);
    const options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--ignore-requires-python", "--no-compile"];
    await must(program, ["-m", "pip", "install", ...options, "--target", folder, wanted]);
  }
  return folder;
}

/**
 * Installs npm packages (pinned, as `name@version`) outside the clone, without running their scripts. Returns a
 * function that imports a module of these packages. Its member `resolve` returns the path of a module.
 *
 * Each list of packages has a folder of its own, because npm removes installed packages that are not in its list.
 */
export async function nodePackages(packages) {
  const folder = join(TOOLS, "node", packages.join("_").replaceAll("/", "-"));
  const isInstalled = (wanted) => {
    const at = wanted.lastIndexOf("@");
    const manifest = join(folder, "node_modules", wanted.slice(0, at), "package.json");
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === wanted.slice(at + 1);
  };
  if (!packages.every(isInstalled)) {
    printStep(`installing ${packages.join(", ")} into ${folder}`);
    mkdirSync(folder, { recursive: true });
    await must("npm", ["install", "--silent", "--no-save", "--ignore-scripts", "--prefix", folder, ...packages]);
  }
  // `createRequire` needs a file in the folder from which it resolves packages. The file need not exist.
  const { resolve } = createRequire(join(folder, "tests.cjs"));
  return Object.assign((module) => import(pathToFileURL(resolve(module))), { resolve });
}

function checkNodeVersion() {
  if (Number(process.versions.node.split(".")[0]) < MIN_NODE_VERSION)
    throw new Stop(`Node ${MIN_NODE_VERSION} or newer is needed; this is ${process.version}.`);
}

async function installSystemPackages(wanted) {
  if (process.platform !== "linux") return;
  if (!has("dpkg-query")) {
    printStep(`not a Debian system: install what these Debian packages contain: ${wanted.join(" ")}`);
    return;
  }
  const state = (name) => quiet("dpkg-query", ["-W", "-f", "${Status}", name]).stdout;
  const missing = wanted.filter((name) => !state(name).endsWith("ok installed"));
  if (missing.length === 0) return;
  const command = ["apt-get", "install", "-y", "--no-install-recommends", ...missing];
  const isRoot = process.getuid() === 0;
  if (!isRoot && quiet("sudo", ["-n", "true"]).code !== 0) {
    throw new Stop(`System packages are missing. Install them, then run this again:\n\n  sudo ${command.join(" ")}\n`);
  }
  printStep(`installing system packages: ${missing.join(" ")}`);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const asRoot = (args) => (isRoot ? must(args[0], args.slice(1), { env }) : must("sudo", ["-n", ...args], { env }));
  await asRoot(["apt-get", "update", "-q"]);
  await asRoot(command);
}

async function installRust() {
  if (!has("cargo")) {
    if (has("rustup")) {
      printStep("installing the stable Rust toolchain");
      await must("rustup", ["toolchain", "install", "stable", "--profile", "minimal", "-c", "rustfmt", "-c", "clippy"]);
    } else {
      printStep("installing Rust with rustup, for this user");
      const installer =
        "curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal -c rustfmt -c clippy";
      await must("sh", ["-c", installer]);
    }
  }
  const version = quiet("rustc", ["--version"]).stdout;
  const [, major, minor] = /(\d+)\.(\d+)/.exec(version) ?? [];
  if (major === undefined) throw new Stop("Rust is installed, but `rustc --version` prints no version.");
  if (
    Number(major) < MIN_RUST_VERSION[0] ||
    (Number(major) === MIN_RUST_VERSION[0] && Number(minor) < MIN_RUST_VERSION[1])
  ) {
    throw new Stop(
      `Rust ${MIN_RUST_VERSION.join(".")} or newer is needed; this is ${version.trim()}. Run: rustup update stable`,
    );
  }
}

async function installNpmPackages() {
  const installed = join(ROOT, "node_modules", ".package-lock.json");
  const lock = join(ROOT, "package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lock).mtimeMs) return;
  printStep("installing the npm packages");
  await must("npm", ["ci", "--no-audit", "--no-fund"]);
}
