import { backend } from "$lib/ipc";
import { ANY } from "./filter";

/** Returns how many records of a kind in the whole vault match the query. */
export async function countHits(query: string, kind: string): Promise<number> {
  const request = { query, filter: { ...ANY, kind }, limit: 1, offset: 0, typing: true };
  return (await backend().search(request)).total;
}
