/** A function that copies text. It returns false if the system refuses. */
export type CopyHandler = (text: string) => Promise<boolean>;

let copier: CopyHandler = async () => false;

/** Sets the function that copies. The shell calls this once, because lib/logic must not depend on the backend. */
export function setCopyHandler(next: CopyHandler): void {
  copier = next;
}

export const copyText: CopyHandler = (text) => copier(text);
