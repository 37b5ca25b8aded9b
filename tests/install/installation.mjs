// The life of a package in one bare system: installed, used from the command line and by a double click, upgraded,
// removed, purged.
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { entriesOf, zip } from "../cli/generated.mjs";
import { Display, freePort } from "../e2e/display.mjs";
import { Browser, until } from "../e2e/webdriver.mjs";
import { ROOT, TARGET, TOOLS } from "../tools/places.mjs";
import { ENV, quiet } from "../tools/sh.mjs";

const SAMPLES = join(ROOT, "fixtures", "samples");
const PASSPHRASE = "correct horse battery staple";
const PASSPHRASE_FILE = "/home/person/passphrase.txt";
const UNLOCK_ENV = { MEMENTORY_PASSPHRASE_FILE: PASSPHRASE_FILE };
/** Packages that only the test needs: a session bus, and programs that open files as a desktop does. */
const TEST_PACKAGES = ["dbus", "xdg-utils", "libglib2.0-bin", "shared-mime-info", "desktop-file-utils"];
/** Path of tauri-driver in the system. */
const DRIVER = "/usr/local/bin/tauri-driver";
const BUS = "unix:path=/tmp/mementory-bus";
const SETTINGS = "/home/person/.config/app.mementory.desktop";
const DATA = "/home/person/.local/share/app.mementory.desktop";
/** Places that the text shown after a removal must name. */
const PLACES = ["vaults", "~/.config/app.mementory.desktop", "~/.local/share/app.mementory.desktop"];
/** The version to upgrade from. Its package is the same package with this version number. */
export const OLDER_VERSION = "0.0.1";

/** A package in one system. The results of its checks are added to `count`. */
export class Installation {
  constructor(name, chroot, count) {
    Object.assign(this, { name, chroot, count });
  }

  addStep(what, ok = true) {
    this.count.add(`${this.name}: ${what}`, ok);
  }

  async runAll(deb, older) {
    const { chroot } = this;
    chroot.run("apt-get", ["purge", "-y", "-q", "mementory"]);
    chroot.must("rm", ["-rf", "/home/person/vault.mementory", SETTINGS, "/home/person/.local"]);
    this.install(older, OLDER_VERSION);
    this.programs();
    const vault = this.createVault();
    const version = quiet("dpkg-deb", ["--field", deb, "Version"]).stdout.trim();
    this.install(deb, version);
    this.addStep("the upgrade leaves the vault as it was", this.vaultSum(vault) === this.sum);
    chroot.must("apt-get", ["install", "-y", "-q", "--no-install-recommends", chroot.driver, ...TEST_PACKAGES]);
    await this.window(vault);
    this.sum = this.vaultSum(vault);
    this.removeAndPurge(vault);
  }

  /** Installs a package with the dependencies that it declares, and nothing else. */
  install(deb, version) {
    const { chroot } = this;
    copyFileSync(deb, join(chroot.root, "tmp", "mementory.deb"));
    const { code, stdout, stderr } = chroot.run("apt-get", [
      "install",
      "-y",
      "-q",
      "--no-install-recommends",
      "/tmp/mementory.deb",
    ]);
    if (code !== 0) console.log(stdout.slice(-2000), stderr);
    this.addStep(`version ${version} is installed with its declared dependencies`, code === 0);
    this.addStep(`the installation of version ${version} speaks of no removal`, !stdout.includes(PLACES.at(-1)));
    const installed = chroot.run("dpkg-query", ["-W", "-f=${Version} ${Status}", "mementory"]).stdout;
    this.addStep(
      `the package manager lists version ${version} as installed`,
      installed === `${version} install ok installed`,
    );
  }

  /**
   * Checks that both programs find all their libraries, that the command line runs, and that the package has the files
   * for the desktop and the weights.
   */
  programs() {
    const { chroot } = this;
    for (const program of ["mementory", "mementory-app"]) {
      const { stdout } = chroot.run("ldd", [`/usr/bin/${program}`]);
      this.addStep(`${program} finds its libraries`, stdout !== "" && !stdout.includes("not found"));
    }
    this.addStep("the command line prints its version", chroot.runAsPerson("mementory", ["--version"]).code === 0);
    const files = chroot.must("dpkg", ["-L", "mementory"]).split("\n");
    const parts = ["applications/", "mime/packages/", "metainfo/", "icons/hicolor/", "/mimetypes/", "weights/"];
    for (const part of parts)
      this.addStep(
        `the package has files in ${part}`,
        files.some((file) => file.includes(part)),
      );
    this.files = files.filter((file) => /mementory/i.test(file));
  }

  /** Makes a vault with the command line, and adds it to the window's recent vaults. */
  createVault() {
    const { chroot } = this;
    const vault = "/home/person/vault.mementory";
    writeFileSync(join(chroot.root, PASSPHRASE_FILE), `${PASSPHRASE}\n`);
    chroot.must("chown", ["person:person", PASSPHRASE_FILE]);
    chroot.must("chmod", ["600", PASSPHRASE_FILE]);
    const created = chroot.runAsPerson("mementory", ["--json", "create", vault, "--kdf-floor"], UNLOCK_ENV);
    this.addStep("the command line creates a vault", created.code === 0);
    const path = chroot.copyToHome(join(SAMPLES, "claude-export.zip"));
    const imported = chroot.runAsPerson("mementory", ["--json", "--vault", vault, "import", path], UNLOCK_ENV);
    this.addStep("the command line imports an export", imported.code === 0 && JSON.parse(imported.stdout).added > 0);
    mkdirSync(join(chroot.root, SETTINGS), { recursive: true });
    writeFileSync(join(chroot.root, SETTINGS, "settings.json"), JSON.stringify({ recent: [vault] }));
    chroot.must("chown", ["-R", "person:person", "/home/person/.config"]);
    this.sum = this.vaultSum(vault);
    return vault;
  }

  /** One digest over the content of all files of a vault. */
  vaultSum(vault) {
    return this.chroot.must("sh", ["-c", `find ${vault} -type f -exec sha256sum {} + | sort | sha256sum`]);
  }

  /** Starts the window with a file, passes it another by a double click, and checks that both were imported. */
  async window(vault) {
    const { chroot } = this;
    const first = chroot.copyToHome(join(SAMPLES, "chatgpt-export.zip"));
    const bundle = join(chroot.root, "tmp", "notes.mem");
    writeFileSync(bundle, zip(entriesOf(join(ROOT, "fixtures", "mem", "small", "input.mem"))));
    const second = chroot.copyToHome(bundle);
    copyFileSync(join(TOOLS, "bin", "tauri-driver"), join(chroot.root, DRIVER));
    const display = await Display.start({ ...ENV });
    const children = [];
    const env = {
      DISPLAY: display.name,
      DBUS_SESSION_BUS_ADDRESS: BUS,
      XDG_RUNTIME_DIR: "/tmp",
      // Determines which programs xdg-open asks for the type of a file and for the program that opens it.
      XDG_CURRENT_DESKTOP: "GNOME",
      GDK_BACKEND: "x11",
      NO_AT_BRIDGE: "1",
      TAURI_WEBVIEW_AUTOMATION: "true",
    };
    try {
      chroot.must("rm", ["-f", "/tmp/mementory-bus"]);
      children.push(chroot.start("dbus-daemon", ["--session", "--nofork", `--address=${BUS}`], env));
      await until("a session bus", () => existsSync(join(chroot.root, "tmp", "mementory-bus")));
      const port = await freePort();
      children.push(chroot.start(DRIVER, ["--port", `${port}`, "--native-port", `${await freePort()}`], env));
      const address = `http://127.0.0.1:${port}`;
      await until("the WebDriver server", async () => (await fetch(`${address}/status`)).ok);
      const browser = await Browser.start(address, {
        browserName: "wry",
        "tauri:options": { application: "/usr/bin/mementory-app", args: [first] },
      });
      await this.openFiles(browser, second, env);
      await browser.close();
    } finally {
      children.reverse().forEach((child) => child.kill());
      display.stop();
    }
    const imports = await until("the vault to be free", () => {
      const { code, stdout } = chroot.runAsPerson("mementory", ["--json", "--vault", vault, "imports"], UNLOCK_ENV);
      return code === 0 && JSON.parse(stdout);
    });
    this.addStep("the vault contains the imports of both files", imports.batches.length === 3);
  }

  /** Unlocks the vault and imports two files: the one that the window was started with, and one by a double click. */
  async openFiles(browser, second, env) {
    const { chroot } = this;
    await browser.type("unlock-passphrase", PASSPHRASE);
    await browser.click("unlock-submit");
    await browser.find("import-confirm");
    this.addStep("a file of the command line opens the import after unlocking");
    await browser.click("import-confirm");
    await browser.find("import-report");
    await browser.click("import-done");
    await browser.gone("import-sheet");
    const type = chroot.runAsPerson("xdg-mime", ["query", "filetype", second], env).stdout.trim();
    this.addStep("the desktop knows the type of a .mem file", type === "application/x-portable-memory");
    const standard = chroot.runAsPerson("xdg-mime", ["query", "default", type], env).stdout.trim();
    this.addStep("the desktop opens a .mem file with the app", standard === "Mementory.desktop");
    const opened = chroot.runAsPerson("xdg-open", [second], env);
    this.addStep("a double click opens the file in the open window, and its process ends", opened.code === 0);
    await browser.find("import-confirm");
    await browser.click("import-confirm");
    await browser.find("import-report");
    this.addStep("the file of the double click is imported");
    const windows = await browser.windows();
    this.addStep("the double click opens no second window", windows.length === 1 && this.processes() === 1);
    await browser.click("import-done");
    writeFileSync(join(TARGET, `installed-${this.name.replace(" ", "-")}.png`), await browser.screenshot());
  }

  /** Number of processes of the window in this system. */
  processes() {
    return readdirSync("/proc").filter((pid) => {
      if (!/^\d+$/.test(pid)) return false;
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("/usr/bin/mementory-app\0");
      } catch {
        return false; // the process has just ended
      }
    }).length;
  }

  /** Removes and purges the package. The vault and the settings stay. */
  removeAndPurge(vault) {
    const { chroot } = this;
    const list = `${DATA}/erasures/of-another-vault`;
    chroot.must("mkdir", ["-p", `${DATA}/erasures`]);
    chroot.must("cp", [`${SETTINGS}/settings.json`, list]);
    const says = ({ stdout }) => PLACES.every((place) => stdout.toLowerCase().includes(place));
    const removed = chroot.run("apt-get", ["remove", "-y", "-q", "mementory"]);
    this.addStep("the package is removed", removed.code === 0);
    this.addStep("the removal says what stays and where", says(removed));
    const remainingFiles = this.files.filter(
      (file) => /mementory/i.test(file) && !file.endsWith("/") && chroot.run("test", ["-f", file]).code === 0,
    );
    remainingFiles.forEach((file) => console.log(`  left: ${file}`));
    this.addStep("the removal leaves no file of the package", remainingFiles.length === 0);
    chroot.must("apt-get", ["install", "-y", "-q", "--no-install-recommends", "/tmp/mementory.deb"]);
    const purged = chroot.run("apt-get", ["purge", "-y", "-q", "mementory"]);
    this.addStep(
      "the purge says what stays and where",
      says(purged) && purged.stdout.includes("purging deletes nothing"),
    );
    const isListed = chroot.run("dpkg-query", ["-W", "mementory"]).code === 0;
    this.addStep("the package is purged", purged.code === 0 && !isListed);
    this.addStep("the purge leaves the vault as it was", this.vaultSum(vault) === this.sum);
    this.addStep("the purge leaves the lists of erasures", chroot.run("test", ["-f", list]).code === 0);
    this.addStep("the purge leaves the settings", chroot.run("test", ["-f", `${SETTINGS}/settings.json`]).code === 0);
  }
}
