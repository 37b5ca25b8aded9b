import { copyText } from "$lib/logic/copy";
import { t } from "$lib/text";
import { toasts } from "./toasts.svelte";

/** Copy, and say whether the system took it. */
export async function copyAndSay(text: string): Promise<void> {
  const done = await copyText(text);
  toasts.show(done ? t("copied") : t("copy.refused"), { icon: done ? "check" : "alert" });
}
