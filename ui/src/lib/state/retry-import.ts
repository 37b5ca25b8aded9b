import { backend } from "$lib/ipc";
import { joinWithAnd, quoted, t } from "$lib/text";
import { fileName } from "$lib/text/format";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";
import { toasts } from "./toasts.svelte";

/** Opens the import sheet with the files of a failed import, or reports that they are gone. */
export async function retryImport(paths: string[]): Promise<void> {
  const missingFiles = (await backend().pathInfo(paths)).filter(({ folder, size }) => !folder && size === null);
  if (missingFiles.length > 0) {
    const names = joinWithAnd(missingFiles.map(({ path }) => quoted(fileName(path))));
    toasts.show(t("activity.gone", { n: missingFiles.length, names }), { icon: "alert" });
    return;
  }
  dialogs.show({ kind: "import" });
  // If an import is running, the sheet shows it, and these files are not inspected.
  if (!importing.busy) await importing.inspect(paths);
}
