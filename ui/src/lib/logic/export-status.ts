import { word } from "$lib/text";

/**
 * The status of a record in its assistant's newest export, in words: `new`, `changed` or `not in the newest export`.
 * The third one does not claim that the assistant deleted the record, because the newest export may be of another
 * account.
 */
export const exportStatusName = (status: string): string => word("exportStatus", status);

/** The status of a record as a phrase that is understood without context. */
export const exportStatusSentence = (status: string): string => word("exportStatusFull", status);

/** The name of a status as a filter option. */
export const exportStatusFilterName = (status: string): string => word("exportStatusFilter", status);
