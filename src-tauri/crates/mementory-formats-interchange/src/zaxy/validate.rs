//! The validator: checks every entry against the contract, and ids, root and proofs. Signatures are not verified,
//! because formats have no cryptography library; [`signed`] returns the signature and the bytes that it covers.
use super::{
    bundle::Bundle,
    checked_entry::CheckedEntry,
    cited_event::{CitedEvents, Occurrence},
    envelope::{BundleKind, Envelope, SIGNED_MEMBERS},
};
use mementory_format::{Finding, FormatError, Signed, Validation};
use mementory_json::Tree;

/// The algorithms that the format defines, with the lengths of their public keys and signatures in bytes.
const SIGNATURE_ALGORITHMS: [(&str, usize, usize); 2] = [("ed25519", 32, 64), ("ml-dsa-65", 1952, 3309)];

/// Validates a bundle. An unsigned bundle is an error if `trust` contains keys.
pub(super) fn validate(bundle: &Bundle, trust: &[String]) -> Result<Validation, FormatError> {
    let envelope = &bundle.envelope;
    let kind = envelope.kind;
    let mut errors = Findings::new(bundle);
    let mut warnings = Findings::new(bundle);
    let signature = check_envelope(bundle, trust, &mut errors, &mut warnings);
    let at = errors.list.len();
    bundle.check_integrity(&mut |code, pointer, message| errors.add(code, &pointer, message))?;
    let mut entries = Entries::new(bundle, errors, warnings);
    let bounds = bundle.limits.into();
    bundle.process_items(|_, text| CheckedEntry::of(kind, text, bounds), &mut |index, entry| {
        entries.report(index, entry.unwrap_or_else(CheckedEntry::malformed));
        Ok(())
    })?;
    let Entries { mut errors, warnings, count, may_be_malformed, .. } = entries;
    if may_be_malformed && let Some(why) = bundle.json_error()? {
        errors.insert(at, "malformed", &why);
    }
    Ok(Validation {
        version: envelope.text_member("version").map(str::to_owned),
        level: None,
        records: count,
        kind: Some(kind.as_str().into()),
        unsigned: false,
        signature,
        errors: errors.list,
        warnings: warnings.list,
    })
}

/// Type of [`Validation::signature`].
type Signature = (bool, Option<String>, Option<bool>, Option<bool>, Option<String>);

fn check_envelope(bundle: &Bundle, trust: &[String], errors: &mut Findings, warnings: &mut Findings) -> Signature {
    let envelope = &bundle.envelope;
    if envelope.tree.repeats_a_key_at_any_depth() {
        warnings.add("duplicate_key", "", "a key occurs twice in one object; the last one counts");
    }
    envelope_faults(envelope, &mut |code, why| errors.add(code, "", why));
    if envelope.kind == BundleKind::Unsigned {
        if !trust.is_empty() {
            let message = "the bundle is not signed, and a signature by a trusted key is required";
            errors.add("signature_missing", "", message);
        }
        if ["signature", "public_key", "merkle_root"].iter().any(|name| envelope.tree.get(name).is_some()) {
            let message = "parts of a signature in a bundle that says that it is unsigned; they prove nothing";
            warnings.add("signature_ignored", "", message);
        }
        check_session_id(envelope.text_member("session_id"), warnings);
        return (false, None, None, None, None);
    }
    check_session_id(envelope.text_member("session_id"), warnings);
    let message = "signed Zaxy bundles are experimental: their signing has not been reviewed independently";
    warnings.add("experimental_signature", "", message);
    let algorithm = envelope.text_member("algorithm");
    let key = envelope.bytes("public_key").map(hex::encode);
    (true, algorithm.map(str::to_owned), None, None, key)
}

/// Checks the members of the envelope. Calls `visit` with the code and message of each fault.
pub(super) fn envelope_faults(envelope: &Envelope, visit: &mut dyn FnMut(&'static str, &str)) {
    let is_unsigned = envelope.kind == BundleKind::Unsigned;
    let texts: &[&str] = if is_unsigned { &["schema_version", "session_id"] } else { &SIGNED_MEMBERS };
    for name in texts.iter().filter(|name| envelope.text_member(name).is_none()) {
        visit("missing_field", &format!("{name} is missing or not a text"));
    }
    if is_unsigned {
        if envelope.tree.get("signed") != Some(&Tree::Bool(false)) {
            visit("missing_field", "signed is not false in an unsigned bundle");
        }
        return;
    }
    let algorithm = envelope.text_member("algorithm");
    let known_algorithm = SIGNATURE_ALGORITHMS.into_iter().find(|(name, ..)| Some(*name) == algorithm);
    if algorithm.is_some() && known_algorithm.is_none() {
        visit("algorithm_unknown", "the algorithm is neither ed25519 nor ml-dsa-65");
    }
    let lengths = known_algorithm.map(|(_, key, signature)| [("public_key", key), ("signature", signature)]);
    for (name, length) in lengths.into_iter().flatten() {
        if envelope.bytes(name).is_none_or(|b| b.len() != length) {
            visit("signature_malformed", &format!("{name} is not {length} bytes in hex"));
        }
    }
}

fn check_session_id(id: Option<&str>, warnings: &mut Findings) {
    let is_plain = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b"_.-".contains(&b));
    if id.is_some_and(|id| id.is_empty() || id.len() > 128 || !is_plain(id)) {
        warnings.add("session_id", "", "session_id is not one that Zaxy accepts");
    }
}

/// Reports the findings in the order of the entries.
struct Entries<'b> {
    bundle: &'b Bundle<'b>,
    errors: Findings<'b>,
    warnings: Findings<'b>,
    count: u64,
    /// Position of the previous readable entry: the sequence number of its event, and its position within the event.
    last: (u64, u8),
    events: CitedEvents,
    /// True if it is not certain that the file is valid JSON.
    may_be_malformed: bool,
}

impl<'b> Entries<'b> {
    fn new(bundle: &'b Bundle<'b>, errors: Findings<'b>, warnings: Findings<'b>) -> Self {
        let may_be_malformed = !bundle.is_regular;
        Self { bundle, errors, warnings, count: 0, last: (0, 0), events: CitedEvents::default(), may_be_malformed }
    }

    fn report(&mut self, index: u64, entry: CheckedEntry) {
        self.count += 1;
        let kind = self.bundle.envelope.kind;
        let pointer = kind.pointer(index);
        if let Some(why) = entry.malformed {
            self.may_be_malformed = true;
            // In a signed bundle, the integrity check has already reported this entry.
            if kind == BundleKind::Unsigned {
                self.errors.add("malformed_entry", &pointer, &why);
            }
            return;
        }
        for (code, why) in &entry.faults {
            self.errors.add(code, &pointer, why);
        }
        if let Some(position) = entry.event_position {
            if kind != BundleKind::Subset && position < self.last {
                self.warnings.add("order", &pointer, "entries are not in the order of their events");
            }
            self.last = position;
        }
        match entry.cited_event.map(|event| self.events.add(event)) {
            Some(Occurrence::Conflicting) => {
                let message =
                    "another entry has the same citation and another content; at most one is the sealed event";
                self.errors.add("citation_conflict", &pointer, message);
            }
            // A bundle may disclose an entry twice: both have the same proof.
            Some(Occurrence::Repeated) if kind != BundleKind::Subset => {
                self.warnings.add("duplicate_entry", &pointer, "the same event is there before");
            }
            _ => {}
        }
        if entry.repeats_a_key {
            self.warnings.add("duplicate_key", &pointer, "a key occurs twice in one object; the last one counts");
        }
        if entry.lacks_index {
            self.errors.add("malformed_entry", &pointer, "index is missing or not a whole number");
        }
    }
}

/// A limited list of findings, because a bundle may have a million entries with the same fault.
struct Findings<'b> {
    bundle: &'b Bundle<'b>,
    list: Vec<Finding>,
}

const MAX_FINDINGS: usize = 10_000;

impl<'b> Findings<'b> {
    fn new(bundle: &'b Bundle<'b>) -> Self {
        Self { bundle, list: vec![] }
    }

    fn add(&mut self, code: &str, pointer: &str, message: &str) {
        if self.list.len() < MAX_FINDINGS {
            self.list.push(self.finding(code, pointer, message));
        }
    }

    /// Inserts a finding about the whole file before the findings about its entries. If the list then exceeds its
    /// limit, the last findings are removed.
    fn insert(&mut self, at: usize, code: &str, message: &str) {
        self.list.insert(at, self.finding(code, "", message));
        self.list.truncate(MAX_FINDINGS);
    }

    fn finding(&self, code: &str, pointer: &str, message: &str) -> Finding {
        Finding { code: code.to_owned(), place: self.bundle.place(pointer), message: message.to_owned() }
    }
}

/// Returns the signature of a bundle with the bytes that it covers. None for an unsigned bundle.
pub(super) fn signed(bundle: &Bundle) -> Option<Signed> {
    let envelope = &bundle.envelope;
    if envelope.kind == BundleKind::Unsigned {
        return None;
    }
    let message = envelope.message();
    let token = envelope.bytes("public_key").zip(envelope.bytes("signature")).filter(|_| message.is_some());
    Some(Signed {
        tombstone: None,
        place: bundle.place(""),
        algorithm: envelope.text_member("algorithm").unwrap_or_default().to_owned(),
        token,
        message: message.unwrap_or_default(),
    })
}
