import type { Backend, FileCheck, KeyInfo, Keys } from "../backend";
import { ago } from "./data";
import { failWith } from "./jobs";

/** A sample key. Its fingerprint begins with the first eight digits of the key. */
const sampleKey = (key: string): KeyInfo => ({
  algorithm: "ed25519",
  public_key: key,
  fingerprint: `${key.slice(0, 8)}91c044de0b12a7c3e5f60718`.slice(0, 32),
  name: null,
  since: ago(40),
});

/**
 * The result of a check, chosen by words in the path: `damaged`, `forged`, `unsigned`, or `stranger` for a valid
 * signature with an unknown key. Any other file has a valid signature with a key that was seen before.
 */
export function fileCheck(path: string, format: string | null, keys: Keys): FileCheck {
  const [damaged, forged, unsigned] = ["damaged", "forged", "unsigned"].map((word) => path.includes(word));
  const key = (path.includes("stranger") ? "ab" : "5e").repeat(32);
  const trustStatus = keys.trusted.some((each) => each.public_key === key)
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
    signer: unsigned || forged ? null : { ...sampleKey(key), trust_status: trustStatus },
    errors: damaged
      ? [{ code: "checksum", place: "items/fact.jsonl", message: "the file is not the one the manifest names" }]
      : [],
    warnings: [],
  };
}

/** The signing keys of the sample vault: its own key, no trusted key, and one key that was seen in a file. */
export function sampleKeys(): { state: Keys; commands: Pick<Backend, "keys" | "trustKey" | "forgetKey"> } {
  const keys: Keys = { own: [sampleKey("7f".repeat(32))], trusted: [], seen: [sampleKey("5e".repeat(32))] };
  return {
    state: keys,
    commands: {
      keys: async () => structuredClone(keys),
      trustKey: async (key, name) => {
        if (!/^[0-9a-f]{64}$/.test(key)) throw failWith("bad_key", "A key to trust has to be a public key.");
        keys.seen = keys.seen.filter((each) => each.public_key !== key);
        keys.trusted.push({ ...sampleKey(key), name });
        return structuredClone(keys);
      },
      forgetKey: async (key) => {
        keys.trusted = keys.trusted.filter((each) => each.public_key !== key);
        keys.seen = keys.seen.filter((each) => each.public_key !== key);
        return structuredClone(keys);
      },
    },
  };
}
