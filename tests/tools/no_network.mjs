// Runs programs in a network namespace that has no network: its only interface is the computer's own loopback. The
// kernel counts the packets for which there is no route, and UDP packets to a port on which no program listens. So
// every attempt to send something is noticed, even one that ends with a failed name lookup, because the usual name
// server (such as 127.0.0.53) does not exist in the namespace.
import { existsSync, readFileSync } from "node:fs";
import { has, quiet } from "./sh.mjs";

/** With this environment, installing fails at once instead of trying again for minutes. */
const INSTALL_NOTHING = ["env", "npm_config_offline=true", "PIP_NO_INDEX=1", "CARGO_NET_OFFLINE=true"];

/** Starts a command as root of a namespace without any interface that is up. */
export const UNSHARE = ["unshare", "--map-root-user", "--net"];

/** Returns the reason why no network namespace can be made here, or null if one can be made. */
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

/**
 * Packets that reached nobody since the namespace was made: without a route, or UDP to a port without a listener.
 * Refused TCP connections are not counted, because the tests wait for servers on loopback by trying to connect.
 */
export function undeliveredPackets() {
  const ipv4 = readFileSync("/proc/net/snmp", "utf8");
  const ipv6 = existsSync("/proc/net/snmp6") ? readFileSync("/proc/net/snmp6", "utf8") : "";
  const ofIpv4 = (protocol, counter) => {
    const rows = ipv4.split("\n").filter((line) => line.startsWith(`${protocol}: `));
    const [names, values] = rows.map((line) => line.split(" "));
    return Number(values[names.indexOf(counter)]);
  };
  const ofIpv6 = (counter) => Number(ipv6.match(new RegExp(`^${counter}\\s+(\\d+)`, "m"))?.[1] ?? 0);
  return ofIpv4("Ip", "OutNoRoutes") + ofIpv4("Udp", "NoPorts") + ofIpv6("Ip6OutNoRoutes") + ofIpv6("Udp6NoPorts");
}
