/** Puts text on the clipboard; false when the system refuses. */
export type CopyHandler = (text: string) => Promise<boolean>;

let copier: CopyHandler = async () => false;

/** How a text is copied: said once, by the window's shell, because here nothing is known of the backend. */
export function setCopyHandler(next: CopyHandler): void {
  copier = next;
}

export const copyText: CopyHandler = (text) => copier(text);
