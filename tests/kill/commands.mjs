// Commands for the tests in which a system call fails during a command. These tests also run the operations of
// `vaults.mjs`.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Vault } from "../cli/mementory.mjs";

/** Path of the configuration, in the home folder, of each client that the commands connect or disconnect. */
const CLIENT_FILES = { cursor: join(".cursor", "mcp.json"), gemini_cli: join(".gemini", "settings.json") };

/** Path of a file or folder next to the vault, which a command writes. */
const besideVault = (vault, name) => join(vault.folder, name);

/** Whether the vault at `path` opens and passes its check. */
function isUsable(copy, path) {
  const vaultAtPath = new Vault(copy.folder, "opened");
  vaultAtPath.env.MEMENTORY_VAULT = path;
  return vaultAtPath.run("check").answer?.ok === true;
}

const activeGrantNames = (copy) =>
  copy
    .must("grants")
    .grants.filter(({ state }) => state === "active")
    .map(({ name }) => name);

/** Whether the answer warns that the client's configuration still has our server. */
const leavesConfiguration = (answer) =>
  answer?.warnings?.some(({ code }) => code === "configuration_not_changed") ?? false;

/**
 * Makes a function for `extraState`. The function returns the grants in force, and whether the client's configuration
 * has our server. If the answer warns that the configuration could not be changed, that second value is inverted, so
 * that the state equals the state after a success.
 */
const connectionState = (client) => (copy, answer) => {
  const isConnected = readFileSync(join(copy.env.HOME, CLIENT_FILES[client]), "utf8").includes("mementory_r_");
  return [activeGrantNames(copy), isConnected !== leavesConfiguration(answer)];
};

/** Makes a function for `prepare`, which creates a home folder that has the client's configuration. */
const homeWith = (vault, client, text) => (copy) => {
  const home = besideVault(vault, "home");
  Object.assign(copy.env, { HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
  rmSync(home, { recursive: true, force: true });
  mkdirSync(dirname(join(home, CLIENT_FILES[client])), { recursive: true });
  writeFileSync(join(home, CLIENT_FILES[client]), text);
};

/**
 * Functions that return a command. The members of a command, besides `name` and `args`, are optional:
 * - `extraState`: returns the state that the lists of records do not show, from a copy of the vault and the answer
 * - `writes`: the file or folder that the command makes outside the vault
 * - `isComplete`: returns whether that file or folder is complete
 * - `isUnfinished`: returns whether the answer says that the command has to run again to finish
 * - `code`: true if the answer has a new recovery code
 * - `prepare`: is called with each copy of the vault before the command runs
 */
export const MORE_COMMANDS = [
  (vault) => ({ name: "add", args: ["add", "--text-file", vault.write("added.txt", "Keeps bees on the roof.")] }),
  (vault) => ({ name: "tag", args: ["edit", vault.list("--kind", "memory")[0].id, "--tag", "ochre"] }),
  (vault) => ({
    name: "about",
    args: ["edit", vault.list("--kind", "memory")[0].id, "--about", "health", "--tag", "umber", "--title", "Weight"],
  }),
  (vault) => ({ name: "delete", args: ["delete", vault.list("--kind", "memory")[1].id] }),
  (vault) => ({ name: "restore", args: ["restore", vault.list("--trash")[0].id] }),
  (vault) => ({
    name: "review",
    args: ["review", "--answer", `${vault.list("--kind", "memory")[0].id}=outdated`],
    extraState: (copy) => copy.must("review", "--next").answers,
  }),
  () => ({ name: "grant", args: ["grants", "add", "Reader", "--rights", "read"], extraState: activeGrantNames }),
  () => ({
    name: "key",
    args: ["keys", "trust", "1".repeat(64), "--name", "Ada"],
    extraState: (copy) => copy.must("keys", "list").trusted.map(({ name }) => name),
  }),
  (vault) => ({
    name: "connect",
    args: ["connect", "cursor"],
    extraState: connectionState("cursor"),
    prepare: homeWith(vault, "cursor", "{}\n"),
  }),
  (vault) => {
    // Connect in the prepared vault itself, so that the vaults of all other commands have this grant too.
    homeWith(vault, "gemini_cli", "{}\n")(vault);
    vault.must("connect", "gemini_cli");
    const text = readFileSync(join(vault.env.HOME, CLIENT_FILES.gemini_cli), "utf8");
    return {
      name: "disconnect",
      args: ["disconnect", "gemini_cli"],
      isUnfinished: leavesConfiguration,
      extraState: connectionState("gemini_cli"),
      prepare: homeWith(vault, "gemini_cli", text),
    };
  },
  (vault) => ({
    name: "export",
    args: ["export", "--format", "alf", besideVault(vault, "out.alf")],
    writes: besideVault(vault, "out.alf"),
    isComplete: (copy, path) => copy.run("validate", path).code === 0,
  }),
  (vault) => ({
    name: "export-companions",
    args: ["export", "--format", "pam", besideVault(vault, "store.json")],
    writes: besideVault(vault, "store.json"),
    isComplete: (copy, path) => copy.run("validate", path).code === 0,
  }),
  (vault) => ({
    name: "evidence",
    args: ["evidence", besideVault(vault, "pack.zip")],
    writes: besideVault(vault, "pack.zip"),
    isComplete: (_, path) => existsSync(path),
  }),
  (vault) => ({
    name: "report",
    args: ["report", besideVault(vault, "report.html")],
    writes: besideVault(vault, "report.html"),
    isComplete: (_, path) => readFileSync(path, "utf8").trimEnd().endsWith("</html>"),
  }),
  (vault) => ({
    name: "backup",
    args: ["backup", besideVault(vault, "copy")],
    writes: besideVault(vault, "copy"),
    isComplete: isUsable,
  }),
  (vault) => {
    const backup = besideVault(vault, "kept");
    vault.must("backup", backup);
    return {
      name: "restore-backup",
      args: ["restore-backup", backup, besideVault(vault, "restored")],
      writes: besideVault(vault, "restored"),
      isComplete: isUsable,
    };
  },
  (vault) => ({
    name: "create",
    args: ["create", besideVault(vault, "fresh"), "--kdf-floor"],
    writes: besideVault(vault, "fresh"),
    isComplete: isUsable,
  }),
  () => ({ name: "recovery-code", args: ["recovery-code"], code: true }),
];
