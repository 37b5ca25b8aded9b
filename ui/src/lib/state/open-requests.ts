import { backend, type RefusedPath } from "$lib/ipc";
import { t } from "$lib/text";
import { oneLine } from "$lib/logic/untrusted-text";
import { fileName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";
import { session } from "./session.svelte";
import { toasts } from "./toasts.svelte";

/** How many refused paths are named in a message. */
const MAX_NAMED = 3;

function refusedText({ path, reason }: RefusedPath): string {
  const file = oneLine(fileName(path));
  if (reason === "missing") return t("open.missing", { file });
  if (reason === "no_file") return t("open.noFile", { file });
  return t("open.unreadable", { file });
}

/**
 * Opens what the system asked for: a vault is unlocked, files go to the import. In a locked window the import waits for
 * the vault. Says what cannot be opened.
 */
export async function takeOpenRequests(): Promise<void> {
  const { vault, paths, refused, demonstration } = await backend().takeOpenRequests();
  if (vault !== null && vault !== session.path) {
    if (session.phase === "open") await session.lock();
    session.showUnlock(vault);
  }
  // An open vault stays open, because opening the demonstration would close what the person works on.
  if (demonstration && session.phase !== "open") await session.openDemonstration();
  if (refused.length > 0) toasts.show(refused.slice(0, MAX_NAMED).map(refusedText).join(" "), { icon: "alert" });
  if (paths.length === 0) return;
  if (session.phase === "open") dialogs.show({ kind: "import" });
  await importing.inspect(paths);
}
