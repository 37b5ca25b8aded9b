import { word } from "$lib/text";

/**
 * The status of a record in its assistant's newest export, in words: `new`, `changed` or `not in the newest export`.
 * The last one does not say that the record is gone, because that export may be of another account.
 */
export const exportStatusName = (status: string): string => word("exportStatus", status);

/** The status as a phrase that is understood without context. */
export const exportStatusSentence = (status: string): string => word("exportStatusFull", status);

/** The name of a status as a filter option. */
export const exportStatusFilterName = (status: string): string => word("exportStatusFilter", status);
