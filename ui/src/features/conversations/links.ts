import { asciiAddress } from "$lib/logic/untrusted-text";
import { webAddress } from "$lib/logic/markdown";
import { dialogs, type OpenDialog } from "$lib/state/dialogs.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { t } from "$lib/text";

/**
 * Asks before a link is opened in the browser. `back` is the dialog that is opened again when this one is closed.
 */
export function askToOpenLink(href: string, back?: OpenDialog): void {
  const url = webAddress(href);
  if (url) dialogs.show(back ? { kind: "link", url, back } : { kind: "link", url });
  else toasts.show(t("link.refused", { address: asciiAddress(href) }), { icon: "alert" });
}

/** The link target in ASCII form, as the browser would resolve it. */
export function linkTarget(link: HTMLElement): string {
  const href = link.dataset.href ?? "";
  return asciiAddress(webAddress(href)?.href ?? href);
}
