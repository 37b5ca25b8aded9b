import type { LinkInfo, ThreadMessage } from "../backend";
import { ago } from "./data";

const memory: LinkInfo = {
  relation: "derived_from",
  id: "m-0",
  origin_id: null,
  kind: "memory",
  title: null,
  text: "Is renovating a wooden house from 1934 in Sandviken; the bathroom comes first, the kitchen next year.",
  source: "chatgpt",
  conversation_id: "c-bath",
  trashed: false,
};

function message(
  id: string,
  parent: string | null,
  role: string,
  text: string,
  more: Partial<ThreadMessage> = {},
): ThreadMessage {
  return {
    id: `msg-${id}`,
    origin_id: id,
    parent_id: parent && `msg-${parent}`,
    role,
    text,
    created_at: ago(254 - Number.parseInt(id, 36) / 500, 2),
    hidden: false,
    branch: 0,
    attachments: [],
    content_type: "text",
    model: null,
    siblings: [],
    memories: [],
    steps: [],
    ...more,
  };
}

const CODE = `Not as they are. A full tub is about 4.6 kN on a short length, so one joist deflects 14 mm, twice the limit for tile. Doubling the two under the tub is enough:

\`\`\`python
# mid-span deflection, simply supported, mm
E, b, h, L = 11_000, 48 * 2, 198, 3_400
I = b * h**3 / 12
print(2_300 * L**3 / (48 * E * I))   # 2.8
\`\`\`

See [the span tables](https://example.org/span-tables?wood=c24) and ![a remote picture](https://example.org/joist.png).`;

const SIBLINGS = ["msg-a1", "msg-a2", "msg-a3"];

/** A sample conversation with three branches, tool calls, code, a picture, a missing file and memories. */
export const sampleThread: ThreadMessage[] = [
  message("a0", null, "system", "You are a helpful assistant. The user's name is Ines.", {
    hidden: true,
    content_type: "context",
  }),
  message("a1", "a0", "user", "The joists are 48 × 198 at 600 mm. Can they take a cast tub?", {
    siblings: SIBLINGS,
    branch: 1,
  }),
  message("b1", "a1", "assistant", "That depends on the span. How long are the joists between supports?", {
    branch: 1,
  }),
  message(
    "a2",
    "a0",
    "user",
    "The joists are 48 × 198 at 600 mm, span 3.4 m. Can they take a cast tub, 180 kg, plus water? We start with the bathroom, kitchen can wait till next year.",
    {
      siblings: SIBLINGS,
      attachments: [
        { id: "f-0", name: "joists-north-wall.jpg", media_type: "image/jpeg", size: 2_100_000, present: true },
      ],
    },
  ),
  message("b2", "a2", "assistant", "The user asks about floor joists; compute the deflection.", {
    content_type: "thinking",
  }),
  message("b3", "b2", "tool", "deflection_single = 14.1", { content_type: "tool_result" }),
  message("b4", "b3", "assistant", CODE, { memories: [memory], model: "gpt-5" }),
  message("b5", "b4", "user", "And the membrane: over or under the old floorboards?"),
  message(
    "b6",
    "b5",
    "assistant",
    "Lift the boards. A membrane needs a **stiff, dry base**, and boards from the thirties move with the seasons:\n\n1. Take up the boards over the two joists.\n2. Sister the joists, then 22 mm plywood, glued and screwed.\n3. Membrane on the plywood, turned up 100 mm at the walls.\n\n<b>Raw HTML</b> stays text.",
    {},
  ),
  message("b7", "b6", "user", "Here is the floor plan from 1934, my number is [REDACTED:phone].", {
    attachments: [
      { id: "f-7", name: "floorplan-1934.dwg", media_type: "application/acad", size: null, present: false },
    ],
  }),
  message(
    "b8",
    "b7",
    "assistant",
    "Thanks. On the plan the joists run north to south, so the tub stands across three of them, not two.",
  ),
  message("a3", "a0", "user", "Forget the tub. What would a shower need?", { siblings: SIBLINGS, branch: 2 }),
  message("c3", "a3", "assistant", "A fall of 1:50 to the drain and the same membrane. The joists are fine for that.", {
    branch: 2,
  }),
];

export const sampleActivePath = [
  "msg-a0",
  "msg-a2",
  "msg-b2",
  "msg-b3",
  "msg-b4",
  "msg-b5",
  "msg-b6",
  "msg-b7",
  "msg-b8",
];
