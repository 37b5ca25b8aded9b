/** Put text on the clipboard; false when the system refuses. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

/** Copy, and empty the clipboard again after a while if the same text is still what we put there. */
export async function copyForAWhile(text: string, seconds: number): Promise<boolean> {
  const done = await copyText(text);
  if (done) setTimeout(() => void copyText(""), seconds * 1000);
  return done;
}
