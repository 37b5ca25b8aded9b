import { backend } from "$lib/ipc";
import { dialogs } from "$lib/state/dialogs.svelte";
import { ANY } from "$lib/state/filter";
import { lockGuard } from "$lib/state/lock-cleanup";
import { plainRow, type Row } from "$lib/state/records.svelte";
import { showError } from "$lib/state/trash-actions";

/** The row of an attachment or of a passthrough file. Null if the record is no longer in the vault. */
export async function loadFileRow(id: string, kind: "attachment" | "foreign"): Promise<Row | null> {
  const filter = { ...ANY, kind, ids: [id] };
  const { items } = await backend().list({ filter, sort: null, limit: 1, cursor: null });
  return items[0] ? plainRow(items[0]) : null;
}

/** Opens the sheet of an attachment, the same one as in the files section. */
export async function openAttachment(id: string): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const row = await loadFileRow(id, "attachment");
    if (row && isUnlocked()) dialogs.show({ kind: "file", row });
  } catch (error) {
    if (isUnlocked()) showError(error);
  }
}
