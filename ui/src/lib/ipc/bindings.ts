// Hand-written until the Rust side generates it (tauri-specta). Do not add anything by hand that Rust does not export.
import { Channel, invoke } from "@tauri-apps/api/core";

export type Result<T, E> = { status: "ok"; data: T } | { status: "error"; error: E };

/** Ids that an operation touched. */
export type Ids = {
  ids: string[];
};

/** One span of `text` in Unicode code points, end exclusive, with the class written in its place. */
export type Span = {
  start: number;
  end: number;
  /** Lower snake case; default `removed`. */
  class: string | null;
};

/** Irreversible redaction. */
export type RedactRequest = {
  id: string;
  spans: Span[];
  /** Also where the same words stand in other records. */
  everywhere: boolean;
};

/** Result of a redaction. */
export type Redacted = {
  id: string;
  /** Records changed, this one included. */
  redacted: number;
  tombstone: TombstoneView;
  receipt: Receipt;
};

/** Erase these records; with `dry_run` only say what would go. */
export type EraseRequest = {
  ids: string[];
  reason: string | null;
  /** Also redact other records that say the same. */
  with_copies: boolean;
  /** Only these copies; null = all that were found. */
  copies: string[] | null;
};

/** Another record that says the same. */
export type Copy = {
  id: string;
  kind: string;
  text: string;
  source: string;
  conversation_id: string | null;
  conversation_title: string | null;
  created_at: string | null;
};

/** What an erasure would take with it. */
export type Impact = {
  records: number;
  versions: number;
  derived: number;
  links: number;
  attachments: number;
  /** Passthrough parts of imports that hold the words. */
  passthrough: number;
  copies: Copy[];
  /** Ids of everything that would go. */
  ids: string[];
};

/** One place looked at by the independent check. */
export type ReceiptPlace = {
  /** `record`, `history`, `verbatim`, `search_index`, `database_pages`, `attachments`, `passthrough`, `write_ahead_log`, `temporary_files` … */
  place: string;
  /** `erased`, `redacted`, `not_present` or `failed`. */
  outcome: string;
  detail: string;
};

/** Proof of reach. `complete` only if no place failed. */
export type Receipt = {
  id: string;
  at: string;
  complete: boolean;
  places: ReceiptPlace[];
  /** Records that still say the same and were left. */
  copies_left: number;
};

/** A signed tombstone; it holds no content. */
export type TombstoneView = {
  id: string;
  /** `delete` or `redact`. */
  op: string;
  target_kind: string;
  target_id: string;
  origin_id: string | null;
  source: string | null;
  at: string;
  actor: string;
  reason: string | null;
  /** Ids of every derived artifact that went with it. */
  derived: string[];
  signature: string;
  /** Checked when listed. */
  signature_valid: boolean;
  /** The receipt it belongs to, with its outcome. */
  receipt: string | null;
  complete: boolean | null;
};

/** Result of an erasure. */
export type Erased = {
  tombstones: TombstoneView[];
  receipt: Receipt;
  /** Records redacted because they said the same. */
  copies_redacted: number;
};

/** Result of `erase --dry-run`. */
export type ErasePreview = {
  impact: Impact;
};

/** All tombstones, newest first. */
export type Tombstones = {
  tombstones: TombstoneView[];
};

/** What to write. */
export type ExportRequest = {
  /** `mem` or `alf`. */
  format: string;
  out: string;
  filter: Filter;
  /** Replace an export that is already there. */
  overwrite: boolean;
};

/** What another program would not see. */
export type Loss = {
  record: string;
  field: string;
  /** `moved_to_extension`, `narrowed`, `left_out`. */
  kind: string;
  note: string;
};

/** Records that stayed behind, by reason. */
export type Withheld = {
  reason: string;
  count: number;
};

/** Result of an export, or its preview (`bytes` 0, `validated` false, nothing written). */
export type Exported = {
  path: string;
  format: string;
  version: string;
  records: number;
  by_kind: Record<string, number>;
  bytes: number;
  /** `.mem`: the bundle digest; `.alf`: SHA-256 of the file. */
  digest: string;
  /** Read back and valid. */
  validated: boolean;
  signature: SignatureInfo;
  losses: Loss[];
  /** Losses beyond the listed ones, by field. */
  loss_counts: Record<string, number>;
  withheld: Withheld[];
};

/** One recognised part of a source. */
export type PartInfo = {
  path: string;
  format: string | null;
  /** `conversations`, `memories`, `attachment`, `manifest`, `sidecar`, `duplicate_rendering` … */
  role: string;
};

/** Another format it could be. */
export type Candidate = {
  format: string;
  /** 0..1 */
  confidence: number;
  reason: string;
};

/** What a dropped path is. `format` is null for a tie (see `candidates`) or an unknown kind. */
export type Detection = {
  path: string;
  format: string | null;
  version: string | null;
  confidence: number;
  reason: string;
  parts: PartInfo[];
  missing_parts: string[];
  candidates: Candidate[];
};

/** One result for each given path. */
export type Detections = {
  results: Detection[];
};

/** What to import and how. */
export type ImportRequest = {
  paths: string[];
  /** Pasted text instead of paths. */
  text: string | null;
  /** A format chosen by the person; null = detect. */
  format: string | null;
  /** Allow this many streamed bytes where the default limit asked. */
  limit_bytes: number | null;
  /** Let records in that are held back because the same was deleted before. */
  let_in: boolean;
};

/** Outcome counts; `found` is always the sum of the others. */
export type Outcome = {
  found: number;
  added: number;
  updated: number;
  unchanged: number;
  blocked: number;
  skipped: number;
  failed: number;
};

/** Attachments that messages name, and how many bytes of them are in the input. */
export type AttachmentCounts = {
  referenced: number;
  present: number;
};

/** Something worth knowing that did not cost a record. */
export type Warning = {
  code: string;
  place: string;
  message: string;
  count: number;
};

/** Anything that was not plainly added. */
export type ReportItem = {
  place: string;
  /** `updated`, `unchanged`, `blocked`, `skipped` or `failed`. */
  outcome: string;
  reason: string;
};

/** Result of an import, of its preview (`dry_run`), and the report kept with the batch. */
export type ImportReport = Outcome & {
  /** Empty for a dry run. */
  batch: string;
  format: string | null;
  version: string | null;
  dry_run: boolean;
  by_kind: Record<string, Outcome>;
  tombstones_applied: number;
  conversations: number;
  messages: number;
  memories: number;
  attachments: AttachmentCounts;
  missing_parts: string[];
  warnings: Warning[];
  items: ReportItem[];
  /** Per source in the drop: what it is. */
  sources: Detection[];
};

/** Progress of a job, at most about ten a second. */
export type Progress = {
  /** Import: `detect`, `read`, `store`, `index`, `check`; export: `collect`, `write`, `validate`; erase: place names. */
  stage: string;
  done: number;
  /** 0 when unknown. */
  total: number;
  /** Bytes, or records, as the stage says. */
  unit: string;
  records: number;
};

/** One batch. */
export type BatchInfo = {
  batch: string;
  at: string;
  format: string | null;
  /** File names only. */
  names: string[];
  added: number;
  updated: number;
  undone: boolean;
  /** Records of it that were edited since; undo would take the edits back as well. */
  edited_since: number;
};

/** All batches, newest first. */
export type Batches = {
  batches: BatchInfo[];
};

/** Result of taking a batch back. */
export type Undone = {
  removed: number;
};

/** One problem found by a validator. */
export type Finding = {
  code: string;
  place: string;
  message: string;
};

/** State of a signature. */
export type SignatureInfo = {
  present: boolean;
  algorithm: string | null;
  valid: boolean | null;
  trusted: boolean | null;
  key: string | null;
};

/** Result of `validate`. */
export type Validation = {
  ok: boolean;
  format: string | null;
  version: string | null;
  level: string | null;
  records: number;
  kind: string | null;
  signature: SignatureInfo;
  errors: Finding[];
  warnings: Finding[];
};

/** Filters of `list`, `search` and `export`. All given ones must hold. */
export type Filter = {
  /** `memory`, `conversation`, `message`, `fact`, `profile`, `attachment` … */
  kind: string | null;
  /** Platform: `chatgpt`, `claude`, `me` … */
  source: string | null;
  status: string | null;
  tag: string | null;
  /** The record's own type (`preference`, `semantic` …). */
  record_type: string | null;
  /** RFC 3339 or a date; inclusive. */
  since: string | null;
  /** RFC 3339 or a date; inclusive. */
  until: string | null;
  /** List the Trash instead. */
  trash: boolean;
  /** Only these ids. */
  ids: string[] | null;
};

/** Page request. `sort`: `newest` (default), `oldest`, `title`. */
export type ListRequest = {
  filter: Filter;
  sort: string | null;
  /** 1..1000, default 50. */
  limit: number | null;
  cursor: string | null;
};

/** One row. */
export type ListItem = {
  id: string;
  origin_id: string | null;
  kind: string;
  type: string | null;
  title: string | null;
  /** The text, at most 500 characters of it. */
  text: string;
  source: string;
  created_at: string | null;
  updated_at: string | null;
  status: string | null;
  tags: string[];
  /** Versions kept, the current one included. */
  versions: number;
  redacted: boolean;
  /** Conversations: messages in it, its memories, attachments and whether it branches. */
  message_count: number;
  memory_count: number;
  attachment_count: number;
  branched: boolean;
  /** Trash only: when it was deleted and when it goes for good. */
  trashed_at: string | null;
  expires_at: string | null;
  /** Attachments: size, media type, and whether the bytes are in the vault. */
  size: number | null;
  media_type: string | null;
  present: boolean | null;
  conversation_id: string | null;
};

/** One page; `total` counts all that the filter finds. */
export type Page = {
  items: ListItem[];
  next_cursor: string | null;
  total: number;
};

/** Numbers beside the filters: how many by source, type, tag. */
export type Facets = {
  sources: Record<string, number>;
  types: Record<string, number>;
  tags: Record<string, number>;
};

/** Where exactly a record came from. */
export type OriginInfo = {
  format: string;
  version: string | null;
  /** File, then entries inside, joined by `!/`. */
  container: string;
  /** JSON pointer, line or offset inside it. */
  pointer: string;
  digest: string | null;
  batch: string | null;
  /** When the vault took it in. */
  imported_at: string;
};

/** A link from one record to another. */
export type LinkInfo = {
  /** `derived_from`, `supersedes`, `same_words`, `related` … */
  relation: string;
  id: string | null;
  origin_id: string | null;
  kind: string | null;
  title: string | null;
  text: string | null;
  source: string | null;
  conversation_id: string | null;
};

/** An attachment of a record. */
export type AttachmentInfo = {
  id: string;
  name: string;
  media_type: string | null;
  size: number | null;
  /** False: named by the export, not in it. */
  present: boolean;
};

/** Where a memory came from, in words. */
export type SourceFields = {
  platform: string;
  account: string | null;
  conversation: string | null;
  message: string | null;
  /** `bio_write`, `model_set_context`, `custom_instructions`, `conversations_memory`, `pasted`, `written` … */
  method: string | null;
  project: string | null;
};

/** One record, whole. */
export type RecordView = {
  id: string;
  origin_id: string | null;
  kind: string;
  type: string | null;
  title: string | null;
  text: string;
  created_at: string | null;
  updated_at: string | null;
  observed_at: string | null;
  valid_from: string | null;
  valid_to: string | null;
  last_accessed_at: string | null;
  status: string | null;
  tags: string[];
  confidence: number | null;
  importance: number | null;
  sensitivity: string | null;
  namespace: string | null;
  source: SourceFields;
  conversation_id: string | null;
  conversation_title: string | null;
  role: string | null;
  links: LinkInfo[];
  attachments: AttachmentInfo[];
  origin: OriginInfo;
  version: number;
  trashed_at: string | null;
  redacted: boolean;
  /** Kind-specific fields, as JSON text. */
  fields: string;
};

/** One version of a record; the first entry is the current one. */
export type VersionInfo = {
  version: number;
  text: string;
  title: string | null;
  tags: string[];
  type: string | null;
  /** When this version became current. */
  from: string;
  /** When it was superseded; null for the current one. */
  to: string | null;
  /** `import`, `edit`, `restore`, `redact`. */
  cause: string;
};

/** `show`. */
export type Shown = {
  record: RecordView;
  history: VersionInfo[] | null;
  /** The source's own text of this record. */
  verbatim: string | null;
};

/** One message of a thread. */
export type ThreadMessage = {
  id: string;
  origin_id: string | null;
  parent_id: string | null;
  /** `user`, `assistant`, `system`, `tool`. */
  role: string;
  text: string;
  created_at: string | null;
  hidden: boolean;
  /** 0 = on the active path, else the number of the branch. */
  branch: number;
  attachments: AttachmentInfo[];
  /** `text`, `thinking`, `tool_call`, `tool_result`, `code`, `context` … */
  content_type: string;
  model: string | null;
  /** Siblings in order, this one included; more than one = a branch point. */
  siblings: string[];
  /** Memories taken from this message. */
  memories: LinkInfo[];
};

/** A conversation with all its branches. */
export type Thread = {
  conversation: RecordView;
  messages: ThreadMessage[];
  active_path: string[];
};

/** Search request. */
export type SearchRequest = {
  query: string;
  filter: Filter;
  /** 1..1000, default 20. */
  limit: number | null;
  offset: number | null;
};

/** One hit. */
export type Hit = {
  id: string;
  origin_id: string | null;
  kind: string;
  type: string | null;
  conversation_id: string | null;
  title: string | null;
  snippet: string;
  /** Ranges in code points of `snippet`. */
  highlights: [number, number][];
  score: number;
  created_at: string | null;
  source: string;
};

/** Answer of `search`. */
export type SearchResult = {
  query: string;
  /** All matching records. */
  total: number;
  took_ms: number;
  hits: Hit[];
};

/** A memory written by hand. */
export type AddRequest = {
  type: string | null;
  text: string;
  tags: string[];
};

/** A new version; absent fields stay as they are. */
export type EditRequest = {
  id: string;
  text: string | null;
  title: string | null;
  tags: string[] | null;
  type: string | null;
};

/** Result of an edit. */
export type Edited = {
  id: string;
  version: number;
};

/** An error as the command line prints it and the window shows it. */
export type ErrorBody = {
  /** Stable, lower snake case. */
  code: string;
  /** What happened, what was kept, what to do. Never record content, passphrases or keys. */
  message: string;
  /** Facts for programs (paths, counts, positions). */
  details: Record<string, string>;
};

/** Result of creating a vault. The recovery code is shown once. */
export type Created = {
  vault_id: string;
  path: string;
  /** Eight groups of four characters, joined by `-`. */
  recovery_code: string;
};

/** A vault that was open before, remembered by path only. */
export type RecentVault = {
  path: string;
  name: string;
  /** False when the folder is not there now. */
  present: boolean;
};

/** Strength of a passphrase as it is typed; nothing is stored. */
export type PassphraseStrength = {
  /** 0 very weak .. 4 strong; 2 ("Fair") is the minimum. */
  score: number;
  label: string;
  /** One concrete reason when it is refused. */
  reason: string | null;
};

/** State of the window's session. */
export type SessionState = {
  open: boolean;
  vault_id: string | null;
  name: string | null;
  path: string | null;
  /** Minutes without input before the vault locks itself; 0 = never. */
  auto_lock_minutes: number;
};

/** State of the search index. */
export type IndexInfo = {
  /** `current`, `rebuilding`, `rebuilt` (this session, after a failed check) or `stale`. */
  state: string;
  documents: number;
};

/** What one assistant contributed. */
export type SourceInfo = {
  platform: string;
  format: string;
  counts: Record<string, number>;
  /** Time of the newest record from it. */
  newest_at: string | null;
};

/** What is in the vault. Trashed records are only in `trash`. */
export type VaultInfo = {
  vault_id: string;
  path: string;
  schema_version: number;
  created_at: string;
  counts: Record<string, number>;
  sources: SourceInfo[];
  trash: number;
  tombstones: number;
  index: IndexInfo;
  bytes: number;
};

/** Key slots after a change. */
export type Slots = {
  slots: SlotInfo[];
};

/** One key slot, without secrets. */
export type SlotInfo = {
  /** `passphrase` or `recovery`. */
  kind: string;
  created_at: string;
  /** Argon2id memory in KiB, passes, lanes. */
  memory_kib: number;
  passes: number;
  lanes: number;
};

/** Integrity of the vault, place by place. */
export type CheckReport = {
  ok: boolean;
  places: CheckPlace[];
};

/** One checked place: `header`, `pages`, `index`, `blobs`, `audit`, `references`. */
export type CheckPlace = {
  place: string;
  ok: boolean;
  detail: string;
};

/** One audit entry; never content. */
export type AuditEntry = {
  seq: number;
  at: string;
  actor: string;
  /** `import`, `undo_import`, `add`, `edit`, `delete`, `restore`, `redact`, `erase`, `export`, `passwd` … */
  op: string;
  target: string;
  detail: string;
};

/** The audit log; `verified` only after the chain and its signatures were checked. */
export type AuditLog = {
  entries: AuditEntry[];
  verified: boolean | null;
};

export const commands = {
  sessionState: () => call<SessionState>("session_state"),
  recentVaults: () => call<RecentVault[]>("recent_vaults"),
  forgetRecent: (path: string) => call<null>("forget_recent", { path }),
  defaultVaultFolder: () => call<string>("default_vault_folder"),
  passphraseStrength: (passphrase: string) => call<PassphraseStrength>("passphrase_strength", { passphrase }),
  suggestPassphrase: () => call<string>("suggest_passphrase"),
  createVault: (path: string, passphrase: string) => call<Created>("create_vault", { path, passphrase }),
  unlock: (path: string, secret: string) => call<SessionState>("unlock", { path, secret }),
  lock: () => call<null>("lock"),
  setAutoLock: (minutes: number) => call<null>("set_auto_lock", { minutes }),
  touch: () => call<null>("touch"),
  changePassphrase: (secret: string, newPassphrase: string) => call<Slots>("change_passphrase", { secret, newPassphrase }),
  vaultInfo: () => call<VaultInfo>("vault_info"),
  checkVault: (rebuildIndex: boolean) => call<CheckReport>("check_vault", { rebuildIndex }),
  audit: (verify: boolean) => call<AuditLog>("audit", { verify }),
  detect: (paths: string[]) => call<Detections>("detect", { paths }),
  importPreview: (jobId: string, request: ImportRequest, onProgress: Channel<Progress>) => call<ImportReport>("import_preview", { jobId, request, onProgress }),
  importRun: (jobId: string, request: ImportRequest, onProgress: Channel<Progress>) => call<ImportReport>("import_run", { jobId, request, onProgress }),
  cancelJob: (jobId: string) => call<null>("cancel_job", { jobId }),
  imports: () => call<Batches>("imports"),
  importReport: (batch: string) => call<ImportReport>("import_report", { batch }),
  undoImport: (batch: string) => call<Undone>("undo_import", { batch }),
  list: (request: ListRequest) => call<Page>("list", { request }),
  facets: (filter: Filter, query: string | null) => call<Facets>("facets", { filter, query }),
  show: (id: string, history: boolean, verbatim: boolean) => call<Shown>("show", { id, history, verbatim }),
  thread: (id: string) => call<Thread>("thread", { id }),
  search: (request: SearchRequest) => call<SearchResult>("search", { request }),
  attachment: (id: string) => call<number[]>("attachment", { id }),
  add: (request: AddRequest) => call<Ids>("add", { request }),
  edit: (request: EditRequest) => call<Edited>("edit", { request }),
  restoreVersion: (id: string, version: number) => call<Edited>("restore_version", { id, version }),
  redact: (request: RedactRequest) => call<Redacted>("redact", { request }),
  trash: (ids: string[]) => call<Ids>("trash", { ids }),
  restore: (ids: string[]) => call<Ids>("restore", { ids }),
  erasePreview: (request: EraseRequest) => call<ErasePreview>("erase_preview", { request }),
  erase: (jobId: string, request: EraseRequest, onProgress: Channel<Progress>) => call<Erased>("erase", { jobId, request, onProgress }),
  tombstones: () => call<Tombstones>("tombstones"),
  receipt: (id: string) => call<Receipt>("receipt", { id }),
  exportPreview: (jobId: string, request: ExportRequest, onProgress: Channel<Progress>) => call<Exported>("export_preview", { jobId, request, onProgress }),
  exportRun: (jobId: string, request: ExportRequest, onProgress: Channel<Progress>) => call<Exported>("export_run", { jobId, request, onProgress }),
  chooseFiles: () => call<string[]>("choose_files"),
  chooseFolder: () => call<string | null>("choose_folder"),
  chooseSave: (suggestedName: string) => call<string | null>("choose_save", { suggestedName }),
  chooseVault: () => call<string | null>("choose_vault"),
  saveText: (suggestedName: string, text: string) => call<string | null>("save_text", { suggestedName, text }),
  openLink: (url: string) => call<null>("open_link", { url }),
  showInFolder: (path: string) => call<null>("show_in_folder", { path }),
  print: () => call<null>("print"),
};

async function call<T>(command: string, args?: Record<string, unknown>): Promise<Result<T, ErrorBody>> {
  try {
    return { status: "ok", data: await invoke<T>(command, args) };
  } catch (error) {
    if (error instanceof Error) throw error;
    return { status: "error", error: error as ErrorBody };
  }
}
