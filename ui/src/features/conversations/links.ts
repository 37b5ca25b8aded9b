import { asciiAddress } from "$lib/logic/untrusted-text";
import { webAddress } from "$lib/logic/markdown";
import { dialogs, type OpenDialog } from "$lib/state/dialogs.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { t } from "$lib/text";

/** Opens the confirmation dialog before a link goes to the browser. `back`: the dialog that opens again afterwards. */
export function openAddress(href: string, back?: OpenDialog): void {
  const url = webAddress(href);
  if (url) dialogs.show(back ? { kind: "link", url, back } : { kind: "link", url });
  else toasts.show(t("link.refused", { address: asciiAddress(href) }), { icon: "alert" });
}

/** The link target in ASCII form, as the browser would resolve it. */
export function linkTarget(link: HTMLElement): string {
  const href = link.dataset.href ?? "";
  return asciiAddress(webAddress(href)?.href ?? href);
}
