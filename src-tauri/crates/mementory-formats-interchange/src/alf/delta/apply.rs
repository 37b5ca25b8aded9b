//! Deltas onto a base archive, in order and as one: the new file is there when all of them fit, else nothing is
//! (spec §4.3.1, §7.3: the last write wins).
use super::super::lines::{Entry, each_line};
use super::super::manifest::{Archive, Manifest};
use super::super::partitions::Period;
use super::super::rewrite::{self, Fate, Opened, Rewrite};
use super::super::{documents, workspaces, write_documents};
use super::manifest::{DOCUMENTS, DeltaManifest, sequence_of};
use super::operation::{self, Operation};
use mementory_format::{Finding, FormatError, Passphrase};
use mementory_json::Tree;
use mementory_model::{Limits, Timestamp};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Why deltas were not applied. Nothing was written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApplyError {
    /// A delta is for another agent.
    #[error("{place}: this delta is for another agent")]
    WrongAgent {
        /// The delta.
        place: String,
    },
    /// The archive already stands at or after the delta's end.
    #[error("{place}: already applied (the archive is at {at}, the delta leads to {new})")]
    AlreadyApplied {
        /// The delta.
        place: String,
        /// Sequence of the archive at that point.
        at: u64,
        /// Sequence that the delta leads to.
        new: u64,
    },
    /// The delta builds on a state that the archive has not reached: one before it is missing.
    #[error("{place}: a delta before this one is missing (the archive is at {at}, the delta builds on {base})")]
    Gap {
        /// The delta.
        place: String,
        /// Sequence of the archive at that point.
        at: u64,
        /// Sequence that the delta builds on.
        base: u64,
    },
    /// The delta builds on an older state than the archive's and leads beyond it.
    #[error("{place}: made from another state (the archive is at {at}, the delta builds on {base})")]
    WrongBase {
        /// The delta.
        place: String,
        /// Sequence of the archive at that point.
        at: u64,
        /// Sequence that the delta builds on.
        base: u64,
    },
    /// `new_sequence` is not greater than `base_sequence`.
    #[error("{place}: the sequence does not go forward")]
    Order {
        /// The delta.
        place: String,
    },
    /// The target is there already.
    #[error("{place}: is there already")]
    Exists {
        /// The target.
        place: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
}

impl ApplyError {
    /// Stable code.
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

/// What was applied.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// Sequence of the new archive.
    pub sequence: u64,
    /// Records made new.
    pub created: u64,
    /// Records changed.
    pub updated: u64,
    /// Records deleted: tombstones, and those that went altogether.
    pub deleted: u64,
    /// Layers replaced whole.
    pub documents: Vec<String>,
    /// Lines that were not applied, and changes that did not find what they said; with place and reason.
    pub findings: Vec<Finding>,
}

/// What holds of a record after all deltas.
struct Final {
    /// The line; None = a deletion without one: the record stays, its status changes.
    line: Option<String>,
    /// Nothing of it stays.
    erased: bool,
    operation: Operation,
    place: String,
    met: bool,
}

#[derive(Default)]
struct State {
    applied: Applied,
    documents: BTreeMap<&'static str, String>,
    changes: HashMap<String, Final>,
    time: Option<String>,
    keepsake: Option<Tree>,
    held: u64,
}

/// Applies deltas to a base archive, one after the other, and writes the result to `out`, which must not exist.
pub fn apply(base: &Path, deltas: &[PathBuf], out: &Path, limits: &Limits) -> Result<Applied, ApplyError> {
    apply_with(base, deltas, out, limits, None)
}

/// The same with files that may be encrypted as a whole. The result is encrypted if the base was.
pub fn apply_with(
    base: &Path,
    deltas: &[PathBuf],
    out: &Path,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<Applied, ApplyError> {
    if out.symlink_metadata().is_ok() {
        return Err(ApplyError::Exists { place: name_of(out) });
    }
    let opened = Opened::open_with(base, limits, passphrase)?;
    let archive = opened.archive()?;
    let manifest = Manifest::of(&archive, limits)?;
    let mut state =
        State { applied: Applied { sequence: sequence_of(&manifest), ..Applied::default() }, ..State::default() };
    for delta in deltas {
        state.take(&manifest, delta, limits, passphrase)?;
    }
    state.write(&archive, &manifest, Rewrite::begin(out, opened.key(passphrase))?, limits)?;
    Ok(state.applied)
}

/// What speaks against applying one delta to this archive.
pub(super) fn check(
    base: &Path,
    delta: &Path,
    limits: &Limits,
    passphrase: Option<&dyn Passphrase>,
) -> Result<Vec<Finding>, FormatError> {
    let opened = Opened::open_with(base, limits, passphrase)?;
    let archive = opened.archive()?;
    let manifest = Manifest::of(&archive, limits)?;
    let mut state =
        State { applied: Applied { sequence: sequence_of(&manifest), ..Applied::default() }, ..State::default() };
    match state.take(&manifest, delta, limits, passphrase) {
        Ok(()) => Ok(state.applied.findings),
        Err(ApplyError::Format(e)) => Err(e),
        Err(e) => Ok(vec![Finding { code: e.code().into(), place: name_of(delta), message: e.to_string() }]),
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

impl State {
    /// One delta, in order.
    fn take(
        &mut self,
        base: &Manifest,
        path: &Path,
        limits: &Limits,
        passphrase: Option<&dyn Passphrase>,
    ) -> Result<(), ApplyError> {
        let opened = Opened::open_with(path, limits, passphrase)?;
        let archive = opened.any()?;
        let delta = DeltaManifest::read(&archive, limits)?;
        let (place, at) = (name_of(path), self.applied.sequence);
        if !delta.agent.eq_ignore_ascii_case(&base.agent) {
            return Err(ApplyError::WrongAgent { place });
        }
        if delta.new <= delta.base {
            return Err(ApplyError::Order { place });
        }
        if delta.base > at {
            return Err(ApplyError::Gap { place, at, base: delta.base });
        }
        if delta.new <= at {
            return Err(ApplyError::AlreadyApplied { place, at, new: delta.new });
        }
        if delta.base != at {
            return Err(ApplyError::WrongBase { place, at, base: delta.base });
        }
        for layer in DOCUMENTS {
            let Some(file) = delta.file(layer) else { continue };
            let missing =
                || FormatError::invalid("layer_missing", &archive.place, "a changed layer's file is not there");
            let text = archive.text(archive.entry(&file).ok_or_else(missing)?, limits)?;
            Tree::parse(&text, limits)
                .map_err(|e| FormatError::invalid("malformed", format!("{}!/{file}", archive.place), e.to_string()))?;
            self.hold(text.len(), &archive.place, limits)?;
            self.documents.insert(layer, text);
        }
        if let Some(file) = delta.file("memory") {
            let missing =
                || FormatError::invalid("partition_missing", &archive.place, "the changed records are not there");
            let member = archive.entry(&file).ok_or_else(missing)?;
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, bytes| {
                    let (number, parsed) = match entry {
                        Entry::Line(_, "") => return Ok(()),
                        Entry::Line(number, text) => (number, operation::parse(text)),
                        // what is cut off or damaged is not half applied
                        Entry::Bad(_, code) => {
                            return Err(FormatError::invalid(
                                code,
                                &member.place,
                                "the changed records cannot be read",
                            ));
                        }
                    };
                    let place = format!("{}#line {number}", member.place);
                    self.hold(usize::try_from(bytes).unwrap_or(usize::MAX), &member.place, limits)?;
                    match parsed {
                        Ok(change) => self.change(change, place),
                        Err(code) => self.find(code, &place, "not applied: the line is no change of a record"),
                    }
                    Ok(())
                })
            })?;
        }
        self.applied.sequence = delta.new;
        self.time = delta.time().map(str::to_owned).or(self.time.take());
        self.keepsake = delta.tree.get("keepsake").cloned().or(self.keepsake.take());
        Ok(())
    }

    /// Changes are held until they are written; a delta is small, and one that is not is refused.
    fn hold(&mut self, bytes: usize, place: &str, limits: &Limits) -> Result<(), FormatError> {
        self.held = self.held.saturating_add(bytes as u64);
        if self.held > limits.element_bytes {
            return Err(FormatError::Limit { limit: "element_bytes", place: place.into(), figure: self.held });
        }
        Ok(())
    }

    fn find(&mut self, code: &str, place: &str, message: &str) {
        if self.applied.findings.len() < 1000 {
            let (code, place, message) = (code.to_owned(), place.to_owned(), message.to_owned());
            self.applied.findings.push(Finding { code, place, message });
        }
    }

    fn change(&mut self, change: operation::Change, place: String) {
        let operation::Change { operation, id, line, erased } = change;
        let before = self.changes.remove(&id);
        let (mut line, mut erased) = (line, erased);
        let mut kind = operation;
        if let Some(before) = before {
            // a deletion that only names its record deletes what the earlier change made of it
            if line.is_none() && !erased {
                line = before.line.as_deref().map(operation::deleted);
                erased = before.erased;
            }
            if before.operation == Operation::Create && operation == Operation::Update {
                kind = Operation::Create;
            }
        }
        self.changes.insert(id, Final { line, erased, operation: kind, place, met: false });
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
        self.meet(archive, manifest, limits)?;
        let mut added = self.place_new(&mut rows, manifest, at);
        let mut tree = manifest.tree.clone();
        self.write_documents(&mut file, manifest, &mut tree)?;
        for row in &mut rows {
            let name = row.get("file").and_then(Tree::as_str).unwrap_or_default().to_owned();
            if file.out.has(&name) {
                continue;
            }
            let new = added.remove(&name).unwrap_or_default();
            let member = archive.entry(&name);
            if member.is_none() && new.is_empty() {
                continue;
            }
            let mut count = 0u64;
            let sha = file.out.entry_from(&name, &mut |sink| {
                count = self.partition(archive, member, limits, &new, sink)?;
                Ok(true)
            })?;
            row.set("record_count", Tree::Number(count.to_string()));
            row.set("sha256", Tree::Text(sha.unwrap_or_default()));
            seal(row, at);
        }
        let mut sync = tree.get("sync").cloned().unwrap_or_else(|| Tree::Object(vec![]));
        sync.set("last_sequence", Tree::Number(self.applied.sequence.to_string()));
        if let Some(time) = &self.time {
            sync.set("last_sync_at", Tree::Text(time.clone()));
            tree.set("created_at", Tree::Text(time.clone()));
        }
        tree.set("sync", sync);
        if let (Some(scopes), Some(own)) = (self.keepsake.as_ref().and_then(|k| k.get("scopes")), tree.get("keepsake"))
        {
            let mut own = own.clone();
            own.set("scopes", scopes.clone());
            tree.set("keepsake", own);
        }
        // Files that the records made say what they said before: another program would believe them.
        let changed = !self.changes.is_empty() || !self.documents.is_empty();
        let stale = if changed { workspaces::made_of_records(manifest) } else { HashSet::new() };
        file.finish(archive, manifest, tree, rows, limits, &|name| stale.contains(name))
    }

    /// Which of the changed records does the base have?
    fn meet(&mut self, archive: &Archive<'_>, manifest: &Manifest, limits: &Limits) -> Result<(), FormatError> {
        if self.changes.is_empty() {
            return Ok(());
        }
        for row in &manifest.partitions {
            let Some(member) = archive.entry(&row.file) else { continue };
            archive.catalog.read(member, |reader| {
                each_line(reader, &member.place, limits.line_bytes, &mut |entry, _| {
                    if let Entry::Line(_, text) = entry
                        && let Some(change) = rewrite::id_of(text).and_then(|id| self.changes.get_mut(&id))
                    {
                        change.met = true;
                    }
                    Ok(())
                })
            })?;
        }
        Ok(())
    }

    /// Records that the base does not have, by the partition they belong into (a new one where none covers them).
    fn place_new(
        &mut self,
        rows: &mut Vec<Tree>,
        manifest: &Manifest,
        at: Option<Timestamp>,
    ) -> BTreeMap<String, Vec<(Timestamp, String, String)>> {
        let mut added: BTreeMap<String, Vec<(Timestamp, String, String)>> = BTreeMap::new();
        let (mut created, mut updated, mut deleted) = (0, 0, 0);
        let mut odd = Vec::new();
        for change in self.changes.values() {
            match change.operation {
                _ if change.erased => deleted += 1,
                Operation::Delete => deleted += 1,
                Operation::Create => created += 1,
                Operation::Update => updated += 1,
            }
            match (change.operation, change.met) {
                (Operation::Create, true) => {
                    odd.push(("create_of_known", change.place.clone(), "the record was there: replaced"))
                }
                (Operation::Update, false) => {
                    odd.push(("update_of_unknown", change.place.clone(), "the record was not there: added"))
                }
                (Operation::Delete, false) => {
                    odd.push(("delete_of_unknown", change.place.clone(), "the record was not there"))
                }
                _ => {}
            }
            if let (false, false, Some(line)) = (change.met, change.erased, &change.line) {
                let (created, id) = rewrite::place_of(line);
                added.entry(partition_for(rows, created, at)).or_default().push((created, id, line.clone()));
            }
        }
        odd.sort();
        for (code, place, message) in odd {
            self.find(code, &place, message);
        }
        (self.applied.created, self.applied.updated, self.applied.deleted) = (created, updated, deleted);
        added.values_mut().for_each(|lines| lines.sort());
        debug_assert!(manifest.partitions.len() <= rows.len());
        rows.sort_by(|a, b| from_of(a).cmp(from_of(b)));
        added
    }

    /// One partition: changed lines in their place, new ones where time and id put them.
    fn partition(
        &self,
        archive: &Archive<'_>,
        member: Option<&mementory_format::Member>,
        limits: &Limits,
        new: &[(Timestamp, String, String)],
        sink: &mut dyn Write,
    ) -> Result<u64, FormatError> {
        let io = |e| FormatError::io("partition", e);
        let mut waiting = new.iter().peekable();
        let mut count = 0u64;
        if let Some(member) = member {
            let (kept, open) = rewrite::lines(archive, member, limits, sink, &mut |text, sink| {
                let Some(text) = text else { return Ok(Fate::Keep) };
                if waiting.peek().is_some() {
                    let (created, id) = rewrite::place_of(text);
                    while let Some((_, _, line)) = waiting.next_if(|(c, i, _)| (c, i) < (&created, &id)) {
                        sink.write_all(line.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(io)?;
                    }
                }
                let change = rewrite::id_of(text).and_then(|id| self.changes.get(&id));
                Ok(match change {
                    None => Fate::Keep,
                    Some(change) if change.erased => Fate::Drop,
                    Some(Final { line: Some(line), .. }) => Fate::Replace(line.clone()),
                    Some(_) => Fate::Replace(operation::deleted(text)),
                })
            })?;
            count += kept + (new.len() - waiting.len()) as u64;
            if open && waiting.peek().is_some() {
                sink.write_all(b"\n").map_err(io)?;
            }
        }
        for (_, _, line) in waiting {
            sink.write_all(line.as_bytes()).and_then(|()| sink.write_all(b"\n")).map_err(io)?;
            count += 1;
        }
        Ok(count)
    }

    fn write_documents(&mut self, file: &mut Rewrite, manifest: &Manifest, tree: &mut Tree) -> Result<(), FormatError> {
        let mut layers = tree.get("layers").cloned().unwrap_or_else(|| Tree::Object(vec![]));
        for (layer, text) in &self.documents {
            let name = manifest.layer_file(layer).map_or_else(|| format!("{layer}.json"), str::to_owned);
            file.out.entry(&name, &mut text.as_bytes())?;
            let mut row = layers.get(layer).cloned().unwrap_or_else(|| Tree::Object(vec![]));
            row.set("file", Tree::Text(name));
            match *layer {
                "identity" => {
                    let version = write_documents::identity_version(text);
                    row.set("version", Tree::Number(version.to_string()));
                }
                layer => {
                    let count = documents::split(text, layer).map_or(0, |d| d.elements.len());
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

fn from_of(row: &Tree) -> &str {
    row.get("from").and_then(Tree::as_str).unwrap_or_default()
}

/// The partition that covers a time, made if there is none.
fn partition_for(rows: &mut Vec<Tree>, created: Timestamp, at: Option<Timestamp>) -> String {
    let (year, month, day) = created.date();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let covers = |row: &&Tree| {
        from_of(row) <= date.as_str() && row.get("to").and_then(Tree::as_str).is_none_or(|to| date.as_str() <= to)
    };
    // of several that cover it, the one that begins last: an open one has no end
    let found = rows.iter().filter(covers).max_by(|a, b| from_of(a).cmp(from_of(b)));
    let quarter = Period::quarter(created);
    if let Some(row) = found
        && (row.get("to").and_then(Tree::as_str).is_some() || from_of(row) >= quarter.from().as_str())
    {
        return row.get("file").and_then(Tree::as_str).unwrap_or_default().to_owned();
    }
    let mut name = format!("memory/partitions/{}.jsonl", quarter.name());
    while rows.iter().any(|r| r.get("file").and_then(Tree::as_str) == Some(&name)) {
        name = format!("{}-keepsake.jsonl", name.trim_end_matches(".jsonl"));
    }
    let current = at.is_some_and(|at| Period::quarter(at) == quarter);
    let to = if current { Tree::Null } else { Tree::Text(quarter.to()) };
    let members = [
        ("file", Tree::Text(name.clone())),
        ("from", Tree::Text(quarter.from())),
        ("to", to),
        ("record_count", Tree::Number("0".into())),
        ("sealed", Tree::Bool(false)),
    ];
    rows.push(Tree::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect()));
    name
}

/// A partition whose time is over as of the delta is sealed; one without an end gets it (spec §4.1.1).
fn seal(row: &mut Tree, at: Option<Timestamp>) {
    let Some(at) = at else { return };
    let (year, month, day) = at.date();
    let today = format!("{year:04}-{month:02}-{day:02}");
    let end = match row.get("to").and_then(Tree::as_str) {
        Some(to) => to.to_owned(),
        None => match Timestamp::parse(&format!("{}T00:00:00Z", from_of(row))) {
            Some(from) => Period::quarter(from).to(),
            None => return,
        },
    };
    if end < today {
        row.set("to", Tree::Text(end));
        row.set("sealed", Tree::Bool(true));
    }
}
