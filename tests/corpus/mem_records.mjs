// Damaged and forbidden values in the records of a `.mem` bundle (§1.1, §2, §5 and the schemas of the kinds). The
// manifest is made from the changed records, so it matches them.
import { EPISODES, TOMBSTONES, editLines, editRecord, editText, linesOf } from "./mem_bundle.mjs";

const TOKEN = ["ghp", "q7Xw2LkP9sVbT4nRz8JcYd5MfHg3uE6AoKiN"].join("_");
const MALFORMED = ["malformed", "malformed"];
const replaceFirstLine = (text, change) => [change(linesOf(text)[0]), ...linesOf(text).slice(1)].join("\n") + "\n";
const editFirstLine = (change, path = EPISODES) => editText(path, (text) => replaceFirstLine(text, change));
const editEpisode = (change) => editRecord("episode", (record) => void change(record));
const editTombstone = (change) => editRecord("tombstone", (record) => void change(record), TOMBSTONES);

/** A required field of each kind. */
const REQUIRED = {
  category: "name",
  chunk: "resourceID",
  community: "memberEntityIDs",
  context: "createdAt",
  core: "content",
  edge: "srcEntityID",
  entity: "canonicalName",
  episode: "details",
  episodeLink: "weight",
  fact: "episodeID",
  factLink: "linkType",
  preference: "value",
  procedure: "steps",
  resource: "uri",
  secretRef: "encryptionMetadata",
};

/** Integer fields that must not be negative according to the schemas: field by kind. */
const NOT_NEGATIVE = {
  chunk: "position",
  core: "charBudget",
  procedure: "failureCount",
  episode: "accessCount",
};

const WRONG_TYPES = {
  id: 7,
  eventTime: 1_767_261_600,
  actors: "user",
  categories: [7],
  metadata: { weather: 7 },
  confidence: "high",
  accessCount: 2.5,
  pinned: "yes",
  summary: null,
  contextID: 7,
};

const TIMES = [
  "2026-02-30T00:00:00Z",
  "2026-13-01T00:00:00Z",
  "2026-01-01T24:00:00Z",
  "2026-01-01T10:00:60Z",
  "2026-01-01T10:00:00+99:00",
  "yesterday",
  "",
];

export const recordCases = () => ({
  ...Object.fromEntries(
    Object.entries(REQUIRED).map(([kind, name]) => [
      `${kind} without ${name}`,
      [editRecord(kind, (record) => void delete record[name]), ...MALFORMED],
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(WRONG_TYPES).map(([name, value]) => [
      `an episode with ${name} = ${JSON.stringify(value)}`,
      [editEpisode((episode) => (episode[name] = value)), ...MALFORMED],
    ]),
  ),
  ...Object.fromEntries(
    TIMES.map((time) => [
      `an episode at ${JSON.stringify(time)}`,
      [editEpisode((episode) => (episode.mentionTime = time)), ...MALFORMED],
    ]),
  ),
  "a time with a fraction and an offset": [
    editEpisode((episode) => (episode.mentionTime = "2026-01-02T12:00:00.75+02:00")),
    "taken",
    "",
  ],
  ...Object.fromEntries(
    Object.entries(NOT_NEGATIVE).map(([kind, name]) => [
      `${kind} with ${name} below 0`,
      [editRecord(kind, (record) => void (record[name] = -1)), "taken", "bad_value"],
    ]),
  ),
  "an integer with 40 digits in a foreign field": [
    editFirstLine((line) => line.replace('"acmeDepth":12.5', `"acmeDepth":${"9".repeat(40)}`)),
    "taken",
    "",
  ],
  "a number beyond a double": [editFirstLine((line) => line.replace("12.5", "1e400")), ...MALFORMED],
  NaN: [editFirstLine((line) => line.replace("12.5", "NaN")), ...MALFORMED],
  "a lone surrogate": [editFirstLine((line) => line.replace("retired", "retire\\ud800")), ...MALFORMED],
  "a NUL in a text": [editFirstLine((line) => line.replace("retired", "retired\\u0000")), "taken", ""],
  "text that is not UTF-8": [
    editText(EPISODES, (text) => Buffer.from(text.replace("retired", "retir\u00e9d"), "latin1")),
    ...MALFORMED,
  ],
  "a vendor kind that is not UTF-8": [editText("items/acmeBuoy.jsonl", () => Buffer.from([0xff, 0x0a])), ...MALFORMED],
  "a byte order mark": [editText(EPISODES, (text) => `\ufeff${text}`), ...MALFORMED],
  "a line that is a list": [editFirstLine((line) => `[${line}]`), ...MALFORMED],
  "a line that is cut": [editFirstLine((line) => line.slice(0, -10)), ...MALFORMED],
  "two records in one line": [editFirstLine((line) => line + line), ...MALFORMED],
  "a record that is nested 100,000 deep": [
    editFirstLine((line) => line.replace("12.5", "[".repeat(100_000) + "]".repeat(100_000))),
    ...MALFORMED,
  ],
  "a record that is nested 200 deep": [
    editFirstLine((line) => line.replace("12.5", "[".repeat(200) + "]".repeat(200))),
    "taken",
    "",
  ],
  "a key twice": [editFirstLine((line) => line.replace("{", '{"summary":"First",')), "taken", ""],
  "keys in another order": [
    editFirstLine((line) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse()))),
    "taken",
    "",
  ],
  "white space in a record": [editFirstLine((line) => line.replace(":", ": ")), "taken", ""],
  "an escaped slash": [
    editFirstLine((line) => line.replace("Bought the boat", "Bought the boat\\/yacht")),
    "taken",
    "",
  ],
  "escaped letters": [editFirstLine((line) => line.replace("M\u00f6we", "M\\u00f6we")), "taken", ""],
  "an absent field as null": [editRecord("fact", (fact) => void (fact.speaker = null)), "taken", ""],
  "carriage returns": [editText(EPISODES, (text) => text.replaceAll("\n", "\r\n")), "taken", ""],
  "a blank line": [editText(EPISODES, (text) => text.replace("\n", "\n\n")), "taken", ""],
  "no line feed at the end": [editText(EPISODES, (text) => text.trimEnd()), "taken", ""],
  "an id twice": [editLines(EPISODES, (lines) => [...lines, lines[1].replace("forepeak", "locker")]), "taken", ""],
  "a reference that points nowhere": [editRecord("fact", (fact) => void (fact.episodeID = "ep_never")), "taken", ""],
  "an empty reference in an optional field": [editRecord("fact", (fact) => void (fact.supersededBy = "")), "taken", ""],
  "an empty reference in a required field": [editRecord("fact", (fact) => void (fact.episodeID = "")), "taken", ""],
  "an empty reference in a list": [editRecord("edge", (edge) => void edge.evidenceEpisodeIDs.push("")), "taken", ""],
  "a secret that travels in clear": [
    editRecord("secretRef", (secret) => void (secret.value = "chart-pass-77")),
    "taken",
    "secret_carried",
  ],
  "a secret that travels encrypted": [
    editRecord("secretRef", (secret) => void (secret.ciphertext = "00ff00ff")),
    "taken",
    "secret_carried",
  ],
  "a hint that is the secret": [
    editRecord("secretRef", (secret) => void (secret.preview = TOKEN)),
    "taken",
    "secret_carried",
  ],
  "a description with the secret": [
    editRecord("secretRef", (secret) => void (secret.encryptionMetadata = `aes-256-gcm ${TOKEN}`)),
    "taken",
    "secret_carried",
  ],
  "a long hint without a mask": [
    editRecord("secretRef", (secret) => void (secret.preview = "correct horse battery staple")),
    "taken",
    "",
  ],
  "a masked hint": [editRecord("secretRef", (secret) => void (secret.preview = "ghp_****YxWz")), "taken", ""],
  "an empty id": [editEpisode((episode) => (episode.id = "")), "taken", "empty"],
  // The signature of the tombstone covers the target, so the change makes it invalid.
  "a tombstone with an empty target": [editTombstone((t) => (t.targetID = "")), "signature_invalid", "empty"],
  "a tombstone with another operation": [editTombstone((t) => (t.op = "erase")), ...MALFORMED],
  "a tombstone without a target": [editTombstone((t) => delete t.targetID), ...MALFORMED],
  "a tombstone with a time that is none": [editTombstone((t) => (t.deletedAt = "then")), ...MALFORMED],
  "a tombstone with derived ids that are numbers": [editTombstone((t) => (t.derived.factIDs = [7])), ...MALFORMED],
  "a tombstone without derived": [editTombstone((t) => (delete t.derived, delete t.signature)), "taken", ""],
  "a tombstone with a derived list less": [
    editTombstone((t) => (delete t.derived.chunkIDs, delete t.signature)),
    "taken",
    "",
  ],
  "a tombstone with a derived count below 0": [
    editTombstone((t) => ((t.derived.episodeLinkCount = -1), delete t.signature)),
    "taken",
    "bad_value",
  ],
  "a tombstone of a record in the same bundle": [
    editTombstone((t) => ((t.targetID = "ep_plain"), delete t.signature)),
    "taken",
    "",
  ],
  "a tombstone twice": [editLines(TOMBSTONES, (lines) => [...lines, lines[1]]), "taken", ""],
  "a log entry without a time": [editRecord("log", (entry) => void delete entry.ts, "audit/log.jsonl"), ...MALFORMED],
  "an edge of the provenance that is none": [
    { content: (files) => ({ ...files, "provenance/edges.jsonl": '{"id":"edge_x"}\n' }) },
    ...MALFORMED,
  ],
});
