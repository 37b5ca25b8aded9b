import type { Backend, ListItem, LockedBy, OpenRequest } from "../backend";
import { sampleContradictions } from "./contradictions";
import { sampleAgents, type SampleAgents } from "./agents";
import { fileCheck, sampleKeys } from "./checks";
import { ago, item, sampleItems } from "./data";
import { facetsOf, hitOf, matches, sampleSearch, sorted, summaryOf } from "./find";
import { sampleFormats } from "./formats";
import { sampleDemonstration } from "./demonstration";
import {
  cancelSampleJob,
  emptyImportRequest,
  sampleDetection,
  FILE_PASSPHRASE,
  sampleReceipt,
  storedReceipt,
  failWith,
  sampleReport,
  sampleTombstone,
  sampleTombstones,
  runStages,
} from "./jobs";
import { batchOf, sampleBatches, sampleEntries, sampleFailed } from "./log";
import { optionsFromAddress, type MockOptions } from "./options";
import { countBy, redactPlan } from "./redact";
import { sampleEvidence, sampleExport, sampleHistory, recordDetails, transferText } from "./records";
import { sampleMemoryReview } from "./memory-review";
import { samplePrinting } from "./printing";
import { sampleReview } from "./review";
import { sampleFile } from "./pictures";
import { MOCK_PASSPHRASE, sampleSlots } from "./slots";
import { sampleSystem } from "./system";
import { sampleActivePath, sampleThread } from "./thread";
import { sampleVaults } from "./vaults";
import { sampleWatched, type SampleWatching } from "./watching";

export type { MockOptions };

/** Events that the person or the system causes in the real program. */
type Sample = {
  lockNow(by?: LockedBy): void;
  drop(paths: string[], over?: boolean): void;
  /** Simulates that the system asks the window to open something. */
  openRequest(request: Partial<OpenRequest>): void;
} & SampleWatching &
  SampleAgents;

export { MOCK_PASSPHRASE };

/** Sample messages with the same content as an erased memory. */
const COPY_IDS = ["msg-a2", "msg-b5"];

/** An in-memory backend with sample data, for viewing every screen and for tests. */
export function mockBackend(options: MockOptions = optionsFromAddress()): Backend & Sample {
  let [open, demonstration] = [options.open ?? false, false];
  let items = options.empty ? [] : (options.items ?? sampleItems());
  const sample = sampleDemonstration(!options.unusableDemonstration, () => items);
  let autoLockMinutes = 10;
  let path = "/home/ines/Documents/Ines.mementory";
  const stepMs = options.stepMs ?? 0;
  const history = sampleHistory();
  const tombstones = options.empty ? [] : sampleTombstones();
  const batches = options.empty ? [] : sampleBatches();
  const review = sampleReview({
    items: () => items,
    trash: (ids) => mock.trash(ids),
    stepMs,
    empty: () => items.length === 0,
    tombstones,
    scanned: !options.neverScanned,
  });
  const keys = sampleKeys();
  // The log of an empty vault says only that the vault was created.
  const entries = options.empty ? sampleEntries().slice(0, 1) : sampleEntries();
  let onLocked: (by: LockedBy) => void = () => undefined;
  let onOpen: () => void = () => undefined;
  const openRequests: OpenRequest[] = [];
  const emptyRequest = (): OpenRequest => ({ vault: null, paths: [], refused: [], demonstration: false });
  let onDrop: Parameters<Backend["onDrop"]>[0] = () => undefined;

  const matching = (filter: Parameters<typeof matches>[1]) => items.filter((each) => matches(each, filter));
  const requireOpen = () => {
    if (!open) throw failWith("locked", "The vault is locked.");
  };
  const watching = sampleWatched({ requireOpen, empty: options.empty ?? false });
  const agents = sampleAgents({ requireOpen, connected: options.agents ?? false, records: () => mock });
  const slots = sampleSlots(requireOpen);
  const itemById = (id: string): ListItem => {
    requireOpen();
    const message = sampleThread.find((each) => each.id === id);
    const found =
      items.find((each) => each.id === id) ?? (message ? item(id, "message", "chatgpt", message.text, 254) : undefined);
    if (!found) throw failWith("not_found", "This record is not in the vault.");
    return found;
  };
  const state = () => ({
    open,
    vault_id: open ? "v-1" : null,
    name: open ? (path.split("/").pop() ?? "").replace(/\.mementory$/, "") : null,
    path: open ? path : null,
    auto_lock_minutes: autoLockMinutes,
    erasures_reapplied: 0,
    erasure_ledger: null,
    demonstration,
  });
  const newVersion = (id: string, text: string, cause: string) => {
    const record = itemById(id);
    const before = history.get(id) ?? [
      { version: 1, text: record.text, from: record.created_at ?? ago(1), cause: "import" },
    ];
    const version = (before[0]?.version ?? 0) + 1;
    history.set(id, [{ version, text, from: new Date().toISOString(), cause }, ...before]);
    const now = new Date().toISOString();
    Object.assign(record, { text, versions: version, updated_at: now, changed_at: now, cause });
    return { id, version };
  };

  const mock: Backend & Sample = {
    ...watching.sample,
    ...agents.sample,
    lockNow: (by = "idle") => ((open = false), onLocked(by)),
    openRequest: (request) => {
      openRequests.push({ ...emptyRequest(), ...request });
      onOpen();
    },
    drop: (paths, over = false) => onDrop(over ? { type: "over", paths } : { type: "drop", paths }),
    sessionState: async () => state(),
    ...sampleVaults({ requireOpen, entries, stepMs, present: !options.empty }),
    defaultVaultFolder: async () => "/home/ines/Documents",
    createVault: async (vaultPath) => {
      open = true;
      demonstration = false;
      path = vaultPath;
      items = [];
      return { vault_id: "v-1", path, recovery_code: slots.code() };
    },
    openDemonstration: async (remake) => {
      sample.checkOpening(remake);
      open = demonstration = true;
      path = "/home/ines/.local/share/app.mementory.desktop/Demonstration.mementory";
      return state();
    },
    deleteDemonstration: async (withOwnContent) => {
      requireOpen();
      if (!demonstration) throw failWith("not_a_demonstration", "This vault is not a demonstration.");
      sample.checkDeleting(withOwnContent);
      open = demonstration = false;
    },
    takeOpenRequests: async () => openRequests.splice(0).pop() ?? emptyRequest(),
    unlock: async (job, vaultPath, secret, onProgress) => {
      if (stepMs > 0) await new Promise((done) => setTimeout(done, Math.min(stepMs, 300)));
      if (options.failing) throw failWith(options.failing, "The vault could not be opened.", { pages: "2" });
      if (!slots.opens(secret)) throw failWith("wrong_passphrase", "That passphrase does not open this vault.");
      if (options.reindexed) await runStages(job, [`index_${options.reindexed}`], items.length, stepMs, onProgress);
      open = true;
      demonstration = false;
      path = vaultPath;
      return state();
    },
    lock: async () => void (open = false),
    setAutoLock: async (minutes) => void (autoLockMinutes = minutes),
    recordInput: async () => undefined,
    ...slots.commands,
    vaultInfo: async () => {
      requireOpen();
      const untrashed = items.filter((each) => !each.trashed_at);
      const counts: Record<string, number> = { memory: 0, conversation: 0, attachment: 0 };
      for (const each of untrashed) counts[each.kind] = (counts[each.kind] ?? 0) + 1;
      const sources = [...new Set(untrashed.map((each) => each.source))].map((platform) => {
        const records = untrashed.filter((each) => each.source === platform);
        const counts: Record<string, number> = {};
        for (const each of records) counts[each.kind] = (counts[each.kind] ?? 0) + 1;
        return {
          platform,
          format: platform,
          counts,
          newest_at:
            platform === "gemini"
              ? ago(146)
              : (records
                  .map((each) => each.created_at ?? "")
                  .sort()
                  .at(-1) ?? null),
          exported_at: platform === "me" ? null : ago({ gemini: 146, chatgpt: 0, claude: 3 }[platform] ?? 35),
        };
      });
      return {
        vault_id: "v-1",
        path,
        schema_version: 1,
        created_at: ago(172),
        counts,
        sources,
        export_diff_counts: review.exportDiffCounts(),
        trash: items.length - untrashed.length,
        tombstones: tombstones.length,
        index: {
          state: options.reindexed ? "rebuilt" : "current",
          why: options.reindexed ?? null,
          documents: untrashed.length,
        },
        bytes: 1_900_000_000,
      };
    },
    checkVault: async () => ({
      ok: true,
      places: ["header", "pages", "index", "blobs", "audit", "references"].map((place) => ({
        place,
        ok: true,
        detail: "",
      })),
    }),
    audit: async (verify) => ({ entries, verified: verify ? true : null }),
    ...keys.commands,
    formats: async () => sampleFormats(),
    checkFile: async (path, format) => fileCheck(path, format, keys.state),
    detect: async (paths, passphrase) => {
      if (passphrase !== null && passphrase !== FILE_PASSPHRASE)
        throw failWith("passphrase_wrong", "The passphrase is wrong, or the file was changed.");
      return { results: paths.map((path) => sampleDetection(path, passphrase !== null)) };
    },
    importPreview: async (id, request, _passphrase, onProgress) => (
      requireOpen(),
      await runStages(id, ["detect", "read"], 43_650, stepMs / 4, onProgress),
      sampleReport(request, true, review.gone("chatgpt"))
    ),
    importRun: async (id, request, _passphrase, onProgress) => {
      requireOpen();
      await runStages(id, ["detect", "read", "store", "index", "check"], 43_650, stepMs, onProgress);
      if (items.length === 0) items = sampleItems();
      watching.imported(request.paths);
      const done = sampleReport(request, false, review.gone("chatgpt"));
      batches.unshift(batchOf(done, request.paths));
      return done;
    },
    cancelJob: async (id) => cancelSampleJob(id),
    imports: async () => ({ batches }),
    failedImports: async () => ({ failed: options.empty ? [] : sampleFailed }),
    importReport: async (batch) => ({
      ...sampleReport(emptyImportRequest, false, review.gone("chatgpt")),
      batch,
    }),
    ...watching.commands,
    ...agents.commands,
    undoImport: async (batch) => {
      // Replace the object instead of changing it, because every answer of the real backend is a new object too.
      const at = batches.findIndex((each) => each.batch === batch);
      if (batches[at]) batches[at] = { ...batches[at], undone: true };
      return { removed: 669 };
    },
    list: async ({ filter, sort, limit, cursor }) => {
      requireOpen();
      const found = sorted(
        items.filter((each) => matches(each, filter)),
        sort,
      );
      const from = Number(cursor ?? 0);
      const to = from + (limit ?? 50);
      return {
        items: structuredClone(found.slice(from, to)),
        next_cursor: to < found.length ? String(to) : null,
        total: found.length,
      };
    },
    facets: async (filter, query, typing) => (
      requireOpen(),
      facetsOf(items.filter((each) => matches(each, filter) && (!query || hitOf(each, query, typing))))
    ),
    summary: async (filter) => (requireOpen(), summaryOf(items.filter((each) => matches(each, filter)))),
    show: async (id, withHistory, verbatim) =>
      recordDetails(itemById(id), withHistory ? (history.get(id) ?? null) : null, verbatim),
    thread: async (id) => ({
      conversation: recordDetails(itemById(id), null, false).record,
      messages: structuredClone(sampleThread),
      active_path: sampleActivePath,
    }),
    ...sampleSearch(() => (requireOpen(), items)),
    attachment: async (id, maxBytes) => (await sampleFile(itemById(id))).slice(0, maxBytes),
    saveAttachment: async (job, id, name, onProgress) => {
      const size = itemById(id).size ?? 0;
      await runStages(job, ["write"], size, stepMs, onProgress);
      return `/home/ines/${name}`;
    },
    ...samplePrinting({ matching, messages: sampleThread, stepMs }),
    add: async ({ type, text, tags }) => {
      const id = `m-new-${items.length}`;
      items.unshift(item(id, "memory", "me", text, 0, { type, tags }));
      return { ids: [id] };
    },
    edit: async ({ id, text, tags, type }) => {
      const record = itemById(id);
      if (tags) record.tags = tags;
      if (type) record.type = type;
      return newVersion(id, text ?? record.text, "edit");
    },
    tag: async (job, { ids, tag, on }, onProgress) => {
      await runStages(job, ["tag"], ids.length, stepMs / 4, onProgress);
      const changed = ids.map(itemById).filter((each) => each.tags.includes(tag) !== on);
      for (const each of changed) {
        each.tags = on ? [...each.tags, tag] : each.tags.filter((kept) => kept !== tag);
        newVersion(each.id, each.text, "edit");
      }
      return { ids: changed.map((each) => each.id) };
    },
    restoreVersion: async (id, version) =>
      newVersion(id, history.get(id)?.find((each) => each.version === version)?.text ?? itemById(id).text, "restore"),
    redactPreview: async (_job, request) => (requireOpen(), redactPlan(request, itemById(request.id), items)),
    redact: async (request) => {
      const { id, spans } = request;
      const record = itemById(id);
      const { redacted } = redactPlan(request, record, items);
      let points = [...record.text];
      for (const span of [...spans].sort((a, b) => b.start - a.start))
        points = [...points.slice(0, span.start), `[REDACTED:${span.class ?? "removed"}]`, ...points.slice(span.end)];
      record.text = points.join("");
      record.redacted = true;
      history.delete(id);
      const message = sampleThread.find((each) => each.id === id);
      if (message) message.text = record.text;
      return {
        id,
        redacted,
        tombstone: sampleTombstone("ts_new", "redact", record.kind, record.source, 0),
        receipt: sampleReceipt("rc_new"),
      };
    },
    trash: async (ids) => {
      for (const id of ids) Object.assign(itemById(id), { trashed_at: new Date().toISOString(), expires_at: ago(-30) });
      return { ids };
    },
    restore: async (ids) => {
      for (const id of ids) Object.assign(itemById(id), { trashed_at: null, expires_at: null });
      return { ids };
    },
    erasePreview: async ({ ids }) => ({
      impact: {
        records: ids.length,
        kinds: countBy(ids.map((id) => itemById(id).kind)),
        sources: countBy(ids.map((id) => itemById(id).source)),
        versions: ids.length + 7,
        derived: 0,
        links: 5,
        attachments: 1,
        passthrough: ids.length,
        ids,
        copies: COPY_IDS.map((id) => ({
          id,
          kind: "message",
          text: itemById(id).text,
          source: "chatgpt",
          conversation_id: "c-bath",
          conversation_title: "Waterproofing an old timber bathroom",
          created_at: ago(254),
        })),
      },
    }),
    erase: async (job, { ids, with_copies, copies }, onProgress) => {
      await runStages(
        job,
        ["record", "verbatim", "search_index", "database_pages", "temporary_files"],
        ids.length,
        stepMs / 2,
        onProgress,
      );
      items = items.filter((each) => !ids.includes(each.id));
      const tombstoneOf = (id: string) => ({
        ...sampleTombstone(`ts_${id}`, "delete", "memory", "chatgpt", 0),
        receipt: "rc_1",
        at: new Date().toISOString(),
      });
      tombstones.unshift(...ids.map(tombstoneOf));
      const redacted = with_copies ? (copies ?? COPY_IDS).length : 0;
      const copiesOf = { redacted, left: COPY_IDS.length - redacted };
      const eraseReceipt = sampleReceipt("rc_1", null, copiesOf, { records: ids.length });
      return { tombstones: tombstones.slice(0, ids.length), receipt: eraseReceipt, copies_redacted: redacted };
    },
    tombstones: async () => ({ tombstones }),
    receipt: async (id) => storedReceipt(id, tombstones),
    retryCleanup: async (job, id, onProgress) => {
      await runStages(job, ["record", "attachments", "search_index", "database_pages"], 4, stepMs / 2, onProgress);
      for (const tombstone of tombstones) if (tombstone.receipt === id) tombstone.complete = true;
      return sampleReceipt(id);
    },
    exportPreview: async (_job, request) => sampleExport(request, matching(request.filter), review.open(), false),
    exportRun: async (job, request, _passphrase, onProgress) => {
      await runStages(job, ["collect", "write", "validate"], items.length, stepMs, onProgress);
      return sampleExport(request, matching(request.filter), review.open(), true);
    },
    removeExport: async () => undefined,
    recordCopiedText: async () => undefined,
    evidence: async (job, out, request, onProgress) => {
      await runStages(job, ["write", "validate"], 3, stepMs, onProgress);
      return sampleEvidence(out, request, tombstones.length, entries.length);
    },
    exportText: async (_job, request) => (requireOpen(), transferText(matching(request.filter))),
    ...sampleSystem(options.system),
    onLocked: async (listener) => ((onLocked = listener), () => undefined),
    onWarnings: async () => () => undefined,
    onOpen: async (listener) => ((onOpen = listener), () => undefined),
    onDrop: async (listener) => ((onDrop = listener), () => undefined),
    ...review.commands,
    ...sampleMemoryReview({ items: () => items, stepMs }).commands,
    ...sampleContradictions({ items: () => items, backend: () => mock, stepMs }),
  };
  return mock;
}
