// Runs programs in a network namespace that has no network: its only interface is the computer's own loopback. The
// kernel counts the packets for which there is no route, so whatever a program tries to send is noticed.
import { readFileSync } from "node:fs";
import { has, quiet } from "./sh.mjs";

/** With this environment, installing fails at once instead of trying again for minutes. */
const INSTALL_NOTHING = ["env", "npm_config_offline=true", "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true"];

/** Starts a command as root of a namespace without any interface that is up. */
export const UNSHARE = ["unshare", "--map-root-user", "--net"];

/** Why no such namespace can be made here, or null. */
export function findNamespaceProblem() {
  if (process.platform !== "linux") return "only on Linux";
  if (!has("unshare") || !has("ip")) return "unshare and ip are needed";
  return quiet(UNSHARE[0], [...UNSHARE.slice(1), "true"]).code === 0 ? null : "no network namespace can be made here";
}

/**
 * The command that runs `command` as the same user in a network namespace that has only loopback. Only the root user of
 * a namespace can start loopback. Therefore, an ordinary user first becomes root in that namespace, and then gets the
 * usual id back in a second, inner namespace.
 */
export function withoutNetwork(command) {
  if (process.getuid() === 0)
    return ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...INSTALL_NOTHING, ...command];
  const sameUser = `unshare --user --map-user=${process.getuid()} --map-group=${process.getgid()}`;
  return [...UNSHARE, "sh", "-c", `ip link set lo up && exec ${sameUser} "$@"`, "sh", ...INSTALL_NOTHING, ...command];
}

/** Packets without a route since the namespace was made. */
export function unroutedPackets() {
  const [names, values] = readFileSync("/proc/net/snmp", "utf8")
    .split("\n")
    .filter((line) => line.startsWith("Ip: "))
    .map((line) => line.split(" "));
  const ipv6Packets = readFileSync("/proc/net/snmp6", "utf8").match(/^Ip6OutNoRoutes\s+(\d+)/m);
  return Number(values[names.indexOf("OutNoRoutes")]) + Number(ipv6Packets?.[1] ?? 0);
}
