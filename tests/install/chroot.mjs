// A bare system made by debootstrap, in which programs are run as root or as a person.
import { spawn } from "node:child_process";
import { chmodSync, copyFileSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { Stop, must, quiet } from "../tools/sh.mjs";

/**
 * Systems in which the packages are installed. `suite`, `mirror` and `components` are arguments of debootstrap.
 * `driver` is the package that has the WebDriver of the web view. `keyring` is needed if the host does not have the
 * system's keys.
 */
export const SYSTEMS = {
  "Debian 12": {
    suite: "bookworm",
    mirror: "http://deb.debian.org/debian",
    components: "main",
    driver: "webkit2gtk-driver",
  },
  "Ubuntu 26.04": {
    suite: "resolute",
    mirror: "http://archive.ubuntu.com/ubuntu",
    components: "main,universe",
    driver: "webkitgtk-webdriver",
    keyring: "ubuntu-archive-keyring.gpg",
  },
};
/** Folder with the sockets of X servers. On a new machine, the first X server creates it. */
const X11_SOCKETS = "/tmp/.X11-unix";
/** Mounts that give the system access to the kernel and the X server of this machine. */
const MOUNTS = [
  ["-t", "proc", "proc", "proc"],
  ["--rbind", "/sys", "sys"],
  ["--rbind", "/dev", "dev"],
  ["--bind", X11_SOCKETS, "tmp/.X11-unix"],
];
const PERSON = "person";
const ENVIRONMENT = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", LANG: "C.UTF-8", DEBIAN_FRONTEND: "noninteractive" };

export class Chroot {
  #mounted = [];

  constructor(root, driver) {
    Object.assign(this, { root, driver });
  }

  /** Creates the system in `root`, unless it exists. `keyrings` is a folder with keyrings of other distributions. */
  static async make({ suite, mirror, components, driver, keyring }, root, keyrings) {
    const system = new Chroot(root, driver);
    if (!existsSync(join(root, "etc", "debian_version"))) {
      const keys = keyring ? [`--keyring=${join(keyrings, keyring)}`] : [];
      // If debootstrap is older than the suite, it has no script for the suite. All suites of Ubuntu use the script
      // "gutsy".
      const script = existsSync(`/usr/share/debootstrap/scripts/${suite}`) ? [] : ["gutsy"];
      const scripts = script.map((name) => `/usr/share/debootstrap/scripts/${name}`);
      await must("debootstrap", [
        "--variant=minbase",
        `--components=${components}`,
        ...keys,
        suite,
        root,
        mirror,
        ...scripts,
      ]);
    }
    system.#mount();
    // Packages must not start services, because none can run in a chroot.
    writeFileSync(join(root, "usr", "sbin", "policy-rc.d"), "#!/bin/sh\nexit 101\n", { mode: 0o755 });
    writeFileSync(join(root, "etc", "apt", "sources.list"), `deb ${mirror} ${suite} ${components.replace(",", " ")}\n`);
    if (system.run("id", [PERSON]).code !== 0) system.must("useradd", ["--create-home", PERSON]);
    system.must("apt-get", ["update", "-q"]);
    return system;
  }

  #mount() {
    if (!existsSync(X11_SOCKETS)) {
      mkdirSync(X11_SOCKETS);
      // Everybody may add a socket, as in /tmp itself. The mode that `mkdir` gets is reduced by the umask.
      chmodSync(X11_SOCKETS, 0o1777);
    }
    for (const [place, ...args] of MOUNTS.map((mount) => [mount.at(-1), ...mount.slice(0, -1)])) {
      const target = join(this.root, place);
      mkdirSync(target, { recursive: true });
      if (quiet("mountpoint", ["-q", target]).code === 0) continue;
      const { code, stderr } = quiet("mount", [...args, target]);
      if (code !== 0) throw new Stop(`mount ${target}: ${stderr}`);
      if (args[0] === "--rbind") quiet("mount", ["--make-rslave", target]);
      this.#mounted.push(target);
    }
  }

  /** Unmounts everything. The system stays for the next run. */
  unmountAll() {
    for (const target of this.#mounted.reverse()) quiet("umount", ["--recursive", "--lazy", target]);
  }

  /** Runs a program as root and returns {code, stdout, stderr}. */
  run(program, args, env = {}) {
    return quiet("chroot", [this.root, program, ...args], { env: { ...ENVIRONMENT, HOME: "/root", ...env } });
  }

  /** Like `run`, but throws if the program fails. Returns the standard output. */
  must(program, args, env) {
    const { code, stdout, stderr } = this.run(program, args, env);
    if (code !== 0) throw new Stop(`${program} ${args.join(" ")} ended with ${code}:\n${stdout.slice(-3000)}${stderr}`);
    return stdout;
  }

  #asPerson(program, args) {
    return [`--userspec=${PERSON}:${PERSON}`, this.root, program, ...args];
  }

  /** Runs a program as the person and returns {code, stdout, stderr}. */
  runAsPerson(program, args, env = {}) {
    return quiet("chroot", this.#asPerson(program, args), {
      env: { ...ENVIRONMENT, HOME: `/home/${PERSON}`, ...env },
    });
  }

  /** Starts a program as the person, without waiting for it. */
  start(program, args, env = {}, stdio = "ignore") {
    return spawn("chroot", this.#asPerson(program, args), {
      env: { ...ENVIRONMENT, HOME: `/home/${PERSON}`, ...env },
      stdio,
    });
  }

  /** Copies a file to the person's home. Returns its path inside the system. */
  copyToHome(file, name = basename(file)) {
    const place = join("/home", PERSON, name);
    copyFileSync(file, join(this.root, place));
    this.must("chown", [`${PERSON}:${PERSON}`, place]);
    return place;
  }
}
