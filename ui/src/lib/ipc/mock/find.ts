import type {
  Backend,
  Facets,
  Filter,
  FoundRow,
  Hit,
  ListItem,
  SearchRequest,
  Summary,
  ThreadMessage,
} from "../backend";
import { sampleThread } from "./thread";

/** Whether the sample import with the id `batch` added or changed the item. */
function isFromBatch(batch: string, item: ListItem): boolean {
  if (batch === "b-2" || batch.startsWith("batch-new"))
    return item.export_diff_status === "new" || (item.kind !== "memory" && item.source === "chatgpt");
  return batch === "b-1" && item.source === "claude";
}

/** The items in a sort order of a list request. Items that are equal in this order are sorted newest first. */
export function sorted(items: ListItem[], sort: string | null | undefined): ListItem[] {
  const newestFirst = items.toSorted((a, b) => (b.created_at ?? "").localeCompare(a.created_at ?? ""));
  if (sort === "oldest") return newestFirst.reverse();
  if (sort === "changed") return newestFirst.sort((a, b) => b.changed_at.localeCompare(a.changed_at));
  if (sort === "trashed") return newestFirst.sort((a, b) => (b.trashed_at ?? "").localeCompare(a.trashed_at ?? ""));
  if (sort === "title") return newestFirst.sort((a, b) => (a.title ?? a.text).localeCompare(b.title ?? b.text));
  return newestFirst;
}

export function matches(item: ListItem, filter: Filter): boolean {
  if ((item.trashed_at !== null) !== Boolean(filter.trash)) return false;
  const createdAt = Date.parse(item.created_at ?? "");
  return (
    (!filter.ids || filter.ids.includes(item.id)) &&
    (!filter.kind || filter.kind === item.kind) &&
    (!filter.source || filter.source === item.source) &&
    (filter.record_type === null || filter.record_type === (item.type ?? "")) &&
    (!filter.said_by || filter.said_by === item.said_by) &&
    (!filter.export_diff_status || filter.export_diff_status === item.export_diff_status) &&
    (!filter.file_kind || filter.file_kind === item.file_kind) &&
    (!filter.batch || filter.batch.some((batch) => isFromBatch(batch, item))) &&
    (filter.about === null || filter.about === (item.about?.kind ?? "")) &&
    (!filter.special || item.special.some((each) => filter.special === "any" || filter.special === each)) &&
    (!filter.tag || item.tags.includes(filter.tag)) &&
    (!filter.since || createdAt >= Date.parse(filter.since)) &&
    (!filter.until || createdAt <= Date.parse(filter.until))
  );
}

const wordsOf = (query: string) =>
  query
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);

/**
 * The ranges of the searched words in a text, in code points. With `typing` the last word of the query may be
 * incomplete.
 */
export function highlight(text: string, query: string, typing: boolean): [number, number][] {
  const queryWords = wordsOf(query);
  const last = typing ? queryWords.at(-1) : undefined;
  const points = [...text];
  const ranges: [number, number][] = [];
  for (const match of text.matchAll(/[\p{L}\p{N}]+/gu)) {
    const word = match[0].toLowerCase();
    if (!queryWords.includes(word) && !(last && word.startsWith(last))) continue;
    const start = [...text.slice(0, match.index)].length;
    ranges.push([start, Math.min(points.length, start + [...match[0]].length)]);
  }
  return ranges;
}

export function hitOf(item: ListItem, query: string, typing: boolean): Hit | null {
  const text = item.kind === "conversation" || item.kind === "attachment" ? (item.title ?? "") : item.text;
  const highlights = highlight(text, query, typing);
  return highlights.length === 0
    ? null
    : sampleHit(item.id, item.kind, item.source, text, highlights, item.conversation_id, item.title);
}

function messageHit(message: ThreadMessage, query: string, typing: boolean): Hit | null {
  const highlights = highlight(message.text, query, typing);
  return highlights.length === 0
    ? null
    : sampleHit(message.id, "message", "chatgpt", message.text, highlights, "c-bath", null);
}

function sampleHit(
  id: string,
  kind: string,
  source: string,
  snippet: string,
  highlights: [number, number][],
  conversation_id: string | null,
  title: string | null,
): Hit {
  return {
    id,
    origin_id: null,
    kind,
    type: null,
    conversation_id,
    title,
    snippet,
    highlights,
    score: highlights.length,
    created_at: null,
    source,
  };
}

export function facetsOf(items: readonly ListItem[]): Facets {
  const facets: Facets = { sources: {}, types: {}, tags: {}, said_by: {}, file_kinds: {}, about: {}, special: {} };
  const add = (group: Record<string, number>, key: string) => (group[key] = (group[key] ?? 0) + 1);
  for (const item of items) {
    add(facets.sources, item.source);
    if (item.kind !== "attachment") add(facets.types, item.type ?? "");
    add(facets.said_by, item.said_by);
    for (const tag of item.tags) add(facets.tags, tag);
    if (item.kind === "memory") add(facets.about, item.about?.kind ?? "");
    for (const special of item.special) add(facets.special, special);
    if (item.special.length > 0) add(facets.special, "any");
    if (item.file_kind) {
      const files = (facets.file_kinds[item.file_kind] ??= { count: 0, bytes: 0 });
      files.count += 1;
      files.bytes += item.present ? (item.size ?? 0) : 0;
    }
  }
  return facets;
}

export function summaryOf(items: readonly ListItem[]): Summary {
  // Each sensitive sample contains one phone number and one email address.
  const sensitive = items.filter((item) => item.sensitive).length;
  const dates = items.flatMap((item) => item.created_at ?? []).sort();
  return {
    versions: items.reduce((sum, item) => sum + item.versions, 0),
    findings: sensitive > 0 ? { phone: sensitive, email: sensitive } : {},
    conversations: new Set(items.flatMap((item) => item.conversation_id ?? [])).size,
    dated: dates.length,
    first: dates[0] ?? null,
    last: dates.at(-1) ?? null,
  };
}

/** The search commands. `searchRows` returns list rows; conversations whose title matches come first. */
export function sampleSearch(
  items: () => readonly ListItem[],
): Pick<Backend, "search" | "searchRows" | "suggestQuery" | "similar" | "encode"> {
  const hitsOf = ({ query, filter, typing }: SearchRequest): Hit[] =>
    filter.kind === "message"
      ? sampleThread.flatMap((each) => messageHit(each, query, typing) ?? [])
      : items().flatMap((each) => (matches(each, filter) && hitOf(each, query, typing)) || []);
  const endOffset = ({ offset, limit }: SearchRequest) => (offset ?? 0) + (limit ?? 20);
  return {
    search: async (request) => {
      items();
      const found = hitsOf(request);
      const hits = found.slice(request.offset ?? 0, endOffset(request));
      return { query: request.query, total: found.length, took_ms: 1.2, hits };
    },
    searchRows: async (request) => {
      const asConversations = request.filter.kind === "conversation";
      const messageHits = hitsOf(
        asConversations ? { ...request, filter: { ...request.filter, kind: "message" } } : request,
      );
      const titles = asConversations && !request.offset ? hitsOf(request).slice(0, 8) : [];
      const page = messageHits.slice(request.offset ?? 0, endOffset(request));
      return {
        rows: rowsOf([...titles, ...page], items(), Boolean(request.filter.trash)),
        total: messageHits.length,
        next_offset: endOffset(request) < messageHits.length ? endOffset(request) : null,
      };
    },
    // The mock knows only that whales are animals, and that records with a common tag are similar.
    similar: async ({ query, id, filter, limit }) => {
      const subject = items().find((each) => each.id === id);
      const isNear = (each: ListItem) =>
        subject
          ? each.id !== id && each.tags.some((tag) => subject.tags.includes(tag))
          : /\banimals\b/i.test(query) && /\bwhales\b/i.test(each.text ?? "");
      const found = items().filter((each) => each.kind === "memory" && matches(each, filter) && isNear(each));
      const rows = found
        .slice(0, limit ?? 10)
        .map((each, place) => ({ ...structuredClone(each), score: 0.9 - place / 20 }));
      return { rows, left: 0, weights: null };
    },
    encode: async () => ({ records: 0, weights: null }),
    // The mock knows only one typing error: a doubled letter.
    suggestQuery: async (request) => {
      const query = request.query.replaceAll(/(\p{L})\1/gu, "$1");
      const kind = request.filter.kind === "conversation" ? "message" : request.filter.kind;
      const found =
        query !== request.query && hitsOf({ ...request, query, filter: { ...request.filter, kind } }).length > 0;
      return found ? query : null;
    },
  };
}

function rowsOf(hits: Hit[], items: readonly ListItem[], trash: boolean): FoundRow[] {
  const rows = new Map<string, FoundRow>();
  for (const hit of hits) {
    const id = hit.kind === "message" ? hit.conversation_id : hit.id;
    const item = items.find((each) => each.id === id);
    if (!item || (item.trashed_at !== null) !== trash) continue;
    const row = rows.get(item.id) ?? { ...structuredClone(item), snippet: null, highlights: [], message: null };
    rows.set(item.id, row);
    if (hit.kind === "conversation" || row.snippet !== null) continue;
    row.snippet = hit.snippet;
    row.highlights = hit.highlights;
    row.message = hit.kind === "message" ? hit.id : null;
  }
  return [...rows.values()];
}
