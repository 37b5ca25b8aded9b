import { backend } from "$lib/ipc";
import { dialogs } from "./dialogs.svelte";
import { importing } from "./importing.svelte";

/** Lets the person choose files or a folder and opens the import sheet with them. A cancelled choice changes nothing. */
export async function chooseForImport(what: "file" | "folder"): Promise<void> {
  const paths = what === "file" ? await backend().chooseFiles() : [await backend().chooseFolder()];
  const chosen = paths.filter((path) => path !== null);
  if (chosen.length === 0) return;
  dialogs.show({ kind: "import" });
  // If an import is running, the sheet shows it, and the chosen files are ignored.
  if (!importing.busy) await importing.inspect(chosen);
}
