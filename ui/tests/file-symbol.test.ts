import FileQuestion from "@lucide/svelte/icons/file-question-mark";
import FileText from "@lucide/svelte/icons/file-text";
import Folder from "@lucide/svelte/icons/folder";
import Lock from "@lucide/svelte/icons/lock";
import { expect, it } from "vitest";
import type { Detection } from "$lib/ipc";
import { fileSymbol } from "$lib/state/file-symbol";
import { KEEP_AS_FILE_FORMATS } from "$lib/state/guides";

const detection = (fields: Partial<Detection>): Detection => ({
  path: "/d/file",
  format: null,
  version: null,
  confidence: 0,
  encrypted: false,
  reason: "",
  parts: [],
  missing_parts: [],
  candidates: [],
  tie: false,
  ...fields,
});

const [keptFormat] = KEEP_AS_FILE_FORMATS;

it.each([
  ["a file that is inspected", null, null, null, FileText],
  ["an export", detection({ format: "chatgpt" }), null, "chatgpt", FileText],
  ["a portable file", detection({ format: "pam" }), null, null, FileText],
  ["a bundle, which is a folder", detection({ format: "mem" }), null, null, Folder],
  ["an encrypted file", detection({ encrypted: true }), null, null, Lock],
  ["a file of several possible formats", detection({ tie: true }), null, null, FileText],
  ["an unknown file", detection({}), null, null, FileQuestion],
  ["a file whose format was chosen", detection({}), "claude", "claude", FileText],
  ["a file that is kept as it is", detection({}), keptFormat!, null, FileText],
])("%s has its own symbol", (_, found, chosen, source, icon) => {
  expect(fileSymbol(found, chosen)).toEqual({ source, icon });
});
