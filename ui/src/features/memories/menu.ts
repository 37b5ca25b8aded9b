import Copy from "@lucide/svelte/icons/copy";
import Eraser from "@lucide/svelte/icons/eraser";
import FileCode from "@lucide/svelte/icons/file-braces";
import PanelRight from "@lucide/svelte/icons/panel-right";
import Pencil from "@lucide/svelte/icons/pencil";
import Tag from "@lucide/svelte/icons/tag";
import { meant, recordEntries } from "$features/layout/row-actions";
import { backend } from "$lib/ipc";
import { appearance } from "$lib/state/appearance.svelte";
import { copyAndSay } from "$lib/state/clipboard";
import { detail, type Asked } from "$lib/state/detail.svelte";
import { memories } from "$lib/state/lists.svelte";
import { failed } from "$lib/state/trash-actions";
import { sinceLock } from "$lib/state/lock-cleanup";
import { selection } from "$lib/state/selection.svelte";
import { t } from "$lib/text";
import type { MenuEntry } from "$lib/ui/types";
import { askOf } from "./keys";

/** What can be done with a memory, by its row; with several, when it is one of the checked. */
export function memoryMenu(id: string, open: () => void): MenuEntry[] {
  const ids = meant(id);
  const letter = (key: string) => (appearance.letterKeys ? key : undefined);
  if (ids.length > 1)
    return [
      { label: t("tag.tag"), icon: Tag, shortcut: letter("T"), run: () => detail.ask("tag", null) },
      { label: t("action.redactMore"), icon: Eraser, shortcut: letter("R"), run: () => detail.ask("redact", null) },
      ...recordEntries(memories, ids),
    ];
  const ask = (what: Asked["what"]) => () => {
    // While rows are checked their summary stands where the memory would be.
    selection.clear();
    askOf(what, id);
  };
  return [
    { label: t("action.open"), icon: PanelRight, shortcut: "Enter", run: open },
    { label: t("action.edit"), icon: Pencil, shortcut: letter("E"), testid: "menu-edit", run: ask("edit") },
    { label: t("tag.tag"), icon: Tag, shortcut: letter("T"), run: ask("tag") },
    { label: t("action.redact"), icon: Eraser, shortcut: letter("R"), run: ask("redact") },
    { label: t("action.copyText"), icon: Copy, run: () => void copy(id) },
    { label: t("detail.original"), icon: FileCode, run: ask("original") },
    ...recordEntries(memories, ids),
  ];
}

/** The whole text: a row has the beginning of a long one. */
async function copy(id: string): Promise<void> {
  const unlocked = sinceLock();
  try {
    const { record } = await backend().show(id, false, false);
    if (unlocked()) await copyAndSay(record.text);
  } catch (error) {
    if (unlocked()) failed(error);
  }
}
