//! The entry selector of Zaxy's export contract. Exports use all criteria. Disclosures use only the criteria that
//! depend on a single entry.
use super::{
    compose::OutputEntry,
    entry::{Grain, seq, text_member},
};
use mementory_format::extension::is_slot_name;
use mementory_json::Tree;
use mementory_model::fold;
use std::collections::{BTreeSet, HashMap, HashSet};

/// Criteria for entries. An entry must meet all criteria that are set. By default, no criterion is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Grains of the entries to include. Never empty.
    pub grains: BTreeSet<Grain>,
    /// In exports, types of the source events to include. In disclosures, kinds of the entries themselves.
    pub kinds: Option<BTreeSet<String>>,
    /// Includes only entries with a number greater than this one.
    pub since_seq: Option<u64>,
    /// Includes only entries with a number not greater than this one.
    pub max_seq: Option<u64>,
    /// Includes only entries whose `valid_from`, compared as text, is not before this time.
    pub since_time: Option<String>,
    /// Includes only entries whose `valid_from`, compared as text, is not after this time.
    pub until_time: Option<String>,
    /// In exports, includes only events that contain a word of this query. If more than `query_limit` events match,
    /// only the best matches are included.
    pub query: Option<String>,
    /// Largest number of events that a query selects.
    pub query_limit: usize,
    /// In exports, sensitivities of entries to leave out.
    pub exclude_sensitivities: BTreeSet<String>,
    /// In exports, the largest number of events. If more events match, only the last ones are included.
    pub limit: Option<usize>,
}

impl Default for Selector {
    fn default() -> Self {
        Self {
            grains: [Grain::Event, Grain::Semantic].into(),
            kinds: None,
            since_seq: None,
            max_seq: None,
            since_time: None,
            until_time: None,
            query: None,
            query_limit: 50,
            exclude_sensitivities: BTreeSet::new(),
            limit: None,
        }
    }
}

impl Selector {
    /// Grains with these names. None if a name is unknown or there are no names.
    pub fn grains_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<BTreeSet<Grain>> {
        let grains: BTreeSet<Grain> = names.into_iter().map(|n| Grain::parse(n.trim())).collect::<Option<_>>()?;
        (!grains.is_empty()).then_some(grains)
    }

    /// True if a disclosure includes the entry. Query, sensitivities and limit are not considered.
    pub(super) fn discloses(&self, tree: &Tree) -> bool {
        self.has_grain(tree) && self.kinds.as_ref().is_none_or(|k| has_kind_in(k, tree)) && self.is_in_bounds(tree)
    }

    fn has_grain(&self, tree: &Tree) -> bool {
        text_member(tree, "grain").and_then(Grain::parse).is_some_and(|g| self.grains.contains(&g))
    }

    fn is_in_bounds(&self, tree: &Tree) -> bool {
        let at = seq(tree);
        let from = text_member(tree, "valid_from");
        self.since_seq.is_none_or(|bound| at.is_some_and(|s| s > bound))
            && self.max_seq.is_none_or(|bound| at.is_some_and(|s| s <= bound))
            && self.since_time.as_ref().is_none_or(|bound| from.is_some_and(|t| t >= bound.as_str()))
            && self.until_time.as_ref().is_none_or(|bound| from.is_some_and(|t| t <= bound.as_str()))
    }

    /// Returns the entries of all matching events, in their original order, without the entries whose grain is not
    /// selected. Entries belong to the event with the same citation. If this event is missing, the criteria are applied
    /// to the first entry with the citation.
    pub(super) fn matching_entries(&self, entries: Vec<OutputEntry>) -> Vec<OutputEntry> {
        let citation_of = |m: &OutputEntry| text_member(&m.tree, "citation").unwrap_or_default().to_owned();
        let mut matched_by_citation: HashMap<String, usize> = HashMap::new();
        for (i, m) in entries.iter().enumerate() {
            let is_event = text_member(&m.tree, "grain") == Some("event");
            let matched = matched_by_citation.entry(citation_of(m)).or_insert(i);
            if is_event {
                *matched = i;
            }
        }
        let mut events: Vec<usize> = matched_by_citation.values().copied().collect();
        events.sort_unstable();
        events.retain(|i| {
            let m = &entries[*i];
            self.kinds.as_ref().is_none_or(|k| has_kind_in(k, &m.tree))
                && self.is_in_bounds(&m.tree)
                && !self.exclude_sensitivities.contains(&m.sensitivity)
        });
        if let Some(query) = &self.query {
            events = ranked_events(query, self.query_limit, &events, &entries);
        }
        if let Some(limit) = self.limit {
            events.drain(..events.len().saturating_sub(limit));
        }
        let selected: HashSet<String> = events.iter().map(|i| citation_of(&entries[*i])).collect();
        entries.into_iter().filter(|m| selected.contains(&citation_of(m)) && self.has_grain(&m.tree)).collect()
    }
}

fn has_kind_in(kinds: &BTreeSet<String>, tree: &Tree) -> bool {
    text_member(tree, "kind").is_some_and(|k| kinds.contains(k))
}

fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

fn collect_text(tree: &Tree, out: &mut String) {
    match tree {
        Tree::Text(text) => {
            out.push_str(text);
            out.push(' ');
        }
        Tree::Array(items) => items.iter().for_each(|i| collect_text(i, out)),
        Tree::Object(members) => {
            members.iter().filter(|(k, _)| !is_slot_name(k)).for_each(|(_, v)| collect_text(v, out));
        }
        _ => {}
    }
}

/// Returns the `limit` best matches among the events that contain words of the query, in their original order. Rare
/// words count more than common words.
fn ranked_events(query: &str, limit: usize, events: &[usize], entries: &[OutputEntry]) -> Vec<usize> {
    let query_words: BTreeSet<String> = words(query).into_iter().collect();
    let matches: Vec<HashSet<String>> = events
        .iter()
        .map(|i| {
            let mut text = String::new();
            if let Some(content) = entries[*i].tree.get("content") {
                // Only the payload of an event is searched, not its thread or actor.
                collect_text(content.get("payload").unwrap_or(content), &mut text);
            }
            words(&text).into_iter().filter(|w| query_words.contains(w)).collect()
        })
        .collect();
    let weight = |word: &String| {
        let count = matches.iter().filter(|s| s.contains(word)).count();
        (1.0 + events.len() as f64 / (count as f64 + 0.5)).ln()
    };
    let weights: HashMap<&String, f64> = query_words.iter().map(|w| (w, weight(w))).collect();
    let mut ranked: Vec<(f64, usize)> = matches
        .iter()
        .zip(events)
        .map(|(words, i)| (words.iter().filter_map(|w| weights.get(w)).sum(), *i))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let mut out: Vec<usize> = ranked.into_iter().take(limit).map(|(_, i)| i).collect();
    out.sort_unstable();
    out
}
