import type { ListItem } from "../backend";

/** One sample memory. `days` is its age. All people, places and things in the samples are invented. */
type MemorySeed = [source: string, type: string, text: string, days: number, extra?: Partial<ListItem>];

const NEW = { export_diff_status: "new" };
const GONE = { export_diff_status: "gone" };

const MEMORIES: MemorySeed[] = [
  [
    "chatgpt",
    "project",
    "Is renovating a wooden house from 1934 in Sandviken; the bathroom comes first, the kitchen next year.",
    254,
    { tags: ["house", "bergen"], versions: 3, conversation_id: "c-bath" },
  ],
  [
    "claude",
    "project",
    "Wants the bathroom floor to carry 2.0 kN/m² plus a cast tub of about 180 kg.",
    233,
    { tags: ["house"] },
  ],
  [
    "chatgpt",
    "project",
    "Chose grey-green zellige tiles for the bathroom; ordered from Aveiro on 9 November, four weeks of delivery.",
    2,
    { tags: ["house"], export_diff_status: "new" },
  ],
  [
    "chatgpt",
    "preference",
    "Prefers to do the bathroom waterproofing herself; the electrician is on +44 20 7946 0123 or at electrician@example.com.",
    238,
    { tags: ["house"], sensitive: true },
  ],
  ["gemini", "fact", "Lives at [REDACTED:address], bathroom on the first floor.", 146, { redacted: true, versions: 2 }],
  ["claude", "project", "Budget for the bathroom is NOK 240,000 including labour.", 120, { tags: ["house"] }],
  [
    "me",
    "project",
    "Bathroom: moisture reading 22 % behind the north wall on 4 May. Ask Per before closing it.",
    200,
    { tags: ["house", "work"] },
  ],
  ["chatgpt", "person", "Her brother Per is a carpenter and checks the bathroom work on Sundays.", 218, GONE],
  ["chatgpt", "health", "Is training for the Bergen half-marathon on 24 April, three mornings a week.", 0.1, NEW],
  [
    "claude",
    "preference",
    "Prefers British spelling and short answers with the numbers first.",
    3,
    { versions: 2, export_diff_status: "changed" },
  ],
  ["gemini", "fact", "Travels to Amsterdam most months and books window seats.", 150],
  ["chatgpt", "fact", "Works as a structural engineer for a small office in Bergen.", 300, GONE],
  ["claude", "instruction", "Give sources with page numbers, and say when a figure is an estimate.", 90],
  ["cursor", "instruction", "Use thiserror in libraries and anyhow only in binaries.", 40, { tags: ["work"] }],
  [
    "cursor",
    "project",
    "Tidebook parses harmonic constants; offsets are kept as integers in minutes of arc.",
    35,
    { tags: ["work", "tidebook"] },
  ],
  ["chatgpt", "person", "Her daughter Liv is seven and reads about whales.", 95, { tags: ["family"] }],
  ["chatgpt", "health", "Wears reading glasses, +1.25.", 197, GONE],
  ["claude", "health", "Had a knee arthroscopy in January 2025; avoids deep squats.", 71],
  ["gemini", "health", "Mild birch pollen allergy, worst in May.", 146],
  ["me", "preference", "Don't suggest meetings before nine.", 60],
  ["claude", "fact", "Learned Norwegian after moving from Porto in 2011.", 410, { versions: 2 }],
  ["chatgpt", "preference", "يفضّل الردود القصيرة بالعربية عند الحديث عن السفر.", 33],
  ["claude", "project", "Budget for the bathroom is NOK 240,000, including labour.", 64],
  ["gemini", "preference", "Prefers short answers in British spelling, with the numbers first.", 12],
  ["claude", "person", "Her daughter Liv is seven, nearly eight, and reads about whales.", 14, { tags: ["family"] }],
  ["chatgpt", "goal", "Wants to finish the kitchen drawings before the summer holiday.", 21, { tags: ["house"] }],
];

const PLACES = ["Porto", "Ghent", "Tromsø", "Utrecht", "Aarhus", "Leith", "Galway", "Turku", "Malmö", "Brest"];
const TOPICS = [
  "a tide table",
  "a reading list",
  "a packing list",
  "a sourdough plan",
  "a letter to the council",
  "a train route",
  "a bookshelf drawing",
  "a birthday quiz",
];
const TYPES = ["fact", "preference", "project", "person", "fact", "instruction", "health", "fact"];
const SOURCES = ["chatgpt", "chatgpt", "claude", "gemini", "chatgpt", "claude", "cursor"];

const MORE_MEMORIES: MemorySeed[] = Array.from({ length: 160 }, (_, index): MemorySeed => {
  const place = PLACES[index % PLACES.length] ?? "";
  const topic = TOPICS[(index * 3) % TOPICS.length] ?? "";
  const text = `Asked for ${topic} ${index % 2 ? "before" : "after"} a trip to ${place}${index % 3 ? "" : " with Liv"}; liked version ${1 + (index % 4)} best.`;
  return [
    SOURCES[(index * 5) % SOURCES.length] ?? "chatgpt",
    TYPES[(index * 7) % TYPES.length] ?? "fact",
    text,
    8 + ((index * 37) % 690),
    { tags: index % 5 === 0 ? ["travel"] : [] },
  ];
});

/** Memories that contradict each other, by index. Each replaces the generated memory with that index. */
const CONTRADICTING: Record<number, string> = {
  33: "Likes coffee, black, before seven in the morning.",
  41: "Does not drink coffee.",
  32: "Plans to fly to Porto with Liv in May 2025.",
  34: "Lives in Oslo and rents two rooms near the harbour.",
  35: "Lives in Oslo.",
  66: "Lives in Bergen.",
  46: "Works as an engineer for the county.",
};

const NOW = Date.now();
/** The time that is `days` and `minutes` before now. */
export const ago = (days: number, minutes = 9): string =>
  new Date(NOW - days * 86_400_000 - minutes * 60_000).toISOString();

/** Who said the memories of a source. For sources that are not listed, this is not known. */
const SAID_BY: Record<string, string> = { me: "user", claude: "assistant" };

export function item(
  id: string,
  kind: string,
  source: string,
  text: string,
  days: number,
  extra: Partial<ListItem> = {},
): ListItem {
  return {
    id,
    origin_id: `${source}-${id}`,
    kind,
    type: null,
    title: null,
    text,
    source,
    created_at: ago(days, 12),
    updated_at: null,
    status: null,
    tags: [],
    said_by: SAID_BY[source] ?? "unknown",
    versions: 1,
    redacted: false,
    changed_at: ago(days, 12),
    cause: "import",
    message_count: 0,
    memory_count: 0,
    attachment_count: 0,
    branched: false,
    trashed_at: null,
    expires_at: null,
    size: null,
    media_type: null,
    present: null,
    file_kind: null,
    conversation_id: null,
    sensitive: false,
    export_diff_status: null,
    about: null,
    special: [],
    ...extra,
  };
}

/** The suggested subject of the sample memories of a type. Memories of other types have no suggested subject. */
const ABOUT: Record<string, string> = {
  person: "people",
  health: "health",
  project: "projects",
  preference: "tastes",
  instruction: "how_to_answer",
  goal: "plans",
};
const aboutOf = (type: string) => {
  const kind = ABOUT[type];
  return kind === undefined ? null : { kind, confidence: 0.82, by: "suggested" };
};

const memories = [...MEMORIES, ...MORE_MEMORIES].map(([source, type, text, days, extra], index) =>
  item(`m-${index}`, "memory", source, CONTRADICTING[index] ?? text, days, {
    type,
    about: aboutOf(type),
    special: type === "health" ? ["health"] : [],
    // Memories with several versions look as if they were edited some days ago.
    ...(extra?.versions ? { cause: "edit", changed_at: ago(index % 9) } : {}),
    ...extra,
  }),
);

const profiles = [
  item(
    "p-0",
    "profile",
    "chatgpt",
    "Ines, structural engineer in Bergen. Wants the answer first, then the numbers. Renovating a house with her brother.",
    10,
  ),
  item(
    "p-1",
    "profile",
    "claude",
    "Careful with units and sources. Builds Tidebook in Rust and Svelte. Prefers British spelling.",
    20,
  ),
  item("p-2", "profile", "gemini", "Lives in Oslo, travels to Amsterdam most months, books window seats.", 146),
];

type ConversationSeed = [
  id: string,
  source: string,
  title: string | null,
  text: string,
  days: number,
  extra?: Partial<ListItem>,
];
const CONVERSATIONS: ConversationSeed[] = [
  [
    "c-run",
    "chatgpt",
    "Half-marathon plan, 16 weeks",
    "Three runs a week, knees first. Let's start from what you did in September and add a long run on Sundays.",
    1,
    { memory_count: 2 },
  ],
  [
    "c-bath",
    "chatgpt",
    "Waterproofing an old timber bathroom",
    "For the deflection you want the tub load on the two joists under it, not spread over the whole floor.",
    2,
    { memory_count: 4, attachment_count: 3, branched: true },
  ],
  [
    "c-tide",
    "claude",
    "Tidebook: parsing harmonic constants",
    "The offsets are in minutes of arc, so the parser should keep them as integers until the last step.",
    4,
    { memory_count: 1 },
  ],
  [
    "c-read",
    "claude",
    "Reading list for Liv, age seven",
    "Whales are still the favourite. These four have short chapters and large type.",
    6,
    { memory_count: 1, attachment_count: 1 },
  ],
  [
    "c-fly",
    "claude",
    "BGO to AMS, morning flights",
    "The 06:55 gets you in before ten and has the aisle rows you asked for.",
    12,
  ],
  [
    "c-letter",
    "chatgpt",
    "Letter to the building authority",
    "Here is a version under one page, with the case number at the top.",
    17,
    { attachment_count: 2, export_diff_status: "gone" },
  ],
  ["c-beam", "claude", null, "Can you check whether this beam table still holds for C24 timber from the thirties?", 22],
];
const conversations = [
  ...CONVERSATIONS.map(([id, source, title, text, days, extra]) =>
    item(id, "conversation", source, text, days, { title, message_count: 12, updated_at: ago(days), ...extra }),
  ),
  ...Array.from({ length: 120 }, (_, index) =>
    item(
      `c-${index}`,
      "conversation",
      SOURCES[index % 6] ?? "claude",
      `We went through ${TOPICS[index % TOPICS.length]} and left two points open for next time.`,
      30 + index * 4,
      {
        title: `${(TOPICS[(index * 5) % TOPICS.length] ?? "").replace(/^a /, "").replace(/^./, (letter) => letter.toUpperCase())}, ${PLACES[index % PLACES.length]}`,
        message_count: 6,
      },
    ),
  ),
];

type FileSeed = [name: string, source: string, media: string, size: number, days: number, kind: string];
const FILES: FileSeed[] = [
  ["joists-north-wall.jpg", "chatgpt", "image/jpeg", 2_100_000, 254, "picture"],
  ["structural-note-bathroom.pdf", "chatgpt", "application/pdf", 310_000, 252, "document"],
  ["zellige-sample-3.png", "chatgpt", "image/png", 3_400_000, 12, "picture"],
  ["harmonics_bergen.csv", "claude", "text/csv", 88_000, 4, "document"],
  ["tide.rs", "claude", "text/rust", 12_000, 4, "code"],
  ["liv-whale-drawing.png", "claude", "image/png", 1_200_000, 6, "picture"],
  ["letter-building-authority.docx", "chatgpt", "application/msword", 41_000, 17, "document"],
  ["floorplan-1934.dwg", "chatgpt", "application/acad", 0, 20, "missing"],
  ["moisture-reading-may.jpg", "chatgpt", "image/jpeg", 1_800_000, 201, "picture"],
  ["voice-note-0412.m4a", "chatgpt", "audio/mp4", 640_000, 223, "sound"],
  ["beam-table-c24.xlsx", "claude", "application/excel", 57_000, 22, "document"],
  ["tub-delivery.jpg", "chatgpt", "image/jpeg", 2_600_000, 233, "picture"],
  ["load-calc.py", "chatgpt", "text/x-python", 3_000, 254, "code"],
];
const attachments = FILES.map(([title, source, media_type, size, days, file_kind], index) =>
  item(`f-${index}`, "attachment", source, title, days, {
    title,
    media_type,
    size: file_kind === "missing" ? null : size,
    present: file_kind !== "missing",
    file_kind,
    conversation_id: "c-bath",
  }),
);

const trashed = [
  item("t-0", "memory", "chatgpt", "Takes levothyroxine 75 µg every morning before breakfast.", 300, {
    type: "health",
    trashed_at: ago(0),
    expires_at: ago(-30),
  }),
  item("t-1", "memory", "chatgpt", "Asked about iron tablets; ferritin was 18 in May.", 180, {
    type: "health",
    trashed_at: ago(0),
    expires_at: ago(-30),
  }),
  item("t-2", "memory", "gemini", "Asked how to decline a cousin's wedding invitation without a row.", 220, {
    type: "person",
    trashed_at: ago(9),
    expires_at: ago(-21),
  }),
];

/** A fresh copy of all sample items, so that each test and each start begins with the same data. */
export function sampleItems(): ListItem[] {
  return structuredClone([...memories, ...profiles, ...conversations, ...attachments, ...trashed]);
}
