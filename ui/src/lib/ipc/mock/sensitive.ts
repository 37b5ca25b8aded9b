import type { ContextPiece, SensitiveDetail, SensitiveItem, SensitivePlace } from "../backend";
import { ago } from "./data";

/**
 * A sample finding with the text before and after the value. The value itself is left out, as in the backend's answers.
 */
type Seed = [
  kind: string,
  detector: string,
  confidence: string,
  before: string,
  after: string,
  places: Partial<SensitivePlace>[],
];

const NAS = { source: "chatgpt", title: "Nightly backups for the office NAS", conversation_id: "c-bath" };
const message = (source: string, title: string, days: number, more: Partial<SensitivePlace> = {}) => ({
  id: "msg-a2",
  kind: "message",
  role: "user",
  source,
  title,
  conversation_id: "c-bath",
  at: ago(days),
  ...more,
});
const memory = (source: string, title: string, days: number, id = "m-0") => ({ id, source, title, at: ago(days) });
/** The sample memory that is marked as sensitive. It contains a phone number and an email address. */
const ELECTRICIAN = memory("chatgpt", "Prefers to do the bathroom waterproofing herself", 238, "m-3");

const SEEDS: Seed[] = [
  [
    "access_key",
    "aws_access_key_id",
    "very_likely",
    "for the nightly copy you can reuse what we have, the staging bucket key is ",
    " and it rotates in June, so put it in the environment and not in the script.",
    [
      { ...NAS, ...message("chatgpt", NAS.title, 290) },
      { ...NAS, ...message("chatgpt", NAS.title, 290, { id: "msg-b4", role: "assistant" }) },
      memory("chatgpt", "Key █████ for the nightly copy to a storage bucket", 289),
    ],
  ],
  [
    "access_key",
    "authorization_header",
    "very_likely",
    "Authorization: Bearer ",
    "\nAccept: application/json",
    [message("claude", "Tidebook: parsing harmonic constants", 40, { field: "block", role: "assistant" })],
  ],
  ["access_key", "named_secret", "likely", "export TIDE_API=", "", [memory("cursor", "Environment of Tidebook", 35)]],
  [
    "password",
    "password_sentence",
    "likely",
    "router admin, password ",
    ", written under the box as well",
    [memory("chatgpt", "Router in the hall", 120)],
  ],
  [
    "card",
    "luhn",
    "very_likely",
    "card for the flights: ",
    ", and the seats by the window as always",
    [
      message("gemini", "Amsterdam in March", 130),
      message("gemini", "Amsterdam in March", 130, { id: "msg-b5", role: "assistant" }),
    ],
  ],
  [
    "iban",
    "iso13616",
    "very_likely",
    "pay the tiler to ",
    " before the ninth",
    [message("chatgpt", "Letter to the building authority", 17)],
  ],
  ["iban", "iso13616", "very_likely", "IBAN for the deposit ", "", [message("claude", "Reading list for Liv", 60)]],
  [
    "national_id",
    "no_fodselsnummer",
    "likely",
    "Liv’s passport form asks for ",
    " on the second page",
    [{ ...message("chatgpt", "passport-form.pdf", 80), kind: "attachment", field: "file", role: null }],
  ],
  ...["Per, the carpenter, is on ", "call the council at "].map((before, index): Seed => [
    "phone",
    "international",
    index === 1 ? "likely" : "very_likely",
    before,
    " before four",
    [message("chatgpt", "Waterproofing an old timber bathroom", 200 + index)],
  ]),
  ["phone", "international", "very_likely", "the electrician is on ", " or at", [ELECTRICIAN]],
  ...["write to ", "the office is "].map((before, index): Seed => [
    "email",
    "email",
    "very_likely",
    before,
    " and put Ines in copy",
    [message(index === 1 ? "claude" : "chatgpt", "Letter to the building authority", 17 + index)],
  ]),
  ["email", "email", "very_likely", "or at ", "", [ELECTRICIAN]],
];

export type Finding = SensitiveDetail & { state: "open" | "redacted" | "ignored" };

const REDACTED: [kind: string, places: number, daysAgo: number][] = [
  ["password", 2, 5],
  ["card", 1, 7],
  ["phone", 3, 7],
  ["email", 1, 12],
];
const fingerprint = (n: number) => (0xa5f0 + n * 7919).toString(16).repeat(8).slice(0, 32);

const segment = (text: string): ContextPiece => ({ text, hidden: null, this: false });

function finding([kind, detector, confidence, before, after, where]: Seed, n: number): Finding {
  const places = where.map((place, index) => ({
    id: `m-${n}-${index}`,
    kind: "memory",
    field: "text",
    role: null,
    source: "chatgpt",
    title: "",
    conversation_id: null,
    at: null,
    ...place,
  }));
  const context = [segment(n === 0 ? `…${before}` : before), { text: "", hidden: kind, this: true }, segment(after)];
  const item: SensitiveItem = {
    value: fingerprint(n),
    class: kind,
    detector,
    confidence,
    places: places.length,
    judged_at: null,
    first: places[0] ?? null,
    context,
  };
  return { state: "open", item, places };
}

/** A new queue of sample findings: open ones, two ignored ones, and redacted ones, which have no context and places. */
export function sampleFindings(): Finding[] {
  const found = SEEDS.map(finding);
  const ignored = [
    ["phone", "national", "possible", "case number ", " of the authority", [message("chatgpt", "Letter", 17)]],
    ["email", "email", "very_likely", "the newsletter comes from ", "", [message("claude", "Reading list", 6)]],
  ].map((seed, n) => {
    const ignoredFinding = finding(seed as Seed, 60 + n);
    return { ...ignoredFinding, state: "ignored" as const, item: { ...ignoredFinding.item, judged_at: ago(n + 2) } };
  });
  const redacted = REDACTED.map(([kind, places, days], n): Finding => {
    const item = { ...finding([kind, "", "possible", "", "", []], 80 + n).item, places, judged_at: ago(days) };
    return { state: "redacted", item: { ...item, first: null, context: [] }, places: [] };
  });
  return [...found, ...ignored, ...redacted];
}
