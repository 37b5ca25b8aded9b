import { word } from "$lib/text";

/**
 * `new`, `changed`, `not in the newest export`: status in the newest export of the assistant. That export may be of
 * another account, so the text does not say that a record is gone.
 */
export const exportStatusName = (standing: string): string => word("standing", standing);

/** The name of a status as a filter option. */
export const exportStatusFilterName = (standing: string): string => word("standingChoice", standing);
