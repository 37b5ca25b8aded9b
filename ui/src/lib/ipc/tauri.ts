import { Channel } from "@tauri-apps/api/core";
import { listen } from "@tauri-apps/api/event";
import { getCurrentWebview } from "@tauri-apps/api/webview";
import { commands, type ErrorBody, type Progress } from "./bindings";
import { BackendError, type Backend, type LockedBy } from "./backend";

type Answer<T> = { status: "ok"; data: T } | { status: "error"; error: ErrorBody };

async function take<T>(answer: Promise<Answer<T>>): Promise<T> {
  const result = await answer;
  if (result.status === "error") throw new BackendError(result.error);
  return result.data;
}

async function done(answer: Promise<Answer<unknown>>): Promise<void> {
  await take(answer);
}

function channel(listener: (progress: Progress) => void): Channel<Progress> {
  const made = new Channel<Progress>();
  made.onmessage = listener;
  return made;
}

/** The production backend: each method is one Tauri command. */
export const tauriBackend: Backend = {
  sessionState: () => take(commands.sessionState()),
  recentVaults: () => take(commands.recentVaults()),
  forgetRecent: (path) => done(commands.forgetRecent(path)),
  backupsOf: (path) => take(commands.backupsOf(path)),
  defaultVaultFolder: () => take(commands.defaultVaultFolder()),
  passphraseStrength: (passphrase) => take(commands.passphraseStrength(passphrase)),
  suggestPassphrase: () => take(commands.suggestPassphrase()),
  createVault: (path, passphrase) => take(commands.createVault(path, passphrase)),
  unlock: (jobId, path, secret, onProgress) => take(commands.unlock(jobId, path, secret, channel(onProgress))),
  lock: () => done(commands.lock()),
  setAutoLock: (minutes) => done(commands.setAutoLock(minutes)),
  touch: () => done(commands.touch()),
  changePassphrase: (secret, newPassphrase) => take(commands.changePassphrase(secret, newPassphrase)),
  newRecoveryCode: (secret) => take(commands.newRecoveryCode(secret)),
  keySlots: () => take(commands.keySlots()),
  vaultInfo: () => take(commands.vaultInfo()),
  checkVault: (rebuildIndex) => take(commands.checkVault(rebuildIndex)),
  backup: (jobId, out, onProgress) => take(commands.backup(jobId, out, channel(onProgress))),
  audit: (verify) => take(commands.audit(verify)),
  keys: () => take(commands.keys()),
  trustKey: (key, name) => take(commands.trustKey(key, name)),
  forgetKey: (key) => take(commands.forgetKey(key)),
  formats: () => take(commands.formats()),
  checkFile: (path, format, passphrase) => take(commands.checkFile(path, format, passphrase)),
  pathInfo: (paths) => take(commands.pathInfo(paths)),
  detect: (paths, passphrase) => take(commands.detect(paths, passphrase)),
  importPreview: (jobId, request, passphrase, onProgress) =>
    take(commands.importPreview(jobId, request, passphrase, channel(onProgress))),
  importRun: (jobId, request, passphrase, onProgress) =>
    take(commands.importRun(jobId, request, passphrase, channel(onProgress))),
  cancelJob: (jobId) => done(commands.cancelJob(jobId)),
  imports: () => take(commands.imports()),
  failedImports: () => take(commands.failedImports()),
  importReport: (batch) => take(commands.importReport(batch)),
  undoImport: (batch) => take(commands.undoImport(batch)),
  watched: () => take(commands.watched()),
  watchFolder: (path) => take(commands.watchFolder(path)),
  unwatchFolder: (folder) => take(commands.unwatchFolder(folder)),
  setWatching: (folder, mode) => take(commands.setWatching(folder, mode)),
  dismissFind: (find) => take(commands.dismissFind(find)),
  list: (request) => take(commands.list(request)),
  facets: (filter, query, typing) => take(commands.facets(filter, query, typing)),
  summary: (filter) => take(commands.summary(filter)),
  show: (id, history, verbatim) => take(commands.show(id, history, verbatim)),
  thread: (id) => take(commands.thread(id)),
  search: (request) => take(commands.search(request)),
  find: (request) => take(commands.find(request)),
  near: (request) => take(commands.near(request)),
  attachment: (id, most) => take(commands.attachment(id, most ?? null)),
  saveAttachment: (jobId, id, suggestedName, onProgress) =>
    take(commands.saveAttachment(jobId, id, suggestedName, channel(onProgress))),
  add: (request) => take(commands.add(request)),
  edit: (request) => take(commands.edit(request)),
  tag: (jobId, request, onProgress) => take(commands.tag(jobId, request, channel(onProgress))),
  restoreVersion: (id, version) => take(commands.restoreVersion(id, version)),
  redactPreview: (jobId, request, onProgress) => take(commands.redactPreview(jobId, request, channel(onProgress))),
  redact: (request) => take(commands.redact(request)),
  trash: (ids) => take(commands.trash(ids)),
  restore: (ids) => take(commands.restore(ids)),
  erasePreview: (request) => take(commands.erasePreview(request)),
  erase: (jobId, request, onProgress) => take(commands.erase(jobId, request, channel(onProgress))),
  tombstones: () => take(commands.tombstones()),
  receipt: (id) => take(commands.receipt(id)),
  cleanAgain: (jobId, id, onProgress) => take(commands.cleanAgain(jobId, id, channel(onProgress))),
  look: (jobId, anew, onProgress) => take(commands.look(jobId, anew, channel(onProgress))),
  sensitiveQueue: (request) => take(commands.sensitiveQueue(request)),
  sensitiveValue: (value) => take(commands.sensitiveValue(value)),
  redactValues: (jobId, request, onProgress) => take(commands.redactValues(jobId, request, channel(onProgress))),
  ignoreValues: (values, ignored) => done(commands.ignoreValues(values, ignored)),
  duplicates: (jobId, onProgress) => take(commands.duplicates(jobId, channel(onProgress))),
  keepApart: (ids) => take(commands.keepApart(ids)),
  merge: (keep, others) => take(commands.merge(keep, others)),
  exportPreview: (jobId, request, encrypt, onProgress) =>
    take(commands.exportPreview(jobId, request, encrypt, channel(onProgress))),
  exportRun: (jobId, request, passphrase, onProgress) =>
    take(commands.exportRun(jobId, request, passphrase, channel(onProgress))),
  textTaken: async () => void (await take(commands.textTaken())),
  removeExport: async (path) => void (await take(commands.removeExport(path))),
  evidence: (jobId, out, request, onProgress) => take(commands.evidence(jobId, out, request, channel(onProgress))),
  exportText: (jobId, request, onProgress) => take(commands.exportText(jobId, request, channel(onProgress))),
  chooseFiles: () => take(commands.chooseFiles()),
  chooseFolder: () => take(commands.chooseFolder()),
  chooseSave: (suggestedName) => take(commands.chooseSave(suggestedName)),
  chooseVault: () => take(commands.chooseVault()),
  saveText: (suggestedName, text) => take(commands.saveText(suggestedName, text)),
  openLink: (url) => done(commands.openLink(url)),
  showInFolder: (path) => done(commands.showInFolder(path)),
  print: () => done(commands.print()),
  clipboardText: () => take(commands.clipboardText()),
  copyText: (text, clearAfter) => done(commands.copyText(text, clearAfter)),
  setPreference: (name, value) => done(commands.setPreference(name, value)),
  setRememberVaults: (remember) => done(commands.setRememberVaults(remember)),
  windowGuards: () => take(commands.windowGuards()),
  setLockWhenAway: (on) => done(commands.setLockWhenAway(on)),
  setHideFromCapture: (on) => done(commands.setHideFromCapture(on)),
  onLocked: (listener) => listen<LockedBy>("locked", ({ payload }) => listener(payload)),
  onWatched: (listener) => listen("watched", () => listener()),
  onWatchProgress: (listener) => listen<Progress>("watch_progress", ({ payload }) => listener(payload)),
  onDrop: (listener) =>
    getCurrentWebview().onDragDropEvent(({ payload }) => {
      if (payload.type === "enter") listener({ type: "over", paths: payload.paths });
      else if (payload.type === "drop") listener({ type: "drop", paths: payload.paths });
      else if (payload.type === "leave") listener({ type: "leave" });
    }),
};
