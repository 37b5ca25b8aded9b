import type { Receipt } from "$lib/ipc";
import { joinWithCommas, t } from "$lib/text";
import { placeDetailText } from "$lib/text/core";

/** One row of a receipt. `text`: the window's text. `original`: the backend's English text. */
export type ReceiptPlace = { place: string; outcome: string; text: string; original: string };

/**
 * The rows for the places of a receipt. Messages with the same content have a separate row. The receipt counts them
 * separately, because leaving such a message unchanged on purpose does not make a place fail.
 */
export function placesOf(receipt: Receipt): ReceiptPlace[] {
  const places = receipt.places.map(({ place, outcome, detail }) => ({ place, outcome, ...placeDetailText(detail) }));
  const temporaryFilesIndex = places.findIndex(({ place }) => place === "temporary_files");
  places.splice(temporaryFilesIndex < 0 ? places.length : temporaryFilesIndex, 0, ...sameWordsPlaces(receipt));
  return places;
}

/**
 * The row for messages with the same content. In receipts of older releases, the number of redacted copies is null.
 * Then there is a row only if copies were left unchanged.
 */
function sameWordsPlaces({ copies_redacted: redacted, copies_left: left }: Receipt): ReceiptPlace[] {
  if (redacted === null && left === 0) return [];
  const n = redacted ?? 0;
  return [
    {
      place: "same_words",
      outcome: left > 0 ? "left" : n > 0 ? "redacted" : "not_present",
      text: joinWithCommas([
        n > 0 ? t("receipt.copiesRedacted", { n }) : null,
        left > 0 ? t("receipt.copiesLeft", { n: left }) : null,
      ]),
      original: "",
    },
  ];
}
