import { backend } from "$lib/ipc";
import { t } from "$lib/text";
import { appearance } from "./appearance.svelte";
import { toasts } from "./toasts.svelte";

/**
 * Copies text to the clipboard, which is cleared after `clearAfter` seconds (null: never). Returns false if the system
 * refuses.
 */
export async function copyText(text: string, clearAfter: number | null = appearance.clearAfter): Promise<boolean> {
  try {
    await backend().copyText(text, clearAfter);
    return true;
  } catch {
    return false;
  }
}

/** Copies text to the clipboard and shows in a toast whether that succeeded. Returns whether the text was copied. */
export async function copyWithToast(text: string): Promise<boolean> {
  const copied = await copyText(text);
  toasts.show(copied ? t("copied") : t("copy.refused"), { icon: copied ? "check" : "alert" });
  return copied;
}
