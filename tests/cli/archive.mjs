// Reads ZIP archives that Mementory wrote.
import { readFileSync } from "node:fs";
import { inflateRawSync } from "node:zlib";

/** Returns the entries of a ZIP file as `{name: text}`. */
export function readEntries(path) {
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf("PK\x05\x06");
  let at = bytes.readUInt32LE(end + 16);
  const entries = {};
  for (let remaining = bytes.readUInt16LE(end + 10); remaining > 0; remaining -= 1) {
    const [method, size] = [bytes.readUInt16LE(at + 10), bytes.readUInt32LE(at + 20)];
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((offset) => bytes.readUInt16LE(at + offset));
    const localHeader = bytes.readUInt32LE(at + 42);
    const start = localHeader + 30 + bytes.readUInt16LE(localHeader + 26) + bytes.readUInt16LE(localHeader + 28);
    const packed = bytes.subarray(start, start + size);
    const name = bytes.toString("utf8", at + 46, at + 46 + nameLength);
    entries[name] = (method ? inflateRawSync(packed) : packed).toString();
    at += 46 + nameLength + extraLength + commentLength;
  }
  return entries;
}
