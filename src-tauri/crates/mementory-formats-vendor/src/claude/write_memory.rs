//! Writes Claude's memory. Unedited documents from Claude are written as their original text, grouped by account.
//! Memories of other programs are written as memory files.
use super::{
    WRITTEN_LAYOUT,
    compose::{is_from_claude, last_change, original, repeated_times, time},
    memory,
    wire::{ElementPlace, Object},
};
use mementory_format::StoredRecord;
use mementory_formats_shared::export_files::{
    json::{object, text, written},
    slot::{self, Written},
};
use mementory_model::{Kind, LossReport, Record, Timestamp};
use std::collections::{BTreeMap, HashMap};

/// The memory documents of one account. An account has only few documents, so all of them are collected before they are
/// written.
#[derive(Default)]
struct Account {
    conversations: Option<String>,
    updated: Option<Timestamp>,
    projects: Vec<(String, String)>,
    files: Vec<String>,
    /// Path and JSON of each memory file whose JSON does not contain its path, because the source lists files by path.
    files_by_path: Vec<(String, String)>,
}

/// The memory documents that come from Claude.
#[derive(Default)]
pub(super) struct Documents {
    accounts: BTreeMap<Option<String>, Account>,
    rows: Vec<String>,
    /// Vault id and record of each document. The records are compared with those that a reader gets from the written
    /// file.
    records: Vec<(String, Record)>,
}

fn place() -> ElementPlace<'static> {
    ElementPlace { container: "memories.json", pointer: "/0", version: Some(WRITTEN_LAYOUT) }
}

fn quoted(value: &str) -> String {
    written(&text(value))
}

impl Documents {
    /// Adds a record. Returns false, and adds nothing, if the record is not a memory document of Claude.
    pub(super) fn add(&mut self, stored: &StoredRecord) -> bool {
        let record = &stored.record;
        if record.kind != Kind::Memory || !is_from_claude(record) || !record.key.value.starts_with("memory/") {
            return false;
        }
        let raw = original(stored).map(str::to_owned);
        let is_original_object = raw.as_ref().is_some_and(|raw| raw.starts_with('{'));
        let account = self.accounts.entry(record.source.account.clone()).or_default();
        let title = record.title.clone().unwrap_or_default();
        match record.source.method.as_deref() {
            Some("conversations_memory") => {
                account.conversations = Some(raw.unwrap_or_else(|| quoted(&record.text)));
                account.updated = record.times.updated.or(account.updated);
            }
            Some("project_memory") => {
                let project = record.source.project.clone().unwrap_or_default();
                account.projects.push((project, raw.unwrap_or_else(|| quoted(&record.text))));
                account.updated = account.updated.or(record.times.updated);
            }
            Some("memory_row") if is_original_object => self.rows.extend(raw),
            Some("memory_row") => self.rows.push(written(&object(vec![
                ("uuid", text(record.key.value.strip_prefix("memory/row/").unwrap_or_default())),
                ("title", text(&title)),
                ("content", text(&record.text)),
                ("created_at", time(record.times.created)),
                ("updated_at", last_change(record)),
            ]))),
            Some("memory_file") => match raw {
                Some(raw) if Object::parse(&raw).is_some_and(|file| file.non_blank_text("path").is_some()) => {
                    account.files.push(raw);
                }
                Some(raw) => account.files_by_path.push((title, raw)),
                None => account.files.push(file_json(&title, record)),
            },
            _ => return false,
        }
        self.records.push((stored.id.clone(), record.clone()));
        true
    }

    /// Returns the elements of the list in `memories.json`: at least one for each account, or one empty element if
    /// there are no accounts.
    pub(super) fn elements(&self, losses: &mut LossReport) -> Vec<String> {
        let mut out = Vec::new();
        let default_account = Account::default();
        let accounts = self.accounts.iter().map(|(id, account)| (id.as_deref(), account));
        let empty_account = self.accounts.is_empty().then_some((None, &default_account));
        for (id, account) in accounts.chain(empty_account) {
            let members = |pairs: &[(String, String)]| {
                let pairs: Vec<String> = pairs.iter().map(|(name, raw)| format!("{}:{raw}", quoted(name))).collect();
                format!("{{{}}}", pairs.join(","))
            };
            let end = id.map_or_else(String::new, |id| format!(",\"account_uuid\":{}", quoted(id)));
            let updated =
                account.updated.map_or_else(String::new, |t| format!(",\"updated_at\":{}", quoted(&t.to_rfc3339())));
            let conversations = account.conversations.as_deref().unwrap_or("\"\"");
            let files = match account.files.is_empty() {
                true => String::new(),
                false => format!(",\"memory_files\":[{}]", account.files.join(",")),
            };
            let projects = members(&account.projects);
            out.push(format!(
                "{{\"conversations_memory\":{conversations},\"project_memories\":{projects}{files}{updated}{end}}}"
            ));
            if !account.files_by_path.is_empty() {
                out.push(format!("{{\"memory_files\":{}{end}}}", members(&account.files_by_path)));
            }
        }
        out.extend(self.rows.iter().cloned());
        let mut natives: HashMap<String, Record> = HashMap::new();
        for element in &out {
            let read = Object::parse(element).and_then(|object| memory::read(element, &object, None, &place()).ok());
            let records = read.into_iter().flat_map(|(read, _)| read.units).flat_map(|unit| unit.records);
            natives.extend(records.filter(|r| r.kind == Kind::Memory).map(|r| (r.key.value.clone(), r)));
        }
        for (id, record) in &self.records {
            if let Some(native) = natives.get(&record.key.value) {
                slot::report_difference(native, record, id, losses);
            }
        }
        out
    }
}

fn file_json(path: &str, record: &Record) -> String {
    written(&object(vec![
        ("path", text(path)),
        ("content", text(&record.text)),
        ("created_at", time(record.times.created)),
        ("updated_at", last_change(record)),
    ]))
}

/// Returns the JSON of a memory file for a memory of another program. An extension slot contains the values for which a
/// memory file has no member.
pub(super) fn foreign_file(stored: &StoredRecord, losses: &mut LossReport) -> Option<String> {
    let json = file_json(&format!("mementory/{}.md", stored.id), &stored.record);
    let element = format!("{{\"memory_files\":[{json}]}}");
    let object = Object::parse(&element)?;
    let (read, _) = memory::read(&element, &object, None, &place()).ok()?;
    let native = read.units.into_iter().next()?.records.into_iter().next()?;
    let expressed_members: Vec<&str> = repeated_times(&stored.record).into_iter().collect();
    let written = Written { id: &stored.id, expressed_members: &expressed_members, ..Written::default() };
    Some(slot::attach(json, &native, &stored.record, written, losses))
}
