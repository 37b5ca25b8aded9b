//! Report sections on what the memories are about, and on which of them contradict each other.
use super::{made_at, plain::without_markdown, sections::Sections};
use crate::{
    ApiResult,
    session::{
        now,
        page::{Cell, Page},
    },
};
use mementory_model::Kind;
use mementory_vault::{Answer, Insight, ListQuery, RowView};
use std::collections::BTreeMap;

/// Largest numbers of topics, of groups of contradicting memories, and of past plans in the report.
const MAX_TOPICS: usize = 60;
const MAX_GROUPS: usize = 200;
const MAX_PLANS: usize = 200;

/// A memory as a table row. Sensitive values in its text are masked.
struct Row {
    day: String,
    assistant: String,
    text: String,
}

impl Sections<'_> {
    /// Writes the number of memories about each subject and in each special category.
    pub(super) fn subjects(&self, page: &mut Page) -> ApiResult<()> {
        let memories = ListQuery { kind: Some(Kind::Memory), ..ListQuery::default() };
        let counts = self.insight().counts(&memories)?;
        if counts.about.keys().any(|kind| !kind.is_empty()) {
            let name = |kind: &str| match kind {
                "" => self.texts.get("no_about").to_owned(),
                _ => self.texts.get(&format!("about_{kind}")).to_owned(),
            };
            self.count_table(page, "about", "kind", &largest_first(&counts.about, name));
        }
        if !counts.special.is_empty() {
            let name = |class: &str| self.texts.get(&format!("special_{class}")).to_owned();
            self.count_table(page, "special", "kind", &largest_first(&counts.special, name));
        }
        Ok(())
    }

    /// Writes the largest topics.
    pub(super) fn topics(&self, page: &mut Page) -> ApiResult<()> {
        let topics = self.insight().topics(&self.job.cancel_flag())?;
        let named_topics: Vec<(String, u32)> = topics
            .into_iter()
            .take(MAX_TOPICS)
            .map(|topic| (self.masked(&topic.name), u32::try_from(topic.rows.len()).unwrap_or(u32::MAX)))
            .collect();
        if !named_topics.is_empty() {
            self.count_table(page, "topics", "topic", &named_topics);
        }
        Ok(())
    }

    /// Writes the groups of memories that cannot all be true now, and the plans whose date has passed.
    pub(super) fn contradictions(&self, page: &mut Page) -> ApiResult<()> {
        let found = self.insight().contradictions(&self.job.cancel_flag(), now())?;
        page.begin_section(self.texts.get("contradictions"), false);
        if found.pairs.is_empty() {
            page.paragraph(self.texts.get("contradictions_none"));
        } else {
            page.paragraph(self.texts.get("contradictions_lead"));
            let total = found.groups.len();
            if total > MAX_GROUPS {
                let (n, total) = (MAX_GROUPS.to_string(), total.to_string());
                page.note(
                    &self.texts.with_values("contradictions_cut", &[("n", n.as_str()), ("total", total.as_str())]),
                );
            }
            let mut rows = Vec::new();
            for (n, group) in found.groups.iter().take(MAX_GROUPS).enumerate() {
                let members = group.memories.iter().map(|view| self.row(view)).collect::<ApiResult<Vec<Row>>>()?;
                let numbers = std::iter::once((n + 1).to_string()).chain(std::iter::repeat(String::new()));
                rows.extend(numbers.zip(members));
            }
            let cells: Vec<Vec<Cell<'_>>> = rows
                .iter()
                .map(|(n, row)| std::iter::once(Cell::Short(n.as_str())).chain(cells(row)).collect())
                .collect();
            page.table(&["pair", "date", "assistant", "text"].map(|key| self.texts.get(key)), &cells);
        }
        let review = self.context.vault.editor().review();
        let mut past_plans = Vec::new();
        for view in &found.past_plans {
            // As in the window, plans that the person marked as true are not listed.
            if !matches!(review.answer_to(view)?, Some((Answer::True, _))) {
                past_plans.push(view);
            }
        }
        if !past_plans.is_empty() {
            page.heading(self.texts.get("past_plans"));
            let plans = past_plans.into_iter().take(MAX_PLANS).map(|view| self.row(view));
            let rows = plans.collect::<ApiResult<Vec<Row>>>()?;
            let cells: Vec<Vec<Cell<'_>>> = rows.iter().map(|row| Vec::from(cells(row))).collect();
            page.table(&["date", "assistant", "text"].map(|key| self.texts.get(key)), &cells);
        }
        page.end_section();
        Ok(())
    }

    fn insight(&self) -> Insight<'_> {
        Insight::of(&self.context.vault)
    }

    /// Masks the sensitive values in a text.
    pub(super) fn masked(&self, text: &str) -> String {
        self.context.vault.scanner().masked(text.trim())
    }

    fn row(&self, view: &RowView) -> ApiResult<Row> {
        let record = self.context.vault.reader().content(view)?;
        let text = without_markdown(&self.masked(&record.text));
        Ok(Row { day: self.texts.day(made_at(&record)), assistant: self.name(&view.source), text })
    }

    /// Writes a section with a table of counts by name.
    fn count_table(&self, page: &mut Page, section: &str, column: &str, counts: &[(String, u32)]) {
        page.begin_section(self.texts.get(section), false);
        page.paragraph(self.texts.get(&format!("{section}_lead")));
        let rows: Vec<Vec<Cell<'_>>> =
            counts.iter().map(|(name, n)| vec![Cell::Text(name), Cell::Number(*n)]).collect();
        page.table(&[column, "count"].map(|key| self.texts.get(key)), &rows);
        page.end_section();
    }
}

fn largest_first(counts: &BTreeMap<String, u32>, named: impl Fn(&str) -> String) -> Vec<(String, u32)> {
    let mut out: Vec<(String, u32)> = counts.iter().map(|(name, n)| (named(name), *n)).collect();
    out.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    out
}

fn cells(row: &Row) -> [Cell<'_>; 3] {
    [Cell::Short(&row.day), Cell::Text(&row.assistant), Cell::Quote(&row.text)]
}
