// `node tests/demonstration/make.mjs` makes the exports of the demonstration in `fixtures/demonstration` from the texts
// next to this file. The same texts always produce the same bytes. The person in them is invented.
//
// Each conversation is one line in `chatgpt.txt`, `claude.txt`, `gemini.txt` or `claude-code.txt`: `day time | title |
// question | answer | question | answer …`. Gemini's conversations have no title. Lines that begin with a mark belong
// to the conversation above them: `+` is a memory that the assistant saved in it, `^` is an answer that was replaced by
// another one, `&` is a file that the person attached. `memories.txt` has all other memories: ChatGPT's
// as `day | memory | title of its conversation`, or as `day time | memory | title | question | answer`.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { crc32, deflateSync } from "node:zlib";
import { buildArchive } from "../corpus/zip.mjs";

const HERE = fileURLToPath(new URL(".", import.meta.url));
const FOLDER = fileURLToPath(new URL("../../fixtures/demonstration/", import.meta.url));
const PERSON = "Maren Holt";
const PROJECT = "-home-maren-mare";

/** A UUID that depends only on `text`. */
function uuid(text) {
  const hex = createHash("sha256").update(text).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    "-",
  );
}

const read = (name) => readFileSync(join(HERE, name), "utf8").trim().split("\n");
const json = (value) => JSON.stringify(value);
const archive = (files) => buildArchive(Object.entries(files).map(([name, data]) => ({ name, data, deflate: true })));

/** The conversations of a file: {at, title, turns: [{role, text}], saved, replaced, files}. */
function conversations(name, { titled = true } = {}) {
  const conversationList = [];
  for (const line of read(name)) {
    const [mark, rest] = [line[0], line.slice(2)];
    if (mark === "+") conversationList.at(-1).saved.push(rest);
    else if (mark === "^") conversationList.at(-1).replaced.push(rest);
    else if (mark === "&") conversationList.at(-1).files.push(rest);
    else {
      const [time, ...cells] = line.split("|").map((cell) => cell.trim());
      const title = titled ? cells.shift() : null;
      const files = cells.filter((cell) => cell.startsWith("& ")).map((cell) => cell.slice(2));
      const turns = cells
        .filter((cell) => !cell.startsWith("& "))
        .map((text, index) => ({ role: index % 2 === 0 ? "user" : "assistant", text }));
      conversationList.push({
        at: Date.parse(`${time.replace(" ", "T")}:00Z`),
        title,
        turns,
        files,
        saved: [],
        replaced: [],
      });
    }
  }
  return conversationList;
}

/** The memories of an assistant in `memories.txt`, each as a list of cells. */
function memories(assistant) {
  const lines = read("memories.txt");
  const firstLine = lines.indexOf(`[${assistant}]`) + 1;
  const next = lines.findIndex((line, index) => index >= firstLine && line.startsWith("["));
  return lines.slice(firstLine, next < 0 ? undefined : next).map((line) => line.split("|").map((cell) => cell.trim()));
}

/** Returns the content of a file that the person attached to a conversation. */
function fileContent(name) {
  if (name.endsWith(".png")) return marketFish();
  return `${FILES[name]().join("\n")}\n`;
}

const days = (month, count) =>
  Array.from({ length: count }, (_, index) => `2026-${month}-${String(index + 1).padStart(2, "0")}`);

/** Maps the name of each table to a function that returns its lines. */
const FILES = {
  "inventory-van.csv": () => [
    "item,what,kg",
    "1,books (one shelf),31",
    "2,books (one shelf),29",
    "3,kitchen,18",
    "4,winter clothes,14",
    "5,tea and teapots,9",
    "6,radio and records,12",
    "7,bike (boxed),24",
    "8,cat's things,6",
  ],
  // On 19 of the 28 days, more than 410 people wait.
  "waiting-0820.csv": () => [
    "day,waiting",
    ...days("05", 28).map((day, n) => `${day},${n % 3 === 2 ? 371 + n : 412 + ((n * 17) % 43)}`),
  ],
  "rota-november.csv": () => [
    "day,crew,first boat,last boat",
    ...days("11", 28).map(
      (day, n) => `${day},${(n % 9) + 1},${n % 2 ? "13:40" : "05:50"},${n % 2 ? "23:20" : "13:20"}`,
    ),
  ],
};

/** A picture of a fish on a market stall, as PNG. */
function marketFish() {
  const [width, height] = [480, 320];
  const isInside = (x, y, [cx, cy, rx, ry]) => ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1;
  const colour = (x, y) => {
    if (isInside(x, y, [126, 146, 9, 9])) return isInside(x, y, [126, 146, 4, 4]) ? [20, 22, 26] : [228, 196, 92];
    if (isInside(x, y, [220, 160, 140, 66])) {
      // The back is darker than the belly, and the scales are rows of small arcs.
      const scale = (x + (Math.floor(y / 8) % 2) * 6) % 12 < 2 && x > 170 ? -14 : 0;
      const light = Math.round(96 + (y - 94) * 0.9) + scale;
      return x < 165 && x > 158 ? [110, 104, 100] : [light + 6, light + 8, light + 14];
    }
    const tail = x > 340 && x < 430 && Math.abs(y - 160) < (x - 340) * 0.75 + 12;
    if (tail || isInside(x, y, [230, 98, 70, 18])) return [124, 126, 136];
    const ice = (x * 7 + y * 13) % 29 < 3 ? 8 : 0;
    return y > 268 ? [112, 84, 58] : [204 + ice, 222 + ice, 232 + ice];
  };
  const rows = [];
  for (let y = 0; y < height; y += 1) {
    rows.push(0);
    for (let x = 0; x < width; x += 1) rows.push(...colour(x, y));
  }
  const chunk = (type, data) => {
    const body = Buffer.concat([Buffer.from(type, "latin1"), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2, 0, 0, 0], 8);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.from(rows), { level: 9 });
  return Buffer.concat([signature, chunk("IHDR", header), chunk("IDAT", pixels), chunk("IEND", Buffer.alloc(0))]);
}

function chatgpt() {
  const files = {};
  const names = {};
  const list = conversations("chatgpt.txt");
  // ChatGPT saves memories only in conversations, so each memory names its conversation or is listed with a
  // conversation of its own.
  for (const [time, text, title, ...said] of memories("chatgpt")) {
    const turns = said.map((text, index) => ({ role: index % 2 === 0 ? "user" : "assistant", text }));
    const ownConversation = {
      at: Date.parse(`${time.replace(" ", "T")}:00Z`),
      title,
      turns,
      files: [],
      saved: [],
      replaced: [],
    };
    if (turns.length > 0) list.push(ownConversation);
    list.find((conversation) => conversation.title === title).saved.push(text);
  }
  const all = list.map((conversation) => {
    const id = uuid(`chatgpt ${conversation.title}`);
    const mapping = { [`${id}-root`]: { id: `${id}-root`, message: null, parent: null, children: [] } };
    let [parent, time, count] = [`${id}-root`, conversation.at / 1000, 0];
    const add = (role, text, { recipient = "all", under = parent, name = null, metadata = {} } = {}) => {
      const node = uuid(`${id} ${(count += 1)}`);
      time += 40;
      mapping[under].children.push(node);
      mapping[node] = {
        id: node,
        message: {
          id: node,
          author: { role, name, metadata: {} },
          create_time: time,
          update_time: null,
          content: { content_type: "text", parts: [text] },
          status: "finished_successfully",
          end_turn: role === "assistant" && recipient === "all",
          weight: 1,
          metadata,
          recipient,
        },
        parent: under,
        children: [],
      };
      return (parent = node);
    };
    for (const [index, { role, text }] of conversation.turns.entries()) {
      const attachments = index === 0 ? conversation.files : [];
      const metadata = {};
      if (attachments.length > 0)
        metadata.attachments = attachments.map((name) => {
          const fileId = `file-${uuid(`${id} ${name}`).replaceAll("-", "").slice(0, 24)}`;
          const content = fileContent(name);
          files[`${fileId}.dat`] = content;
          names[`${fileId}.dat`] = name;
          return { id: fileId, name, mime_type: "text/csv", size: Buffer.byteLength(content) };
        });
      const parentId = parent;
      if (role === "assistant" && index === conversation.turns.length - 1)
        for (const text of conversation.replaced) {
          add("assistant", text, { under: parentId });
          parent = parentId;
        }
      add(role, text, { metadata });
      if (index === 0)
        for (const memory of conversation.saved) {
          add("assistant", memory, { recipient: "bio" });
          add("tool", "Model set context updated.", { name: "bio" });
        }
    }
    return {
      title: conversation.title,
      create_time: conversation.at / 1000,
      update_time: time,
      mapping,
      moderation_results: [],
      current_node: parent,
      conversation_id: id,
      id,
    };
  });
  return archive({
    "conversations.json": json(all),
    "user.json": json({ id: "user-maren", email: "maren.holt@postbox-leeds.co.uk" }),
    "conversation_asset_file_names.json": json(names),
    ...files,
  });
}

function claude() {
  const account = uuid("claude account");
  const stamp = (time) => new Date(time).toISOString().replace("Z", "000Z");
  const all = conversations("claude.txt").map((conversation) => {
    const id = uuid(`claude ${conversation.title}`);
    let [time, parent] = [conversation.at, "00000000-0000-4000-8000-000000000000"];
    const messages = [];
    const add = (role, text, under, files = []) => {
      time += 45_000;
      const message = uuid(`${id} ${messages.length}`);
      messages.push({
        uuid: message,
        text,
        content: [{ start_timestamp: stamp(time), stop_timestamp: stamp(time), type: "text", text, citations: [] }],
        sender: role === "user" ? "human" : "assistant",
        created_at: stamp(time),
        updated_at: stamp(time),
        attachments: [],
        files: files.map((name) => ({ file_uuid: uuid(`${id} ${name}`), file_name: name })),
        parent_message_uuid: under,
      });
      return message;
    };
    for (const [index, { role, text }] of conversation.turns.entries()) {
      if (role === "assistant" && index === conversation.turns.length - 1)
        for (const replaced of conversation.replaced) add("assistant", replaced, parent);
      parent = add(role, text, parent, index === 0 ? conversation.files : []);
    }
    return {
      uuid: id,
      name: conversation.title,
      summary: "",
      created_at: stamp(conversation.at),
      updated_at: stamp(time),
      account: { uuid: account },
      chat_messages: messages,
    };
  });
  return archive({
    "conversations.json": json(all),
    "users.json": json([{ uuid: account, full_name: PERSON, email_address: "maren.holt@postbox-leeds.co.uk" }]),
    "projects.json": json([]),
    "memories.json": json([
      {
        account_uuid: account,
        conversations_memory:
          "**Work context**\n\nMaren plans ferry timetables at Travessia in Lisbon.\n\n**Personal context**\n\nShe moved from Leeds in April 2026 with her cat Biscuit.\n\n**Top of mind**\n\nHandover with Conceição; a flat with Tomás.",
        memory_files: memories("claude").map(([path, content]) => ({ path, content })),
      },
    ]),
  });
}

function gemini() {
  const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  const files = {};
  const folder = "Takeout/My Activity/Gemini Apps";
  const rows = conversations("gemini.txt", { titled: false }).map(({ at, turns, files: fileNames }) => {
    const id = uuid(`gemini ${at}`).replaceAll("-", "").slice(0, 16);
    const row = {
      header: "Gemini Apps",
      title: `Prompted ${turns[0].text}`,
      titleUrl: `https://gemini.google.com/app/${id}`,
      time: new Date(at).toISOString(),
      products: ["Gemini Apps"],
      activityControls: ["Gemini Apps Activity"],
      safeHtmlItem: [{ html: `<p>${escape(turns[1].text)}</p>` }],
    };
    for (const name of fileNames) {
      files[`${folder}/${name}`] = fileContent(name);
      row.subtitles = [{ name: "Attached 1 file." }, { name: `-  ${name}`, url: name }];
      row.imageFile = name;
    }
    return row;
  });
  return archive({ [`${folder}/MyActivity.json`]: json(rows.reverse()), ...files });
}

function claudeCode() {
  const files = {};
  for (const conversation of conversations("claude-code.txt")) {
    const session = uuid(`claude-code ${conversation.title}`);
    let [time, parent] = [conversation.at, null];
    const lines = conversation.turns.map(({ role, text }, index) => {
      const id = uuid(`${session} ${index}`);
      const line = {
        parentUuid: parent,
        isSidechain: false,
        userType: "external",
        cwd: "/home/maren/mare",
        sessionId: session,
        version: "2.2.0",
        gitBranch: "main",
        type: role,
        uuid: id,
        message: {
          role,
          content: role === "user" ? text : [{ type: "text", text }],
          ...(role === "assistant" && { id: `msg_${id.slice(0, 8)}`, type: "message", model: "claude-x-5" }),
        },
        timestamp: new Date((time += 60_000)).toISOString(),
      };
      parent = id;
      return json(line);
    });
    lines.push(json({ type: "custom-title", customTitle: conversation.title, sessionId: session }));
    files[`projects/${PROJECT}/${session}.jsonl`] = `${lines.join("\n")}\n`;
  }
  const topics = memories("claude-code");
  for (const [name, type, text] of topics)
    files[`projects/${PROJECT}/memory/${name}.md`] =
      `---\nname: ${name}\ndescription: ${text.split(/[.:;,]/)[0]}\ntype: ${type}\n---\n\n${text}\n`;
  files[`projects/${PROJECT}/memory/MEMORY.md`] =
    `# Memory index\n\n${topics.map(([name]) => `- [${name}](${name}.md)`).join("\n")}\n`;
  return archive(files);
}

/** The exports by file name. */
const demonstrationExports = () => ({
  "chatgpt-export.zip": chatgpt(),
  "claude-export.zip": claude(),
  "gemini-takeout.zip": gemini(),
  "claude-code.zip": claudeCode(),
});

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, bytes] of Object.entries(demonstrationExports())) {
    writeFileSync(join(FOLDER, name), bytes);
    console.log(`${name}: ${bytes.length} bytes`);
  }
}
