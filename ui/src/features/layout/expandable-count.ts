/** Maximum number of entries in the list. It must not exceed what the backend returns in one call. */
export const MAX_ENTRIES = 100;
