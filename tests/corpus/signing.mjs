// Keys, digests and canonical JSON for corpora of signed files.
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";

const PKCS8_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

/** An Ed25519 key whose seed is 32 times the same byte. Returns `publicKey` (32 bytes) and `sign(message)`. */
function ed25519Key(seedByte) {
  const der = Buffer.concat([PKCS8_HEAD, Buffer.alloc(32, seedByte)]);
  const key = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const { x } = createPublicKey(key).export({ format: "jwk" });
  return { publicKey: Buffer.from(x, "base64url"), sign: (message) => sign(null, Buffer.from(message), key) };
}

/** The key that signs the valid files, which the test trusts. */
export const TRUSTED_KEY = ed25519Key(7);
/** A key that nobody trusts. */
export const STRANGER_KEY = ed25519Key(9);

export const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");

/**
 * JSON with sorted keys and without white space. For the values in the fixtures, this is the canonical form of both
 * `.mem` and PAM.
 */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key])}`);
  return `{${members.join(",")}}`;
}

/** Changes the middle digit of a text of hex digits: `0` to `1`, every other digit to `0`. */
export function changeMiddleDigit(text) {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === "0" ? "1" : "0") + text.slice(at + 1);
}
