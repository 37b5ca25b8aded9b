import { backend } from "$lib/ipc";
import { ANY } from "./filter";

/** How many records of a kind match the search in the whole vault. */
export async function countHits(query: string, kind: string): Promise<number> {
  const request = { query, filter: { ...ANY, kind }, limit: 1, offset: 0, typing: true };
  return (await backend().search(request)).total;
}
