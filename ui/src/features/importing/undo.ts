import type { BatchInfo } from "$lib/ipc";
import { oneLine } from "$lib/logic/untrusted-text";

/** The numbers of an import that is to be undone. `edited`: number of its entries that were edited later. */
export type UndoneImport = { names: string[]; added: number; updated: number; edited: number };

export const undoneImport = ({ names, added, updated, edited_since }: BatchInfo): UndoneImport => ({
  names: names.map((name) => oneLine(name)),
  added,
  updated,
  edited: edited_since,
});
