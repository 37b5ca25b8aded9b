//! Writes the sections of the report.
use super::{ListedMemory, MAX_LISTED, ORIGINS, plain::without_markdown, texts::Texts};
use crate::{
    ApiResult, Job,
    session::{
        context::Context,
        now,
        page::{Cell, Page},
        review::{ForgetGuide, Review},
        sensitive::by_class_name,
    },
    types::*,
};
use mementory_model::Kind;
use mementory_vault::{ListQuery, SensitiveQuery};
use std::collections::BTreeMap;

/// Largest number of profile notes that are quoted.
const MAX_PROFILES: u32 = 60;
/// Largest number of characters of a profile note that are quoted.
const MAX_PROFILE_CHARS: usize = 1_200;
/// The answers in the order in which the report lists them.
const ANSWERS: [&str; 4] = ["wrong", "outdated", "private", "true"];

pub(super) struct Sections<'r> {
    pub(super) context: &'r Context,
    pub(super) review: Review<'r>,
    pub(super) texts: &'r Texts,
    pub(super) guide: &'r ForgetGuide,
    pub(super) job: &'r Job,
}

impl Sections<'_> {
    pub(super) fn write_all(&self, page: &mut Page, memories: &[ListedMemory], total: u32) -> ApiResult<()> {
        page.note(&self.texts.with_values("made", &[("date", self.today().as_str())]));
        self.numbers(page)?;
        self.types(page, memories);
        self.subjects(page)?;
        self.topics(page)?;
        self.profiles(page)?;
        self.sensitive(page)?;
        self.evidence(page, memories);
        self.contradictions(page)?;
        self.reviewed(page)?;
        let todos = self.todos()?;
        self.todo(page, &todos);
        self.erased(page)?;
        self.memories(page, memories, total)?;
        for todo in todos.iter().filter(|todo| !todo.message.is_empty()) {
            self.letter(page, todo);
        }
        Ok(())
    }

    pub(super) fn name(&self, assistant: &str) -> String {
        self.guide.name(assistant)
    }

    /// Returns the current day in words.
    fn today(&self) -> String {
        self.texts.day(Some(now().as_micros()))
    }

    fn numbers(&self, page: &mut Page) -> ApiResult<()> {
        let facts = self.context.vault.queries().vault_counts()?;
        let mut by_platform: BTreeMap<&str, (BTreeMap<&str, u32>, Option<i64>)> = BTreeMap::new();
        for ((platform, _), source) in &facts.sources {
            let (counts, exported) = by_platform.entry(platform).or_default();
            for (kind, n) in &source.counts {
                *counts.entry(kind).or_default() += n;
            }
            *exported = (*exported).max(source.exported);
        }
        page.begin_section(self.texts.get("numbers"), false);
        let names: Vec<String> = by_platform.keys().map(|platform| self.name(platform)).collect();
        let days: Vec<String> = by_platform
            .values()
            .map(|(_, exported)| exported.map(|at| self.texts.day(Some(at))).unwrap_or_default())
            .collect();
        let rows: Vec<Vec<Cell<'_>>> = by_platform
            .values()
            .zip(names.iter().zip(&days))
            .map(|((counts, _), (name, day))| {
                let number = |kind: Kind| Cell::Number(counts.get(kind.as_str()).copied().unwrap_or_default());
                let kinds = [Kind::Memory, Kind::Profile, Kind::Conversation, Kind::Message];
                let mut row = vec![Cell::Text(name)];
                row.extend(kinds.map(number));
                row.push(Cell::Short(day));
                row
            })
            .collect();
        let head = ["assistant", "memories", "profiles", "conversations", "messages", "newest"];
        page.table(&head.map(|key| self.texts.get(key)), &rows);
        page.end_section();
        Ok(())
    }

    /// Writes the types of the memories. If no memory has a type, the section is left out, because a table with the
    /// single row "No type" is of no use.
    fn types(&self, page: &mut Page, memories: &[ListedMemory]) {
        if memories.iter().all(|memory| memory.view.record_type.is_none()) {
            return;
        }
        let mut counts: BTreeMap<(&str, &str), u32> = BTreeMap::new();
        for memory in memories {
            let kind = memory.view.record_type.as_deref().unwrap_or_default();
            *counts.entry((memory.view.source.as_str(), kind)).or_default() += 1;
        }
        let named_types: Vec<(String, String, u32)> = counts
            .into_iter()
            .map(|((platform, record_type), n)| {
                let record_type = match record_type {
                    "" => self.texts.get("no_type").to_owned(),
                    _ => self.texts.word("type", record_type),
                };
                (self.name(platform), record_type, n)
            })
            .collect();
        page.begin_section(self.texts.get("types"), false);
        let rows: Vec<Vec<Cell<'_>>> = named_types
            .iter()
            .map(|(name, kind, n)| vec![Cell::Text(name), Cell::Text(kind), Cell::Number(*n)])
            .collect();
        page.table(&["assistant", "type", "count"].map(|key| self.texts.get(key)), &rows);
        page.end_section();
    }

    fn profiles(&self, page: &mut Page) -> ApiResult<()> {
        let vault = &self.context.vault;
        let query = ListQuery { kind: Some(Kind::Profile), limit: MAX_PROFILES, ..ListQuery::default() };
        let views = vault.queries().list(&query)?.rows;
        let mut quoted = Vec::new();
        for view in views {
            let record = vault.reader().content(&view)?;
            let text: String = without_markdown(&self.masked(&record.text)).chars().take(MAX_PROFILE_CHARS).collect();
            if !text.is_empty() {
                quoted.push((self.name(&view.source), text));
            }
        }
        if quoted.is_empty() {
            return Ok(());
        }
        page.begin_section(self.texts.get("describe"), false);
        for (name, text) in quoted {
            page.heading(&name);
            page.quote(&text);
        }
        page.end_section();
        Ok(())
    }

    fn sensitive(&self, page: &mut Page) -> ApiResult<()> {
        let values = self.context.vault.scanner().sensitive_values(&SensitiveQuery::default())?;
        let open_counts = by_class_name(&values.open);
        page.begin_section(self.texts.get("sensitive"), false);
        if open_counts.is_empty() {
            page.paragraph(self.texts.get("none_found"));
        } else {
            page.paragraph(self.texts.get("sensitive_lead"));
            let named_classes: Vec<(String, u32)> =
                open_counts.into_iter().map(|(class, n)| (self.texts.word("class", &class), n)).collect();
            let rows: Vec<Vec<Cell<'_>>> =
                named_classes.iter().map(|(class, n)| vec![Cell::Text(class), Cell::Number(*n)]).collect();
            page.table(&["class", "count"].map(|key| self.texts.get(key)), &rows);
        }
        page.end_section();
        Ok(())
    }

    fn evidence(&self, page: &mut Page, memories: &[ListedMemory]) {
        page.begin_section(self.texts.get("evidence"), false);
        page.paragraph(&self.texts.count("evidence_lead", memories.len()));
        let rows: Vec<Vec<Cell<'_>>> = ORIGINS
            .into_iter()
            .map(|origin| {
                let n = memories.iter().filter(|memory| memory.origin == origin).count();
                vec![Cell::Text(self.texts.get(origin)), Cell::Number(u32::try_from(n).unwrap_or(u32::MAX))]
            })
            .collect();
        page.table(&["origin", "count"].map(|key| self.texts.get(key)), &rows);
        page.end_section();
    }

    fn reviewed(&self, page: &mut Page) -> ApiResult<()> {
        let state = self.review.next(&ReviewRequest { counts_only: true, ..ReviewRequest::default() })?;
        page.begin_section(self.texts.get("review"), false);
        if state.answers.is_empty() {
            page.paragraph(self.texts.get("review_none"));
        } else {
            let keys: Vec<(String, u32)> = ANSWERS
                .into_iter()
                .map(|answer| (format!("answer_{answer}"), state.answers.get(answer).copied().unwrap_or_default()))
                .chain([("left".to_owned(), state.left)])
                .collect();
            let rows: Vec<Vec<Cell<'_>>> =
                keys.iter().map(|(key, n)| vec![Cell::Text(self.texts.get(key)), Cell::Number(*n)]).collect();
            page.table(&["answer", "count"].map(|key| self.texts.get(key)), &rows);
        }
        page.end_section();
        Ok(())
    }

    /// Returns the memories to delete in each assistant, with sensitive values masked.
    fn todos(&self) -> ApiResult<Vec<Todo>> {
        let mut todos = self.review.todos(self.guide)?;
        for item in todos.iter_mut().flat_map(|todo| &mut todo.items) {
            item.text = without_markdown(&self.masked(&item.text));
        }
        Ok(todos)
    }

    fn todo(&self, page: &mut Page, todos: &[Todo]) {
        if todos.is_empty() {
            return;
        }
        page.begin_section(self.texts.get("todo"), false);
        for todo in todos {
            page.heading(todo.name.as_deref().unwrap_or_default());
            let keys: Vec<(String, String)> = todo
                .items
                .iter()
                .map(|item| (format!("answer_{}", item.answer), format!("state_{}", item.state)))
                .collect();
            let rows: Vec<Vec<Cell<'_>>> = todo
                .items
                .iter()
                .zip(&keys)
                .map(|(item, (answer, state))| {
                    let [answer, state] = [answer, state].map(|key| Cell::Short(self.texts.get(key)));
                    vec![Cell::Quote(&item.text), answer, state]
                })
                .collect();
            page.table(&["text", "answer", "state"].map(|key| self.texts.get(key)), &rows);
        }
        page.end_section();
    }

    fn erased(&self, page: &mut Page) -> ApiResult<()> {
        let tombstones = self.context.vault.audit().tombstones()?;
        let redacted = tombstones.iter().filter(|each| each.op == mementory_model::TombstoneOp::Redact).count();
        let erased = tombstones.len() - redacted;
        page.begin_section(self.texts.get("erased"), false);
        if tombstones.is_empty() {
            page.paragraph(self.texts.get("erased_none"));
        } else {
            let counts = [("erased_count", erased), ("redacted_count", redacted)];
            counts.iter().filter(|(_, n)| *n > 0).for_each(|(key, n)| page.paragraph(&self.texts.count(key, *n)));
            page.paragraph(self.texts.get("erased_kept"));
        }
        page.end_section();
        Ok(())
    }

    fn memories(&self, page: &mut Page, memories: &[ListedMemory], total: u32) -> ApiResult<()> {
        page.begin_section(self.texts.get("all"), true);
        if total as usize > memories.len() {
            let (n, total) = (MAX_LISTED.to_string(), total.to_string());
            page.note(&self.texts.with_values("all_cut", &[("n", n.as_str()), ("total", total.as_str())]));
        }
        let mut by_platform: BTreeMap<&str, Vec<&ListedMemory>> = BTreeMap::new();
        for memory in memories {
            by_platform.entry(&memory.view.source).or_default().push(memory);
        }
        for (platform, memories) in by_platform {
            page.heading(&self.name(platform));
            let days: Vec<String> = memories.iter().map(|memory| self.texts.day(memory.at)).collect();
            let rows: Vec<Vec<Cell<'_>>> = memories
                .iter()
                .zip(&days)
                .map(|(memory, day)| {
                    vec![Cell::Short(day), Cell::Quote(&memory.text), Cell::Text(self.texts.get(memory.origin))]
                })
                .collect();
            page.table(&["date", "text", "origin"].map(|key| self.texts.get(key)), &rows);
        }
        page.end_section();
        Ok(())
    }

    fn letter(&self, page: &mut Page, todo: &Todo) {
        let name = todo.name.as_deref().unwrap_or_default();
        let text_with_name =
            |key: &str| self.texts.with_values(key, &[("name", name), ("date", self.today().as_str())]);
        page.begin_section(&text_with_name("letter"), true);
        page.note(self.texts.get("letter_lead"));
        page.begin_letter();
        ["letter_from", "letter_to", "letter_date"].into_iter().for_each(|key| page.fill_in_line(&text_with_name(key)));
        page.heading(&text_with_name("letter_subject"));
        ["letter_hello", "letter_access", "letter_erase"]
            .into_iter()
            .for_each(|key| page.paragraph(&text_with_name(key)));
        let open_items = todo.items.iter().filter(|item| item.state != "gone");
        let entries: Vec<String> = open_items
            .map(|item| format!("{} ({})", item.text, self.texts.get(&format!("letter_reason_{}", item.answer))))
            .collect();
        page.numbered_list(&entries);
        ["letter_inform", "letter_bye"].into_iter().for_each(|key| page.paragraph(&text_with_name(key)));
        page.end_letter();
        page.end_section();
    }
}
