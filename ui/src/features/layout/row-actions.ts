import ListX from "@lucide/svelte/icons/list-x";
import Trash2 from "@lucide/svelte/icons/trash-2";
import Upload from "@lucide/svelte/icons/upload";
import { systemKeys } from "$lib/logic/operating-system";
import { dialogs } from "$lib/state/dialogs.svelte";
import { showExport } from "$lib/state/open-export";
import type { RecordList } from "$lib/state/records.svelte";
import { trashFromList, showError } from "$lib/state/trash-actions";
import { search } from "$lib/state/search-field.svelte";
import { selection } from "$lib/state/selection.svelte";
import { t } from "$lib/text";
import { handlesOwnKeys } from "./letter-keys";
import type { MenuEntry } from "$lib/ui/types";

/**
 * Ids of the records to which the menu of a row applies: all checked rows if the row is one of them, otherwise only the
 * row.
 */
export function targetIds(id: string): string[] {
  return selection.ids.has(id) ? [...selection.ids] : [id];
}

/** The list box inside an element. Null if there is none, or if it is hidden because it has no rows. */
export function visibleList(within: ParentNode): HTMLElement | null {
  const list = within.querySelector<HTMLElement>("[role=listbox]");
  return list?.closest("[inert]") ? null : list;
}

/** Focuses the list in the list pane, unless the list is hidden. */
export function focusList(): void {
  const pane = document.querySelector("[data-pane=list]");
  if (pane) visibleList(pane)?.focus();
}

/**
 * Handles the keys that every list of records has: Delete, Shift Delete, Ctrl A, Esc. Returns whether the key was
 * handled.
 */
export function handleListKey(event: KeyboardEvent, list: RecordList, active: string | null): boolean {
  const ids = selection.ids.size > 0 ? [...selection.ids] : active ? [active] : [];
  const action = actionOf(event, list, ids);
  if (!action) return false;
  event.preventDefault();
  // A Delete key that is held down deletes only one record.
  if (event.repeat && event.key === "Delete") return true;
  action();
  return true;
}

/** Handles Delete and Shift Delete in the detail pane. */
export function handlePaneKey(event: KeyboardEvent, list: RecordList, id: string | null): void {
  const { key, defaultPrevented, ctrlKey, metaKey, altKey, shiftKey, target } = event;
  if (key !== "Delete" || defaultPrevented || ctrlKey || metaKey || altKey || handlesOwnKeys(target)) return;
  // Ignore keys in forms, which handle Delete themselves.
  if (target instanceof Element && target.closest("form")) return;
  // Delete removes the record together with the focused element, so the list gets the focus. Shift Delete opens a
  // dialog instead, which restores the focus itself.
  if (handleListKey(event, list, id) && !shiftKey) focusList();
}

function actionOf(event: KeyboardEvent, list: RecordList, ids: string[]): (() => void) | null {
  if (event.key === "Delete" && ids.length > 0)
    return event.shiftKey ? () => dialogs.show({ kind: "erase", ids }) : () => void trashFromList(list, ids);
  if (event.key === "Escape" && selection.ids.size > 0) return () => selection.clear();
  if (event.key === "Escape" && search.text) return () => search.clear();
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "a")
    return () => void selection.checkAll(list).catch(showError);
  return null;
}

/** The menu entries that apply to one record as well as to many. `name` is the name of a single record. */
export function recordMenuEntries(list: RecordList, ids: string[], name: string | null = null): MenuEntry[] {
  const areMany = ids.length > 1;
  return [
    {
      label: areMany ? t("action.exportMore") : t("action.exportThis"),
      icon: Upload,
      run: () => showExport("screen", ids),
    },
    ...(areMany
      ? [{ label: t("select.none"), icon: ListX, shortcut: "Esc", run: () => selection.clear() } as MenuEntry]
      : []),
    "line",
    {
      label: t("action.toTrash"),
      icon: Trash2,
      shortcut: systemKeys("Delete"),
      testid: "menu-trash",
      run: () => void trashFromList(list, ids, name),
    },
    {
      label: t("action.erase"),
      icon: Trash2,
      shortcut: systemKeys("Shift Delete"),
      danger: true,
      testid: "menu-erase",
      run: () => dialogs.show({ kind: "erase", ids }),
    },
  ];
}
