import { backend } from "$lib/ipc";
import { t } from "$lib/text";
import { appearance } from "./appearance.svelte";
import { toasts } from "./toasts.svelte";

/** Put text on the clipboard; it leaves it again after so many seconds, or stays with null. False when the system refuses. */
export async function copyText(text: string, clearAfter: number | null = appearance.clearAfter): Promise<boolean> {
  try {
    await backend().copyText(text, clearAfter);
    return true;
  } catch {
    return false;
  }
}

/** Copy, and say whether the system took it; true when it did. */
export async function copyWithToast(text: string): Promise<boolean> {
  const done = await copyText(text);
  toasts.show(done ? t("copied") : t("copy.refused"), { icon: done ? "check" : "alert" });
  return done;
}
