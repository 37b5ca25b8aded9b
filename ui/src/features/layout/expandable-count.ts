/** Entries of a number that folds out: more are counted only. Not more than the backend lists in one call. */
export const MAX_ENTRIES = 100;
