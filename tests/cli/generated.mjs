// Generates ChatGPT exports and ZIP archives for tests.
import { readFileSync, readdirSync } from "node:fs";
import { join, relative } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

const FIRST_TIME_SECONDS = 1_700_000_000;

/** One conversation without branches. `messages`: `[{role, text, files, to}]`. */
export function conversation(id, title, messages) {
  const mapping = { root: { id: "root", parent: null, children: [], message: null } };
  let parent = "root";
  for (const [i, { role, text, to = "all", files = [] }] of messages.entries()) {
    const node = `${id}-${i}`;
    mapping[parent].children.push(node);
    mapping[node] = {
      id: node,
      parent,
      children: [],
      message: {
        id: node,
        author: { role, name: null, metadata: {} },
        create_time: FIRST_TIME_SECONDS + i,
        update_time: null,
        content: { content_type: "text", parts: [text] },
        status: "finished_successfully",
        end_turn: true,
        weight: 1,
        metadata: files.length > 0 ? { attachments: files } : {},
        recipient: to,
      },
    };
    parent = node;
  }
  return {
    id,
    conversation_id: id,
    title,
    create_time: FIRST_TIME_SECONDS,
    update_time: FIRST_TIME_SECONDS + messages.length,
    mapping,
    current_node: parent,
  };
}

/**
 * JSON of an export with `conversations` conversations of `messages` messages each. Every message contains the word
 * `name`, and no two texts are equal.
 */
export function manyConversations(name, conversations, messages) {
  return JSON.stringify(
    Array.from({ length: conversations }, (_, c) =>
      conversation(
        `${name}-${c}`,
        `${name} about subject ${c}`,
        Array.from({ length: messages }, (_, m) => ({
          role: m % 2 ? "assistant" : "user",
          text: `${name} ${c} ${m}: the ${m % 3 ? "harbour" : "orchard"} needs ${c * 7 + m} lanterns before winter`,
        })),
      ),
    ),
  );
}

/** Bytes of a ZIP archive of these entries (`[[name, bytes or text]]`), stored uncompressed by default. */
export function zip(entries, compressed = false) {
  const [files, directory] = [[], []];
  let offset = 0;
  for (const [name, content] of entries) {
    const [nameBytes, contentBytes] = [Buffer.from(name), Buffer.from(content)];
    const bytes = compressed ? deflateRawSync(contentBytes) : contentBytes;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt16LE(compressed ? 8 : 0, 4);
    common.writeUInt16LE(0x21, 8);
    common.writeUInt32LE(crc32(contentBytes), 10);
    common.writeUInt32LE(bytes.length, 14);
    common.writeUInt32LE(contentBytes.length, 18);
    common.writeUInt16LE(nameBytes.length, 22);
    const remainder = Buffer.alloc(14);
    remainder.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), common, nameBytes, bytes]);
    files.push(local);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00", "latin1"), common, remainder, nameBytes]));
    offset += local.length;
  }
  const index = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06", 0, "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(index.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...files, index, end]);
}

/** All files of a folder as entries for `zip`. */
export function entriesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((path) => [relative(folder, path).replaceAll("\\", "/"), readFileSync(path)]);
}
