//! Reads a bundle entry by entry. A first pass reads the envelope, because some of its members may follow the entries.
use super::{
    entry::{self, Wrapped},
    envelope::{BundleKind, Envelope, EnvelopeError},
    merkle::{Hash, Merkle, root_from_proof},
    spans::{Span, SpanCollector, visit_spans},
};
use mementory_format::{BatchPipeline, Catalog, Detected, FormatError, Member, Role, TextBatch};
use mementory_json::Tree;
use mementory_json::{ElementError, Elements};
use mementory_model::Limits;
use serde::{Deserialize, de::IgnoredAny};
use std::io::{BufReader, Read};
use std::sync::Arc;

/// U+FEFF in UTF-8, which some editors write at the start of a file.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Codes of the faults that [`Bundle::check_integrity`] finds.
pub(super) const INTEGRITY_CODES: [&str; 6] = [
    "unreadable_entry",
    "proof_malformed",
    "proof_invalid",
    "entry_id_mismatch",
    "empty_bundle",
    "merkle_root_mismatch",
];

/// A bundle in a catalog, with its envelope.
pub(super) struct Bundle<'c> {
    pub catalog: &'c Catalog,
    pub member: &'c Member,
    pub limits: &'c Limits,
    pub envelope: Envelope,
    /// True if the text between the entries is valid JSON. The file is then valid JSON if each entry is.
    pub is_regular: bool,
    /// Where the elements are in the file, if the first pass could store it.
    spans: Option<Arc<[Span]>>,
}

/// One element of the list of entries, not parsed yet.
pub(super) struct Item<'a> {
    /// Index in the list.
    pub index: u64,
    /// Text of the element, or an error message if the text is not a valid element.
    pub text: Result<&'a str, String>,
}

impl Item<'_> {
    pub(super) fn pointer(&self, kind: BundleKind) -> String {
        kind.pointer(self.index)
    }
}

/// Result of the first pass over a file.
#[derive(Clone)]
struct FirstPass {
    /// Text of the envelope.
    text: Arc<str>,
    is_regular: bool,
    spans: Option<Arc<[Span]>>,
}

/// A reader that stores the last byte read, to detect whether the file ends with a line feed.
struct LastByte<'r> {
    inner: &'r mut dyn Read,
    last: u8,
}

impl Read for LastByte<'_> {
    fn read(&mut self, buf: &mut [u8]) -> std::io::Result<usize> {
        let n = self.inner.read(buf)?;
        if let Some(last) = buf[..n].last() {
            self.last = *last;
        }
        Ok(n)
    }
}

impl<'c> Bundle<'c> {
    /// Opens a bundle and reads its envelope in one pass over the file. An import opens a bundle three times (for its
    /// signature, its check and its content), but only the first call reads the file.
    ///
    /// # Errors
    /// `Version` for an unknown version, `Invalid` if the file is not a bundle, or an I/O error.
    pub(super) fn open(catalog: &'c Catalog, detected: &Detected, limits: &'c Limits) -> Result<Self, FormatError> {
        let records = detected.claim.parts.iter().find(|p| p.role == Role::Records);
        let member = records.and_then(|p| catalog.members().get(p.member));
        let member = member.ok_or_else(|| FormatError::invalid("malformed", detected.format, "there is no bundle"))?;
        let FirstPass { text, is_regular, spans } = catalog.derived(member, || {
            let first_pass = read_pass(catalog, member, limits, &mut |_| Ok(()))?;
            let bytes = first_pass.text.len() + first_pass.spans.as_deref().map_or(0, size_of_val);
            Ok((first_pass, bytes))
        })?;
        let envelope = Envelope::parse(&text, limits).map_err(|bad| match bad {
            EnvelopeError::Version(version) => FormatError::Version { place: member.place.clone(), version },
            EnvelopeError::Malformed(code, message) => FormatError::invalid(code, &member.place, message),
        })?;
        Ok(Self { catalog, member, limits, envelope, is_regular, spans })
    }

    /// Calls `visit` with each element of the list of entries, in order.
    pub(super) fn visit_items(
        &self,
        visit: &mut dyn FnMut(Item<'_>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        match &self.spans {
            Some(spans) => {
                visit_spans(self.catalog, self.member, spans, &mut |index, text| visit(Item { index, text }))
            }
            None => read_pass(self.catalog, self.member, self.limits, visit).map(drop),
        }
    }

    /// Calls `process` with the text of each element, on all cores, and then `receive` with the index and the result of
    /// each element, in order. The result is an error message for an element that is not valid.
    pub(super) fn process_items<T: Send>(
        &self,
        process: impl Fn(u64, &str) -> T + Sync,
        receive: &mut dyn FnMut(u64, Result<T, String>) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        let process = &process;
        let process_batch = move |batch: &TextBatch| {
            batch.process(|index, bytes| Some((index, process(index, std::str::from_utf8(bytes).ok()?))))
        };
        std::thread::scope(|scope| {
            let mut pipeline = BatchPipeline::start(scope, process_batch);
            let mut batch = TextBatch::default();
            self.visit_items(&mut |Item { index, text }| {
                let is_in_batch = text.as_ref().is_ok_and(|text| text.len() <= TextBatch::MAX_BYTES);
                if let Ok(text) = &text
                    && is_in_batch
                {
                    if batch.is_full_with(text.len()) {
                        pass_on(&mut pipeline, &mut batch, false, receive)?;
                    }
                    batch.push(index, text.as_bytes());
                    return if batch.is_full() { pass_on(&mut pipeline, &mut batch, false, receive) } else { Ok(()) };
                }
                // A large element is processed on this thread, because sending it to another thread would copy it.
                pass_on(&mut pipeline, &mut batch, true, receive)?;
                receive(index, text.map(|text| process(index, text)))
            })?;
            pass_on(&mut pipeline, &mut batch, true, receive)
        })
    }

    /// Splits an element into its wrapper and its entry, and parses the entry.
    pub(super) fn parse_entry<'a>(&self, item: &Item<'a>) -> Result<(Wrapped<'a>, Tree), String> {
        entry::parse_element(self.envelope.kind, item.text.clone()?, self.limits.into())
    }

    /// Returns the place of the file followed by the JSON pointer, for messages.
    pub(super) fn place(&self, pointer: &str) -> String {
        format!("{}{pointer}", self.member.place)
    }

    /// Checks ids, root and proofs, but not the signature. Calls `visit` with the code, pointer and message of each
    /// fault. Returns the Merkle tree if the bundle is signed and has no faults.
    pub(super) fn check_integrity(
        &self,
        visit: &mut dyn FnMut(&'static str, String, &str),
    ) -> Result<Option<Merkle>, FormatError> {
        let kind = self.envelope.kind;
        if kind == BundleKind::Unsigned {
            return Ok(None);
        }
        let mut is_intact = true;
        let mut report_fault = |code: &'static str, pointer: String, message: &str| {
            is_intact = false;
            visit(code, pointer, message);
        };
        let stated_root = self.envelope.text_member("merkle_root").unwrap_or_default();
        // Like the reference implementation, compares the root of a signed bundle as text, and the root of a subset as
        // bytes.
        let root = self.envelope.bytes("merkle_root").and_then(|b| Hash::try_from(b).ok());
        let mut leaves = Vec::new();
        self.visit_items(&mut |item| {
            let pointer = item.pointer(kind);
            let found = self.parse_entry(&item).and_then(|(w, tree)| Ok((w, entry::digests(&tree)?)));
            let (wrapped, (id, leaf)) = match found {
                Ok(found) => found,
                Err(why) => {
                    report_fault("unreadable_entry", pointer, &why);
                    return Ok(());
                }
            };
            if kind == BundleKind::Subset {
                match wrapped.proof.as_ref().and_then(entry::parse_proof) {
                    None => report_fault("proof_malformed", pointer, "proof is not a list of [hash, side]"),
                    Some(proof) if root.is_none_or(|root| root_from_proof(leaf, &proof) != root) => {
                        report_fault("proof_invalid", pointer, "the proof does not lead to merkle_root");
                    }
                    Some(_) => {}
                }
                return Ok(());
            }
            leaves.push(leaf);
            if wrapped.id.as_ref().and_then(Tree::as_str) != Some(id.as_str()) {
                report_fault("entry_id_mismatch", pointer, "id is not the digest of the entry");
            }
            Ok(())
        })?;
        if kind == BundleKind::Subset {
            return Ok(None);
        }
        let tree = Merkle::new(leaves);
        match &tree {
            None => report_fault("empty_bundle", String::new(), "a signed bundle has at least one entry"),
            Some(tree) if hex::encode(tree.root()) != stated_root => {
                report_fault("merkle_root_mismatch", String::new(), "entries were added, removed, moved or changed");
            }
            Some(_) => {}
        }
        Ok(tree.filter(|_| is_intact))
    }

    /// Parses the whole file as JSON and returns the error message if it is invalid. This finds faults between
    /// elements, which reading element by element misses. The pass is slow, and needless if the file `is_regular` and
    /// all its entries can be parsed.
    pub(super) fn json_error(&self) -> Result<Option<String>, FormatError> {
        self.catalog.read(self.member, |reader| {
            let mut head = Vec::new();
            let read = (&mut *reader).take(BYTE_ORDER_MARK.len() as u64).read_to_end(&mut head);
            read.map_err(|error| FormatError::io(&self.member.place, error))?;
            if head == BYTE_ORDER_MARK {
                head.clear();
            }
            // The buffer is the outermost reader, because the parser reads single bytes from it.
            let text = BufReader::with_capacity(64 << 10, head.as_slice().chain(reader));
            let mut json = serde_json::Deserializer::from_reader(text);
            match IgnoredAny::deserialize(&mut json).and_then(|_| json.end()) {
                Ok(()) => Ok(None),
                Err(error) if error.is_io() => Err(FormatError::io(&self.member.place, error.into())),
                Err(error) => Ok(Some(format!("not valid JSON: {error}"))),
            }
        })
    }

    /// Like [`Bundle::check_integrity`], but returns the first fault as an error.
    pub(super) fn require_integrity(&self) -> Result<Option<Merkle>, FormatError> {
        let mut first_fault = None;
        let tree = self.check_integrity(&mut |code, pointer, message| {
            first_fault.get_or_insert_with(|| FormatError::invalid(code, self.place(&pointer), message));
        })?;
        first_fault.map_or(Ok(tree), Err)
    }
}

/// Sends the batch to be processed, and passes on the results that have arrived. If `waits` is set, waits for the
/// results of all batches. Returns the first error of `receive`.
fn pass_on<T: Send>(
    pipeline: &mut BatchPipeline<(u64, T)>,
    batch: &mut TextBatch,
    waits: bool,
    receive: &mut dyn FnMut(u64, Result<T, String>) -> Result<(), FormatError>,
) -> Result<(), FormatError> {
    let mut outcome = Ok(());
    let mut receive_all = |results: Vec<(u64, T)>| {
        for (index, result) in results {
            if outcome.is_ok() {
                outcome = receive(index, Ok(result));
            }
        }
    };
    match waits {
        true => pipeline.finish(batch, &mut receive_all),
        false => pipeline.push(batch, &mut receive_all),
    }
    outcome
}

/// Reads the file in one pass.
fn read_pass(
    catalog: &Catalog,
    member: &Member,
    limits: &Limits,
    visit: &mut dyn FnMut(Item<'_>) -> Result<(), FormatError>,
) -> Result<FirstPass, FormatError> {
    catalog.read(member, |reader| {
        let mut last = LastByte { inner: reader, last: 0 };
        let mut elements = Elements::new(&mut last, limits).with_keys(&["entries", "disclosed"]);
        let malformed = |message: String| FormatError::invalid("malformed", &member.place, message);
        let (mut count, mut spans) = (0u64, SpanCollector::default());
        loop {
            match elements.next() {
                Ok(None) => break,
                Ok(Some(element)) if !element.in_array || element.key.is_empty() => {
                    return Err(malformed("it is not one object with a list of entries".into()));
                }
                Ok(Some(element)) => {
                    spans.add(&element);
                    let text = std::str::from_utf8(element.bytes).map_err(|_| "not UTF-8".to_owned());
                    visit(Item { index: element.index, text })?;
                }
                Err(ElementError::TooLarge { limit, .. }) => {
                    spans.add_unreadable();
                    let text = Err(format!("larger than {limit} bytes"));
                    visit(Item { index: count, text })?;
                }
                Err(ElementError::Io(error)) => return Err(FormatError::io(&member.place, error)),
                Err(error) => return Err(malformed(error.to_string())),
            }
            count += 1;
            if count > limits.entries {
                let place = member.place.clone();
                return Err(FormatError::Limit { limit: "entries", place, figure: limits.entries });
            }
        }
        let (text, is_regular) = (elements.wrapper().map(<[u8]>::to_vec), elements.are_regular());
        let spans = spans.finish(&elements).map(Arc::from);
        let mut text = text.ok_or_else(|| malformed("it is not one object with a list of entries".into()))?;
        if last.last == b'\n' {
            text.push(b'\n');
        }
        let text = String::from_utf8(text).map_err(|_| malformed("not UTF-8".into()))?;
        Ok(FirstPass { text: text.into(), is_regular, spans })
    })
}
