import Copy from "@lucide/svelte/icons/copy";
import Eraser from "@lucide/svelte/icons/eraser";
import FileCode from "@lucide/svelte/icons/file-braces";
import PanelRight from "@lucide/svelte/icons/panel-right";
import Pencil from "@lucide/svelte/icons/pencil";
import Tag from "@lucide/svelte/icons/tag";
import { targetIds, recordMenuEntries } from "$features/layout/row-actions";
import { backend } from "$lib/ipc";
import { appearance } from "$lib/state/appearance.svelte";
import { copyWithToast } from "$lib/state/clipboard";
import { detail, type DetailRequest } from "$lib/state/detail.svelte";
import { memories } from "$lib/state/lists.svelte";
import { showError } from "$lib/state/trash-actions";
import { lockGuard } from "$lib/state/lock-cleanup";
import { selection } from "$lib/state/selection.svelte";
import { t } from "$lib/text";
import type { MenuEntry } from "$lib/ui/types";
import { requestAction } from "./keys";

/** Whether a record can be edited. Passthrough files, which no reader understands, cannot be edited. */
const isEditable = (id: string) => memories.rows.find((row) => row.id === id)?.kind !== "foreign";

/** The menu entries for the row of a memory. If the row is checked, the entries apply to all checked rows. */
export function memoryMenu(id: string, open: () => void): MenuEntry[] {
  const ids = targetIds(id);
  const letter = (key: string) => (appearance.letterKeys ? key : undefined);
  if (ids.length > 1)
    return [
      { label: t("tag.tag"), icon: Tag, shortcut: letter("T"), run: () => detail.request("tag", null) },
      { label: t("action.redactMore"), icon: Eraser, shortcut: letter("R"), run: () => detail.request("redact", null) },
      ...recordMenuEntries(memories, ids),
    ];
  const startAction = (action: DetailRequest["action"]) => () => {
    // While rows are checked, the detail pane shows their summary instead of a memory.
    selection.clear();
    requestAction(action, id);
  };
  return [
    { label: t("action.open"), icon: PanelRight, shortcut: "Enter", run: open },
    ...(isEditable(id)
      ? [
          {
            label: t("action.edit"),
            icon: Pencil,
            shortcut: letter("E"),
            testid: "menu-edit",
            run: startAction("edit"),
          },
        ]
      : []),
    { label: t("tag.tag"), icon: Tag, shortcut: letter("T"), run: startAction("tag") },
    { label: t("action.redactMore"), icon: Eraser, shortcut: letter("R"), run: startAction("redact") },
    { label: t("action.copyText"), icon: Copy, run: () => void copy(id) },
    { label: t("detail.original"), icon: FileCode, run: startAction("original") },
    ...recordMenuEntries(memories, ids),
  ];
}

/** Copies the full text. It is loaded first, because the row of a long text contains only its start. */
async function copy(id: string): Promise<void> {
  const isUnlocked = lockGuard();
  try {
    const { record } = await backend().show(id, false, false);
    if (isUnlocked()) await copyWithToast(record.text);
  } catch (error) {
    if (isUnlocked()) showError(error);
  }
}
