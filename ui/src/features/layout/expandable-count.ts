/** Maximum number of listed entries; not more than the backend returns in one call. */
export const MAX_ENTRIES = 100;
