// Checks that only the command line links a network client, and uses it only for `push`.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { WORKSPACE } from "../places.mjs";
import { quiet } from "../sh.mjs";

/** Matches crates that open connections to other computers, or that secure such connections. */
const NETWORK_CRATES =
  /^(?:ureq|reqwest|hyper|hyper-util|h2|h3|quinn|isahc|curl|curl-sys|surf|attohttpc|minreq|tungstenite|tokio-tungstenite|websocket|rustls|native-tls|tokio-rustls|tokio-native-tls|openssl|schannel|security-framework|hickory-resolver|trust-dns-resolver|lettre|ssh2|russh|tauri-plugin-(?:http|updater|websocket|upload))$/;
/** The only file that may use a network client. */
const PUSH_FILE = join("crates", "mementory-cli", "src", "push.rs");

/** Names of the crates that are linked into a program on this system. */
function linkedCrates(program, { cargo = quiet } = {}) {
  const { code, stdout, stderr } = cargo(
    "cargo",
    ["tree", "--locked", "--offline", "-p", program, "-e", "normal", "--prefix", "none", "--format", "{p}"],
    { cwd: WORKSPACE },
  );
  if (code !== 0) throw new Error(stderr.trim());
  return new Set(stdout.split("\n").map((line) => line.split(" ")[0]));
}

/**
 * Returns a problem for each network client in the window, or in a crate that the window and the command line share.
 * Also returns a problem for each file of the command line that uses the network client, except the file of `push`.
 */
export function networkClients(options) {
  const clientsIn = (program) => [...linkedCrates(program, options)].filter((name) => NETWORK_CRATES.test(name));
  const problems = [
    ...clientsIn("mementory-api").map((name) => `mementory-api links ${name}; only \`push\` may have a client`),
    ...clientsIn("mementory-app").map((name) => `the window links ${name}; it must have no network client`),
  ];
  if (clientsIn("mementory-cli").length === 0)
    problems.push(
      "no network client was found in the command line: the list in network.mjs lacks the one that `push` has",
    );
  const source = join(WORKSPACE, "crates", "mementory-cli", "src");
  const otherFiles = readdirSync(source, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".rs"))
    .map((file) => join("crates", "mementory-cli", "src", file))
    .filter((file) => file !== PUSH_FILE && /\bureq::/.test(readFileSync(join(WORKSPACE, file), "utf8")))
    .map((file) => `${file} uses the network client; only push.rs may`);
  return [...problems, ...otherFiles];
}
