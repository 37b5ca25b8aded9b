//! Suggests what memories are about. The suggestions are computed from words and vectors, and cached in memory while
//! the vault is open, but never written to disk. Corrections by the person are stored.
//!
//! | module | contains |
//! |---|---|
//! | `cache` | judges memories; `insight_cache` stores the results |
//! | `pairs` | contradictions, topics and people, computed on request |
//!
//! `insight_decisions` stores the corrections, and the pairs of memories that the person marked as both true.
mod cache;
mod pairs;

use crate::{
    Vault, VaultError, VaultResult,
    applied::Applied,
    context::Context,
    edit::{EditFields, Editor},
    insight_cache::{DecidedKinds, InsightCache, InsightCounts, InsightFilter, Judgement, RowStamp, State},
    insight_decisions as decisions,
    meaning::{is_encoded, stored_vectors},
    query::{ListQuery, Queries},
};
use mementory_insight::AboutKind;
use mementory_model::{Kind, Record, Timestamp};
use mementory_store::RowView;
pub use pairs::{ContradictionGroup, ContradictionPair, Contradictions, MemoryPerson, MemoryTopic};
use rusqlite::Connection;
use std::sync::Arc;

/// Suggests what memories are about, and stores corrections.
#[derive(Clone, Copy)]
pub struct Insight<'v> {
    context: &'v Context,
}

impl<'v> Insight<'v> {
    /// Returns access to the suggestions and corrections of this vault.
    pub fn of(vault: &'v Vault) -> Self {
        Self { context: &vault.context }
    }
}

impl Insight<'_> {
    /// Returns the subject and the special categories of a memory. The result is empty if the record is not a memory.
    pub fn judgement(&self, view: &RowView, record: &Record) -> VaultResult<Judgement> {
        if view.kind != Kind::Memory {
            return Ok(Judgement::default());
        }
        let stamp = RowStamp::of_view(view, self.context.store.read(|c| is_encoded(c, view.row))?);
        if let Some(cached) = self.lock().get(view.row, &stamp) {
            return Ok(cached);
        }
        let decided_kinds = self.decided_kinds(self.context.store.read(cache::state)?)?;
        let vectors = match stamp.encoded {
            true => self.context.store.read(|c| stored_vectors(c, view.row))?,
            false => Vec::new(),
        };
        Ok(cache::judge(&decided_kinds, &view.id, record, &vectors))
    }

    /// Returns the rows of the live memories that a filter admits, in ascending order. An empty filter admits all.
    pub fn rows(&self, filter: &InsightFilter) -> VaultResult<Vec<i64>> {
        self.refresh()?;
        Ok(self.lock().rows(filter))
    }

    /// Counts the memories among the records that a query finds, by subject and by special category.
    pub fn counts(&self, query: &ListQuery) -> VaultResult<InsightCounts> {
        self.refresh()?;
        let rows = Queries::new(self.context).rows(query)?;
        Ok(self.lock().counts(&rows))
    }

    /// Stores the subject that the person chose for memories; None removes the choice. The choice also applies to
    /// memories that say the same.
    ///
    /// # Errors
    /// `NotFound`; `Usage` if a record is not a memory.
    pub fn set_kind(&self, ids: &[String], kind: Option<AboutKind>, now: Timestamp) -> VaultResult<()> {
        let views = self.memory_views(ids)?;
        self.context.store.write(|tx| self.store_kind(tx, &views, kind, now))?;
        self.lock().clear();
        Ok(())
    }

    /// Edits a memory, and stores or removes the subject that the person chose for it. Makes both changes or neither.
    /// Returns the new version number.
    ///
    /// # Errors
    /// As for [`set_kind`](Self::set_kind) and [`Editor::edit`].
    pub fn edit_with_kind(
        &self,
        id: &str,
        kind: Option<AboutKind>,
        fields: EditFields,
        now: Timestamp,
    ) -> VaultResult<Applied<u32>> {
        let views = self.memory_views(&[id.to_owned()])?;
        let store_kind = |tx: &Connection| self.store_kind(tx, &views, kind, now);
        let version = Editor::new(self.context).edit_with_extra_work(id, fields, now, &store_kind)?;
        self.lock().clear();
        Ok(version)
    }

    fn memory_views(&self, ids: &[String]) -> VaultResult<Vec<RowView>> {
        let views = ids.iter().map(|id| self.context.find(id)).collect::<VaultResult<Vec<_>>>()?;
        match views.iter().all(|view| view.kind == Kind::Memory) {
            true => Ok(views),
            false => {
                Err(VaultError::Usage("What it is about can be stored only for a memory. Nothing was changed.".into()))
            }
        }
    }

    fn store_kind(
        &self,
        tx: &Connection,
        views: &[RowView],
        kind: Option<AboutKind>,
        now: Timestamp,
    ) -> VaultResult<()> {
        for view in views {
            match kind {
                Some(kind) => decisions::store_kind(tx, &view.id, kind)?,
                None => decisions::forget_kind(tx, &view.id)?,
            }
        }
        let name = kind.map_or("suggested", AboutKind::as_str);
        let detail = format!("{name} for {} memories", views.len());
        mementory_store::audit::append(tx, &self.context.keys, now, "about", "", &detail)?;
        Ok(())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, InsightCache> {
        self.context.insight.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    fn decided_kinds(&self, state: State) -> VaultResult<Arc<DecidedKinds>> {
        if let Some((of, decided_kinds)) = &self.lock().decided_kinds
            && *of == state
        {
            return Ok(Arc::clone(decided_kinds));
        }
        let decided_kinds = Arc::new(self.context.store.read(|c| cache::load_decided_kinds(c, &self.context.store))?);
        self.lock().decided_kinds = Some((state, Arc::clone(&decided_kinds)));
        Ok(decided_kinds)
    }

    /// Brings the judgements up to date: judges the memories that are new or changed since the last call.
    fn refresh(&self) -> VaultResult<()> {
        let state = self.context.store.read(cache::state)?;
        if self.lock().is_current(state) {
            return Ok(());
        }
        let decided_kinds = self.decided_kinds(state)?;
        let known = self.lock().begin(state);
        let entries = cache::judge_all(&self.context.store, &decided_kinds, known)?;
        self.lock().finish(state, entries);
        Ok(())
    }
}
