import type { Receipt } from "$lib/ipc";
import { joinWithCommas, t } from "$lib/text";

/** One row of a receipt. `text`: our words; `original`: the core's. */
export type ReceiptPlace = { place: string; outcome: string; text: string; original: string };

/**
 * The places of a receipt, with a row of its own for messages that say the same. What was left there is no failure of a
 * place that was to be cleaned, so the receipt tells it in numbers beside them.
 */
export function placesOf(receipt: Receipt): ReceiptPlace[] {
  const places = receipt.places.map(({ place, outcome, detail }) => ({ place, outcome, text: "", original: detail }));
  const last = places.findIndex(({ place }) => place === "temporary_files");
  places.splice(last < 0 ? places.length : last, 0, ...sameWords(receipt));
  return places;
}

/** Receipts of former versions do not say how many were redacted; then there is a row only when some were left. */
function sameWords({ copies_redacted: redacted, copies_left: left }: Receipt): ReceiptPlace[] {
  if (redacted === null && left === 0) return [];
  const n = redacted ?? 0;
  return [
    {
      place: "same_words",
      outcome: left > 0 ? "left" : n > 0 ? "erased" : "not_present",
      text: joinWithCommas([
        n > 0 ? t("receipt.copiesRedacted", { n }) : null,
        left > 0 ? t("receipt.copiesLeft", { n: left }) : null,
      ]),
      original: "",
    },
  ];
}
