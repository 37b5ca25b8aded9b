// Compares an answer with the expected values of a case.

const TYPE_PATTERN = /^<(any|string|number|boolean|time)>$/;
const TIME_PATTERN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Rules that may replace an expected value: `{"$name": argument}`. Each returns whether `got` satisfies the rule. */
const RULES = {
  $length: (wanted, got) => got?.length === wanted,
  $least: (wanted, got) => typeof got === "number" && got >= wanted,
  $match: (wanted, got) => typeof got === "string" && new RegExp(wanted, "u").test(got),
  $not: (wanted, got) => differences(wanted, got, "").length > 0,
  $has: (wanted, got) =>
    Array.isArray(got) && wanted.every((one) => got.some((value) => differences(one, value, "").length === 0)),
  $every: (wanted, got) => Array.isArray(got) && got.every((value) => differences(wanted, value, "").length === 0),
  $absent: (wanted, got) => (got === undefined) === wanted,
};

/** Returns a message for each place where `got` differs from `wanted`. */
export function differences(wanted, got, place) {
  const mismatch = () => [`${place}: ${JSON.stringify(got)?.slice(0, 600)}, not ${JSON.stringify(wanted)}`];
  if (typeof wanted === "string" && TYPE_PATTERN.test(wanted))
    return isType(wanted.slice(1, -1), got) ? [] : mismatch();
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length) return mismatch();
    return wanted.flatMap((value, i) => differences(value, got[i], `${place}/${i}`));
  }
  if (wanted && typeof wanted === "object") {
    const [rules, members] = [true, false].map((is) => Object.entries(wanted).filter(([key]) => key in RULES === is));
    if (rules.some(([name, argument]) => !RULES[name](argument, got))) return mismatch();
    if (rules.length > 0 && members.length === 0) return [];
    if (!got || typeof got !== "object") return mismatch();
    return members.flatMap(([key, value]) => differences(value, got[key], `${place}/${key}`));
  }
  return wanted === got ? [] : mismatch();
}

function isType(type, got) {
  if (type === "any") return got !== undefined;
  if (type === "time") return typeof got === "string" && TIME_PATTERN.test(got);
  return typeof got === type;
}
