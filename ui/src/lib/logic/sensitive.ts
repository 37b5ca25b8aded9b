/** Kinds of sensitive values in the order in which people see them. The most serious come first, except `stored`. */
export const KINDS = [
  { kind: "keys", classes: ["access_key", "private_key", "password"] },
  { kind: "bank", classes: ["card", "iban"] },
  { kind: "ids", classes: ["national_id"] },
  { kind: "phones", classes: ["phone"] },
  { kind: "emails", classes: ["email"] },
  // Secrets that a credential contains unencrypted. They come last, because their class is the last one in the backend.
  { kind: "stored", classes: ["stored_secret"] },
] as const;
export type Kind = (typeof KINDS)[number]["kind"];
/** Number of values by class. */
export type Counts = Readonly<Record<string, number>>;

export function kindOf(name: string): Kind {
  return KINDS.find(({ classes }) => (classes as readonly string[]).includes(name))?.kind ?? "keys";
}

export const classesOf = (kind: Kind): string[] => [...(KINDS.find((each) => each.kind === kind)?.classes ?? [])];

export const sumOf = (counts: Counts): number => Object.values(counts).reduce((sum, n) => sum + n, 0);

/** The kinds that have values, each with the number of values. */
export function kindCounts(counts: Counts): { kind: Kind; n: number }[] {
  return KINDS.map(({ kind, classes }) => ({
    kind,
    n: classes.reduce((sum, name) => sum + (counts[name] ?? 0), 0),
  })).filter(({ n }) => n > 0);
}

/** For each detector, the message key, without its prefix `why.`, of the text that explains its findings. */
const DETECTOR_REASONS: Record<string, string> = {
  luhn: "check",
  plain_secret: "stored",
  iso13616: "check",
  entropy: "random",
  named_secret: "named",
  raw_private_key: "named",
  aws_secret_access_key: "around",
  authorization_header: "header",
  url_password: "address",
  password_argument: "named",
  password_assignment: "named",
  password_sentence: "named",
};

/** The message key, without its prefix `why.`, of the text that says why a value of the class `name` was reported. */
export function reasonOf(name: string, detector: string): string {
  const known = DETECTOR_REASONS[detector];
  if (known) return known;
  return name === "phone" || name === "national_id" ? "form" : "pattern";
}
