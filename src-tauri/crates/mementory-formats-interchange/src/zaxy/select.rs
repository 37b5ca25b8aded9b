//! Which entries? The contract's selector, for exports (all axes) and for disclosures (those that an entry decides).
use super::{
    compose::OutputEntry,
    entry::{Grain, seq, word},
};
use mementory_format::extension::is_member;
use mementory_json::Tree;
use mementory_model::fold;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What is asked for. Every axis is optional; the default is everything.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Selector {
    /// Event entries, semantic entries or both. Never empty.
    pub grains: BTreeSet<Grain>,
    /// Exports: types of the source event. Disclosures: the entry's own kind.
    pub kinds: Option<BTreeSet<String>>,
    /// Only numbers above this one.
    pub since_seq: Option<u64>,
    /// Only numbers up to this one.
    pub max_seq: Option<u64>,
    /// Only from this time on, compared as text with `valid_from`.
    pub since_time: Option<String>,
    /// Only up to this time, compared as text with `valid_from`.
    pub until_time: Option<String>,
    /// Exports: only events that say some of these words, the best first.
    pub query: Option<String>,
    /// How many events a query finds.
    pub query_limit: usize,
    /// Exports: sensitivities to leave out.
    pub exclude_sensitivities: BTreeSet<String>,
    /// Exports: only the most recent so many events.
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
    /// Grains by their names. None when one is unknown or there is none.
    pub fn grains_of<'a>(names: impl IntoIterator<Item = &'a str>) -> Option<BTreeSet<Grain>> {
        let grains: BTreeSet<Grain> = names.into_iter().map(|n| Grain::parse(n.trim())).collect::<Option<_>>()?;
        (!grains.is_empty()).then_some(grains)
    }

    /// Does a static entry match? Query, sensitivities and limit have no meaning for one.
    pub(super) fn discloses(&self, tree: &Tree) -> bool {
        self.has_grain(tree) && self.kinds.as_ref().is_none_or(|k| has_kind_in(k, tree)) && self.in_bounds(tree)
    }

    fn has_grain(&self, tree: &Tree) -> bool {
        word(tree, "grain").and_then(Grain::parse).is_some_and(|g| self.grains.contains(&g))
    }

    fn in_bounds(&self, tree: &Tree) -> bool {
        let at = seq(tree);
        let from = word(tree, "valid_from");
        self.since_seq.is_none_or(|bound| at.is_some_and(|s| s > bound))
            && self.max_seq.is_none_or(|bound| at.is_some_and(|s| s <= bound))
            && self.since_time.as_ref().is_none_or(|bound| from.is_some_and(|t| t >= bound.as_str()))
            && self.until_time.as_ref().is_none_or(|bound| from.is_some_and(|t| t <= bound.as_str()))
    }

    /// Keeps the entries of the events that match, in order. A semantic entry goes with its event; where the event is
    /// not among them, the entry is judged by itself.
    pub(super) fn project(&self, made: Vec<OutputEntry>) -> Vec<OutputEntry> {
        let cited = |m: &OutputEntry| word(&m.tree, "citation").unwrap_or_default().to_owned();
        let mut heads: HashMap<String, usize> = HashMap::new();
        for (i, m) in made.iter().enumerate() {
            let event = word(&m.tree, "grain") == Some("event");
            let head = heads.entry(cited(m)).or_insert(i);
            if event {
                *head = i;
            }
        }
        let mut events: Vec<usize> = heads.values().copied().collect();
        events.sort_unstable();
        events.retain(|i| {
            let m = &made[*i];
            self.kinds.as_ref().is_none_or(|k| has_kind_in(k, &m.tree))
                && self.in_bounds(&m.tree)
                && !self.exclude_sensitivities.contains(&m.sensitivity)
        });
        if let Some(query) = &self.query {
            events = ranked_events(query, self.query_limit, &events, &made);
        }
        if let Some(limit) = self.limit {
            events.drain(..events.len().saturating_sub(limit));
        }
        let selected: HashSet<String> = events.iter().map(|i| cited(&made[*i])).collect();
        made.into_iter().filter(|m| selected.contains(&cited(m)) && self.has_grain(&m.tree)).collect()
    }
}

fn has_kind_in(kinds: &BTreeSet<String>, tree: &Tree) -> bool {
    word(tree, "kind").is_some_and(|k| kinds.contains(k))
}

fn words(text: &str) -> Vec<String> {
    let folded = fold(text);
    folded.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()).map(str::to_owned).collect()
}

fn text_of(tree: &Tree, out: &mut String) {
    match tree {
        Tree::Text(text) => {
            out.push_str(text);
            out.push(' ');
        }
        Tree::Array(items) => items.iter().for_each(|i| text_of(i, out)),
        Tree::Object(members) => {
            members.iter().filter(|(k, _)| !is_member(k)).for_each(|(_, v)| text_of(v, out));
        }
        _ => {}
    }
}

/// The events that say words of the query, the best `limit` of them (rare words count more), in their own order.
fn ranked_events(query: &str, limit: usize, events: &[usize], made: &[OutputEntry]) -> Vec<usize> {
    let asked: BTreeSet<String> = words(query).into_iter().collect();
    let matches: Vec<HashSet<String>> = events
        .iter()
        .map(|i| {
            let mut text = String::new();
            if let Some(content) = made[*i].tree.get("content") {
                // Of an event what it says, not where and by whom.
                text_of(content.get("payload").unwrap_or(content), &mut text);
            }
            words(&text).into_iter().filter(|w| asked.contains(w)).collect()
        })
        .collect();
    let weight = |word: &String| {
        let count = matches.iter().filter(|s| s.contains(word)).count();
        (1.0 + events.len() as f64 / (count as f64 + 0.5)).ln()
    };
    let weights: HashMap<&String, f64> = asked.iter().map(|w| (w, weight(w))).collect();
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
