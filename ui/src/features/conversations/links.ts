import { asciiAddress } from "$lib/logic/untrusted-text";
import { webAddress } from "$lib/logic/markdown";
import { dialogs } from "$lib/state/dialogs.svelte";
import { toasts } from "$lib/state/toasts.svelte";
import { t } from "$lib/text";

/** Ask before anything leaves for the browser. */
export function openAddress(href: string): void {
  const url = webAddress(href);
  if (url) dialogs.show({ kind: "link", url });
  else toasts.show(t("link.refused", { address: asciiAddress(href) }), { icon: "alert" });
}

/** Where a link leads, as a machine reads it. */
export function linkTarget(link: HTMLElement): string {
  const href = link.dataset.href ?? "";
  return asciiAddress(webAddress(href)?.href ?? href);
}
