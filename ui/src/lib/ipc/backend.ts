import type * as b from "./bindings";

export type * from "./bindings";

/** Everything the window can ask for. Two implementations: Tauri, and sample data in memory. */
export interface Backend {
  sessionState(): Promise<b.SessionState>;
  recentVaults(): Promise<b.RecentVault[]>;
  forgetRecent(path: string): Promise<void>;
  /** Those that lie beside the vault. */
  backupsOf(path: string): Promise<b.FoundBackup[]>;
  defaultVaultFolder(): Promise<string>;
  passphraseStrength(passphrase: string): Promise<b.PassphraseStrength>;
  suggestPassphrase(): Promise<string>;
  createVault(path: string, passphrase: string): Promise<b.Created>;
  /** Progress comes only when the search index has to be made anew first. */
  unlock(
    jobId: string,
    path: string,
    secret: string,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.SessionState>;
  lock(): Promise<void>;
  setAutoLock(minutes: number): Promise<void>;
  touch(): Promise<void>;
  changePassphrase(secret: string, newPassphrase: string): Promise<b.Slots>;
  /** `secret`: the passphrase or the present code, which opens nothing from then on. */
  newRecoveryCode(secret: string): Promise<b.NewRecoveryCode>;
  keySlots(): Promise<b.Slots>;
  vaultInfo(): Promise<b.VaultInfo>;
  checkVault(rebuildIndex: boolean): Promise<b.CheckReport>;
  /** To a folder that is not there yet. */
  backup(jobId: string, out: string, onProgress: (progress: b.Progress) => void): Promise<b.BackedUp>;
  audit(verify: boolean): Promise<b.AuditLog>;
  keys(): Promise<b.Keys>;
  trustKey(key: string, name: string | null): Promise<b.Keys>;
  forgetKey(key: string): Promise<b.Keys>;
  formats(): Promise<b.FormatInfo[]>;
  /** `passphrase`: of an encrypted file, here and below. */
  detect(paths: string[], passphrase: string | null): Promise<b.Detections>;
  pathInfo(paths: string[]): Promise<b.PathInfo[]>;
  checkFile(path: string, format: string | null, passphrase: string | null): Promise<b.FileCheck>;
  importPreview(
    jobId: string,
    request: b.ImportRequest,
    passphrase: string | null,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.ImportReport>;
  importRun(
    jobId: string,
    request: b.ImportRequest,
    passphrase: string | null,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.ImportReport>;
  cancelJob(jobId: string): Promise<void>;
  imports(): Promise<b.Batches>;
  failedImports(): Promise<b.FailedImports>;
  importReport(batch: string): Promise<b.ImportReport>;
  undoImport(batch: string): Promise<b.Undone>;
  watched(): Promise<b.Watched>;
  /** Asks first. What is in the folder now is not offered. */
  watchFolder(path: string): Promise<b.Watched>;
  unwatchFolder(folder: string): Promise<b.Watched>;
  setWatching(folder: string, mode: b.WatchMode): Promise<b.Watched>;
  /** A find that is dismissed is not offered again. */
  dismissFind(find: string): Promise<b.Watched>;
  list(request: b.ListRequest): Promise<b.Page>;
  /** `typing`: the last word of the query may be the beginning of a word; the same for `search` and `find`. */
  facets(filter: b.Filter, query: string | null, typing: boolean): Promise<b.Facets>;
  /** What can be said of several at once. */
  summary(filter: b.Filter): Promise<b.Summary>;
  show(id: string, history: boolean, verbatim: boolean): Promise<b.Shown>;
  thread(id: string): Promise<b.Thread>;
  search(request: b.SearchRequest): Promise<b.SearchResult>;
  /** The same as rows of a list. */
  find(request: b.SearchRequest): Promise<b.Found>;
  /** What may have been meant with a query that found nothing. */
  near(request: b.SearchRequest): Promise<string | null>;
  /** `most`: the first so many bytes. */
  attachment(id: string, most?: number): Promise<ArrayBuffer>;
  /** Where, the person is asked. Null when they changed their mind. */
  saveAttachment(
    jobId: string,
    id: string,
    suggestedName: string,
    onProgress: (progress: b.Progress) => void,
  ): Promise<string | null>;
  add(request: b.AddRequest): Promise<b.Ids>;
  edit(request: b.EditRequest): Promise<b.Edited>;
  /** All of them or none; answers which changed. */
  tag(jobId: string, request: b.TagRequest, onProgress: (progress: b.Progress) => void): Promise<b.Ids>;
  restoreVersion(id: string, version: number): Promise<b.Edited>;
  redactPreview(
    jobId: string,
    request: b.RedactRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.RedactPreview>;
  redact(request: b.RedactRequest): Promise<b.Redacted>;
  trash(ids: string[]): Promise<b.Ids>;
  restore(ids: string[]): Promise<b.Ids>;
  erasePreview(request: b.EraseRequest): Promise<b.ErasePreview>;
  erase(jobId: string, request: b.EraseRequest, onProgress: (progress: b.Progress) => void): Promise<b.Erased>;
  tombstones(): Promise<b.Tombstones>;
  receipt(id: string): Promise<b.Receipt>;
  cleanAgain(jobId: string, id: string, onProgress: (progress: b.Progress) => void): Promise<b.Receipt>;
  look(jobId: string, anew: boolean, onProgress: (progress: b.Progress) => void): Promise<b.Looked>;
  sensitiveQueue(request: b.SensitiveRequest): Promise<b.SensitiveQueue>;
  sensitiveValue(value: string): Promise<b.SensitiveDetail>;
  redactValues(
    jobId: string,
    request: b.RedactValuesRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.RedactedValues>;
  ignoreValues(values: string[], ignored: boolean): Promise<void>;
  duplicates(jobId: string, onProgress: (progress: b.Progress) => void): Promise<b.Duplicates>;
  keepApart(ids: string[]): Promise<b.Ids>;
  merge(keep: string, others: string[]): Promise<b.Ids>;
  exportPreview(
    jobId: string,
    request: b.ExportRequest,
    encrypt: boolean,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.Exported>;
  exportRun(
    jobId: string,
    request: b.ExportRequest,
    passphrase: string | null,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.Exported>;
  textTaken(): Promise<void>;
  removeExport(path: string): Promise<void>;
  evidence(
    jobId: string,
    out: string,
    request: b.EvidenceRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.Evidence>;
  /** A format that is text, as text: nothing is saved. */
  exportText(jobId: string, request: b.ExportRequest, onProgress: (progress: b.Progress) => void): Promise<string>;
  chooseFiles(): Promise<string[]>;
  chooseFolder(): Promise<string | null>;
  chooseSave(suggestedName: string): Promise<string | null>;
  chooseVault(): Promise<string | null>;
  saveText(suggestedName: string, text: string): Promise<string | null>;
  openLink(url: string): Promise<void>;
  showInFolder(path: string): Promise<void>;
  print(): Promise<void>;
  /** What is on the clipboard; null when it holds no text. */
  clipboardText(): Promise<string | null>;
  /** Copy. After so many seconds the text leaves the clipboard again, if it is still there; with null it stays. */
  copyText(text: string, clearAfter: number | null): Promise<void>;
  /** How the window looks and works, kept between runs: `theme`, `language`, `text-size`, `list-width`, `letter-keys`, `list-rows`, `blur`,
   * `hours`, `motion`, `clear-copied`. Never content. */
  setPreference(name: string, value: string | null): Promise<void>;
  /** Remember opened vaults by their path, or forget them all. */
  setRememberVaults(remember: boolean): Promise<void>;
  windowGuards(): Promise<b.WindowGuards>;
  /** Lock when the screen locks or the computer sleeps. */
  setLockWhenAway(on: boolean): Promise<void>;
  /** Keep the window out of screenshots and screen sharing, where the system can. */
  setHideFromCapture(on: boolean): Promise<void>;
  /** The vault locked itself, and why. Returns a way to stop listening. */
  onLocked(listener: (by: LockedBy) => void): Promise<() => void>;
  /** Something was found in a watched folder, or imported from one. Returns a way to stop listening. */
  onWatched(listener: () => void): Promise<() => void>;
  /** Something is being imported from a watched folder on its own. Returns a way to stop listening. */
  onWatchProgress(listener: (progress: b.Progress) => void): Promise<() => void>;
  /** Files over the window. Returns a way to stop listening. */
  onDrop(listener: (event: DropEvent) => void): Promise<() => void>;
}

/** Too long without input; the screen was locked; the computer goes to sleep, or slept. */
export type LockedBy = "idle" | "screen" | "sleep";

export type DropEvent = { type: "over"; paths: string[] } | { type: "leave" } | { type: "drop"; paths: string[] };

/** A refusal of the backend, to be told apart by its code. */
export class BackendError extends Error {
  constructor(readonly body: b.ErrorBody) {
    super(body.message);
    this.name = "BackendError";
  }
  get code(): string {
    return this.body.code;
  }
}

/** The code of any thrown thing; `internal` for what is not ours. */
export function codeOf(error: unknown): string {
  return error instanceof BackendError ? error.code : "internal";
}
