//! Applies deltas to a base archive in order. The new file is written only if all of them can be applied (spec §4.3.1).
//! If several deltas change a record, the last change counts (§7.3).
use super::super::jsonl::{JsonLine, each_line};
use super::super::manifest::{Archive, Manifest, usable_name};
use super::super::partitions::Period;
use super::super::rewrite::{self, LineEdit, OpenedFile, Rewrite};
use super::super::write_manifest::set_sync;
use super::super::{list_document, workspaces, write_documents};
use super::manifest::{DOCUMENT_LAYERS, DeltaManifest};
use super::operation::{self, Operation};
use super::validate;
use mementory_format::extension as slot;
use mementory_format::{AppliedDeltas, BaseFindings, Finding, FormatError, Passphrase, SequenceError, check_sequence};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Largest number of mismatches that a check of a delta against a base archive reports.
const MAX_MISMATCHES: usize = 1000;

/// The reason why deltas were not applied. After any of these errors, nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// A delta is for another agent.
    #[error("{place}: this delta is for another agent")]
    WrongAgent {
        /// File name of the delta.
        place: String,
    },
    /// The archive already contains the changes of the delta.
    #[error("{place}: already applied (the archive is at sequence {at}, the delta ends at {new})")]
    AlreadyApplied {
        /// File name of the delta.
        place: String,
        /// Sequence of the archive before this delta.
        at: u64,
        /// Sequence at which the delta ends.
        new: u64,
    },
    /// The delta starts after the state of the archive, so an earlier delta is missing.
    #[error("{place}: an earlier delta is missing (the archive is at sequence {at}, the delta starts at {base})")]
    Gap {
        /// File name of the delta.
        place: String,
        /// Sequence of the archive before this delta.
        at: u64,
        /// Sequence at which the delta starts.
        base: u64,
    },
    /// The delta starts before the state of the archive and ends after it.
    #[error("{place}: made from another state (the archive is at sequence {at}, the delta starts at {base})")]
    WrongBase {
        /// File name of the delta.
        place: String,
        /// Sequence of the archive before this delta.
        at: u64,
        /// Sequence at which the delta starts.
        base: u64,
    },
    /// `new_sequence` is not greater than `base_sequence`.
    #[error("{place}: invalid delta: new_sequence is not greater than base_sequence")]
    Order {
        /// File name of the delta.
        place: String,
    },
    /// The output file exists already.
    #[error("{place}: this file already exists")]
    Exists {
        /// File name of the output file.
        place: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl ApplyError {
    /// Stable error code, for programs that must distinguish the errors.
    pub fn code(&self) -> &'static str {
        match self {
            Self::WrongAgent { .. } => "delta_wrong_agent",
            Self::AlreadyApplied { .. } => "delta_already_applied",
            Self::Gap { .. } => "delta_gap",
            Self::WrongBase { .. } => "delta_wrong_base",
            Self::Order { .. } => "delta_sequence_order",
            Self::Exists { .. } => "exists",
            Self::Format(_) => "format",
        }
    }
}

/// The combined change that all deltas make to a record.
struct CombinedChange {
    /// The new line of the record. None for a deletion that states only an id: it sets the record's status to
    /// `deleted`, or removes the record if `is_erased` is set.
    line: Option<String>,
    /// True if the whole line of the record is removed.
    is_erased: bool,
    operation: Operation,
    place: String,
    /// True if the base archive has the record.
    is_in_base: bool,
    /// True if the base archive has a line of the record that stays at its position.
    has_place: bool,
}

impl CombinedChange {
    /// True if the change gives the record of this line another creation time, which determines the partition of a
    /// record and its position there (spec §4.1.1). A record that another program put into a wrong partition stays there
    /// as long as its time does not change.
    fn has_other_time(&self, base_line: &str) -> bool {
        let time = |line| rewrite::sort_key(line).0;
        self.line.as_deref().is_some_and(|line| time(line) != time(base_line))
    }
}

#[derive(Default)]
struct MergedDeltas {
    applied: AppliedDeltas,
    documents: BTreeMap<&'static str, String>,
    changes: HashMap<String, CombinedChange>,
    time: Option<String>,
    vendor: Option<Tree>,
    buffered_bytes: u64,
}

/// Applies deltas to a base archive in the given order and writes the result to `out`, which must not exist.
///
/// # Errors
/// [`ApplyError`] if a delta does not match or a file cannot be read or written. In this case, `out` is not created.
pub fn apply(base: &Path, deltas: &[PathBuf], out: &Path, limits: &Limits) -> Result<AppliedDeltas, ApplyError> {
    apply_with(base, deltas, out, limits, None)
}

/// Like [`apply`], for files that may be encrypted as a whole. The result is encrypted if the base is.
pub fn apply_with(
    base: &Path,
    deltas: &[PathBuf],
    out: &Path,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<AppliedDeltas, ApplyError> {
    if out.symlink_metadata().is_ok() {
        return Err(ApplyError::Exists { place: file_name(out) });
    }
    let opened_file = OpenedFile::open_with(base, limits, passphrase)?;
    let archive = opened_file.archive()?;
    opened_file.refuse_faults()?;
    let manifest = Manifest::read(&archive, limits)?;
    manifest.refuse_unlisted_memories(&archive)?;
    let mut state = MergedDeltas {
        applied: AppliedDeltas { sequence: manifest.sequence(&archive.place)?, ..AppliedDeltas::default() },
        ..MergedDeltas::default()
    };
    for delta in deltas {
        state.add_delta(&manifest, delta, limits, passphrase)?;
    }
    state.write(&archive, &manifest, Rewrite::begin(out, opened_file.output_passphrase(passphrase))?, limits)?;
    Ok(state.applied)
}

/// Checks whether a delta can be applied to this archive, without writing anything. If it cannot, the only error is the
/// reason; otherwise, the errors are the changes that would be skipped, and the warnings are the changes that do not
/// match the archive, such as an update of an unknown record.
pub(super) fn check_base(
    base: &Path,
    delta: &Path,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<BaseFindings, FormatError> {
    let opened_file = OpenedFile::open_with(base, limits, passphrase)?;
    let archive = opened_file.archive()?;
    opened_file.refuse_faults()?;
    let manifest = Manifest::read(&archive, limits)?;
    manifest.refuse_unlisted_memories(&archive)?;
    let mut state = MergedDeltas {
        applied: AppliedDeltas { sequence: manifest.sequence(&archive.place)?, ..AppliedDeltas::default() },
        ..MergedDeltas::default()
    };
    match state.add_delta(&manifest, delta, limits, passphrase) {
        Ok(()) => {
            state.mark_records_in_base(&archive, &manifest, limits)?;
            let finding = |(code, place, message): (&str, String, &str)| Finding {
                code: code.into(),
                place,
                message: message.into(),
            };
            let warnings = state.mismatches().into_iter().take(MAX_MISMATCHES).map(finding).collect();
            Ok(BaseFindings { errors: state.applied.findings, warnings })
        }
        Err(ApplyError::Format(e)) => Err(e),
        Err(e) => {
            let reason = Finding { code: e.code().into(), place: file_name(delta), message: e.to_string() };
            Ok(BaseFindings { errors: vec![reason], ..BaseFindings::default() })
        }
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

impl MergedDeltas {
    /// Reads the next delta and merges its changes. Fails if the delta does not start at the sequence at which the
    /// previous one ended.
    fn add_delta(
        &mut self,
        base: &Manifest,
        path: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<(), ApplyError> {
        let opened_file = OpenedFile::open_with(path, limits, passphrase)?;
        let archive = opened_file.archive_or_delta()?;
        opened_file.refuse_faults()?;
        let delta = DeltaManifest::read(&archive, limits)?;
        let (place, at) = (file_name(path), self.applied.sequence);
        if !delta.agent.eq_ignore_ascii_case(&base.agent) {
            return Err(ApplyError::WrongAgent { place });
        }
        check_sequence(at, delta.base, delta.new).map_err(|error| match error {
            SequenceError::Order => ApplyError::Order { place: place.clone() },
            SequenceError::Gap { at, base } => ApplyError::Gap { place: place.clone(), at, base },
            SequenceError::AlreadyApplied { at, new } => ApplyError::AlreadyApplied { place: place.clone(), at, new },
            SequenceError::WrongBase { at, base } => ApplyError::WrongBase { place: place.clone(), at, base },
        })?;
        // Ensures that every file named in the manifest exists and that every document is JSON.
        if let Some(error) = validate::refusal(&archive, &delta, limits)? {
            return Err(error.into());
        }
        for layer in DOCUMENT_LAYERS {
            let Some(member) = delta.file(layer).and_then(|file| archive.entry(&file)) else { continue };
            let text = archive.text(member, limits)?;
            self.count_bytes(text.len(), &archive.place, limits)?;
            self.documents.insert(layer, text);
        }
        if let Some(member) = delta.file("memory").and_then(|file| archive.entry(&file)) {
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, bytes| {
                    let (number, parsed) = match entry {
                        JsonLine::Text(_, "") => return Ok(()),
                        JsonLine::Text(number, text) => (number, operation::parse(text)),
                        JsonLine::Unreadable(number, code) => (number, Err(code)),
                    };
                    let place = format!("{}#line {number}", member.place);
                    self.count_bytes(usize::try_from(bytes).unwrap_or(usize::MAX), &member.place, limits)?;
                    // If one line cannot be applied, none of the changes in the bundle is applied.
                    let change = parsed.map_err(|code| FormatError::invalid(code, &place, operation::NOT_A_CHANGE))?;
                    self.add_change(change, place);
                    Ok(())
                })
            })?;
        }
        self.applied.sequence = delta.new;
        self.time = delta.time().map(str::to_owned).or(self.time.take());
        self.vendor = slot::vendor_slot(&delta.tree).cloned().or(self.vendor.take());
        Ok(())
    }

    /// Adds `bytes` to the total size of the changes, which stay in memory until they are written. Fails if the total
    /// exceeds `Limits::element_bytes`.
    fn count_bytes(&mut self, bytes: usize, place: &str, limits: &Limits) -> Result<(), FormatError> {
        self.buffered_bytes = self.buffered_bytes.saturating_add(bytes as u64);
        if self.buffered_bytes > limits.element_bytes {
            return Err(FormatError::Limit {
                limit: "element_bytes",
                place: place.into(),
                figure: self.buffered_bytes,
            });
        }
        Ok(())
    }

    fn add_finding(&mut self, code: &str, place: &str, message: &str) {
        if self.applied.findings.len() < 1000 {
            let (code, place, message) = (code.to_owned(), place.to_owned(), message.to_owned());
            self.applied.findings.push(Finding { code, place, message });
        }
    }

    fn add_change(&mut self, change: operation::Change, place: String) {
        let operation::Change { operation, id, line, is_erased, .. } = change;
        let earlier_change = self.changes.remove(&id);
        let (mut line, mut is_erased) = (line, is_erased);
        let mut kind = operation;
        if let Some(earlier_change) = earlier_change {
            // A deletion that states only an id keeps the line of the earlier change, with the status `deleted`.
            if line.is_none() && !is_erased {
                line = earlier_change.line.as_deref().map(operation::with_deleted_status);
                is_erased = earlier_change.is_erased;
            }
            if earlier_change.operation == Operation::Create && operation == Operation::Update {
                kind = Operation::Create;
            }
        }
        let change = CombinedChange { line, is_erased, operation: kind, place, is_in_base: false, has_place: false };
        self.changes.insert(id, change);
    }

    fn write(
        &mut self,
        archive: &Archive<'_>,
        manifest: &Manifest,
        mut file: Rewrite,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        let at = self.time.as_deref().and_then(Timestamp::parse);
        let mut rows = rewrite::rows_of(manifest);
        self.mark_records_in_base(archive, manifest, limits)?;
        let mut added = self.added_lines(&mut rows, manifest, at);
        let mut tree = manifest.tree.clone();
        self.write_documents(&mut file, manifest, &mut tree)?;
        let mut files_without_records = HashSet::new();
        for row in &mut rows {
            let name = row.get("file").and_then(Tree::as_str).unwrap_or_default().to_owned();
            if file.out.has_entry(&name) {
                continue;
            }
            let new_lines = added.remove(&name).unwrap_or_default();
            let member = archive.entry(&name);
            if member.is_none() && new_lines.is_empty() {
                continue;
            }
            let (mut count, was_empty) = (0u64, rewrite::count_of(row) == Some(0));
            let sha = file.out.entry_from(&name, &mut |sink| {
                count = self.write_partition(archive, member, limits, &new_lines, sink)?;
                Ok(count > 0 || was_empty)
            })?;
            if sha.is_none() {
                files_without_records.insert(name);
                continue;
            }
            row.set("record_count", Tree::Number(count.to_string()));
            row.set("sha256", Tree::Text(sha.unwrap_or_default()));
            seal_if_past(row, at);
        }
        // Removes the rows of partitions without records, because a whole export has none of them either.
        rows.retain(|row| {
            row.get("file").and_then(Tree::as_str).is_none_or(|name| !files_without_records.contains(name))
        });
        set_sync(&mut tree, self.applied.sequence, self.time.as_deref());
        if let Some(time) = &self.time {
            tree.set("created_at", Tree::Text(time.clone()));
        }
        if let (Some(scopes), Some(slot_members)) =
            (self.vendor.as_ref().and_then(|k| k.get("scopes")), slot::vendor_slot(&tree))
        {
            let mut slot_members = slot_members.clone();
            slot_members.set("scopes", scopes.clone());
            slot::set_vendor_slot(&mut tree, slot_members);
        }
        // After any change, raw files that were generated from records are left out, because they may be outdated.
        let is_changed = !self.changes.is_empty() || !self.documents.is_empty();
        let outdated_files = if is_changed { workspaces::raw_files_from_records(manifest) } else { HashSet::new() };
        let is_left_out = |name: &str| outdated_files.contains(name) || files_without_records.contains(name);
        file.finish(archive, manifest, tree, rows, limits, &is_left_out)
    }

    /// Sets `is_in_base` for each change whose record is in the base archive, and `has_place` if a line of this record
    /// stays at its position.
    fn mark_records_in_base(
        &mut self,
        archive: &Archive<'_>,
        manifest: &Manifest,
        limits: &Limits,
    ) -> Result<(), FormatError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        for row in &manifest.partitions {
            let Some(member) = archive.entry(&row.file) else { continue };
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                    if let JsonLine::Text(_, text) = entry
                        && let Some(change) = rewrite::id_of(text).and_then(|id| self.changes.get_mut(&id))
                    {
                        change.is_in_base = true;
                        change.has_place |= !change.has_other_time(text);
                    }
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    /// Code, place and message of each change that does not match the base, in the order of codes and places.
    fn mismatches(&self) -> Vec<(&'static str, String, &'static str)> {
        let mismatch = |change: &CombinedChange| match (change.operation, change.is_in_base) {
            (Operation::Create, true) => Some(("create_of_known", "the record already existed and was replaced")),
            (Operation::Update, false) => Some(("update_of_unknown", "the record did not exist and was added")),
            (Operation::Delete, false) => Some(("delete_of_unknown", "the record did not exist")),
            _ => None,
        };
        let changes = self.changes.values();
        let mismatches = changes.filter_map(|change| Some((mismatch(change)?, change.place.clone())));
        let mut out: Vec<_> = mismatches.map(|((code, message), place)| (code, place, message)).collect();
        out.sort();
        out
    }

    /// Collects the lines of new and moved records by partition, and adds partitions for times that no partition covers.
    /// Also counts the changes, and reports changes that do not match the base, such as an update of an unknown record.
    fn added_lines(
        &mut self,
        rows: &mut Vec<Tree>,
        manifest: &Manifest,
        at: Option<Timestamp>,
    ) -> BTreeMap<String, Vec<(Timestamp, String, String)>> {
        let mut added: BTreeMap<String, Vec<(Timestamp, String, String)>> = BTreeMap::new();
        let (mut created, mut updated, mut deleted) = (0, 0, 0);
        for change in self.changes.values() {
            match change.operation {
                _ if change.is_erased => deleted += 1,
                Operation::Delete => deleted += 1,
                Operation::Create => created += 1,
                Operation::Update => updated += 1,
            }
            if let (false, false, Some(line)) = (change.has_place, change.is_erased, &change.line) {
                let (created, id) = rewrite::sort_key(line);
                added.entry(partition_for(rows, created, at)).or_default().push((created, id, line.clone()));
            }
        }
        for (code, place, message) in self.mismatches() {
            self.add_finding(code, &place, message);
        }
        (self.applied.created, self.applied.updated, self.applied.deleted) = (created, updated, deleted);
        added.values_mut().for_each(|lines| lines.sort());
        debug_assert!(manifest.partitions.len() <= rows.len());
        rows.sort_by(|a, b| start_date(a).cmp(start_date(b)));
        added
    }

    /// Writes one partition: changed lines at their old position, new and moved lines in the order of time and id.
    /// Returns the number of lines.
    fn write_partition(
        &self,
        archive: &Archive<'_>,
        member: Option<&mementory_format::Member>,
        limits: &Limits,
        new: &[(Timestamp, String, String)],
        sink: &mut dyn Write,
    ) -> Result<u64, FormatError> {
        let io = |e| FormatError::io("partition", e);
        let mut pending_lines = new.iter().peekable();
        let mut count = 0u64;
        if let Some(member) = member {
            let (copied_count, lacks_line_end) =
                rewrite::edit_lines(archive, member, limits, sink, &mut |text, sink| {
                    let Some(text) = text else { return Ok(LineEdit::Keep) };
                    if pending_lines.peek().is_some() {
                        let (created, id) = rewrite::sort_key(text);
                        while let Some((_, _, line)) = pending_lines.next_if(|(c, i, _)| (c, i) < (&created, &id)) {
                            sink.write_all(line.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(io)?;
                        }
                    }
                    let change = rewrite::id_of(text).and_then(|id| self.changes.get(&id));
                    Ok(match change {
                        None => LineEdit::Keep,
                        Some(change) if change.is_erased || change.has_other_time(text) => LineEdit::Remove,
                        Some(CombinedChange { line: Some(line), .. }) => LineEdit::Replace(line.clone()),
                        Some(_) => LineEdit::Replace(operation::with_deleted_status(text)),
                    })
                })?;
            count += copied_count + (new.len() - pending_lines.len()) as u64;
            if lacks_line_end && pending_lines.peek().is_some() {
                sink.write_all(b"\n").map_err(io)?;
            }
        }
        for (_, _, line) in pending_lines {
            sink.write_all(line.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(io)?;
            count += 1;
        }
        Ok(count)
    }

    fn write_documents(&mut self, file: &mut Rewrite, manifest: &Manifest, tree: &mut Tree) -> Result<(), FormatError> {
        let mut layers = tree.get("layers").cloned().unwrap_or_else(|| Tree::Object(vec![]));
        for (layer, text) in &self.documents {
            let default = format!("{layer}.json");
            let stated_file = manifest.layer_file(layer).unwrap_or(&default);
            let name = usable_name(stated_file, &default, &|name| file.out.is_free(name));
            file.out.entry(&name, &mut text.as_bytes())?;
            let mut row = layers.get(layer).cloned().unwrap_or_else(|| Tree::Object(vec![]));
            row.set("file", Tree::Text(name));
            match *layer {
                "identity" => {
                    let version = write_documents::identity_version(text);
                    row.set("version", Tree::Number(version.to_string()));
                }
                layer => {
                    let count = list_document::split(text, layer).map_or(0, |d| d.elements.len());
                    row.set("count", Tree::Number(count.to_string()));
                }
            }
            layers.set(layer, row);
            self.applied.documents.push((*layer).to_owned());
        }
        tree.set("layers", layers);
        Ok(())
    }
}

fn start_date(row: &Tree) -> &str {
    row.get("from").and_then(Tree::as_str).unwrap_or_default()
}

/// Returns the file name of the partition for a time. Adds a new partition for the quarter that contains the time, if
/// no partition covers the time, or if the last partition that covers it is open-ended and starts in an earlier
/// quarter.
fn partition_for(rows: &mut Vec<Tree>, created: Timestamp, at: Option<Timestamp>) -> String {
    let (year, month, day) = created.date();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let covers = |row: &&Tree| {
        start_date(row) <= date.as_str() && row.get("to").and_then(Tree::as_str).is_none_or(|to| date.as_str() <= to)
    };
    // Several partitions may cover the time, because open partitions have no end. The one that starts last is used.
    let covering_row = rows.iter().filter(covers).max_by(|a, b| start_date(a).cmp(start_date(b)));
    let quarter = Period::quarter(created);
    if let Some(row) = covering_row
        && (row.get("to").and_then(Tree::as_str).is_some() || start_date(row) >= quarter.first_day().as_str())
    {
        return row.get("file").and_then(Tree::as_str).unwrap_or_default().to_owned();
    }
    let mut name = format!("memory/partitions/{}.jsonl", quarter.name());
    while rows.iter().any(|r| r.get("file").and_then(Tree::as_str) == Some(&name)) {
        name = format!("{}-mementory.jsonl", name.trim_end_matches(".jsonl"));
    }
    let is_current_quarter = at.is_some_and(|at| Period::quarter(at) == quarter);
    let to = if is_current_quarter { Tree::Null } else { Tree::Text(quarter.last_day()) };
    let members = [
        ("file", Tree::Text(name.clone())),
        ("from", Tree::Text(quarter.first_day())),
        ("to", to),
        ("record_count", Tree::Number("0".into())),
        ("sealed", Tree::Bool(false)),
    ];
    rows.push(Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    name
}

/// Seals a partition and sets its last day if its period is over at the time of the delta (spec §4.1.1).
fn seal_if_past(row: &mut Tree, at: Option<Timestamp>) {
    let Some(at) = at else { return };
    let (year, month, day) = at.date();
    let today = format!("{year:04}-{month:02}-{day:02}");
    let end = match row.get("to").and_then(Tree::as_str) {
        Some(to) => to.to_owned(),
        None => match Timestamp::parse(&format!("{}T00:00:00Z", start_date(row))) {
            Some(from) => Period::quarter(from).last_day(),
            None => return,
        },
    };
    if end < today {
        row.set("to", Tree::Text(end));
        row.set("sealed", Tree::Bool(true));
    }
}
