import type { Receipt } from "$lib/ipc";
import { printRequest, type Printable } from "$lib/state/printing.svelte";
import { joinSentences, t, word } from "$lib/text";
import { isoDay } from "$lib/text/format";
import type { ReceiptPlace } from "./receipt-places";

/** A detail of a receipt below its table of places: the name of the detail and its text. `mono` has ids. */
export type ReceiptDetail = { term: string; text: string; mono: string; bad: boolean };
/** The overall result that the receipt states. */
export type Verdict = { title: string; text: string };

/** The suggested name of a file with a receipt, without its ending. */
export const receiptName = (receipt: Receipt): string => `${t("file.receipt")}-${isoDay(new Date(receipt.at))}`;

/** A receipt as a page, with the texts of its sheet. */
export function receiptPage(
  receipt: Receipt,
  subtitle: string,
  verdict: Verdict,
  places: readonly ReceiptPlace[],
  details: readonly ReceiptDetail[],
): Printable {
  const head = [t("receipt.place"), t("receipt.result"), t("receipt.detail")];
  const placeRows = places.map(({ place, outcome, text, original }) => [
    word("place", place),
    word("placeOutcome", outcome),
    [text, original].filter(Boolean).join(": "),
  ]);
  const detailRows = details.map(({ term, text, mono }) => [term, joinSentences([text, mono])]);
  return {
    name: `${receiptName(receipt)}.html`,
    records: 0,
    request: printRequest(t("receipt.title"), [subtitle, joinSentences([verdict.title, verdict.text])], {
      tables: [
        { head, rows: placeRows },
        { head: [], rows: detailRows },
      ],
    }),
  };
}
