import { Channel } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { commands, type ErrorBody, type Progress, type SystemStyle, type Warning } from "./bindings";
import { BackendError, type Backend, type LockedBy } from "./backend";

type CommandResult<T> = { status: "ok"; data: T } | { status: "error"; error: ErrorBody };

/** The data of a command's result. Throws its error as a `BackendError`. */
async function unwrap<T>(call: Promise<CommandResult<T>>): Promise<T> {
  const result = await call;
  if (result.status === "error") throw new BackendError(result.error);
  return result.data;
}

/** Like `unwrap`, for commands whose data the window does not use. */
async function unwrapVoid(call: Promise<CommandResult<unknown>>): Promise<void> {
  await unwrap(call);
}

function channel(listener: (progress: Progress) => void): Channel<Progress> {
  const progressChannel = new Channel<Progress>();
  progressChannel.onmessage = listener;
  return progressChannel;
}

/** The backend of the real program. Each method calls one Tauri command. */
export const tauriBackend: Backend = {
  sessionState: () => unwrap(commands.sessionState()),
  recentVaults: () => unwrap(commands.recentVaults()),
  forgetRecent: (path) => unwrapVoid(commands.forgetRecent(path)),
  backupsOf: (path) => unwrap(commands.backupsOf(path)),
  defaultVaultFolder: () => unwrap(commands.defaultVaultFolder()),
  passphraseStrength: (passphrase) => unwrap(commands.passphraseStrength(passphrase)),
  suggestPassphrase: () => unwrap(commands.suggestPassphrase()),
  createVault: (path, passphrase) => unwrap(commands.createVault(path, passphrase)),
  unlock: (jobId, path, secret, onProgress) => unwrap(commands.unlock(jobId, path, secret, channel(onProgress))),
  openDemonstration: (remake) => unwrap(commands.openDemonstration(remake)),
  deleteDemonstration: (withOwnContent) => unwrapVoid(commands.deleteDemonstration(withOwnContent)),
  takeOpenRequests: () => unwrap(commands.takeOpenRequests()),
  lock: () => unwrapVoid(commands.lock()),
  setAutoLock: (minutes) => unwrapVoid(commands.setAutoLock(minutes)),
  recordInput: () => unwrapVoid(commands.recordInput()),
  changePassphrase: (secret, newPassphrase) => unwrap(commands.changePassphrase(secret, newPassphrase)),
  newRecoveryCode: (secret) => unwrap(commands.newRecoveryCode(secret)),
  keySlots: () => unwrap(commands.keySlots()),
  vaultInfo: () => unwrap(commands.vaultInfo()),
  checkVault: (rebuildIndex) => unwrap(commands.checkVault(rebuildIndex)),
  backup: (jobId, out, onProgress) => unwrap(commands.backup(jobId, out, channel(onProgress))),
  audit: (verify) => unwrap(commands.audit(verify)),
  keys: () => unwrap(commands.keys()),
  trustKey: (key, name) => unwrap(commands.trustKey(key, name)),
  forgetKey: (key) => unwrap(commands.forgetKey(key)),
  formats: () => unwrap(commands.formats()),
  checkFile: (path, format, passphrase) => unwrap(commands.checkFile(path, format, passphrase)),
  pathInfo: (paths) => unwrap(commands.pathInfo(paths)),
  detect: (paths, passphrase) => unwrap(commands.detect(paths, passphrase)),
  importPreview: (jobId, request, passphrase, onProgress) =>
    unwrap(commands.importPreview(jobId, request, passphrase, channel(onProgress))),
  importRun: (jobId, request, passphrase, onProgress) =>
    unwrap(commands.importRun(jobId, request, passphrase, channel(onProgress))),
  cancelJob: (jobId) => unwrapVoid(commands.cancelJob(jobId)),
  imports: () => unwrap(commands.imports()),
  failedImports: () => unwrap(commands.failedImports()),
  importReport: (batch) => unwrap(commands.importReport(batch)),
  undoImport: (batch) => unwrap(commands.undoImport(batch)),
  watched: () => unwrap(commands.watched()),
  watchFolder: (path) => unwrap(commands.watchFolder(path)),
  unwatchFolder: (folder) => unwrap(commands.unwatchFolder(folder)),
  setWatching: (folder, mode) => unwrap(commands.setWatching(folder, mode)),
  dismissDetectedFile: (id) => unwrap(commands.dismissDetectedFile(id)),
  agents: () => unwrap(commands.agents()),
  connectPreview: (client) => unwrap(commands.connectPreview(client)),
  connectClient: (client, request) => unwrap(commands.connectClient(client, request)),
  disconnectPreview: (client) => unwrap(commands.disconnectPreview(client)),
  disconnectClient: (client) => unwrap(commands.disconnectClient(client)),
  stopClient: (grant) => unwrap(commands.stopClient(grant)),
  setAnswerClients: (on) => unwrap(commands.setAnswerClients(on)),
  firstReadsSeen: (grants) => unwrapVoid(commands.firstReadsSeen(grants)),
  clientCalls: (grant) => unwrap(commands.clientCalls(grant)),
  suggestions: () => unwrap(commands.suggestions()),
  decideSuggestions: (decision) => unwrap(commands.decideSuggestions(decision)),
  list: (request) => unwrap(commands.list(request)),
  facets: (filter, query, typing) => unwrap(commands.facets(filter, query, typing)),
  summary: (filter) => unwrap(commands.summary(filter)),
  show: (id, history, verbatim) => unwrap(commands.show(id, history, verbatim)),
  thread: (id) => unwrap(commands.thread(id)),
  search: (request) => unwrap(commands.search(request)),
  searchRows: (request) => unwrap(commands.searchRows(request)),
  suggestQuery: (request) => unwrap(commands.suggestQuery(request)),
  similar: (request) => unwrap(commands.similar(request)),
  encode: (jobId, onProgress) => unwrap(commands.encode(jobId, channel(onProgress))),
  attachment: (id, maxBytes) => unwrap(commands.attachment(id, maxBytes ?? null)),
  saveAttachment: (jobId, id, suggestedName, onProgress) =>
    unwrap(commands.saveAttachment(jobId, id, suggestedName, channel(onProgress))),
  printPage: (jobId, request, onProgress) => unwrap(commands.printPage(jobId, request, channel(onProgress))),
  savePage: (jobId, suggestedName, request, onProgress) =>
    unwrap(commands.savePage(jobId, suggestedName, request, channel(onProgress))),
  add: (request) => unwrap(commands.add(request)),
  edit: (request) => unwrap(commands.edit(request)),
  tag: (jobId, request, onProgress) => unwrap(commands.tag(jobId, request, channel(onProgress))),
  restoreVersion: (id, version) => unwrap(commands.restoreVersion(id, version)),
  redactPreview: (jobId, request, onProgress) => unwrap(commands.redactPreview(jobId, request, channel(onProgress))),
  redact: (request) => unwrap(commands.redact(request)),
  trash: (ids) => unwrap(commands.trash(ids)),
  restore: (ids) => unwrap(commands.restore(ids)),
  erasePreview: (request) => unwrap(commands.erasePreview(request)),
  erase: (jobId, request, onProgress) => unwrap(commands.erase(jobId, request, channel(onProgress))),
  tombstones: () => unwrap(commands.tombstones()),
  receipt: (id) => unwrap(commands.receipt(id)),
  retryCleanup: (jobId, id, onProgress) => unwrap(commands.retryCleanup(jobId, id, channel(onProgress))),
  scanRecords: (jobId, rescan, onProgress) => unwrap(commands.scanRecords(jobId, rescan, channel(onProgress))),
  sensitiveQueue: (request) => unwrap(commands.sensitiveQueue(request)),
  sensitiveValue: (value) => unwrap(commands.sensitiveValue(value)),
  redactValues: (jobId, request, onProgress) => unwrap(commands.redactValues(jobId, request, channel(onProgress))),
  ignoreValues: (values, ignored) => unwrapVoid(commands.ignoreValues(values, ignored)),
  duplicates: (jobId, onProgress) => unwrap(commands.duplicates(jobId, channel(onProgress))),
  keepApart: (ids) => unwrap(commands.keepApart(ids)),
  merge: (keep, others) => unwrap(commands.merge(keep, others)),
  people: (jobId, onProgress) => unwrap(commands.people(jobId, channel(onProgress))),
  topics: (jobId, onProgress) => unwrap(commands.topics(jobId, channel(onProgress))),
  timeline: (ids) => unwrap(commands.timeline(ids)),
  contradictions: (jobId, onProgress) => unwrap(commands.contradictions(jobId, channel(onProgress))),
  keepBoth: (a, b, both) => unwrap(commands.keepBoth(a, b, both)),
  resolveContradiction: (request) => unwrap(commands.resolveContradiction(request)),
  setAbout: (request) => unwrap(commands.setAbout(request)),
  memoryEvidence: (id) => unwrap(commands.memoryEvidence(id)),
  reviewNext: (request) => unwrap(commands.reviewNext(request)),
  reviewAnswer: (answers) => unwrap(commands.reviewAnswer(answers)),
  todo: (assistant, language) => unwrap(commands.todo(assistant, language)),
  writeReport: (jobId, out, request, onProgress) =>
    unwrap(commands.writeReport(jobId, out, request, channel(onProgress))),
  exportPreview: (jobId, request, encrypt, onProgress) =>
    unwrap(commands.exportPreview(jobId, request, encrypt, channel(onProgress))),
  exportRun: (jobId, request, passphrase, onProgress) =>
    unwrap(commands.exportRun(jobId, request, passphrase, channel(onProgress))),
  recordCopiedText: async () => void (await unwrap(commands.recordCopiedText())),
  removeExport: async (path) => void (await unwrap(commands.removeExport(path))),
  evidence: (jobId, out, request, onProgress) => unwrap(commands.evidence(jobId, out, request, channel(onProgress))),
  exportText: (jobId, request, onProgress) => unwrap(commands.exportText(jobId, request, channel(onProgress))),
  chooseFiles: () => unwrap(commands.chooseFiles()),
  chooseFolder: () => unwrap(commands.chooseFolder()),
  chooseSave: (suggestedName) => unwrap(commands.chooseSave(suggestedName)),
  chooseVault: () => unwrap(commands.chooseVault()),
  saveText: (suggestedName, text) => unwrap(commands.saveText(suggestedName, text)),
  openLink: (url) => unwrapVoid(commands.openLink(url)),
  showInFolder: (path) => unwrapVoid(commands.showInFolder(path)),
  print: () => unwrapVoid(commands.print()),
  clipboardText: () => unwrap(commands.clipboardText()),
  copyText: (text, clearAfter) => unwrapVoid(commands.copyText(text, clearAfter)),
  setPreference: (name, value) => unwrapVoid(commands.setPreference(name, value)),
  setRememberVaults: (remember) => unwrapVoid(commands.setRememberVaults(remember)),
  windowGuards: () => unwrap(commands.windowGuards()),
  systemStyle: () => unwrap(commands.systemStyle()),
  setLockWhenAway: (on) => unwrapVoid(commands.setLockWhenAway(on)),
  setHideFromCapture: (on) => unwrapVoid(commands.setHideFromCapture(on)),
  onLocked: (listener) => listen<LockedBy>("locked", ({ payload }) => listener(payload)),
  onWatched: (listener) => listen("watched", () => listener()),
  onAgents: (listener) => listen("agents", () => listener()),
  onWarnings: (listener) => listen<Warning[]>("warnings", ({ payload }) => listener(payload)),
  onStyle: (listener) => listen<SystemStyle>("style", ({ payload }) => listener(payload)),
  onOpen: (listener) => listen("open", () => listener()),
  onWatchProgress: (listener) => listen<Progress>("watch_progress", ({ payload }) => listener(payload)),
  onDrop: (listener) =>
    getCurrentWebview().onDragDropEvent(({ payload }) => {
      if (payload.type === "enter") listener({ type: "over", paths: payload.paths });
      else if (payload.type === "drop") listener({ type: "drop", paths: payload.paths });
      else if (payload.type === "leave") listener({ type: "leave" });
    }),
};
