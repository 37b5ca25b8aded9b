// Writes ZIP archives, optionally with faults that no ordinary program would make, and tar archives.
import { crc32 } from "node:zlib";
import { deflateRawSync } from "node:zlib";

/**
 * Returns the bytes of a ZIP archive of `entries`. Each entry has `name` and `data`, and may have these members:
 * - `deflate`: true to compress the data
 * - `damage(packed)`: returns changed packed bytes, after the checksum was made
 * - `local`, `central`: fields to replace in the local or the central header (`name`, `crc`, `size`, `packed`,
 *   `method`, `flags`)
 * - `mode`: the Unix mode
 * - `like`: the index of an earlier entry whose data this entry points to
 * - `inside`: the offset of the byte in the previous entry that this entry points to
 */
export function buildArchive(entries) {
  const [bytes, directory, starts] = [[], [], []];
  let offset = 0;
  for (const entry of entries) {
    const unpacked = Buffer.from(entry.data ?? "");
    const packed = entry.deflate ? deflateRawSync(unpacked, { level: 9 }) : unpacked;
    const fields = {
      name: entry.name,
      flags: 0x800,
      method: entry.deflate ? 8 : 0,
      crc: crc32(unpacked),
      packed: packed.length,
      size: unpacked.length,
    };
    let start = offset;
    if (entry.like !== undefined) start = starts[entry.like];
    else if (entry.inside !== undefined) start = starts.at(-1) + entry.inside;
    else {
      const local = Buffer.concat([
        header("PK\x03\x04", [20], { ...fields, ...entry.local }, []),
        entry.damage ? entry.damage(Buffer.from(packed)) : packed,
      ]);
      bytes.push(local);
      offset += local.length;
    }
    starts.push(start);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0) << 16) >>> 0, 6);
    tail.writeUInt32LE(start, 10);
    directory.push(header("PK\x01\x02", [0x0314, 20], { ...fields, ...entry.central }, tail));
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...bytes, index, end]);
}

function header(magic, versions, { name, flags, method, crc, packed, size }, tail) {
  const label = Buffer.from(name);
  const words = Buffer.alloc(2 * versions.length);
  versions.forEach((version, i) => words.writeUInt16LE(version, 2 * i));
  const fields = Buffer.alloc(24);
  fields.writeUInt16LE(flags, 0);
  fields.writeUInt16LE(method, 2);
  fields.writeUInt16LE(0x21, 6);
  fields.writeUInt32LE(crc >>> 0, 8);
  fields.writeUInt32LE(packed, 12);
  fields.writeUInt32LE(size, 16);
  fields.writeUInt16LE(label.length, 20);
  return Buffer.concat([Buffer.from(magic, "latin1"), words, fields, Buffer.from(tail), label]);
}

/** Inverts the lowest bit of the middle byte, in place. */
export function flipMiddleBit(bytes) {
  bytes[Math.floor(bytes.length / 2)] ^= 1;
  return bytes;
}

/** Returns the bytes of an archive entry, without the directory that would list the entry. */
export function unlistedEntry(entry) {
  const bytes = buildArchive([entry]);
  return bytes.subarray(0, bytes.indexOf("PK\x01\x02"));
}

/** Offsets of the two entry counts in the end record: on this disk, and on all disks. */
export const ENTRY_COUNTS = [8, 10];

/** Changes the number of entries that the end record of an archive states at each of the `offsets`, in place. */
export function withStatedEntries(bytes, change, offsets = ENTRY_COUNTS) {
  const end = bytes.lastIndexOf("PK\x05\x06");
  for (const at of offsets) bytes.writeUInt16LE(change(bytes.readUInt16LE(end + at)), end + at);
  return bytes;
}

/** Changes the size of the directory that the end record of an archive states, in place. */
export function withStatedDirectorySize(bytes, change) {
  const at = bytes.lastIndexOf("PK\x05\x06") + 12;
  bytes.writeUInt32LE(change(bytes.readUInt32LE(at)), at);
  return bytes;
}

/** Returns the bytes of a tar archive of `entries`, each with `name` and `data`. */
export function buildTar(entries) {
  const blocks = entries.flatMap(({ name, data }) => {
    const content = Buffer.from(data ?? "");
    const header = Buffer.alloc(512);
    const fields = [name, "0000644\0", "0000000\0", "0000000\0", `${content.length.toString(8).padStart(11, "0")}\0`];
    [0, 100, 108, 116, 124].forEach((at, i) => header.write(fields[i], at));
    header.write("00000000000\0        0", 136);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}
