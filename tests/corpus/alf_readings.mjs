// Damaged and forged `.alf` files in which two programs read different things, or that name what is not there: what is
// wrong with each, what `import` answers, and what `validate` finds.
import { OTHER_AGENT_ID, editJson, editLines, editManifest } from "./alf_edits.mjs";

/** Changes the text of the second memory, the one with every member. */
const editSecondLine = (from, to) =>
  editLines(([first, second, ...others]) => [first, second.replace(from, to), ...others]);

const DELTA_MANIFEST = {
  name: "delta-manifest.json",
  data: JSON.stringify({
    alf_version: "1.0.0",
    created_at: "2026-02-21T10:00:00Z",
    agent: { id: OTHER_AGENT_ID },
    sync: { base_sequence: 3, new_sequence: 4 },
    changes: {},
  }),
};

/** The same table as `VALUES`. */
export const READINGS = {
  "half of a surrogate pair in a content": [editSecondLine("on the roof", "on the \\ud83d roof"), "taken", "malformed"],
  "half of a surrogate pair in a foreign member": [
    editSecondLine('"x_more":[1.0,null]', '"x_more":"\\udc00"'),
    "taken",
    "malformed",
  ],
  "a key twice in a foreign member": [editSecondLine('"x_more":[1.0,null]', '"x_more":[{"a":1,"a":2}]'), "taken", ""],
  "the manifest of a delta before its own": [(entries) => [DELTA_MANIFEST, ...entries], "taken", ""],
  "memories that supersede each other": [
    editLines((all) => {
      const [first, second, ...others] = all.map((line) => JSON.parse(line));
      first.supersedes = second.id;
      second.supersedes = first.id;
      return [first, second, ...others].map((line) => JSON.stringify(line));
    }),
    "taken",
    "",
  ],
  "an unknown layer whose file is not there": [
    editManifest((m) => (m.layers.dreams = { count: 1, file: "dreams.json" })),
    "taken",
    "",
  ],
  "a profile of another agent": [
    editJson("principals.json", (document) => (document.principals[0].profile.agent_id = OTHER_AGENT_ID)),
    "taken",
    "",
  ],
  "an artifact without a digest": [
    editJson("attachments.json", (document) => delete document.attachments[0].hash),
    "taken",
    "missing_field",
  ],
  "an artifact whose size is a text": [
    editJson("attachments.json", (document) => (document.attachments[0].size_bytes = "17")),
    "taken",
    "wrong_type",
  ],
};
