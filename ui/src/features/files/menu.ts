import Eye from "@lucide/svelte/icons/eye";
import MessagesSquare from "@lucide/svelte/icons/messages-square";
import { targetIds, recordMenuEntries } from "$features/layout/row-actions";
import { files } from "$lib/state/lists.svelte";
import { nav } from "$lib/state/nav.svelte";
import { t } from "$lib/text";
import type { MenuEntry } from "$lib/ui/types";

/** The menu entries for a file. If the file is checked, the entries apply to all checked files. */
export function fileMenu(id: string, show: (id: string) => void): MenuEntry[] {
  const ids = targetIds(id);
  if (ids.length > 1) return recordMenuEntries(files, ids);
  const conversation = files.rows.find((row) => row.id === id)?.conversation_id ?? null;
  const openEntry = { label: t("action.open"), icon: Eye, shortcut: "Space", run: () => show(id) };
  const conversationEntry = {
    label: t("files.conversation"),
    icon: MessagesSquare,
    run: () => nav.go("conversations", conversation),
  };
  return [openEntry, ...(conversation === null ? [] : [conversationEntry]), ...recordMenuEntries(files, ids)];
}
