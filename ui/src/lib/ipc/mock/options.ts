import type { ListItem } from "../backend";

export type MockOptions = {
  open?: boolean;
  empty?: boolean;
  /** Duration of each step of a job in milliseconds, as in `runStages`. */
  stepMs?: number;
  /** Code of the error with which unlocking fails. */
  failing?: string | null;
  /** Whether the demonstration has to be made again. */
  unusableDemonstration?: boolean;
  /** Why the search index is rebuilt while unlocking. */
  reindexed?: string | null;
  items?: ListItem[];
  /** Whether the vault was never scanned for sensitive values. */
  neverScanned?: boolean;
  /** Whether AI clients are connected. */
  agents?: boolean;
  /** The operating system to imitate. */
  system?: string;
};

/**
 * Reads the options from the address of the development server, or of a build with sample data, such as
 * `?mock=open,empty,slow`. `hanging` makes imports and scans hang for ever. With `agents`, AI clients are connected.
 * `on-macos` names the system to imitate. `failing-vault_damaged` names the error with which unlocking fails.
 * `reindexed-damaged` names the reason why the search index is rebuilt while unlocking.
 */
export function optionsFromAddress(): MockOptions {
  const words = (new URLSearchParams(location.search).get("mock") ?? "").split(",");
  return {
    open: words.includes("open"),
    empty: words.includes("empty"),
    agents: words.includes("agents"),
    neverScanned: words.includes("unscanned"),
    reindexed: words.find((word) => word.startsWith("reindexed-"))?.slice(10) ?? null,
    system: words.find((word) => word.startsWith("on-"))?.slice(3) ?? "linux",
    stepMs: words.includes("hanging") ? Infinity : words.includes("slow") ? 700 : 40,
    failing: words.find((word) => word.startsWith("failing-"))?.slice(8) ?? null,
  };
}
