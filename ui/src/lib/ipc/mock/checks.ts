import type { FileCheck, KeyInfo, Keys } from "../backend";
import { ago } from "./data";

/** A sample key; its fingerprint consists of its own digits. */
export const sampleKey = (key: string): KeyInfo => ({
  algorithm: "ed25519",
  public_key: key,
  fingerprint: `${key.slice(0, 8)}91c044de0b12a7c3e5f60718`.slice(0, 32),
  name: null,
  since: ago(40),
});

/** The check result by file name: `damaged`, `forged`, `unsigned`; otherwise signed by somebody. */
export function fileCheck(path: string, format: string | null, keys: Keys): FileCheck {
  const [damaged, forged, unsigned] = ["damaged", "forged", "unsigned"].map((word) => path.includes(word));
  const key = (path.includes("stranger") ? "ab" : "5e").repeat(32);
  const standing = keys.trusted.some((each) => each.public_key === key)
    ? "trusted"
    : keys.seen.some((each) => each.public_key === key)
      ? "seen"
      : "new";
  return {
    path,
    format: format ?? path.split(".").pop() ?? null,
    checked: true,
    ok: !damaged && !forged,
    records: 412,
    signature: {
      present: !unsigned,
      algorithm: unsigned ? null : "ed25519",
      valid: unsigned ? null : !forged,
      trusted: null,
      key: unsigned ? null : key,
      tombstones: [],
    },
    signer: unsigned || forged ? null : { ...sampleKey(key), standing },
    errors: damaged
      ? [{ code: "checksum", place: "items/fact.jsonl", message: "the file is not the one the manifest names" }]
      : [],
    warnings: [],
  };
}
