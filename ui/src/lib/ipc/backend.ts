import type * as b from "./bindings";

export type * from "./bindings";

/** Everything the window can request. Implemented by Tauri and by the mock with sample data. */
export interface Backend {
  sessionState(): Promise<b.SessionState>;
  recentVaults(): Promise<b.RecentVault[]>;
  forgetRecent(path: string): Promise<void>;
  /** Backups in the same folder as the vault. */
  backupsOf(path: string): Promise<b.FoundBackup[]>;
  defaultVaultFolder(): Promise<string>;
  passphraseStrength(passphrase: string): Promise<b.PassphraseStrength>;
  suggestPassphrase(): Promise<string>;
  createVault(path: string, passphrase: string): Promise<b.Created>;
  /** Opens a vault. Reports progress only if the search index has to be rebuilt first. */
  unlock(
    jobId: string,
    path: string,
    secret: string,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.SessionState>;
  /**
   * Opens the demonstration vault on this computer, and makes it first if there is none. One that can't be used is
   * deleted and made again if `remake` is true.
   */
  openDemonstration(remake: boolean): Promise<b.SessionState>;
  /**
   * Deletes the open demonstration vault. Fails with `own_content` if the person added something to it, unless
   * `withOwnContent` is true.
   */
  deleteDemonstration(withOwnContent: boolean): Promise<void>;
  /** The files or the vault that the system has asked the program to open since the last call. */
  takeOpenRequests(): Promise<b.OpenRequest>;
  lock(): Promise<void>;
  setAutoLock(minutes: number): Promise<void>;
  recordInput(): Promise<void>;
  changePassphrase(secret: string, newPassphrase: string): Promise<b.Slots>;
  /** Makes a new recovery code. The current one becomes invalid. `secret`: the passphrase or the current code. */
  newRecoveryCode(secret: string): Promise<b.NewRecoveryCode>;
  keySlots(): Promise<b.Slots>;
  vaultInfo(): Promise<b.VaultInfo>;
  checkVault(rebuildIndex: boolean): Promise<b.CheckReport>;
  /** Makes a backup in the folder `out`, which must not exist yet. */
  backup(jobId: string, out: string, onProgress: (progress: b.Progress) => void): Promise<b.WrittenBackup>;
  audit(verify: boolean): Promise<b.AuditLog>;
  keys(): Promise<b.Keys>;
  trustKey(key: string, name: string | null): Promise<b.Keys>;
  forgetKey(key: string): Promise<b.Keys>;
  formats(): Promise<b.FormatInfo[]>;
  /**
   * `passphrase` opens encrypted files. The parameter has the same meaning in `checkFile`, `importPreview` and
   * `importRun`.
   */
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
  /** Watches a folder, in the mode "Ask first". Files that are already there are not offered. */
  watchFolder(path: string): Promise<b.Watched>;
  unwatchFolder(folder: string): Promise<b.Watched>;
  setWatching(folder: string, mode: b.WatchMode): Promise<b.Watched>;
  /** Dismisses a detected file, which is then not offered again. */
  dismissDetectedFile(id: string): Promise<b.Watched>;
  /** The AI clients on this computer, the grants, and whether requests of clients are answered. */
  agents(): Promise<b.AgentsOverview>;
  /** Returns what connecting would change in a client's configuration. */
  connectPreview(client: string): Promise<b.ConnectionChange>;
  connectClient(client: string, request: b.GrantRequest): Promise<b.ConnectionChange>;
  disconnectPreview(client: string): Promise<b.ConnectionChange>;
  /** Ends the grant and reverts the change to the client's configuration. */
  disconnectClient(client: string): Promise<b.ConnectionChange>;
  /** Ends a grant at once. The client's configuration stays. */
  stopClient(grant: string): Promise<b.AgentsOverview>;
  setAnswerClients(on: boolean): Promise<b.AgentsOverview>;
  /** Stores that the window has told the person about the first read of the clients with these grants. */
  firstReadsSeen(grants: string[]): Promise<void>;
  /** The calls of the client with this grant, or of all clients if `grant` is null. The newest comes first. */
  clientCalls(grant: string | null): Promise<b.ClientCallList>;
  suggestions(): Promise<b.SuggestionList>;
  decideSuggestions(decision: b.SuggestionDecision): Promise<b.ClosedSuggestions>;
  list(request: b.ListRequest): Promise<b.Page>;
  /** `typing`: the last word of the query may be incomplete. `search` and `searchRows` have the same option. */
  facets(filter: b.Filter, query: string | null, typing: boolean): Promise<b.Facets>;
  /** A summary of all matching records. */
  summary(filter: b.Filter): Promise<b.Summary>;
  show(id: string, history: boolean, verbatim: boolean): Promise<b.ShownRecord>;
  thread(id: string): Promise<b.Thread>;
  search(request: b.SearchRequest): Promise<b.SearchResult>;
  /** Like `search`, but returns rows for a list. */
  searchRows(request: b.SearchRequest): Promise<b.Found>;
  /** A similar spelling for a query without results. */
  suggestQuery(request: b.SearchRequest): Promise<string | null>;
  /** Memories that mean nearly the same as a text or a record, best first. */
  similar(request: b.SimilarRequest): Promise<b.Similar>;
  /** Encodes new and changed memories, so that `similar` finds them. */
  encode(jobId: string, onProgress: (progress: b.Progress) => void): Promise<b.Encoded>;
  /** Bytes of a file, or only its first `maxBytes` bytes. */
  attachment(id: string, maxBytes?: number): Promise<ArrayBuffer>;
  /** Asks the person for a path and saves the file there. Returns the path, or null if cancelled. */
  saveAttachment(
    jobId: string,
    id: string,
    suggestedName: string,
    onProgress: (progress: b.Progress) => void,
  ): Promise<string | null>;
  /** Returns a page for printing, as HTML. */
  printPage(jobId: string, request: b.PrintRequest, onProgress: (progress: b.Progress) => void): Promise<string>;
  /**
   * Asks the person for a path and saves a page there. No file with this path may exist yet. Returns null if the person
   * cancelled.
   */
  savePage(
    jobId: string,
    suggestedName: string,
    request: b.PrintRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.SavedPage | null>;
  add(request: b.AddRequest): Promise<b.Ids>;
  edit(request: b.EditRequest): Promise<b.Edited>;
  /** Adds or removes a tag, either on all records or on none. Returns the ids of the records that were changed. */
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
  retryCleanup(jobId: string, id: string, onProgress: (progress: b.Progress) => void): Promise<b.Receipt>;
  /**
   * Scans for sensitive values. If `rescan` is true, every record is scanned, otherwise only new and changed records.
   */
  scanRecords(jobId: string, rescan: boolean, onProgress: (progress: b.Progress) => void): Promise<b.ScannedRecords>;
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
  /** Everyone whom the memories mention. */
  people(jobId: string, onProgress: (progress: b.Progress) => void): Promise<b.People>;
  topics(jobId: string, onProgress: (progress: b.Progress) => void): Promise<b.Topics>;
  /** Memories by date, the oldest first. */
  timeline(ids: string[]): Promise<b.Timeline>;
  contradictions(jobId: string, onProgress: (progress: b.Progress) => void): Promise<b.ContradictionList>;
  /** Stores the decision that both memories are true. If `both` is false, removes that decision. */
  keepBoth(a: string, b: string, both: boolean): Promise<b.Ids>;
  /** Settles a contradiction. Returns the review answers that the memories had before. */
  resolveContradiction(request: b.ResolveRequest): Promise<b.Resolved>;
  setAbout(request: b.AboutRequest): Promise<b.Ids>;
  /** The evidence for a memory: who said it, and the messages in which it was said. */
  memoryEvidence(id: string): Promise<b.MemoryEvidence>;
  reviewNext(request: b.ReviewRequest): Promise<b.ReviewState>;
  reviewAnswer(answers: b.ReviewAnswer[]): Promise<b.Ids>;
  /** Lists what to delete in an assistant: the one with the most entries to delete if `assistant` is null. */
  todo(assistant: string | null, language: string): Promise<b.Todo>;
  /** Writes the printable report to the file `out`, which must not exist yet. */
  writeReport(
    jobId: string,
    out: string,
    request: b.ReportRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.WrittenReport>;
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
  /** Records in the audit log that the last exported text was copied. */
  recordCopiedText(): Promise<void>;
  removeExport(path: string): Promise<void>;
  evidence(
    jobId: string,
    out: string,
    request: b.EvidenceRequest,
    onProgress: (progress: b.Progress) => void,
  ): Promise<b.Evidence>;
  /** Returns the export in a text format, without saving it. */
  exportText(jobId: string, request: b.ExportRequest, onProgress: (progress: b.Progress) => void): Promise<string>;
  chooseFiles(): Promise<string[]>;
  chooseFolder(): Promise<string | null>;
  chooseSave(suggestedName: string): Promise<string | null>;
  chooseVault(): Promise<string | null>;
  saveText(suggestedName: string, text: string): Promise<string | null>;
  openLink(url: string): Promise<void>;
  showInFolder(path: string): Promise<void>;
  /** Prints the print area of the window. */
  print(): Promise<void>;
  /** The clipboard's text; null if it has none. */
  clipboardText(): Promise<string | null>;
  /**
   * Copies text to the clipboard. If the clipboard still has this text after `clearAfter` seconds, it is cleared. Null:
   * never.
   */
  copyText(text: string, clearAfter: number | null): Promise<void>;
  /**
   * Stores a preference of the window: `theme`, `language`, `text-size`, `list-width`, `letter-keys`, `list-rows`,
   * `blur`, `hours`, `motion`, `clear-copied` or `notifications`. Nothing from the vault may be stored like this.
   */
  setPreference(name: string, value: string | null): Promise<void>;
  /** Sets whether the paths of opened vaults are remembered. False also forgets the paths remembered so far. */
  setRememberVaults(remember: boolean): Promise<void>;
  windowGuards(): Promise<b.WindowGuards>;
  /** The accent colour of the desktop, if the backend knows it yet. */
  systemStyle(): Promise<b.SystemStyle>;
  /** Sets whether the vault locks when the screen locks or the computer sleeps. */
  setLockWhenAway(on: boolean): Promise<void>;
  /** Sets whether screenshots and screen sharing leave out the window, where the system supports that. */
  setHideFromCapture(on: boolean): Promise<void>;
  /** Calls `listener` when the vault has locked itself. Returns the function to stop listening. */
  onLocked(listener: (by: LockedBy) => void): Promise<() => void>;
  /**
   * Calls `listener` when a new file was detected in a watched folder or an automatic import has ended. Returns a
   * function that stops listening.
   */
  onWatched(listener: () => void): Promise<() => void>;
  /** Calls `listener` after a call of a connected client. Returns the function to stop listening. */
  onAgents(listener: () => void): Promise<() => void>;
  /**
   * Calls `listener` if a change was made but a step after it failed. `listener` is called before the command that made
   * the change returns. Returns a function that stops listening.
   */
  onWarnings(listener: (warnings: b.Warning[]) => void): Promise<() => void>;
  /** Calls `listener` when the style of the desktop is known or has changed. Returns a function that stops listening. */
  onStyle(listener: (style: b.SystemStyle) => void): Promise<() => void>;
  /** Calls `listener` when the program is started again with files to open. Returns the function to stop listening. */
  onOpen(listener: () => void): Promise<() => void>;
  /** Calls `listener` with the progress of an automatic import. Returns the function to stop listening. */
  onWatchProgress(listener: (progress: b.Progress) => void): Promise<() => void>;
  /**
   * Calls `listener` when files are dragged over the window, leave it, or are dropped. Returns the function that stops
   * listening.
   */
  onDrop(listener: (event: DropEvent) => void): Promise<() => void>;
}

/** Why the vault locked itself: no input for too long, screen locked, or computer asleep. */
export type LockedBy = "idle" | "screen" | "sleep";

export type DropEvent = { type: "over"; paths: string[] } | { type: "leave" } | { type: "drop"; paths: string[] };

/** An error of the backend, identified by its code. */
export class BackendError extends Error {
  constructor(readonly body: b.ErrorBody) {
    super(body.message);
    this.name = "BackendError";
  }
  get code(): string {
    return this.body.code;
  }
}

/** The code of any thrown value; `internal` for unknown ones. */
export function codeOf(error: unknown): string {
  return error instanceof BackendError ? error.code : "internal";
}
