import type { ListItem } from "../backend";

export type MockOptions = {
  open?: boolean;
  empty?: boolean;
  pace?: number;
  failing?: string | null;
  /** Why the search index is made anew while unlocking. */
  reindexed?: string | null;
  items?: ListItem[];
  /** The vault was never looked through for sensitive values. */
  unlooked?: boolean;
  /** The system that the window is on. */
  system?: string;
};

/** `?mock=open,empty,slow,failing-vault_damaged` in the address of the development server or of a sample build. `held`: an
 * import, and looking through the vault, go on for ever. `on-macos`: on another system than Linux. `reindexed-damaged`: the search index is made anew while unlocking. */
export function optionsFromAddress(): MockOptions {
  const words = (new URLSearchParams(location.search).get("mock") ?? "").split(",");
  return {
    open: words.includes("open"),
    empty: words.includes("empty"),
    unlooked: words.includes("unlooked"),
    reindexed: words.find((word) => word.startsWith("reindexed-"))?.slice(10) ?? null,
    system: words.find((word) => word.startsWith("on-"))?.slice(3) ?? "linux",
    pace: words.includes("held") ? Infinity : words.includes("slow") ? 700 : 40,
    failing: words.find((word) => word.startsWith("failing-"))?.slice(8) ?? null,
  };
}
