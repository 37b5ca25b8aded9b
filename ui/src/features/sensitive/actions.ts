import type { SensitiveItem } from "$lib/ipc";
import { dialogs } from "$lib/state/dialogs.svelte";
import { showError } from "$lib/state/trash-actions";
import { sensitive } from "$lib/state/sensitive.svelte";

/**
 * Redacts a value in the records `ids`, or everywhere if null. Before the first redaction since unlocking, a dialog
 * asks.
 */
export async function redact(item: SensitiveItem, ids: string[] | null, n: number): Promise<void> {
  if (sensitive.redacting) return;
  if (!sensitive.dialogShown) dialogs.show({ kind: "redact-value", item, ids, n });
  else await sensitive.redact({ values: [item.value], classes: [], ids }).catch(showError);
}

/** Ignores a value here and in future scans, or stops ignoring it. */
export const ignore = (item: SensitiveItem, ignored: boolean): Promise<void> =>
  sensitive.ignore([item.value], ignored).catch(showError);
