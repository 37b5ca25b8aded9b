//! Measures precision, recall and time of the grouping, on generated memories with labels.
#![allow(clippy::print_stdout)] // the tests print measurements
mod generated;

use generated::{Memory, memories};
use mementory_similar::{Form, Group, Key, THRESHOLD, groups, sketches};
use std::{collections::BTreeMap, time::Instant};

/// Numbers of pairs of texts: pairs in the same group, pairs that say the same, and pairs for which both are true.
struct Pairs {
    grouped: u64,
    true_pairs: u64,
    correct: u64,
}

impl Pairs {
    fn precision(&self) -> f64 {
        self.correct as f64 / self.grouped.max(1) as f64
    }

    fn recall(&self) -> f64 {
        self.correct as f64 / self.true_pairs.max(1) as f64
    }
}

fn pairs_within(sizes: impl Iterator<Item = u64>) -> u64 {
    sizes.map(|n| n * n.saturating_sub(1) / 2).sum()
}

fn count_pairs(memories: &[Memory], groups: &[Group]) -> Pairs {
    let mut by_statement: BTreeMap<usize, u64> = BTreeMap::new();
    memories.iter().for_each(|m| *by_statement.entry(m.statement).or_default() += 1);
    let mut correct = 0;
    for group in groups {
        let mut statements: BTreeMap<usize, u64> = BTreeMap::new();
        group.members.iter().for_each(|i| *statements.entry(memories[*i].statement).or_default() += 1);
        correct += pairs_within(statements.into_values());
    }
    Pairs {
        grouped: pairs_within(groups.iter().map(|g| g.members.len() as u64)),
        true_pairs: pairs_within(by_statement.into_values()),
        correct,
    }
}

/// A table with a row for each kind of edit, or for each language: the share of reworded texts that are grouped with
/// another wording of their statement.
fn recall_table<'m>(
    memories: &'m [Memory],
    groups: &[Group],
    keys: impl Fn(&'m Memory) -> Vec<&'static str>,
) -> String {
    let mut group_of = vec![usize::MAX; memories.len()];
    groups.iter().enumerate().for_each(|(g, group)| group.members.iter().for_each(|i| group_of[*i] = g));
    let mut counts: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for (i, memory) in memories.iter().enumerate().filter(|(_, m)| !m.edits.is_empty()) {
        let hit = groups
            .get(group_of[i])
            .is_some_and(|g| g.members.iter().any(|j| *j != i && memories[*j].statement == memory.statement));
        for key in keys(memory) {
            let cell = counts.entry(key).or_default();
            cell.0 += u64::from(hit);
            cell.1 += 1;
        }
    }
    counts.iter().map(|(key, (hit, all))| format!("{key} {:.3} of {all}; ", *hit as f64 / *all as f64)).collect()
}

/// Peak memory of this process, in MiB. 0 if the system does not report it.
fn peak_memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM"));
    line.and_then(|l| l.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0) / 1024
}

fn measure_groups(count: usize, seed: u64) -> Pairs {
    let memories = memories(count, seed);
    let text_bytes: usize = memories.iter().map(|m| m.text.len()).sum();
    let before = peak_memory_mib();
    let key = Key::new(&[7; 32]);
    let start = Instant::now();
    let forms: Vec<Form> = memories.iter().map(|m| Form::new(&m.text)).collect();
    let form_time = start.elapsed();
    let sketches = sketches(&key, &forms);
    let sketch_time = start.elapsed() - form_time;
    let groups = groups(&sketches, &forms, THRESHOLD);
    let group_time = start.elapsed() - form_time - sketch_time;
    let pairs = count_pairs(&memories, &groups);
    println!(
        "{count} memories, {} KiB of text: forms {:.2} s, sketches {:.2} s, groups {:.2} s; peak {} MiB ({before} before)",
        text_bytes / 1024,
        form_time.as_secs_f32(),
        sketch_time.as_secs_f32(),
        group_time.as_secs_f32(),
        peak_memory_mib()
    );
    println!("{} groups; precision {:.4}, recall {:.4}", groups.len(), pairs.precision(), pairs.recall());
    println!(
        "{}\n{}",
        recall_table(&memories, &groups, |m| m.edits.clone()),
        recall_table(&memories, &groups, |m| vec![m.language])
    );
    let mut wrong_group_count = 0;
    for group in &groups {
        let first = &memories[group.members[0]];
        if let Some(other) = group.members.iter().map(|i| &memories[*i]).find(|m| m.statement != first.statement) {
            wrong_group_count += 1;
            if wrong_group_count <= 15 {
                println!("WRONG  {:?}\n       {:?}", first.text, other.text);
            }
        }
    }
    if std::env::var_os("MEMENTORY_SIMILAR_MISSED").is_some() {
        print_missed(&memories, &groups);
    }
    pairs
}

/// Prints the texts that are not in the same group as the first wording of their statement.
fn print_missed(memories: &[Memory], groups: &[Group]) {
    let mut group_of = vec![usize::MAX; memories.len()];
    groups.iter().enumerate().for_each(|(g, group)| group.members.iter().for_each(|i| group_of[*i] = g));
    let mut first: BTreeMap<usize, usize> = BTreeMap::new();
    for (i, memory) in memories.iter().enumerate().filter(|(_, m)| m.edits.is_empty()) {
        first.insert(memory.statement, i);
    }
    for (i, memory) in memories.iter().enumerate().filter(|(_, m)| !m.edits.is_empty()) {
        let Some(j) = first.get(&memory.statement) else { continue };
        if group_of[i] == usize::MAX || group_of[i] != group_of[*j] {
            let other = &memories[*j].text;
            let comparison = mementory_similar::compare(&Form::new(&memory.text), &Form::new(other));
            println!("MISSED {comparison:?} {:?} {:?}\n       {other:?}", memory.edits, memory.text);
        }
    }
}

/// `MEMENTORY_SIMILAR=100000 cargo test --release -p mementory-similar --test quality -- --nocapture` uses more
/// memories. If `MEMENTORY_SIMILAR_MISSED` is set, the missed texts are printed.
#[test]
fn ten_thousand_memories_reach_the_required_precision_and_recall() {
    let count = std::env::var("MEMENTORY_SIMILAR").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000);
    let pairs = measure_groups(count, 1);
    assert!(pairs.true_pairs > 5_000, "{} true pairs", pairs.true_pairs);
    assert!(pairs.precision() >= 0.98, "precision {}", pairs.precision());
    assert!(pairs.recall() >= 0.9, "recall {}", pairs.recall());
}
