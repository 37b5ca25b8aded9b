/** Copies text; false if the system refuses. */
export type CopyHandler = (text: string) => Promise<boolean>;

let copier: CopyHandler = async () => false;

/** Sets the function that copies. The shell calls it once, because lib/logic must not know the backend. */
export function setCopyHandler(next: CopyHandler): void {
  copier = next;
}

export const copyText: CopyHandler = (text) => copier(text);
