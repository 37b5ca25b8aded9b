// Damaged and forged Zaxy bundles, made from good fixtures and signed with a key of the test. Each case says what is
// wrong with the file and what `import` answers: "taken" if it imports the file, otherwise the code of the error.
import { createHash, createPrivateKey, createPublicKey, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FIXTURES } from "../cli/mementory.mjs";

const fixture = (name) => readFileSync(join(FIXTURES, "zaxy", name, "input.json"), "utf8");
const sha256 = (...parts) =>
  createHash("sha256")
    .update(Buffer.concat(parts.map((part) => Buffer.from(part))))
    .digest();

/** Canonical text of a value without floats: the form that Zaxy hashes. */
function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join(",")}}`;
}

/** Root of the Merkle tree, and the proof that the entry with this index is in it. */
function merkle(contents, index = 0) {
  let layer = contents.map((content) => sha256([0], canonical(content)));
  const proof = [];
  while (layer.length > 1) {
    const sibling = layer[index ^ 1];
    if (sibling) proof.push([sibling.toString("hex"), index % 2 ? "L" : "R"]);
    index >>= 1;
    const next = [];
    for (let i = 0; i < layer.length; i += 2)
      next.push(i + 1 < layer.length ? sha256([1], layer[i], layer[i + 1]) : layer[i]);
    layer = next;
  }
  return { root: layer[0].toString("hex"), proof };
}

const privateKey = (byte) =>
  createPrivateKey({
    key: Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), Buffer.alloc(32, byte)]),
    format: "der",
    type: "pkcs8",
  });
const publicHex = (key) => createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32).toString("hex");
const [OWN_KEY, STRANGERS_KEY] = [privateKey(7), privateKey(9)];
const SIGNED_MEMBERS = ["algorithm", "created_at", "merkle_root", "nonce", "public_key", "session_id", "version"];
const signBundle = (bundle, key = OWN_KEY) => {
  const header = Object.fromEntries(SIGNED_MEMBERS.map((name) => [name, bundle[name]]));
  bundle.signature = sign(null, Buffer.from(canonical(header)), key).toString("hex");
};

// The edges are left out, because they contain floats, whose canonical text cannot be made in JavaScript.
const entries = () =>
  JSON.parse(fixture("unsigned")).entries.filter(
    (entry) => !/\d\.\d/.test(JSON.stringify(entry.content)) && !entry.kind.startsWith("edge:"),
  );
const unsignedBundle = () => ({ ...JSON.parse(fixture("unsigned")), entries: entries() });
/** Makes a signed bundle of the entries. `change` is applied to the entries before the bundle is signed. */
function signedBundle(change = () => {}, key = OWN_KEY) {
  const contents = entries();
  change(contents);
  const { session_id, created_at, nonce } = JSON.parse(fixture("signed-ed25519"));
  const bundle = {
    version: "zaxy.portable.v1",
    algorithm: "ed25519",
    public_key: publicHex(key),
    session_id,
    created_at,
    nonce,
    merkle_root: merkle(contents).root,
    anchor: null,
    entries: contents.map((content) => ({ id: sha256(canonical(content)).toString("hex"), content })),
  };
  signBundle(bundle, key);
  return bundle;
}

function disclosedPart({ anchor: _, entries: all, ...header }, indices) {
  const contents = all.map((entry) => entry.content);
  const disclose = (index) => ({ index, content: contents[index], proof: merkle(contents, index).proof });
  return { ...header, disclosed: indices.map(disclose) };
}

const setIn = (path, value) => (root) => {
  const at = path.slice(0, -1).reduce((object, key) => object[key], root);
  if (value === undefined) delete at[path.at(-1)];
  else at[path.at(-1)] = value;
};
const flipBit = (hex) => (parseInt(hex[0], 16) ^ 1).toString(16) + hex.slice(1);
const flip = (name) => (bundle) => (bundle[name] = flipBit(bundle[name]));
const setInEntry = (path, value) => setIn(["entries", 0, ...path.split(".")], value);

/** Adds the first event of a list of entries again, with another payload under the same citation. */
function addEventAgain(all, payload) {
  const event = all.find((entry) => entry.grain === "event");
  all.push({ ...event, content: { ...event.content, payload } });
}
const addConflictingEvent = ({ entries: all }) => addEventAgain(all, { text: "The cello was never bought." });
const addErasedEvent = ({ entries: all }) => addEventAgain(all, { content: "[FORGOTTEN]", __zaxy_forgotten: true });

/** Each key says what is wrong with an unsigned bundle; the value is the change, and the answer of `import`. */
const UNSIGNED = {
  nothing: [() => {}, "taken"],
  "no entries": [setIn(["entries"], []), "taken"],
  "no list of entries": [setIn(["entries"], undefined), "malformed"],
  "entries in an object": [setIn(["entries"], {}), "malformed"],
  "a version to come": [setIn(["version"], "zaxy.export.unsigned.v2"), "unsupported_version"],
  "an entry version to come in the envelope": [setIn(["schema_version"], "zaxy.export.v2"), "unsupported_version"],
  "an entry version to come": [setInEntry("schema_version", "zaxy.export.v2"), "taken"],
  "no session": [setIn(["session_id"], undefined), "taken"],
  "a session id with a slash": [setIn(["session_id"], "a/b"), "taken"],
  "says that it is signed": [setIn(["signed"], true), "taken"],
  "both lists": [(bundle) => (bundle.disclosed = []), "duplicate_key"],
  "an unknown field": [setIn(["x_more"], 1), "taken"],
  "a signature, although it is unsigned": [setIn(["signature"], "00".repeat(64)), "taken"],
  "an event with an end of validity": [setInEntry("valid_to", "2026-07-01T00:00:00Z"), "taken"],
  "entries in another order": [(bundle) => bundle.entries.reverse(), "taken"],
  "an entry twice": [(bundle) => bundle.entries.push(bundle.entries[0]), "taken"],
  "two events with one citation": [addConflictingEvent, "taken"],
  "two events with one citation, of which one is erased": [addErasedEvent, "taken"],
  "an entry that is a number": [setIn(["entries", 0], 7), "taken"],
  "no grain": [setInEntry("grain", undefined), "taken"],
  "an unknown grain": [setInEntry("grain", "dream"), "taken"],
  "no kind": [setInEntry("kind", undefined), "taken"],
  "no content": [setInEntry("content", undefined), "taken"],
  "no payload": [setInEntry("content.payload", undefined), "taken"],
  "a payload that is a text": [setInEntry("content.payload", "x"), "taken"],
  "no actor": [setInEntry("content.actor", undefined), "taken"],
  "no citation": [setInEntry("citation", undefined), "taken"],
  "a citation with a short hash": [setInEntry("citation", "eventloom://cello/events/1#abc"), "taken"],
  "a citation of another scheme": [setInEntry("citation", `http://cello/events/1#${"0".repeat(64)}`), "taken"],
  "a citation of another event": [setInEntry("seq", 9), "taken"],
  "event number 0": [setInEntry("seq", 0), "taken"],
  "an event number that is a text": [setInEntry("seq", "1"), "taken"],
  "an event number of 1.5": [setInEntry("seq", 1.5), "taken"],
  "a negative event number": [setInEntry("seq", -1), "taken"],
  "no validity": [setInEntry("valid_from", undefined), "taken"],
  "a validity that is a number": [setInEntry("valid_from", 5), "taken"],
  "properties in a list": [
    (bundle) => (bundle.entries.find((entry) => entry.kind.startsWith("entity:")).content.properties = []),
    "taken",
  ],
  "a validity that is no time": [setInEntry("valid_from", "yesterday"), "taken"],
  "a validity that is a month": [setInEntry("valid_from", "2026-03"), "taken"],
  "a validity with an offset of 25 hours": [setInEntry("valid_from", "2026-03-02T18:00:00+25:00"), "taken"],
  "a validity with a line feed": [setInEntry("valid_from", "2026-03-02T18:00:00Z\n"), "taken"],
  "another source": [setInEntry("source", "extraction"), "taken"],
  "a thread that is not cited": [setInEntry("content.thread", "violin"), "taken"],
  "a kind that the content contradicts": [setInEntry("kind", "goal.closed"), "taken"],
  "a semantic entry of neither kind": [
    (bundle) => Object.assign(bundle.entries[1], { grain: "semantic", kind: "thing" }),
    "taken",
  ],
};

/** Like `UNSIGNED`, but for signed bundles. */
const SIGNED = {
  "signed: nothing": [() => {}, "taken"],
  "signed: a bit of the signature": [flip("signature"), "signature_invalid"],
  "signed: a bit of the key": [flip("public_key"), "signature_invalid"],
  "signed: a bit of the nonce": [flip("nonce"), "signature_invalid"],
  "signed: a bit of the root": [flip("merkle_root"), "signature_invalid"],
  "signed: another session": [setIn(["session_id"], "violin"), "signature_invalid"],
  "signed: another time": [setIn(["created_at"], "2026-03-02T19:00:00.250001+00:00"), "signature_invalid"],
  "signed: a version to come": [setIn(["version"], "zaxy.portable.v2"), "unsupported_version"],
  "signed: another algorithm": [setIn(["algorithm"], "ml-dsa-65"), "signature_invalid"],
  "signed: an unknown algorithm": [setIn(["algorithm"], "rsa"), "signature_invalid"],
  "signed: no algorithm": [setIn(["algorithm"], undefined), "signature_invalid"],
  "signed: no key": [setIn(["public_key"], undefined), "signature_invalid"],
  "signed: no signature": [setIn(["signature"], undefined), "signature_invalid"],
  "signed: an empty signature": [setIn(["signature"], ""), "signature_invalid"],
  "signed: a signature that is not hex": [setIn(["signature"], "zz".repeat(64)), "signature_invalid"],
  "signed: a short signature": [(bundle) => (bundle.signature = bundle.signature.slice(0, 64)), "signature_invalid"],
  "signed: a key of a stranger": [setIn(["public_key"], publicHex(STRANGERS_KEY)), "signature_invalid"],
  "signed: by another key than it names": [(bundle) => signBundle(bundle, STRANGERS_KEY), "signature_invalid"],
  "signed: a signature over another bundle": [
    (bundle) => (bundle.signature = signedBundle((all) => all.pop()).signature),
    "signature_invalid",
  ],
  "signed: an entry that was changed": [setInEntry("content.valid_from", "2020-01-01T00:00:00Z"), "entry_id_mismatch"],
  "signed: an entry that was changed with its id": [
    (bundle) => {
      bundle.entries[0].content.valid_from = "2020-01-01T00:00:00Z";
      bundle.entries[0].id = sha256(canonical(bundle.entries[0].content)).toString("hex");
    },
    "merkle_root_mismatch",
  ],
  "signed: an entry less": [(bundle) => bundle.entries.pop(), "merkle_root_mismatch"],
  "signed: an entry more": [(bundle) => bundle.entries.push(bundle.entries[0]), "merkle_root_mismatch"],
  "signed: entries in another order": [(bundle) => bundle.entries.reverse(), "merkle_root_mismatch"],
  "signed: no entries": [setIn(["entries"], []), "empty_bundle"],
  "signed: an id in upper case": [
    (bundle) => (bundle.entries[0].id = bundle.entries[0].id.toUpperCase()),
    "entry_id_mismatch",
  ],
  "signed: an entry without an id": [setInEntry("id", undefined), "entry_id_mismatch"],
  "signed: an entry without content": [setInEntry("content", undefined), "unreadable_entry"],
  "signed: an anchor, which the signature does not cover": [setIn(["anchor"], { type: "stub" }), "taken"],
};

/** The same table as `SIGNED`, for a bundle that discloses only some entries of a signed bundle. */
const SUBSET = {
  "subset: nothing": [() => {}, "taken"],
  "subset: a bit of the signature": [flip("signature"), "signature_invalid"],
  "subset: a bit of the root": [flip("merkle_root"), "signature_invalid"],
  "subset: a bit of a proof": [
    (part) => (part.disclosed[0].proof[0][0] = flipBit(part.disclosed[0].proof[0][0])),
    "proof_invalid",
  ],
  "subset: a side that was swapped": [setIn(["disclosed", 0, "proof", 0, 1], "L"), "proof_invalid"],
  "subset: a step less": [(part) => part.disclosed[0].proof.pop(), "proof_invalid"],
  "subset: no proof": [setIn(["disclosed", 0, "proof"], undefined), "proof_malformed"],
  "subset: an unknown side": [setIn(["disclosed", 0, "proof", 0, 1], "up"), "proof_malformed"],
  "subset: a proof of 65 steps": [
    (part) => part.disclosed[0].proof.push(...Array(64).fill(part.disclosed[0].proof[0])),
    "proof_malformed",
  ],
  "subset: an index that is a text": [setIn(["disclosed", 0, "index"], "0"), "taken"],
  "subset: no index": [setIn(["disclosed", 0, "index"], undefined), "taken"],
  "subset: an entry twice": [(part) => part.disclosed.push(part.disclosed[0]), "taken"],
  "subset: a hash of one byte": [setIn(["disclosed", 0, "proof", 0, 0], "ab"), "proof_malformed"],
  "subset: an entry that was changed": [setIn(["disclosed", 0, "content", "valid_from"], null), "proof_invalid"],
};

/** Each key says what is wrong with a text; the value is the change to the unsigned bundle, and `import`'s answer. */
const FAULTY_TEXTS = {
  "the first half of the file": [(text) => text.slice(0, text.length / 2), "malformed"],
  "the file without its last brace": [(text) => text.slice(0, -1), "malformed"],
  "a byte order mark": [(text) => `\ufeff${text}`, "taken"],
  "two byte order marks": [(text) => `\ufeff\ufeff${text}`, "malformed"],
  "a number that is NaN": [(text) => text.replace('"seq":1,', '"seq":NaN,'), "taken"],
  "an event number of 40 digits": [(text) => text.replace('"seq":1,', `"seq":${"9".repeat(40)},`), "taken"],
  "a score of 4301 digits": [(text) => text.replace('"payload":{', `"payload":{"score":${"9".repeat(4301)},`), "taken"],
  "a key twice": [(text) => text.replace('"seq":1,', '"seq":1,"seq":1,'), "taken"],
  "a confidence of 1e400": [
    () => fixture("unsigned").replace(/"confidence":\s*[^,}\s]+/, '"confidence": 1e400'),
    "taken",
  ],
};

function* files() {
  const changed = (make, change) => () => {
    const bundle = make();
    change(bundle);
    return JSON.stringify(bundle);
  };
  const subset = () => disclosedPart(signedBundle(), [0, 2]);
  const kinds = [
    [UNSIGNED, unsignedBundle],
    [SIGNED, () => signedBundle()],
    [SUBSET, subset],
  ];
  for (const [cases, make] of kinds)
    for (const [name, [change, outcome]] of Object.entries(cases))
      yield { name, outcome, ending: "zaxy.json", bytes: changed(make, change) };
  for (const [name, [change, outcome]] of Object.entries(FAULTY_TEXTS))
    yield { name, outcome, ending: "zaxy.json", bytes: () => change(JSON.stringify(unsignedBundle())) };
  const signedTwins = () => JSON.stringify(signedBundle((all) => addEventAgain(all, { text: "It was." })));
  yield { name: "signed: two events with one citation", outcome: "taken", ending: "zaxy.json", bytes: signedTwins };
  const signedByStranger = () => JSON.stringify(signedBundle((all) => all.pop(), STRANGERS_KEY));
  yield { name: "signed: by a stranger", outcome: "taken", ending: "zaxy.json", bytes: signedByStranger };
  const signedWithIdTwice = () => JSON.stringify(signedBundle()).replace('{"id":', '{"id":"00","id":');
  yield { name: "signed: an id twice", outcome: "taken", ending: "zaxy.json", bytes: signedWithIdTwice };
}

/** The corpus. The vault is empty before each import. */
export const zaxy = {
  format: "zaxy",
  about: "No key is trusted, so `verify` does not accept a valid signature either.",
  files,
  bases: () => [],
  vaultCodes: [],
};
