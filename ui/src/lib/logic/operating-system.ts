/** Whether this is a Mac, where ⌘ replaces Ctrl. */
export const isMac = typeof navigator !== "undefined" && /mac/i.test(navigator.platform || navigator.userAgent);

/** Whether this is Linux, the only system on which the program shows notifications. */
export const isLinux = typeof navigator !== "undefined" && /linux/i.test(navigator.platform || navigator.userAgent);

/** A shortcut as this system writes it: `Ctrl F` or `⌘F`. */
export function systemKeys(shortcut: string): string {
  if (!isMac) return shortcut;
  return shortcut.replace(/Ctrl Shift /, "⇧⌘").replace(/Ctrl /, "⌘");
}
