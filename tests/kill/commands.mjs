// The commands during which a call of the system fails, besides the operations of `vaults.mjs`.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Vault } from "../cli/mementory.mjs";

/** The clients that are connected and disconnected, and their configurations in the home folder. */
const CLIENT_FILES = { cursor: join(".cursor", "mcp.json"), gemini_cli: join(".gemini", "settings.json") };

/** Makes the path of a file that a command writes. It is not in the vault. */
const outside = (vault, name) => join(vault.folder, name);

/** Whether a vault opens and passes its check. */
function opens(copy, path) {
  const other = new Vault(copy.folder, "opened");
  other.env.MEMENTORY_VAULT = path;
  return other.run("check").answer?.ok === true;
}

const namesInForce = (copy) =>
  copy
    .must("grants")
    .grants.filter(({ state }) => state === "active")
    .map(({ name }) => name);

/** A function for `also`: the grants in force, and whether the client's configuration has our server. */
const connection = (client) => (copy, answer) => {
  const has = readFileSync(join(copy.env.HOME, CLIENT_FILES[client]), "utf8").includes("mementory_r_");
  const isLeft = answer?.warnings?.some(({ code }) => code === "configuration_not_changed") ?? false;
  return [namesInForce(copy), has !== isLeft];
};

/** A function for `prepare`: puts a home folder with the client's configuration in place. */
const homeWith = (vault, client, text) => (copy) => {
  const home = outside(vault, "home");
  Object.assign(copy.env, { HOME: home, XDG_CONFIG_HOME: join(home, ".config") });
  rmSync(home, { recursive: true, force: true });
  mkdirSync(dirname(join(home, CLIENT_FILES[client])), { recursive: true });
  writeFileSync(join(home, CLIENT_FILES[client]), text);
};

/**
 * Functions that return a command. `also`: what a list of records does not show; it gets the answer too. `writes`: what
 * the command makes outside the vault, and `holds` whether that is whole. `code`: the answer has a new recovery code.
 * `prepare` is called with each copy.
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
    also: (copy) => copy.must("review", "--next").answers,
  }),
  () => ({ name: "grant", args: ["grants", "add", "Reader", "--rights", "read"], also: namesInForce }),
  () => ({
    name: "key",
    args: ["keys", "trust", "1".repeat(64), "--name", "Ada"],
    also: (copy) => copy.must("keys", "list").trusted.map(({ name }) => name),
  }),
  (vault) => ({
    name: "connect",
    args: ["connect", "cursor"],
    also: connection("cursor"),
    prepare: homeWith(vault, "cursor", "{}\n"),
  }),
  (vault) => {
    // All commands have the grant of this connection in their vault.
    homeWith(vault, "gemini_cli", "{}\n")(vault);
    vault.must("connect", "gemini_cli");
    const text = readFileSync(join(vault.env.HOME, CLIENT_FILES.gemini_cli), "utf8");
    return {
      name: "disconnect",
      args: ["disconnect", "gemini_cli"],
      also: connection("gemini_cli"),
      prepare: homeWith(vault, "gemini_cli", text),
    };
  },
  (vault) => ({
    name: "export",
    args: ["export", "--format", "alf", outside(vault, "out.alf")],
    writes: outside(vault, "out.alf"),
    holds: (copy, path) => copy.run("validate", path).code === 0,
  }),
  (vault) => ({
    name: "export-companions",
    args: ["export", "--format", "pam", outside(vault, "store.json")],
    writes: outside(vault, "store.json"),
    holds: (copy, path) => copy.run("validate", path).code === 0,
  }),
  (vault) => ({
    name: "evidence",
    args: ["evidence", outside(vault, "pack.zip")],
    writes: outside(vault, "pack.zip"),
    holds: (_, path) => existsSync(path),
  }),
  (vault) => ({
    name: "report",
    args: ["report", outside(vault, "report.html")],
    writes: outside(vault, "report.html"),
    holds: (_, path) => readFileSync(path, "utf8").trimEnd().endsWith("</html>"),
  }),
  (vault) => ({
    name: "backup",
    args: ["backup", outside(vault, "copy")],
    writes: outside(vault, "copy"),
    holds: opens,
  }),
  (vault) => {
    const backup = outside(vault, "kept");
    vault.must("backup", backup);
    return {
      name: "restore-backup",
      args: ["restore-backup", backup, outside(vault, "restored")],
      writes: outside(vault, "restored"),
      holds: opens,
    };
  },
  (vault) => ({
    name: "create",
    args: ["create", outside(vault, "fresh"), "--kdf-floor"],
    writes: outside(vault, "fresh"),
    holds: opens,
  }),
  () => ({ name: "recovery-code", args: ["recovery-code"], code: true }),
];
