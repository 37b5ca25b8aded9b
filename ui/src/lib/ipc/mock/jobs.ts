import {
  BackendError,
  type ComingItem,
  type Detection,
  type ErrorBody,
  type ImportReport,
  type ImportRequest,
  type Outcome,
  type Progress,
  type Receipt,
  type ReportItem,
  type TombstoneView,
} from "../backend";
import { ago } from "./data";

export function failWith(code: string, message: string, details: ErrorBody["details"] = {}): BackendError {
  return new BackendError({ code, message, details });
}

/** An import without files or text. */
export const emptyImportRequest: ImportRequest = {
  paths: [],
  text: null,
  format: null,
  limit_bytes: null,
  include_blocked: false,
  accept_invalid_signature: false,
  merge: null,
  salvage: false,
};

const cancelledJobs = new Set<string>();
export const cancelSampleJob = (id: string) => void cancelledJobs.add(id);

/** The stages in which a job hangs if a step takes for ever. */
const HANGING_STAGES = ["store", "scan", "index_damaged"];
/**
 * A job waits for this many milliseconds before it hangs in the stage `store`, so that the window can compute its rate.
 */
const RATE_MS = 600;

const pause = (ms: number) => new Promise<void>((done) => void setTimeout(done, ms));

/**
 * Runs through these stages step by step, like a job of the backend. `stepMs` is the duration of a step. If it is 0, the
 * job ends immediately. If it is Infinity, the job hangs in the first of the `HANGING_STAGES`.
 */
export async function runStages(
  id: string,
  stages: string[],
  records: number,
  stepMs: number,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  for (const stage of stages) {
    for (let step = 1; step <= 8; step += 1) {
      if (cancelledJobs.has(id)) throw failWith("cancelled", "Cancelled. Nothing was kept.");
      const countsBytes = stage === "read" || stage === "store" || stage === "copy";
      const total = countsBytes ? 1_800_000_000 : records;
      onProgress({
        stage,
        done: Math.round((total * step) / 8),
        total,
        unit: countsBytes ? "bytes" : "records",
        records: Math.round((records * step) / 8),
      });
      if (stepMs !== Infinity) {
        if (stepMs > 0) await pause(stepMs);
      } else if (HANGING_STAGES.includes(stage) && step > 2) {
        if (step > 3) await new Promise(() => undefined);
        if (stage === "store") await pause(RATE_MS);
      }
    }
  }
}

const outcome = (
  added: number,
  updated: number,
  unchanged: number,
  blocked: number,
  skipped: number,
  failed: number,
): Outcome => ({
  found: added + updated + unchanged + blocked + skipped + failed,
  added,
  updated,
  unchanged,
  blocked,
  skipped,
  failed,
});

/** The passphrase of the encrypted samples. */
export const FILE_PASSPHRASE = "river lamp";

export function sampleDetection(path: string, opened = false): Detection {
  const name = path.split("/").pop() ?? path;
  const encrypted = /encrypted/.test(name) && !opened;
  const base = {
    path,
    version: null,
    confidence: 0,
    encrypted,
    parts: [],
    missing_parts: [],
    candidates: [],
    tie: false,
  };
  if (encrypted) return { ...base, format: null, reason: "encrypted" };
  if (/chatgpt/.test(name)) {
    return {
      ...base,
      format: "chatgpt",
      version: "2026 layout",
      confidence: 0.98,
      reason: "ChatGPT export",
      parts: [{ path: "conversations-000.json", format: "chatgpt", role: "conversations" }],
    };
  }
  if (/claude|data-/.test(name)) return { ...base, format: "claude", confidence: 0.97, reason: "Claude export" };
  if (name.endsWith(".mem"))
    return { ...base, format: "mem", version: "1.1", confidence: 1, reason: "Portable Memory" };
  if (name.endsWith(".alf"))
    return { ...base, format: "alf", version: "1.0", confidence: 1, reason: "Agent Life Format" };
  if (/\.md$/.test(name)) {
    const candidates = [
      { format: "markdown", confidence: 0.5, reason: "headings and paragraphs" },
      { format: "transfer_text", confidence: 0.5, reason: "one memory on each line" },
    ];
    return { ...base, format: null, reason: "tie", candidates, tie: true };
  }
  const candidates = [
    { format: "transfer_text", confidence: 0.5, reason: "Plain text: one memory per paragraph" },
    { format: "kept_file", confidence: 0.1, reason: "can be kept as a file, without being understood" },
  ];
  return { ...base, format: null, reason: "unknown", candidates };
}

const NOT_ADDED: ReportItem[] = [
  {
    kind: "conversation",
    place: "conversations-003.json#/411",
    outcome: "failed",
    reason: "malformed: its `mapping` is not an object of messages",
  },
  {
    kind: "message",
    place: "conversations-007.json#/87/9d1f",
    outcome: "failed",
    reason: "too_large: this message is larger than the limit",
  },
  { kind: "memory", place: "memories.json#/30", outcome: "blocked", reason: "same words deleted before" },
  { kind: "attachment", place: "file-service/9fK2.dat", outcome: "skipped", reason: "no_content: 0 bytes" },
  { kind: "attachment", place: "file-service/Qm71.dat", outcome: "skipped", reason: "no_content: 0 bytes" },
  { kind: "attachment", place: "chat.html", outcome: "skipped", reason: "duplicate_rendering" },
];
const SKIP_REASONS = [
  ["updated", "changed at the source"],
  ["unchanged", "same"],
  ["blocked", "deleted before"],
  ["skipped", "no_content: 0 bytes"],
  ["failed", "malformed"],
] as const;
const FILE_BY_KIND: Record<string, string> = { memory: "memories.json", attachment: "files.json" };
/** Maximum number of listed items per kind and outcome; further items are only counted. */
const MAX_LISTED = 200;

const numberedPlaces = (n: number, place: (index: number) => string) =>
  Array.from({ length: n }, (_, index) => place(index));

/** The items that were not added as new, at most `MAX_LISTED` of each kind and outcome. */
function itemsNotAdded(by_kind: Record<string, Outcome>): ReportItem[] {
  return Object.entries(by_kind).flatMap(([kind, numbers]) =>
    SKIP_REASONS.flatMap(([outcome, reason]) => {
      const listed = NOT_ADDED.filter((item) => item.kind === kind && item.outcome === outcome).slice(
        0,
        numbers[outcome],
      );
      const others = Math.min(MAX_LISTED, numbers[outcome]) - listed.length;
      const file = FILE_BY_KIND[kind] ?? "conversations-000.json";
      const places = numberedPlaces(others, (index) => `${file}#/${index}`);
      return [...listed, ...places.map((place) => ({ kind, place, outcome, reason }))];
    }),
  );
}

/** The items that the import would add, at most `MAX_LISTED` of each kind. */
function itemsToAdd(by_kind: Record<string, Outcome>): ComingItem[] {
  return Object.entries(by_kind).flatMap(([kind, { added }]) =>
    numberedPlaces(
      Math.min(MAX_LISTED, added),
      (index) => `${FILE_BY_KIND[kind] ?? "conversations-000.json"}#/${index}`,
    ).map((place, index) => ({
      kind,
      place,
      text: `What the new ${kind} ${index + 1} begins with`,
    })),
  );
}

/** Report of the import of a small file in a portable format, or of files that are kept without being read. */
function smallReport(request: ImportRequest, format: string, dryRun: boolean): ImportReport {
  const isKept = format === "kept_file";
  const all = isKept ? outcome(request.paths.length, 0, 0, 0, 0, 0) : outcome(6, 1, 41, 0, 0, 0);
  const by_kind = { [isKept ? "resource" : "memory"]: all };
  return {
    ...all,
    batch: dryRun ? "" : `batch-new-${format}`,
    format,
    version: null,
    dry_run: dryRun,
    by_kind,
    tombstones_applied: 0,
    conversations: 0,
    messages: 0,
    memories: isKept ? 0 : all.found,
    attachments: { referenced: 0, present: 0 },
    missing_attachments: 0,
    missing_parts: [],
    salvaged: request.salvage,
    missing: request.salvage ? MISSING_PARTS : [],
    missing_files: [],
    invalid_signatures: dryRun ? request.paths.filter((path) => path.includes("forged")) : [],
    warnings: [],
    items: [],
    coming: dryRun && !isKept ? itemsToAdd({ memory: all }) : [],
    sources: request.paths.map((path) => sampleDetection(path, true)),
    gone: {},
  };
}

/** The missing and damaged parts of a file whose path contains `damaged`. */
const MISSING_PARTS = [
  { place: "garden.mem/items/episode.jsonl", reason: "checksum_mismatch: checksum mismatch: items/episode.jsonl" },
  { place: "garden.mem/items/fact.jsonl", reason: "file_missing: listed file missing: items/fact.jsonl" },
];

const MISSING_FILES = ["9fK2.dat", "floor-plan.pdf", "joists.jpg", "offer-2.pdf", "Qm71.dat", "tiles.heic", "Zk81.png"];

/**
 * A sample report of an import, chosen by the first path. `gone` says how many records of each kind are missing from
 * the newest export. Throws if every path contains `broken`, or if the first path contains `damaged` and `salvage` was
 * not requested.
 */
export function sampleReport(request: ImportRequest, dryRun: boolean, gone: Record<string, number> = {}): ImportReport {
  const path = request.paths[0] ?? "";
  if (request.paths.length > 0 && request.paths.every((each) => each.includes("broken")))
    throw failWith("malformed", "It is cut off.", { place: path });
  if (path.includes("damaged") && !request.salvage)
    throw failWith("checksum_mismatch", "The file does not match its manifest.", { place: path, salvage: "true" });
  const format = request.format ?? sampleDetection(path, true).format ?? "chatgpt";
  if (format !== "chatgpt") return smallReport(request, format, dryRun);
  const blocked = request.include_blocked ? 0 : 12;
  const by_kind = {
    memory: outcome(14 + (12 - blocked) / 6, 5, 186, blocked / 6, 0, 1),
    conversation: outcome(25, 31, 1790, blocked / 12, 0, 1),
    message: outcome(612, 4, 40_752, (blocked * 3) / 4, 0, 3),
    attachment: outcome(18, 0, 190, 0, 6, 0),
  };
  const sum = (key: keyof Outcome) => Object.values(by_kind).reduce((all, each) => all + each[key], 0);
  return {
    batch: dryRun ? "" : "batch-new",
    format: "chatgpt",
    version: "2026 layout",
    dry_run: dryRun,
    found: sum("found"),
    added: sum("added"),
    updated: sum("updated"),
    unchanged: sum("unchanged"),
    blocked: sum("blocked"),
    skipped: sum("skipped"),
    failed: sum("failed"),
    by_kind,
    tombstones_applied: 0,
    conversations: 1848,
    messages: 41_380,
    memories: 208,
    attachments: { referenced: 214, present: 207 },
    missing_attachments: MISSING_FILES.length,
    missing_parts: [],
    salvaged: false,
    missing: [],
    missing_files: dryRun ? MISSING_FILES : [],
    invalid_signatures: [],
    warnings: [],
    items: itemsNotAdded(by_kind),
    coming: dryRun ? itemsToAdd(by_kind) : [],
    sources: request.paths.map((path) => sampleDetection(path, true)),
    gone,
  };
}

/** The places of a receipt for this number of records, with details as the core words them. */
const receiptPlaces = (records: number): [string, string, string][] => [
  ["record", "erased", `${records} records, their versions, verbatim texts, links and vectors`],
  ["database_pages", "not_present", "1840 pages searched for 62 traces"],
  ["write_ahead_log", "erased", "written back and truncated"],
  ["search_index", "erased", `9 files, ${records * 14} words and ${records} rows looked for`],
  ["attachments", "erased", "1 files"],
  ["verbatim", "erased", "5 parts of imports searched"],
  ["temporary_files", "not_present", "none"],
];

/**
 * A sample receipt. `copies`: how many messages with the same content were redacted, and how many were left unchanged.
 * `at`: the time of the deletion, which is now if not given.
 */
export function sampleReceipt(
  id: string,
  failedPlace: string | null = null,
  copies: { redacted: number | null; left: number } = { redacted: 2, left: 0 },
  { at = new Date().toISOString(), records = 1 } = {},
): Receipt {
  return {
    id,
    at,
    complete: failedPlace === null,
    places: receiptPlaces(records).map(([place, result, detail]) =>
      place === failedPlace
        ? { place, outcome: "failed", detail: "the disk is read-only" }
        : { place, outcome: result, detail },
    ),
    copies_left: copies.left,
    copies_redacted: copies.redacted,
  };
}

/** The receipt of deletions that are in the log. */
export function storedReceipt(id: string, tombstones: readonly TombstoneView[]): Receipt {
  const found = tombstones.filter((tombstone) => tombstone.receipt === id);
  const failedPlace = found[0]?.complete === false ? "attachments" : null;
  const records = found.reduce((sum, { derived }) => sum + 1 + derived.length, 0);
  return sampleReceipt(id, failedPlace, undefined, { at: found[0]?.at, records: Math.max(1, records) });
}

export function sampleTombstone(
  id: string,
  op: string,
  kind: string,
  source: string,
  days: number,
  complete = true,
): TombstoneView {
  return {
    id,
    op,
    target_kind: kind,
    target_id: `m-${id}`,
    origin_id: null,
    source,
    at: ago(days),
    actor: "user",
    reason: null,
    derived: [],
    signature: "ed25519:9f3a",
    signature_valid: true,
    receipt: `rc_${id}`,
    complete,
  };
}

/** Sample tombstones, newest first. */
export const sampleTombstones = (): TombstoneView[] => [
  sampleTombstone("ts_01JD4V8QN3", "delete", "memory", "chatgpt", 0.1),
  sampleTombstone("ts_01JCM2T0R7", "redact", "memory", "gemini", 7),
  // The messages to which the file was attached were erased with it.
  { ...sampleTombstone("ts_01JBQ77XE1", "delete", "attachment", "claude", 19, false), derived: ["msg-c1", "msg-c2"] },
];
