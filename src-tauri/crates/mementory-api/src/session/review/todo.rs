//! Lists the memories that the person should delete in the assistants.
use super::{Review, forgetting_guide::ForgetGuide};
use crate::{ApiResult, types::*};
use mementory_model::{Record, Timestamp};
use mementory_vault::{AnsweredRecord, AssistantState};
use std::collections::BTreeMap;

impl Review<'_> {
    /// Returns the memories to delete in an assistant, where to find them, and a text to paste into a chat. If
    /// `assistant` is None, uses the assistant with the most memories to delete.
    ///
    /// # Errors
    /// `usage` for an unknown language.
    pub fn todo(&self, assistant: Option<&str>, language: Option<&str>) -> ApiResult<Todo> {
        let guide = ForgetGuide::load(language)?;
        let answered_records = self.deletions()?;
        let assistants = todo_counts(&answered_records);
        let assistant_with_most =
            assistants.iter().max_by_key(|each| (each.open, each.items)).map(|each| each.assistant.clone());
        match assistant.map(str::to_owned).or(assistant_with_most) {
            Some(assistant) => self.todo_for(&guide, &answered_records, &assistant, assistants),
            None => Ok(Todo { assistant: None, name: None, items: Vec::new(), message: String::new(), assistants }),
        }
    }

    /// Like [`todo`](Self::todo), for every assistant that has memories to delete.
    pub(in super::super) fn todos(&self, guide: &ForgetGuide) -> ApiResult<Vec<Todo>> {
        let answered_records = self.deletions()?;
        let assistants = todo_counts(&answered_records);
        assistants
            .iter()
            .map(|each| self.todo_for(guide, &answered_records, &each.assistant, assistants.clone()))
            .collect()
    }

    fn deletions(&self) -> ApiResult<Vec<(AnsweredRecord, AssistantState)>> {
        let review = self.context.vault.editor().review();
        let mut answered = review.answered(None)?;
        answered.retain(|each| each.answer.asks_to_delete());
        let states = review.assistant_states(&answered)?;
        Ok(answered.into_iter().zip(states).collect())
    }

    fn todo_for(
        &self,
        guide: &ForgetGuide,
        all: &[(AnsweredRecord, AssistantState)],
        assistant: &str,
        assistants: Vec<TodoCount>,
    ) -> ApiResult<Todo> {
        let of_assistant = all.iter().filter(|(each, _)| each.view.source == assistant);
        let items =
            of_assistant.map(|(each, state)| self.todo_item(guide, each, *state)).collect::<ApiResult<Vec<_>>>()?;
        Ok(Todo {
            message: message(guide, &items),
            name: Some(guide.name(assistant)),
            assistant: Some(assistant.to_owned()),
            items,
            assistants,
        })
    }

    fn todo_item(&self, guide: &ForgetGuide, each: &AnsweredRecord, state: AssistantState) -> ApiResult<TodoItem> {
        let record = self.as_imported(each)?;
        Ok(TodoItem {
            id: each.view.id_text(),
            place: guide.place(&each.view.source, record.origin_id.as_deref(), &record.origin.container),
            answer: each.answer.as_str().into(),
            state: state.as_str().into(),
            trashed: each.view.trashed.is_some(),
            created_at: record.times.created.map(Timestamp::to_rfc3339),
            text: record.text,
        })
    }

    /// Returns the record as the assistant has it, which is the newest version that came from an import.
    fn as_imported(&self, each: &AnsweredRecord) -> ApiResult<Record> {
        let versions = self.context.vault.reader().versions(&each.view)?;
        let import_position = versions.iter().position(|version| version.cause == "import").unwrap_or(0);
        match versions.into_iter().nth(import_position) {
            Some(version) => Ok(version.record),
            None => Ok(self.context.vault.reader().content(&each.view)?),
        }
    }
}

fn todo_counts(all: &[(AnsweredRecord, AssistantState)]) -> Vec<TodoCount> {
    let mut by_assistant: BTreeMap<&str, (u32, u32)> = BTreeMap::new();
    for (each, state) in all {
        let (open, items) = by_assistant.entry(&each.view.source).or_default();
        *open += u32::from(*state != AssistantState::Gone);
        *items += 1;
    }
    let count = |(assistant, (open, items)): (&str, (u32, u32))| TodoCount { assistant: assistant.into(), open, items };
    by_assistant.into_iter().map(count).collect()
}

/// Makes the text that the person pastes into the assistant. It lists the memories that the assistant still has,
/// grouped by the person's answer.
fn message(guide: &ForgetGuide, items: &[TodoItem]) -> String {
    let open_items: Vec<&TodoItem> = items.iter().filter(|item| item.state != AssistantState::Gone.as_str()).collect();
    if open_items.is_empty() {
        return String::new();
    }
    let mut out = guide.ask.clone();
    for (answer, head) in &guide.groups {
        let of_group: Vec<&&TodoItem> = open_items.iter().filter(|item| item.answer == *answer).collect();
        if of_group.is_empty() {
            continue;
        }
        out.push_str(&format!("\n\n{head}"));
        for item in of_group {
            // Each entry must be one line, because an entry with a line break would look like two entries.
            let line = item.text.split_whitespace().collect::<Vec<_>>().join(" ");
            out.push_str(&format!("\n- {line}"));
        }
    }
    out.push_str(&format!("\n\n{}", guide.end));
    out
}
