import { joinPath } from "$lib/text/format";

/** Where a vault of this name comes to lie. */
export const vaultPath = (folder: string, name: string): string => joinPath(folder.trim(), `${name.trim()}.mementory`);
