//! Writes a bundle. An imported bundle's envelope, with its signature, is reused if it is still valid for the entries.
//! Otherwise, the bundle gets a new envelope, which is signed if there is a signer.
use super::{
    answer::AnswerOptions,
    checked_entry::is_index,
    cited_event::CitedEvents,
    compose::{ConversionResult, OutputEntry, assign_number, output_entry},
    entry::{citation, digests, order_in_event, proof_tree, seq},
    envelope::{
        BundleKind, ENTRY_VERSION, Envelope, Layout, PORTABLE_VERSION, SIGNED_MEMBERS, UNSIGNED_VERSION, ValueToWrite,
        signed_bytes,
    },
    merkle::{Hash, Merkle, Side, root_from_proof},
    select::Selector,
    to_record::KEY_SCOPE,
    validate::envelope_faults,
};
use mementory_format::{
    FormatError, PassthroughItem, RecordSource, Signer, SourceDescription, WriteOptions, WriteReport,
    note_files_left_out, passthrough_envelope,
};
use mementory_json::Tree;
use mementory_model::{Limits, LossKind, Timestamp};
use sha2::{Digest, Sha256};
use std::{
    collections::{BTreeSet, HashMap},
    io::{BufWriter, Read, Write},
    path::Path,
};

/// Members of an envelope that this module writes in addition to the signed ones.
const WRITTEN_MEMBERS: [&str; 5] = ["schema_version", "signed", "signature", "entries", "disclosed"];

/// The envelope of an imported bundle, and the place of that bundle.
struct SourceEnvelope {
    place: String,
    envelope: Envelope,
}

/// Writes all records of `source` to the new file `out`.
pub(super) fn write(
    source: &mut dyn RecordSource,
    out: &Path,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writer = BundleWriter::collect(source, options, limits)?;
    let envelope = writer.envelope(options, out)?;
    write_bundle(out, &envelope, writer.entries.iter().map(Element::from_entry))?;
    Ok(writer.report)
}

/// Writes the records that match the selector in the [`AnswerOptions`] to `out`. If `disclose` is set, writes only the
/// entries of the signed bundle that match it, with their proofs.
pub(super) fn write_answer(
    source: &mut dyn RecordSource,
    out: &mut dyn Write,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let place = Path::new("export");
    let mut writer = BundleWriter::collect(source, options, limits)?;
    let envelope = writer.envelope(options, place)?;
    let answer = options.format_options.get::<AnswerOptions>();
    let Some(disclosed) = answer.and_then(|answer| answer.disclose.as_ref()) else {
        write_elements(out, "export", &envelope, writer.entries.iter().map(Element::from_entry))?;
        return Ok(writer.report);
    };
    let tree = Merkle::new(writer.leaves(place)?).filter(|_| envelope.kind == BundleKind::Signed);
    let tree = tree
        .ok_or_else(|| FormatError::invalid("not_signed", "export", "only a signed bundle can be disclosed in part"))?;
    let disclosed_entries: Vec<_> =
        writer.entries.iter().enumerate().filter(|(_, entry)| disclosed.discloses(&entry.tree)).collect();
    writer.report.by_kind.clear();
    for (_, entry) in &disclosed_entries {
        *writer.report.by_kind.entry(entry.kind.as_str().into()).or_default() += 1;
    }
    let elements = disclosed_entries.iter().map(|(index, entry)| Element {
        tree: &entry.tree,
        text: entry.verbatim.as_deref(),
        disclosed: Some((Tree::Number(index.to_string()), proof_tree(&tree.proof(*index)))),
        extra: &[],
    });
    write_elements(out, "export", &envelope_of_subset(&envelope), elements)?;
    Ok(writer.report)
}

/// Reports what [`write`] would write and lose. Nothing is written.
pub(super) fn plan(
    source: &mut dyn RecordSource,
    options: &WriteOptions,
    limits: &Limits,
) -> Result<WriteReport, FormatError> {
    let mut writer = BundleWriter::collect(source, options, limits)?;
    let version = match writer.choose_plan(options, Path::new("")) {
        Ok(EnvelopePlan::SourceEnvelope(envelope)) => envelope.text_member("version").unwrap_or_default().to_owned(),
        Ok(EnvelopePlan::Signed(..)) => PORTABLE_VERSION.into(),
        Ok(EnvelopePlan::Unsigned) | Err(_) => UNSIGNED_VERSION.into(),
    };
    Ok(WriteReport { version, ..writer.report })
}

enum EnvelopePlan {
    /// An imported envelope is reused.
    SourceEnvelope(Envelope),
    /// A new envelope without signature.
    Unsigned,
    /// A new envelope with a signature over this Merkle root.
    Signed(std::sync::Arc<dyn Signer>, Hash),
}

struct BundleWriter {
    description: SourceDescription,
    entries: Vec<OutputEntry>,
    envelopes: Vec<SourceEnvelope>,
    session: String,
    report: WriteReport,
}

impl BundleWriter {
    fn collect(source: &mut dyn RecordSource, options: &WriteOptions, limits: &Limits) -> Result<Self, FormatError> {
        let description = source.description();
        let mut report = WriteReport::default();
        let mut entries = Vec::new();
        let (mut names, mut events) = (HashMap::new(), CitedEvents::default());
        source.records(&mut |stored| {
            match output_entry(&stored, &mut names, &mut events, limits.json_depth, &mut report.losses) {
                ConversionResult::Entry(entry) => entries.push(*entry),
                ConversionResult::Withheld(reason) => *report.withheld.entry(reason.into()).or_default() += 1,
            }
            Ok(())
        })?;
        let files = entries.iter().filter(|entry| entry.is_of_file).map(|entry| entry.record.clone());
        note_files_left_out(source, &files.collect::<Vec<_>>(), &mut report.losses)?;
        let mut envelopes = Vec::new();
        source.passthrough(KEY_SCOPE, &mut |item, bytes| collect_envelope(item, bytes, limits, &mut envelopes))?;
        let answer = options.format_options.get::<AnswerOptions>();
        let session = match answer {
            Some(answer) => answer.session.clone(),
            None => session_id(&description, &envelopes, &entries, options),
        };
        let mut writer = Self { description, entries, envelopes, session, report };
        writer.sort_and_number(answer.map(|answer| &answer.numbers));
        let selector = options.format_options.get::<Selector>().or(answer.map(|answer| &answer.selector));
        if let Some(selector) = selector {
            let entry_count = writer.entries.len();
            writer.entries = selector.matching_entries(std::mem::take(&mut writer.entries));
            let withheld_count = (entry_count - writer.entries.len()) as u64;
            if withheld_count > 0 {
                writer.report.withheld.insert("selector".into(), withheld_count);
            }
        }
        for entry in &writer.entries {
            *writer.report.by_kind.entry(entry.kind.as_str().into()).or_default() += 1;
        }
        writer.report_left_out(source, options)?;
        Ok(writer)
    }

    /// Sorts and numbers the entries. Imported entries come first, sorted by their position in the bundle, or by event
    /// if they are from several bundles. Composed entries follow, sorted by time. A composed entry gets the number of
    /// its record in `numbers`, or otherwise a number after the highest number of the imported entries.
    fn sort_and_number(&mut self, numbers: Option<&HashMap<String, u64>>) {
        let number_of = |entry: &OutputEntry| numbers.and_then(|numbers| numbers.get(&entry.record)).copied();
        let containers: BTreeSet<&str> =
            self.entries.iter().filter_map(|m| m.source.as_ref()).map(|o| o.container.as_str()).collect();
        let has_one_container = containers.len() < 2;
        self.entries.sort_by_cached_key(|m| {
            let (source, at) = (m.source.as_ref(), m.at.map(Timestamp::as_micros));
            let event =
                if has_one_container { (0, 0) } else { (seq(&m.tree).unwrap_or(u64::MAX), order_in_event(&m.tree)) };
            let place = source.map(|o| (o.index, o.container.clone()));
            (m.needs_number(), event, place, number_of(m), at, m.record.clone())
        });
        let highest_number = self.entries.iter().filter(|m| !m.needs_number()).filter_map(|m| seq(&m.tree)).max();
        let mut next_number = highest_number.unwrap_or_default();
        for entry in self.entries.iter_mut().filter(|m| m.is_composed) {
            if !entry.needs_number() {
                let number = seq(&entry.tree).unwrap_or(1);
                assign_number(&mut entry.tree, &self.session, number);
                continue;
            }
            next_number = number_of(entry).unwrap_or(next_number.saturating_add(1));
            assign_number(&mut entry.tree, &self.session, next_number);
        }
    }

    fn leaves(&self, place: &Path) -> Result<Vec<Hash>, FormatError> {
        let invalid_entry = |why| FormatError::invalid("malformed_entry", place.display().to_string(), why);
        self.entries.iter().map(|m| digests(&m.tree).map(|d| d.1).map_err(invalid_entry)).collect()
    }

    /// The envelope for the entries. A new envelope is signed if there is a signer.
    fn envelope(&mut self, options: &WriteOptions, out: &Path) -> Result<Envelope, FormatError> {
        let envelope = match self.choose_plan(options, out)? {
            EnvelopePlan::SourceEnvelope(envelope) => envelope,
            EnvelopePlan::Unsigned => unsigned(&self.session),
            EnvelopePlan::Signed(signer, root) => signed(signer.as_ref(), &self.session, &self.description, &root)?,
        };
        self.report.version = envelope.text_member("version").unwrap_or_default().to_owned();
        Ok(envelope)
    }

    fn choose_plan(&mut self, options: &WriteOptions, out: &Path) -> Result<EnvelopePlan, FormatError> {
        let requested_version = options.version.as_deref();
        if let Some(unknown) = requested_version.filter(|v| ![UNSIGNED_VERSION, PORTABLE_VERSION].contains(v)) {
            return Err(FormatError::Version { place: "export".into(), version: unknown.to_owned() });
        }
        let leaves = self.leaves(out)?;
        if let Some(signer) = options.signer.as_ref().filter(|_| requested_version != Some(UNSIGNED_VERSION)) {
            self.report_lost_envelope("signed again with another key");
            let Some(tree) = Merkle::new(leaves) else {
                let message = "a signed Zaxy bundle has at least one entry";
                return Err(FormatError::invalid("empty_bundle", out.display().to_string(), message));
            };
            return Ok(EnvelopePlan::Signed(signer.clone(), tree.root()));
        }
        let all_of = |source: &&SourceEnvelope| {
            !self.entries.is_empty()
                && self.entries.iter().all(|m| m.source.as_ref().is_some_and(|o| o.container == source.place))
                && (requested_version.is_none() || source.envelope.text_member("version") == requested_version)
        };
        let mut valid_envelopes = self
            .envelopes
            .iter()
            .filter(all_of)
            .map(|c| &c.envelope)
            .filter(|f| is_still_valid(f, &self.entries, &leaves));
        if let (Some(envelope), None) = (valid_envelopes.next(), valid_envelopes.next()) {
            return Ok(EnvelopePlan::SourceEnvelope(envelope.clone()));
        }
        if requested_version == Some(PORTABLE_VERSION) {
            let message = "a signed Zaxy bundle needs a key to sign with";
            return Err(FormatError::invalid("signer_missing", out.display().to_string(), message));
        }
        self.report_lost_envelope("it does not cover what is written now");
        Ok(EnvelopePlan::Unsigned)
    }

    /// Reports the parts of imported envelopes that are missing from the new envelope: the signature, and members that
    /// this module does not write.
    fn report_lost_envelope(&mut self, why: &str) {
        for SourceEnvelope { place, envelope } in &self.envelopes {
            if envelope.kind != BundleKind::Unsigned {
                self.report.losses.add(place, "signature", LossKind::LeftOut, why);
            }
            let Tree::Object(members) = &envelope.tree else { continue };
            let is_known = |name: &str| SIGNED_MEMBERS.contains(&name) || WRITTEN_MEMBERS.contains(&name);
            for (name, _) in members.iter().filter(|(name, value)| !is_known(name) && *value != Tree::Null) {
                let note = "the bundle gets a new envelope without this member";
                self.report.losses.add(place, name, LossKind::LeftOut, note);
            }
        }
    }

    fn report_left_out(&mut self, source: &mut dyn RecordSource, options: &WriteOptions) -> Result<(), FormatError> {
        for tombstone in source.tombstones()? {
            let note = "Zaxy bundles have no deletions";
            self.report.losses.add(&tombstone.id, "tombstone", LossKind::LeftOut, note);
        }
        if options.everything {
            passthrough_envelope::note_left_out(source, |id| id != KEY_SCOPE, &mut self.report.losses)?;
        }
        Ok(())
    }
}

/// True if the imported envelope is still valid for these entries.
fn is_still_valid(envelope: &Envelope, entries: &[OutputEntry], leaves: &[Hash]) -> bool {
    let mut has_fault = false;
    envelope_faults(envelope, &mut |_, _| has_fault = true);
    if has_fault {
        return false;
    }
    let root = envelope.bytes("merkle_root").and_then(|b| Hash::try_from(b).ok());
    match envelope.kind {
        BundleKind::Unsigned => true,
        BundleKind::Signed => Merkle::new(leaves.to_vec()).map(|t| t.root()) == root && root.is_some(),
        BundleKind::Subset => entries.iter().zip(leaves).all(|(m, leaf)| {
            let disclosed = m.source.as_ref().and_then(|o| o.disclosed.as_ref());
            let proof = disclosed.filter(|(index, _)| is_index(index)).and_then(|(_, p)| super::entry::parse_proof(p));
            proof.is_some_and(|proof| Some(root_from_proof(*leaf, &proof)) == root)
        }),
    }
}

fn collect_envelope(
    item: &PassthroughItem,
    bytes: &mut dyn Read,
    limits: &Limits,
    envelopes: &mut Vec<SourceEnvelope>,
) -> Result<(), FormatError> {
    let mut text = String::new();
    let bound = limits.side_file_bytes;
    let read = bytes.take(bound).read_to_string(&mut text);
    if item.role == "manifest"
        && read.is_ok()
        && let Ok(envelope) = Envelope::parse(&text, limits)
    {
        envelopes.push(SourceEnvelope { place: item.place.clone(), envelope });
    }
    Ok(())
}

/// Session id of the bundle to be written: the session id of the imported bundles or the thread of the log, if there is
/// exactly one. Otherwise an id derived from the vault id or, if identifiers are left out, `mementory`.
fn session_id(
    description: &SourceDescription,
    envelopes: &[SourceEnvelope],
    entries: &[OutputEntry],
    options: &WriteOptions,
) -> String {
    let used_containers: BTreeSet<&str> =
        entries.iter().filter_map(|m| m.source.as_ref()).map(|o| o.container.as_str()).collect();
    let used_envelopes = envelopes.iter().filter(|c| used_containers.contains(c.place.as_str()));
    let sessions: BTreeSet<&str> = used_envelopes
        .filter_map(|c| c.envelope.text_member("session_id"))
        .filter(|id| !id.is_empty()) // a citation cannot have an empty thread
        .collect();
    let imported_entries = entries.iter().filter(|m| m.source.is_some());
    let threads: BTreeSet<&str> =
        imported_entries.filter_map(|m| Some(citation(m.tree.get("citation")?.as_str()?)?.thread)).collect();
    match (sessions.first().or(threads.first()), sessions.len(), threads.len()) {
        // If there is only one session id, or otherwise only one thread, it becomes the session id of the bundle.
        (Some(only), 1, _) | (Some(only), 0, 1) => (*only).to_owned(),
        _ if options.strip_identifiers => "mementory".into(),
        _ => {
            let is_plain = |c: &char| c.is_ascii_alphanumeric() || "_.-".contains(*c);
            format!("mementory-{}", description.vault_id.chars().filter(is_plain).take(64).collect::<String>())
        }
    }
}

fn new_envelope(members: Vec<(&str, Tree)>) -> Envelope {
    let tree = Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
    let mut text = String::new();
    Layout::zaxy().push_value(&tree, 0, &mut text);
    let kind = match (tree.get("disclosed"), tree.get("signature")) {
        (Some(_), _) => BundleKind::Subset,
        (_, Some(_)) => BundleKind::Signed,
        _ => BundleKind::Unsigned,
    };
    Envelope { text, tree, kind }
}

fn text_value(text: &str) -> Tree {
    Tree::Text(text.to_owned())
}

pub(super) fn unsigned(session: &str) -> Envelope {
    new_envelope(vec![
        ("version", text_value(UNSIGNED_VERSION)),
        ("schema_version", text_value(ENTRY_VERSION)),
        ("session_id", text_value(session)),
        ("signed", Tree::Bool(false)),
        ("entries", Tree::Array(vec![])),
    ])
}

/// Converts an envelope to an unsigned envelope with the same session id. Returns an unsigned `envelope` unchanged.
pub(super) fn without_signature(envelope: &str) -> Option<String> {
    let envelope = Envelope::parse(envelope, &Limits::default()).ok()?;
    Some(match envelope.kind {
        BundleKind::Unsigned => envelope.text,
        BundleKind::Signed | BundleKind::Subset => {
            unsigned(envelope.text_member("session_id").unwrap_or_default()).text
        }
    })
}

/// Signs this Merkle root and returns the envelope of the signed bundle.
pub(super) fn signed(
    signer: &dyn Signer,
    session: &str,
    description: &SourceDescription,
    root: &Hash,
) -> Result<Envelope, FormatError> {
    let (key, root) = (hex::encode(signer.public_key()), hex::encode(root));
    let created = format!("{}+00:00", description.now.to_rfc3339().trim_end_matches('Z'));
    let nonce = nonce(description.now);
    let texts = [
        ("version", PORTABLE_VERSION),
        ("algorithm", signer.algorithm()),
        ("public_key", &key),
        ("session_id", session),
        ("created_at", &created),
        ("nonce", &nonce),
        ("merkle_root", &root),
    ];
    let signature = signer.sign(&signed_bytes(&texts))?;
    let mut members: Vec<(&str, Tree)> = texts.into_iter().map(|(k, v)| (k, text_value(v))).collect();
    members.push(("anchor", Tree::Null));
    members.push(("entries", Tree::Array(vec![])));
    members.push(("signature", text_value(&hex::encode(signature))));
    Ok(new_envelope(members))
}

/// The envelope for a subset of a signed bundle.
pub(super) fn envelope_of_subset(signed: &Envelope) -> Envelope {
    let keys = ["version", "algorithm", "public_key", "session_id", "created_at", "nonce", "merkle_root", "signature"];
    let mut members: Vec<(&str, Tree)> =
        keys.into_iter().filter_map(|k| Some((k, signed.tree.get(k)?.clone()))).collect();
    members.push(("disclosed", Tree::Array(vec![])));
    new_envelope(members)
}

/// A nonce of 16 bytes in hex: the truncated SHA-256 of two new UUIDs.
fn nonce(now: Timestamp) -> String {
    let seconds = u64::try_from(now.as_micros().div_euclid(1_000_000)).unwrap_or_default();
    let new_uuid = || uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, 0));
    hex::encode(&Sha256::digest([new_uuid().into_bytes(), new_uuid().into_bytes()].concat())[..16])
}

/// One element of the list of entries in the output.
pub(super) struct Element<'a> {
    pub tree: &'a Tree,
    /// Text of the entry, if the text is copied unchanged.
    pub text: Option<&'a str>,
    /// Index and proof of a disclosed entry.
    pub disclosed: Option<(Tree, Tree)>,
    /// Unknown members of the wrapper.
    pub extra: &'a [(String, Tree)],
}

impl<'a> Element<'a> {
    fn from_entry(entry: &'a OutputEntry) -> Self {
        Self {
            tree: &entry.tree,
            text: entry.verbatim.as_deref(),
            disclosed: entry.source.as_ref().and_then(|o| o.disclosed.clone()),
            extra: entry.source.as_ref().map_or(&[], |o| o.extra.as_slice()),
        }
    }

    /// An element with a disclosed entry.
    pub(super) fn disclosed(tree: &'a Tree, text: &'a str, index: u64, proof: &[(Hash, Side)]) -> Self {
        let disclosed = Some((Tree::Number(index.to_string()), proof_tree(proof)));
        Self { tree, text: Some(text), disclosed, extra: &[] }
    }

    /// The text of the element. If `is_sorted` is set, the members of its wrapper are sorted by name, like the members
    /// of the envelope.
    fn into_text(self, kind: BundleKind, layout: &Layout, is_sorted: bool, place: &str) -> Result<String, FormatError> {
        let mut out = String::new();
        let content = |level: usize| match self.text {
            Some(text) => text.to_owned(),
            None => {
                let mut text = String::new();
                layout.push_value(self.tree, level, &mut text);
                text
            }
        };
        if kind == BundleKind::Unsigned {
            return Ok(content(2));
        }
        let content = content(3);
        let mut members: Vec<(&str, ValueToWrite<'_>)> = Vec::new();
        if kind == BundleKind::Signed {
            let (id, _) = digests(self.tree).map_err(|why| FormatError::invalid("malformed_entry", place, why))?;
            members.push(("id", ValueToWrite::Tree(Tree::Text(id))));
            members.push(("content", ValueToWrite::Raw(&content)));
        } else {
            let (index, proof) = self.disclosed.unwrap_or((Tree::Null, Tree::Null));
            members.push(("index", ValueToWrite::Tree(index)));
            members.push(("content", ValueToWrite::Raw(&content)));
            members.push(("proof", ValueToWrite::Tree(proof)));
        }
        // In a subset, the format does not define `id`, so it may be an unknown member of the wrapper.
        let is_allowed = |k: &str| k != "content" && (kind == BundleKind::Subset || k != "id");
        members.extend(
            self.extra.iter().filter(|(k, _)| is_allowed(k)).map(|(k, v)| (k.as_str(), ValueToWrite::Tree(v.clone()))),
        );
        if is_sorted {
            members.sort_by(|a, b| a.0.cmp(b.0));
        }
        layout.push_object(&members, 2, &mut out);
        Ok(out)
    }
}

/// Writes the envelope with these elements into a new file.
pub(super) fn write_bundle<'a>(
    out: &Path,
    envelope: &Envelope,
    elements: impl Iterator<Item = Element<'a>>,
) -> Result<(), FormatError> {
    let place = out.display().to_string();
    let io = |e| FormatError::io(&place, e);
    let mut file = BufWriter::new(mementory_format::create_private_file(out).map_err(io)?);
    write_elements(&mut file, &place, envelope, elements)?;
    file.into_inner().map_err(|e| io(e.into_error()))?.sync_all().map_err(io)
}

fn write_elements<'a>(
    file: &mut dyn Write,
    place: &str,
    envelope: &Envelope,
    elements: impl Iterator<Item = Element<'a>>,
) -> Result<(), FormatError> {
    let io = |e| FormatError::io(place, e);
    let (text_before, text_after) = envelope
        .split_at_entries()
        .ok_or_else(|| FormatError::invalid("malformed", place, "the envelope has no list"))?;
    let layout = Layout::of_text(&envelope.text);
    let is_sorted = matches!(&envelope.tree, Tree::Object(members) if members.is_sorted_by(|a, b| a.0 <= b.0));
    let mut has_elements = false;
    file.write_all(text_before.as_bytes()).map_err(io)?;
    for element in elements {
        let mut text = String::new();
        if has_elements {
            layout.push_comma(2, &mut text)
        } else {
            layout.push_line_break(2, &mut text)
        }
        has_elements = true;
        text.push_str(&element.into_text(envelope.kind, &layout, is_sorted, place)?);
        file.write_all(text.as_bytes()).map_err(io)?;
    }
    if has_elements {
        let mut text = String::new();
        layout.push_line_break(1, &mut text);
        file.write_all(text.as_bytes()).map_err(io)?;
    }
    file.write_all(text_after.as_bytes()).map_err(io)
}
