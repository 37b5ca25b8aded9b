/** Puts text on the clipboard; false when the system refuses. */
export type Copier = (text: string) => Promise<boolean>;

let copier: Copier = async () => false;

/** How a text is copied: said once, by the window's shell, because here nothing is known of the backend. */
export function copyBy(next: Copier): void {
  copier = next;
}

export const copyText: Copier = (text) => copier(text);
