//! Writes Claude's memory. Claude's own documents are unchanged and grouped by account. Memories of other programs are
//! written as memory files.
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

/// The documents of one account. Claude's own documents are few, so all of them are in memory.
#[derive(Default)]
struct Account {
    conversations: Option<String>,
    updated: Option<Timestamp>,
    projects: Vec<(String, String)>,
    files: Vec<String>,
    /// Path and JSON of each file from an export that lists files by path. The JSON of such a file has no `path`.
    files_by_path: Vec<(String, String)>,
}

/// Claude's own memory documents.
#[derive(Default)]
pub(super) struct Documents {
    accounts: BTreeMap<Option<String>, Account>,
    rows: Vec<String>,
    /// The written records, which are compared with the records that a reader gets from the file.
    records: Vec<(String, Record)>,
}

fn place() -> ElementPlace<'static> {
    ElementPlace { container: "memories.json", pointer: "/0", version: Some(WRITTEN_LAYOUT) }
}

fn quoted(value: &str) -> String {
    written(&text(value))
}

impl Documents {
    /// Adds a document. False if the record is not a memory document of Claude.
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

    /// The elements of the list in `memories.json`: at least one for each account. Without accounts, one empty element.
    pub(super) fn elements(&self, losses: &mut LossReport) -> Vec<String> {
        let mut out = Vec::new();
        let none = Account::default();
        let accounts = self.accounts.iter().map(|(id, account)| (id.as_deref(), account));
        let empty_account = self.accounts.is_empty().then_some((None, &none));
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

/// A memory of another program as a memory file, with an extension slot for values that a memory file has no place for.
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
