import type { ListItem } from "../backend";

export type MockOptions = {
  open?: boolean;
  empty?: boolean;
  /** Milliseconds per step of a job, as in `runStages`. */
  pace?: number;
  /** Code of the error with which unlocking fails. */
  failing?: string | null;
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
 * Options in the address of the development server or of a build with samples, as in `?mock=open,empty,slow`. `held`:
 * imports and scans never end. `agents`: AI clients are connected. `on-macos`: the system to imitate.
 * `failing-vault_damaged`: the error of unlocking. `reindexed-damaged`: the search index is rebuilt while unlocking,
 * because it is damaged.
 */
export function optionsFromAddress(): MockOptions {
  const words = (new URLSearchParams(location.search).get("mock") ?? "").split(",");
  return {
    open: words.includes("open"),
    empty: words.includes("empty"),
    agents: words.includes("agents"),
    neverScanned: words.includes("unlooked"),
    reindexed: words.find((word) => word.startsWith("reindexed-"))?.slice(10) ?? null,
    system: words.find((word) => word.startsWith("on-"))?.slice(3) ?? "linux",
    pace: words.includes("held") ? Infinity : words.includes("slow") ? 700 : 40,
    failing: words.find((word) => word.startsWith("failing-"))?.slice(8) ?? null,
  };
}
