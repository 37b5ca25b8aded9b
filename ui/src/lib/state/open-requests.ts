import { backend, type RefusedPath } from "$lib/ipc";
import { t } from "$lib/text";
import { oneLine } from "$lib/logic/untrusted-text";
import { fileName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";
import { session } from "./session.svelte";
import { switchToDemonstration, switchVault } from "./switch-vault";
import { toasts } from "./toasts.svelte";

/** A message names at most this many of the paths that could not be opened. */
const MAX_NAMED_PATHS = 3;

function refusedText({ path, reason }: RefusedPath): string {
  const file = oneLine(fileName(path));
  if (reason === "missing") return t("open.missing", { file });
  if (reason === "no_file") return t("open.noFile", { file });
  if (reason === "not_unicode") return t("open.notUnicode", { file });
  if (reason === "another_vault") return t("open.anotherVault", { file });
  return t("open.unreadable", { file });
}

/**
 * Opens what the system has asked the program to open: shows the unlock screen of a vault, opens the demonstration, and
 * imports files. If no vault is open, the files wait until one is. Says which paths cannot be opened.
 */
export async function takeOpenRequests(): Promise<void> {
  const { vault, paths, refused, demonstration } = await backend().takeOpenRequests();
  if (vault !== null) await switchVault(vault);
  if (demonstration) await switchToDemonstration();
  if (refused.length > 0) toasts.show(refused.slice(0, MAX_NAMED_PATHS).map(refusedText).join(" "), { icon: "alert" });
  if (paths.length === 0) return;
  if (session.phase === "open") dialogs.show({ kind: "import" });
  await importing.inspect(paths);
}
