import type { ListItem } from "../backend";

export type MockOptions = {
  open?: boolean;
  empty?: boolean;
  pace?: number;
  failing?: string | null;
  /** Why the search index is rebuilt while unlocking. */
  reindexed?: string | null;
  items?: ListItem[];
  /** Whether the vault was never scanned for sensitive values. */
  neverScanned?: boolean;
  /** The operating system to imitate. */
  system?: string;
};

/**
 * `?mock=open,empty,slow,failing-vault_damaged` in the address of the development server or of a sample build. `held`:
 * imports and scans never end. `on-macos`: imitates another system than Linux. `reindexed-damaged`: the search index is
 * rebuilt while unlocking.
 */
export function optionsFromAddress(): MockOptions {
  const words = (new URLSearchParams(location.search).get("mock") ?? "").split(",");
  return {
    open: words.includes("open"),
    empty: words.includes("empty"),
    neverScanned: words.includes("unlooked"),
    reindexed: words.find((word) => word.startsWith("reindexed-"))?.slice(10) ?? null,
    system: words.find((word) => word.startsWith("on-"))?.slice(3) ?? "linux",
    pace: words.includes("held") ? Infinity : words.includes("slow") ? 700 : 40,
    failing: words.find((word) => word.startsWith("failing-"))?.slice(8) ?? null,
  };
}
