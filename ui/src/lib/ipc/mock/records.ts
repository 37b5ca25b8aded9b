import type {
  Evidence,
  EvidencePart,
  EvidenceRequest,
  Exported,
  ExportRequest,
  ListItem,
  RecordView,
  ShownRecord,
} from "../backend";
import { ago } from "./data";
import { countBy } from "./redact";

/** How the memories of a source were created. Sources that are not listed have `bio_write`. */
const CREATION_METHODS: Record<string, string> = { me: "written", claude: "conversations_memory" };

/** The imports of each source: how many days ago, and the file. */
const IMPORTS: Record<string, [days: number, file: string][]> = {
  chatgpt: [
    [172, "chatgpt-export-2026-06-01.zip"],
    [8, "chatgpt-export-2026-11-14.zip"],
    [0, "chatgpt-export-2026-11-21.zip"],
  ],
  claude: [[3, "data-2026-11-18.zip"]],
};
const OTHER_IMPORTS: [days: number, file: string][] = [[5, "exports-2026-11-16.zip"]];

/** Where a record was imported from: by the first import of its source after it was created. */
function importOf({ source, created_at }: ListItem): { container: string; imported_at: string } {
  const imports = IMPORTS[source] ?? OTHER_IMPORTS;
  // The import of today ran 30 minutes ago, see `sampleBatches`.
  const times = imports.map(([days, file]) => ({ container: file, imported_at: days === 0 ? ago(0, 30) : ago(days) }));
  const first = times.find(({ imported_at }) => created_at === null || imported_at >= created_at) ?? times.at(-1);
  return { container: `${first?.container ?? ""}!/memories.json`, imported_at: first?.imported_at ?? ago(0) };
}

/** One complete record, as the backend returns it. */
export function recordDetails(
  each: ListItem,
  versions: { version: number; text: string; from: string; cause: string }[] | null,
  verbatim: boolean,
): ShownRecord {
  const link = { origin_id: null, title: null, trashed: false, source: "claude", conversation_id: null };
  const { id, origin_id, kind, type, title, text, created_at, updated_at, status, tags } = structuredClone(each);
  const record: RecordView = {
    ...{ id, origin_id, kind, type, title, text, created_at, updated_at, status, tags, said_by: each.said_by },
    ...{ about: each.about, special: each.special },
    ...{ conversation_id: each.conversation_id, trashed_at: each.trashed_at, redacted: each.redacted },
    observed_at: null,
    valid_from: null,
    valid_to: null,
    last_accessed_at: null,
    confidence: null,
    importance: null,
    sensitivity: null,
    namespace: null,
    source: {
      platform: each.source,
      account: null,
      conversation: each.conversation_id,
      message: null,
      method: CREATION_METHODS[each.source] ?? "bio_write",
      project: null,
    },
    conversation_title: each.conversation_id ? "Waterproofing an old timber bathroom" : null,
    role: null,
    links:
      each.id === "m-0"
        ? [
            {
              ...link,
              relation: "derived_from",
              id: "msg-a2",
              kind: "message",
              text: "We start with the bathroom, kitchen can wait till next year",
              source: "chatgpt",
              conversation_id: "c-bath",
            },
            {
              ...link,
              relation: "related",
              id: "m-1",
              kind: "memory",
              text: "Wants the bathroom floor to carry 2.0 kN/m² plus a cast tub of about 180 kg.",
            },
            {
              ...link,
              relation: "same_words",
              id: "m-11",
              kind: "memory",
              text: "Lives in a wooden house from the 1930s in Bergen",
              source: "chatgpt",
            },
          ]
        : [],
    attachments: [],
    origin: {
      format: each.source,
      version: "2026",
      pointer: "/memories/31",
      digest: "sha256:9c41e07b",
      batch: "b-1",
      ...importOf(each),
    },
    version: each.versions,
    fields: "{}",
  };
  const list = versions ?? [{ version: 1, text: each.text, from: each.created_at ?? ago(1), cause: "import" }];
  return {
    record,
    history: list.map((entry, index) => ({
      ...entry,
      title: null,
      tags: each.tags,
      type: each.type,
      to: list[index - 1]?.from ?? null,
    })),
    verbatim: verbatim
      ? JSON.stringify({ id: each.origin_id, content: each.text, updated_at: each.created_at }, null, 2)
      : null,
  };
}

const countByKind = (items: readonly ListItem[]) => countBy(items.map(({ kind }) => kind));

/** Whether the text for another assistant contains the record. */
const isInText = ({ kind }: ListItem) => kind === "memory" || kind === "profile";

/** The text for another assistant: memories and profile, one per line. */
export const transferText = (items: readonly ListItem[]): string =>
  items
    .filter(isInText)
    .map((each) => `[${each.created_at?.slice(0, 10) ?? "unknown"}] - ${each.text}\n`)
    .join("");

/** The sample losses of an export. Here, only an `.alf` export contains files; all other exports leave them out. */
function lossesOf(format: string, all: readonly ListItem[]): Exported["loss_counts"] {
  if (format === "alf")
    return [
      { field: "tags", kind: "narrowed", count: 1 },
      { field: "importance", kind: "moved_to_extension", count: 182 },
    ];
  const counts = countByKind(all.filter((each) => !isInText(each)));
  const isText = format === "transfer_text";
  return [
    { field: "record", kind: "left_out", count: isText ? (counts.conversation ?? 0) : 0 },
    { field: isText ? "attachment" : "bytes", kind: "left_out", count: counts.attachment ?? 0 },
  ].filter(({ count }) => count > 0);
}

/** The result of an export. If `saved` is false, that of its preview, which is neither signed nor validated. */
export function sampleExport(
  { format, out, cover }: ExportRequest,
  all: readonly ListItem[],
  sensitive: number,
  saved: boolean,
): Exported {
  const isText = format === "transfer_text";
  const items = isText ? all.filter(isInText) : all;
  const signed = saved && !isText;
  return {
    path: out,
    format,
    covered: cover ? sensitive : 0,
    version: "1.1",
    records: items.length,
    by_kind: countByKind(items),
    bytes: saved ? 184_000_000 : 0,
    digest: "sha256 9c41 e07b 55a2 fd30 18c6 2e9f",
    validated: saved,
    first_error: null,
    errors: 0,
    signature: {
      present: signed,
      algorithm: "ed25519",
      valid: signed ? true : null,
      trusted: null,
      key: signed ? "7f".repeat(32) : null,
    },
    losses:
      format === "alf"
        ? [
            { record: "m-0", field: "tags", kind: "narrowed", note: "Spaces become underscores" },
            {
              record: "m-1",
              field: "importance",
              kind: "moved_to_extension",
              note: "Kept in metadata, come back on import",
            },
          ]
        : [],
    loss_counts: lossesOf(format, all),
    withheld: [],
    note: null,
  };
}

/** The evidence pack of a vault with this many deletions and entries in its log. */
export function sampleEvidence(
  out: string,
  { sign, parts }: EvidenceRequest,
  deletions: number,
  logged: number,
): Evidence {
  const ifChosen = (part: EvidencePart, n: number) => (parts === null || parts.includes(part) ? n : 0);
  return {
    path: out,
    tombstones: ifChosen("tombstones", deletions),
    audit_entries: ifChosen("log", logged),
    provenance_edges: ifChosen("tombstones", 41),
    receipts: ifChosen("tombstones", deletions),
    transfers: ifChosen("transfers", 6),
    validated: true,
    signed: sign,
  };
}

/** The versions of sample memories, by id of the memory and newest first. */
export const sampleHistory = () =>
  new Map<string, { version: number; text: string; from: string; cause: string }[]>([
    [
      "m-0",
      [
        {
          version: 3,
          text: "Is renovating a wooden house from 1934 in Sandviken; the bathroom comes first, the kitchen next year.",
          from: ago(0),
          cause: "import",
        },
        {
          version: 2,
          text: "Is renovating a wooden house from 1934 in Sandviken; the bathroom comes first.",
          from: ago(156),
          cause: "edit",
        },
        {
          version: 1,
          text: "Is renovating a wooden house from the 1950s in Sandviken; the bathroom comes first.",
          from: ago(172),
          cause: "import",
        },
      ],
    ],
  ]);
