import { joinPath } from "$lib/text/format";

/** The path of a new vault with this name. */
export const vaultPath = (folder: string, name: string): string => joinPath(folder.trim(), `${name.trim()}.mementory`);
