import type { AuditEntry, BatchInfo, FailedImport, ImportReport } from "../backend";
import { ago } from "./data";

/** Sample imports, newest first. */
export const sampleBatches = (): BatchInfo[] => [
  {
    batch: "b-2",
    at: ago(0, 30),
    format: "chatgpt",
    names: ["chatgpt-export-2026-11-21.zip"],
    added: 669,
    updated: 40,
    unchanged: 42_918,
    blocked: 12,
    skipped: 6,
    failed: 5,
    undone: false,
    edited_since: 0,
    file: "/home/ines/Downloads/chatgpt-export-2026-11-21.zip",
  },
  {
    batch: "b-1",
    at: ago(3),
    format: "claude",
    names: ["data-2026-11-18.zip"],
    added: 14,
    updated: 3,
    unchanged: 25_210,
    blocked: 0,
    skipped: 0,
    failed: 0,
    undone: false,
    edited_since: 2,
    file: null,
  },
];

/** The batch that an import with this report creates. */
export const batchOf = (report: ImportReport, paths: readonly string[]): BatchInfo => ({
  batch: report.batch,
  at: ago(0, 0),
  format: report.format,
  names: paths.map((path) => path.split("/").pop() ?? path),
  added: report.added,
  updated: report.updated,
  unchanged: report.unchanged,
  blocked: report.blocked,
  skipped: report.skipped,
  failed: report.failed,
  undone: false,
  edited_since: 0,
  file: paths[0] ?? null,
});

/** Log entries of the sample vault, oldest first. */
export const sampleEntries = (): AuditEntry[] => [
  { seq: 1, at: ago(172), actor: "user", op: "create", target: "", detail: "", file: null },
  { seq: 2, at: ago(156), actor: "user", op: "edit", target: "m-0", detail: "version 2", file: null },
  {
    seq: 3,
    at: ago(18),
    actor: "user",
    op: "export",
    target: "alf",
    detail: "307 records, encrypted, valid",
    file: null,
  },
  {
    seq: 4,
    at: ago(12),
    actor: "user",
    op: "export",
    target: "transfer_text",
    detail: "41 records, 6 covered",
    file: null,
  },
  { seq: 5, at: ago(7), actor: "user", op: "redact", target: "m-ts_01JCM2T0R7", detail: "1 records", file: null },
  { seq: 6, at: ago(3.2), actor: "user", op: "import_failed", target: "claude", detail: "limit", file: null },
  { seq: 7, at: ago(3), actor: "user", op: "import", target: "b-1", detail: "added 14 updated 3", file: null },
  { seq: 8, at: ago(0.1), actor: "user", op: "erase", target: "m-ts_01JD4V8QN3", detail: "memory", file: null },
  {
    seq: 9,
    at: ago(0.05),
    actor: "user",
    op: "export",
    target: "mem",
    detail: "329 records, signed, 14 covered, valid",
    file: "/home/ines/Documents/Ines 2026-11-21.mem",
  },
  { seq: 10, at: ago(0, 30), actor: "user", op: "import", target: "b-2", detail: "added 669 updated 40", file: null },
];

/** Details of the failed sample import. */
export const sampleFailed: FailedImport[] = [
  {
    seq: 6,
    paths: ["/home/ines/Downloads/claude-part-2-of-3.zip"],
    error: {
      code: "limit",
      message: "claude-part-2-of-3.zip is over a size limit (total_bytes: 68719476736). Nothing was changed.",
      details: { place: "claude-part-2-of-3.zip", limit: "total_bytes", figure: "68719476736" },
    },
  },
];
